"""Property values to text, of every type; what is empty or would change by itself is left out.

Format: `https://developers.notion.com/reference/page-property-values`. Times of last edit and last editors are left
out: they change without the page's words changing, and the time is the document's own. A type nobody knows yet is read
by the shape of its value.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from connectors.notion.ids import Obj, page_url
from connectors.notion.rich_text import date_text, inline, plain, user_name
from connectors.notion.signed import Attachment, file_name, is_signed

CAP = 25
"""Values of a relation, people, title or rich text property a page carries; its property endpoint has the rest."""

CAPPED = frozenset({"relation", "people", "title", "rich_text"})
"""Types that are cut off at `CAP`."""

Titles = Mapping[str, str]
"""Titles of pages by id, as far as known."""

_LEFT_OUT = frozenset({"title", "last_edited_time", "last_edited_by", "button"})


def title_of(thing: Obj) -> str:
    """Return the title of a page, data source or database; `""` when nobody gave it one."""
    if isinstance(thing.get("title"), list):
        return " ".join(plain(thing["title"]).split())
    for value in _values(thing):
        if value.get("type") == "title":
            return " ".join(plain(value.get("title")).split())
    return ""


def icon_of(thing: Obj) -> str:
    """Return the emoji of a page or database, the name of a custom one; `""` for pictures and none."""
    icon = thing.get("icon")
    if not isinstance(icon, dict):
        return ""
    custom = icon.get("custom_emoji")
    name = custom.get("name") if isinstance(custom, dict) else ""
    return str(icon.get("emoji") or (f":{name}:" if name else ""))


def head_lines(page: Obj, titles: Titles) -> list[str]:
    """Return the readable head of a page: one `- **Name**: value` a property that has a value, in Notion's order."""
    properties = page.get("properties")
    lines = []
    for name, value in properties.items() if isinstance(properties, dict) else ():
        if isinstance(value, dict) and str(value.get("type")) not in _LEFT_OUT:
            text = " ".join(property_text(value, titles).split())
            if text:
                lines.append(f"- **{' '.join(name.split())}**: {text}")
    return lines


def property_text(value: Obj, titles: Titles | None = None) -> str:
    """Return a property's value as a person would read it; `""` when it has none."""
    kind = str(value.get("type"))
    held = value.get(kind)
    if held is None:
        return ""
    known = _TEXTS.get(kind)
    if known is not None:
        return known(held)
    if kind == "relation":
        return _relation(held, {} if titles is None else titles)
    if kind == "rollup":
        return _rollup(held, {} if titles is None else titles)
    return _guess(held)


def is_cut(value: Obj) -> bool:
    """Whether a property holds more than the page carries."""
    kind = str(value.get("type"))
    held = value.get(kind)
    return bool(value.get("has_more")) or (kind in CAPPED and isinstance(held, list) and len(held) >= CAP)


def cut_properties(page: Obj) -> dict[str, str]:
    """Return the ids of the properties that hold more than the page carries, by name."""
    properties = page.get("properties")
    found = properties.items() if isinstance(properties, dict) else ()
    return {
        name: str(value["id"]) for name, value in found if isinstance(value, dict) and value.get("id") and is_cut(value)
    }


def attached(page: Obj) -> list[Attachment]:
    """Return the files in the properties of a page that Notion keeps."""
    files = (file for value in _values(page) if value.get("type") == "files" for file in _objects(value.get("files")))
    found = []
    for file in files:
        inner = file.get("file")
        url = str(inner.get("url") or "") if isinstance(inner, dict) else ""
        if url and is_signed(url):
            name = str(file.get("name") or file_name(url))
            found.append(Attachment("pdf" if name.lower().endswith(".pdf") else "file", url, name))
    return found


def _values(thing: Obj) -> Iterable[Obj]:
    properties = thing.get("properties")
    return _objects(list(properties.values())) if isinstance(properties, dict) else ()


def _objects(items: object) -> Iterable[Obj]:
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else ()


def _names(items: object) -> str:
    return ", ".join(str(item["name"]) for item in _objects(items) if item.get("name"))


def _people(items: object) -> str:
    return ", ".join(name for name in (user_name(item) for item in _objects(items)) if name)


def _number(held: object) -> str:
    return format(held, "g") if isinstance(held, float) and abs(held) < 1e15 and held == int(held) else str(held)


def _name(held: object) -> str:
    return str(held.get("name") or "") if isinstance(held, dict) else ""


def _unique_id(held: object) -> str:
    if not isinstance(held, dict) or held.get("number") is None:
        return ""
    return f"{held['prefix']}-{held['number']}" if held.get("prefix") else str(held["number"])


def _verification(held: object) -> str:
    """Who vouches for a wiki page and until when; an unverified page says nothing."""
    if not isinstance(held, dict) or held.get("state") in {None, "unverified"}:
        return ""
    who, when = user_name(held.get("verified_by")), date_text(held.get("date"))
    return " ".join(part for part in (str(held["state"]), f"by {who}" if who else "", when) if part)


def _files(items: object) -> str:
    texts = []
    for item in _objects(items):
        external = item.get("external")
        url = str(external.get("url") or "") if isinstance(external, dict) else ""
        name = str(item.get("name") or file_name(url) or url)
        texts.append(f"[{name}]({url})" if url and name != url else name)
    return ", ".join(texts)


def _place(held: object) -> str:
    if not isinstance(held, dict):
        return ""
    name = ", ".join(str(held[key]) for key in ("name", "address") if held.get(key))
    return name or (f"{held['lat']}, {held['lon']}" if held.get("lat") is not None else "")


def _formula(held: object) -> str:
    return property_text(held) if isinstance(held, dict) else ""


def _relation(held: object, titles: Titles) -> str:
    links = []
    for item in _objects(held):
        key = str(item.get("id") or "")
        if key:
            links.append(f"[{titles.get(key) or 'linked page'}]({page_url(key)})")
    return ", ".join(links)


def _rollup(held: object, titles: Titles) -> str:
    if not isinstance(held, dict):
        return ""
    if held.get("type") == "array":
        texts = (property_text(item, titles) or plain(item.get("title")) for item in _objects(held.get("array")))
        return ", ".join(text for text in texts if text)
    return property_text(held, titles)


def _guess(held: object) -> str:
    """The value of a type nobody knows yet, by its shape."""
    if isinstance(held, bool):
        return _checked(held)
    if isinstance(held, str | int | float):
        return str(held)
    if isinstance(held, list):
        return inline(held) or _names(held) or ", ".join(str(item) for item in held if isinstance(item, str | int))
    return _name(held) or date_text(held)


def _checked(held: object) -> str:
    return "yes" if held else "no"


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "title": inline,
    "rich_text": inline,
    "number": _number,
    "select": _name,
    "status": _name,
    "multi_select": _names,
    "date": date_text,
    "people": _people,
    "files": _files,
    "checkbox": _checked,
    "boolean": _checked,
    "url": str,
    "email": str,
    "phone_number": str,
    "string": str,
    "formula": _formula,
    "created_time": lambda held: date_text({"start": held}),
    "last_edited_time": lambda held: date_text({"start": held}),
    "created_by": user_name,
    "last_edited_by": user_name,
    "unique_id": _unique_id,
    "verification": _verification,
    "place": _place,
    "location": _place,
    "button": lambda _held: "",
}
