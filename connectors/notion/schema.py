"""A database as a document: its description and what its columns are, so that an agent knows what the rows say."""

from collections.abc import Iterable

from connectors.notion.ids import Obj, page_url
from connectors.notion.rich_text import inline

_SHOWN_OPTIONS = 100


def schema_markdown(source: Obj) -> str:
    """Return the document of a data source: its description, then one line a property with type, options, target."""
    parts = [inline(source.get("description")).strip()]
    properties = source.get("properties")
    lines = [_line(name, value) for name, value in (properties or {}).items() if isinstance(value, dict)]
    if lines:
        parts += ["## Properties", "\n".join(lines)]
    text = "\n\n".join(part for part in parts if part)
    return f"{text}\n" if text else ""


def _line(name: str, value: Obj) -> str:
    kind = str(value.get("type") or "unknown")
    held = value.get(kind)
    detail = _detail(kind, held if isinstance(held, dict) else {})
    about = " ".join(str(value.get("description") or "").split())
    return f"- **{name}** ({kind.replace('_', ' ')}){f': {detail}' if detail else ''}{f' — {about}' if about else ''}"


def _detail(kind: str, held: Obj) -> str:
    if kind in {"select", "multi_select", "status"}:
        return ", ".join(_options(held.get("options")))
    if kind == "relation":
        target = held.get("data_source_id") or held.get("database_id")
        return f"[linked database]({page_url(str(target))})" if target else ""
    if kind == "rollup":
        names = [
            str(held[key]) for key in ("function", "rollup_property_name", "relation_property_name") if held.get(key)
        ]
        return " of ".join([names[0], " through ".join(names[1:])]) if len(names) > 1 else "".join(names)
    if kind == "unique_id":
        return f"{held['prefix']}-…" if held.get("prefix") else ""
    if kind == "number":
        form = str(held.get("format") or "")
        return "" if form == "number" else form.replace("_", " ")
    return ""


def _options(options: object) -> Iterable[str]:
    found = (
        [str(option.get("name")) for option in options if isinstance(option, dict)] if isinstance(options, list) else []
    )
    yield from found[:_SHOWN_OPTIONS]
    if len(found) > _SHOWN_OPTIONS:
        yield f"and {len(found) - _SHOWN_OPTIONS} more"
