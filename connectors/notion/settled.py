"""The token of a page: what must differ when its content may differ, though Notion's times are cut to the minute."""

import hashlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

from connectors.notion.ids import Obj
from connectors.notion.properties import icon_of, title_of
from connectors.notion.rich_text import plain

UNSETTLED = timedelta(minutes=2)
"""How long after an edit another one may still get the same time: its own minute, and one for clocks that differ."""

_DERIVED = frozenset({"formula", "rollup", "last_edited_time", "last_edited_by", "button"})


def moment(text: object) -> datetime | None:
    """Return a time of the API, aware and in UTC; `None` when it is none."""
    try:
        found = datetime.fromisoformat(str(text))
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)


def token_of(thing: Obj, now: Callable[[], datetime]) -> str | None:
    """Return the token of a page or data source; `None` while another edit might still share its time.

    It is made of the time of the last edit and of what the listing tells anyway: title, icon and properties, without
    those that are computed from other pages and without signed addresses.
    """
    edited = moment(thing.get("last_edited_time"))
    if edited is None or now() - edited < UNSETTLED:
        return None
    seen = repr((title_of(thing), icon_of(thing), _shown(thing)))
    return f"{thing['last_edited_time']} {hashlib.sha256(seen.encode()).hexdigest()[:16]}"


def _shown(thing: Obj) -> list[tuple[str, str]]:
    properties = thing.get("properties")
    found = properties.items() if isinstance(properties, dict) else ()
    return [
        (name, _value(value))
        for name, value in sorted(found)
        if isinstance(value, dict) and str(value.get("type")) not in _DERIVED
    ]


def _value(value: Obj) -> str:
    """A value without what changes by itself: signed addresses, people's pictures and names that need a capability."""
    kind = str(value.get("type"))
    held = value.get(kind)
    if kind == "files" and isinstance(held, list):
        return repr([file.get("name") for file in held if isinstance(file, dict)])
    if kind in {"title", "rich_text"}:
        return plain(held)
    if kind in {"people", "relation"} and isinstance(held, list):
        return repr([one.get("id") for one in held if isinstance(one, dict)])
    if kind in {"created_by", "verification"}:
        return str(held.get("state") or held.get("id")) if isinstance(held, dict) else ""
    return repr(held)
