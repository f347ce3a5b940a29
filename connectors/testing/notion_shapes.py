"""Objects as Notion's API gives them, for its stand-in: shapes follow recorded replies of 2026-03-11."""

import re
import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any, TypeAlias

Obj: TypeAlias = dict[str, Any]

BOT = "11111111-2222-4333-8444-555555555555"
"""Id of the integration's own user."""


def minute(moment: datetime) -> str:
    """Return a time as Notion tells it: in UTC, cut off to the minute."""
    return moment.strftime("%Y-%m-%dT%H:%M:00.000Z")


def text(content: str, *, link: str | None = None, **styles: bool) -> Obj:
    """Return one rich text item."""
    notes: Obj = {"bold": False, "italic": False, "strikethrough": False, "underline": False, "code": False}
    return {
        "type": "text",
        "text": {"content": content, "link": {"url": link} if link else None},
        "annotations": {**notes, **styles, "color": "default"},
        "plain_text": content,
        "href": link,
    }


def mention(kind: str, target: Obj, plain: str, href: str | None = None) -> Obj:
    """Return a mention of a user, page, date or whatever *kind* names."""
    item = text(plain)
    return {
        "type": "mention",
        "mention": {"type": kind, kind: target},
        "annotations": item["annotations"],
        "plain_text": plain,
        "href": href,
    }


def block(key: str, kind: str, content: Obj, *, parent: Obj, at: datetime, children: bool = False) -> Obj:
    """Return a block."""
    return {
        "object": "block",
        "id": key,
        "parent": parent,
        "created_time": minute(at),
        "last_edited_time": minute(at),
        "created_by": {"object": "user", "id": BOT},
        "last_edited_by": {"object": "user", "id": BOT},
        "has_children": children,
        "in_trash": False,
        "type": kind,
        kind: content,
    }


def url_of(title: str, key: str) -> str:
    """Return an address as Notion makes it: with the title of the day in it."""
    slug = "-".join("".join(sign if sign.isalnum() else " " for sign in title).split())
    return f"https://app.notion.com/p/{slug + '-' if slug else ''}{key.replace('-', '')}"


def page(key: str, title: str, parent: Obj, at: datetime, properties: Obj, author: str) -> Obj:
    """Return a page."""
    return {
        "object": "page",
        "id": key,
        "created_time": minute(at),
        "last_edited_time": minute(at),
        "created_by": {"object": "user", "id": author},
        "last_edited_by": {"object": "user", "id": author},
        "cover": None,
        "icon": None,
        "parent": parent,
        "in_trash": False,
        "is_archived": False,
        "is_locked": False,
        "properties": properties,
        "url": url_of(title, key),
        "public_url": None,
    }


def title_property(title: str) -> Obj:
    """Return the value of a title property."""
    return {"id": "title", "type": "title", "title": [text(title)] if title else []}


def data_source(key: str, database: str, title: str, above: Obj, at: datetime, properties: Obj) -> Obj:
    """Return a data source with its schema."""
    return {
        "object": "data_source",
        "id": key,
        "cover": None,
        "icon": None,
        "created_time": minute(at),
        "created_by": {"object": "user", "id": BOT},
        "last_edited_by": {"object": "user", "id": BOT},
        "last_edited_time": minute(at),
        "title": [text(title)],
        "description": [],
        "is_inline": False,
        "properties": properties,
        "parent": {"type": "database_id", "database_id": database},
        "database_parent": above,
        "url": url_of("", database),
        "public_url": None,
        "in_trash": False,
    }


def database(key: str, title: str, parent: Obj, at: datetime, sources: Sequence[Obj]) -> Obj:
    """Return a database, the container of data sources."""
    return {
        "object": "database",
        "id": key,
        "title": [text(title)],
        "description": [],
        "parent": parent,
        "is_inline": False,
        "is_locked": False,
        "in_trash": False,
        "created_time": minute(at),
        "last_edited_time": minute(at),
        "data_sources": [{"id": source["id"], "name": title} for source in sources],
        "icon": None,
        "cover": None,
        "url": url_of("", key),
        "public_url": None,
    }


def listed(kind: str, results: Sequence[Obj], cursor: str | None, **more: Any) -> Obj:
    """Return one page of a list."""
    return {
        "object": "list",
        "results": list(results),
        "next_cursor": cursor,
        "has_more": cursor is not None,
        "type": kind,
        kind: {},
        **more,
    }


def user(key: str, name: str) -> Obj:
    """Return a person."""
    return {
        "object": "user",
        "id": key,
        "name": name,
        "avatar_url": None,
        "type": "person",
        "person": {"email": "person@example.com"},
    }


def error(status: int, code: str, message: str, request: str, **more: Any) -> Obj:
    """Return the body of an error."""
    return {"object": "error", "status": status, "code": code, "message": message, "request_id": request, **more}


def sign(value: Any, base: str, now: datetime, end: datetime) -> Any:
    """Return *value* with a signed address in place of every file that Notion keeps."""
    if isinstance(value, dict):
        return {name: sign(one, base, now, end) for name, one in value.items()}
    if isinstance(value, list):
        return [sign(one, base, now, end) for one in value]
    if isinstance(value, str) and "notion-file:" in value:
        signature = f"?X-Amz-Expires={end.timestamp():.0f}&X-Amz-Signature={uuid.uuid4().hex}"
        return re.sub(r"notion-file:([\w.%-]+)", lambda match: f"{base}/_files/{match[1]}{signature}", value)
    return value
