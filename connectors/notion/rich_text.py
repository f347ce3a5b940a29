"""Rich text to inline markdown: styles, links, equations and mentions; colours and underlines are dropped.

Format: `https://developers.notion.com/reference/rich-text`, as recorded at API version 2026-03-11.
"""

from collections.abc import Iterable, Mapping
from itertools import groupby
from typing import Any

from connectors.notion.ids import Obj, page_url, stable_url
from corebrain.documents.escape import escape_tags

_NO_STYLE: Mapping[str, Any] = {}


def plain(items: object) -> str:
    """Return the text alone, as a title shows it."""
    return "".join(_words(item) for item in _objects(items)).strip()


def verbatim(items: object) -> str:
    """Return the text with nothing added or taken, as code wants it."""
    return "".join(str(item.get("plain_text") or "") for item in _objects(items))


def inline(items: object) -> str:
    """Return inline markdown; a line break stays one."""
    runs = groupby(_objects(items), _style)
    return "".join(_run(style, list(parts)) for style, parts in runs)


def user_name(user: object) -> str:
    """Return what a person or bot is called, as far as the integration may know; `""` when it may not."""
    if not isinstance(user, dict):
        return ""
    person = user.get("person")
    email = person.get("email") if isinstance(person, dict) else None
    return str(user.get("name") or email or "")


def date_text(date: object) -> str:
    """Return a date or a range, minutes and zone only where given: `2026-01-05 → 2026-01-07`.

    A time at midnight UTC that carries no zone of its own still shows its minutes: the person set them.
    """
    if not isinstance(date, dict) or not date.get("start"):
        return ""
    zone = f" {date['time_zone']}" if date.get("time_zone") else ""
    end = f" → {_moment(str(date['end']))}" if date.get("end") else ""
    return f"{_moment(str(date['start']))}{end}{zone}"


def _moment(text: str) -> str:
    day, at, clock = text.partition("T")
    if not at:
        return day
    minutes, rest = clock[:5], clock[5:]
    offset = next((rest[where:] for where in (rest.find("+"), rest.find("-"), rest.find("Z")) if where >= 0), "")
    return f"{day} {minutes}{'' if offset in ('Z', '+00:00') else ' ' + offset if offset else ''}"


def _objects(items: object) -> Iterable[Obj]:
    return (item for item in items if isinstance(item, dict)) if isinstance(items, list) else ()


def _style(item: Obj) -> tuple[bool, bool, bool, bool, str]:
    """What neighbours must share to be one run: the four styles that markdown has, and the link."""
    if item.get("type") != "text":  # a mention or an equation is a run of its own
        return (False, False, False, False, f"\0{id(item)}")
    given = item.get("annotations")
    notes = given if isinstance(given, dict) else _NO_STYLE
    return (
        bool(notes.get("code")),
        bool(notes.get("strikethrough")),
        bool(notes.get("italic")),
        bool(notes.get("bold")),
        str(item.get("href") or ""),
    )


def _run(style: tuple[bool, bool, bool, bool, str], items: list[Obj]) -> str:
    code, strikethrough, italic, bold, link = style
    if link.startswith("\0"):
        return _special(items[0])
    text = "".join(str(item.get("plain_text") or "") for item in items)
    body = text.strip()
    if not body:
        return text
    before, after = text[: text.index(body)], text[text.index(body) + len(body) :]
    body = _code(body) if code else escape_tags(body)
    for marked, mark in zip((strikethrough, italic, bold), ("~~", "*", "**"), strict=True):
        body = f"{mark}{body}{mark}" if marked else body
    return f"{before}{_link(body, link) if link else body}{after}"


def _special(item: Obj) -> str:
    kind = item.get("type")
    if kind == "equation":
        equation = item.get("equation")
        expression = equation.get("expression") if isinstance(equation, dict) else None
        return f"${expression or item.get('plain_text') or ''}$"
    if kind == "mention":
        return _mention(item, item.get("mention"))
    return escape_tags(str(item.get("plain_text") or ""))


def _mention(item: Obj, mention: object) -> str:
    """What is mentioned, linked where it has an address; what nobody knows yet keeps its plain text."""
    text = str(item.get("plain_text") or "")
    if not isinstance(mention, dict):
        return text
    kind = str(mention.get("type"))
    target = mention.get(kind)
    if kind == "user":
        name = user_name(target)
        return f"@{name}" if name else text or "@someone"
    if kind == "date":
        return date_text(target) or text
    if kind in {"page", "database", "data_source", "agent"} and isinstance(target, dict) and target.get("id"):
        return _link(text or kind.replace("_", " "), page_url(str(target["id"])))
    if kind in {"link_preview", "link_mention"} and isinstance(target, dict):
        url = str(target.get("url") or target.get("href") or item.get("href") or "")
        return _link(str(target.get("title") or text or url), url)
    return _link(text, str(item["href"])) if item.get("href") else text


def _words(item: Obj) -> str:
    """The text of one item without marks."""
    if item.get("type") == "mention":
        mention = item.get("mention")
        if isinstance(mention, dict) and mention.get("type") == "date":
            return date_text(mention.get("date")) or str(item.get("plain_text") or "")
    return str(item.get("plain_text") or "")


def _code(text: str) -> str:
    fence = "`" * (1 + max((len(run) for run in _runs_of_ticks(text)), default=0))
    space = " " if text[0] == "`" or text[-1] == "`" else ""
    return f"{fence}{space}{text}{space}{fence}"


def _runs_of_ticks(text: str) -> Iterable[str]:
    return (("".join(run)) for tick, run in groupby(text, lambda sign: sign == "`") if tick)


def _link(text: str, url: str) -> str:
    return f"[{text.replace('[', '(').replace(']', ')')}]({link_target(url)})" if url else text


def link_target(url: str) -> str:
    """Return an address as it may stand in a markdown link: by id in Notion, spaces and brackets escaped."""
    absolute = f"https://www.notion.so{url}" if url.startswith("/") else url
    return stable_url(absolute).replace(" ", "%20").replace("(", "%28").replace(")", "%29")
