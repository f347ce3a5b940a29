"""The answers of Notion's API about a workspace, with the quirks that are documented: the stand-in without its HTTP.

What no recording holds follows the documentation alone: markdown with `unknown_block_ids`, `request_status`, 429 with
a `rate_limit_reason`, 529.
"""

import re
import uuid
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, ClassVar

from connectors.testing import notion_shapes as shapes
from connectors.testing.notion_markdown import Writing
from connectors.testing.notion_shapes import Obj
from connectors.testing.notion_workspace import Workspace
from connectors.testing.notion_writes import Refused, write

PROPERTY_CAP = 25
"""Values of a relation, people, title or rich text property that a page carries."""

_ID = "([0-9a-f-]{32,36})"


class ApiError(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, code: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message


@dataclass(slots=True)
class Limits:
    """What the service allows.

    Attributes:
        query_cap: Rows that one query of a data source gives before it says `incomplete`.
        search_cap: The same for search.
        markdown_blocks: Blocks in one markdown reply.
        content: Whether the integration may read content.
        users: Whether it may read users.
        comments: Whether it may read comments.
        search_lag_s: Seconds until search knows a new page.
        markdown: Whether the markdown endpoint exists.
        file_life_s: Seconds that a signed address lives.
    """

    query_cap: int = 10_000
    search_cap: int = 10_000
    markdown_blocks: int = 20_000
    content: bool = True
    users: bool = True
    comments: bool = True
    search_lag_s: float = 0.0
    markdown: bool = True
    file_life_s: float = 3600.0


@dataclass(frozen=True, slots=True)
class Asked:
    """One request.

    Attributes:
        method: Upper case.
        path: Below `/v1/`.
        query: Parameters of the address.
        body: The JSON body, `{}` when there is none.
    """

    method: str
    path: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Obj = field(default_factory=dict)


class Api:
    """Answers requests about a workspace.

    Args:
        workspace: What it is asked about.
        limits: What it allows.
        file_base: Address that files are served below.
    """

    def __init__(self, workspace: Workspace, limits: Limits | None = None, file_base: str = "") -> None:
        self.workspace = workspace
        self.limits = limits or Limits()
        self.file_base = file_base
        self._cursors: dict[str, tuple[str, Any, int]] = {}

    def expire_cursors(self) -> None:
        """Make every cursor handed out so far worthless."""
        self._cursors.clear()

    def answer(self, asked: Asked) -> Obj:
        """Return the reply.

        Raises:
            ApiError: It is an error.
        """
        written = self._write(asked)
        if written is not None:
            return written
        for method, pattern, handler in self._routes:
            match = re.fullmatch(pattern, asked.path)
            if match and method == asked.method:
                with self.workspace.lock:
                    return self._signed(handler(self, asked, *map(_dashed, match.groups())))
        raise ApiError(400, "invalid_request_url", "Invalid request URL.")

    def _write(self, asked: Asked) -> Obj | None:
        try:
            with self.workspace.lock:
                key = write(self.workspace, asked.method, asked.path, asked.body)
                return None if key is None else deepcopy(self.workspace.things.get(key) or self.workspace.block_of[key])
        except Refused as error:
            raise ApiError(400, "validation_error", str(error)) from error

    # -- search and queries

    def _search_reply(self, asked: Asked) -> Obj:
        """Pages and data sources by time of their last edit."""
        wanted = (asked.body.get("filter") or {}).get("value")
        sort = asked.body.get("sort") or {}
        newest = sort.get("direction", "descending") == "descending"
        known = self.workspace.clock() - timedelta(seconds=self.limits.search_lag_s)
        found = [
            thing
            for thing in self.workspace.things.values()
            if thing["object"] in {"page", "data_source"}
            and wanted in {None, thing["object"]}
            and not thing["in_trash"]
            and thing["id"] not in self.workspace.unsearched
            and thing["created_time"] <= shapes.minute(known)
            and self.workspace.visible(thing["id"])
        ]
        return self._list(
            asked,
            "page_or_data_source",
            found,
            lambda one: (one["last_edited_time"], one["id"]),
            cap=self.limits.search_cap,
            newest=newest,
        )

    def _query_reply(self, asked: Asked, key: str) -> Obj:
        """Rows of a data source by time of creation."""
        self._thing(key, "data_source")
        rows = [
            thing
            for thing in self.workspace.things.values()
            if thing["parent"].get("data_source_id") == key
            and not thing["in_trash"]
            and self.workspace.visible(thing["id"])
        ]
        condition = asked.body.get("filter") or {}
        since = (condition.get("created_time") or {}).get("on_or_after")
        rows = [row for row in rows if not since or row["created_time"] >= str(since)]
        order = lambda row: (row["created_time"], row["id"])  # noqa: E731 - one use, read better here
        return self._list(asked, "page_or_data_source", rows, order, cap=self.limits.query_cap)

    # -- single things

    def _page_reply(self, asked: Asked, key: str) -> Obj:
        del asked
        return self._capped(self._thing(key, "page"))

    def _data_source_reply(self, asked: Asked, key: str) -> Obj:
        del asked
        return self._thing(key, "data_source")

    def _database_reply(self, asked: Asked, key: str) -> Obj:
        del asked
        found = self._thing(key, "database")
        if not any(self.workspace.visible(source["id"]) for source in found["data_sources"]):
            message = f"Database with ID {key} does not contain any data sources accessible by this API bot."
            raise ApiError(400, "validation_error", message)
        return found

    def _block_reply(self, asked: Asked, key: str) -> Obj:
        del asked
        self._readable()
        found = self.workspace.block_of.get(key)
        if found is None or not self._may_read(found) or not self._shown(key):
            raise _not_found("block", key)
        return found

    def _children_reply(self, asked: Asked, key: str) -> Obj:
        self._readable()
        holder = self.workspace.block_of.get(key)
        if not (self._shown(key) and (holder is None or self._may_read(holder))):
            raise _not_found("block", key)
        blocks = [one for one in self._children(key) if not one["in_trash"]]
        return self._list(asked, "block", blocks)

    def _markdown_reply(self, asked: Asked, key: str) -> Obj:
        del asked
        if not self.limits.markdown:
            raise ApiError(400, "invalid_request_url", "Invalid request URL.")
        self._readable()
        if not self._shown(key):
            raise _not_found("block" if key in self.workspace.block_of else "page", key)
        whole = key in self.workspace.things
        start = self._children(key) if whole else [self.workspace.block_of[key]]
        if not whole and not self._may_read(start[0]):
            raise _not_found("block", key)
        writing = Writing(key, self._children, self._may_read, self.limits.markdown_blocks)
        lines = writing.write([one for one in start if not one["in_trash"]])
        return {
            "object": "page_markdown",
            "id": key,
            "markdown": "\n".join(lines),
            "truncated": writing.truncated,
            "unknown_block_ids": writing.unknown,
        }

    def _one_property_reply(self, asked: Asked, key: str, name: str) -> Obj:
        page = self._thing(key, "page")
        for value in page["properties"].values():
            if value["id"] == name:
                kind = value["type"]
                held = value[kind]
                if not isinstance(held, list):
                    return {"object": "property_item", **value}
                items = [
                    {"object": "property_item", "type": kind, "id": name, kind: one, "_at": at}
                    for at, one in enumerate(held)
                ]
                more = {"property_item": {"id": name, "next_url": None, "type": kind, kind: {}}}
                return self._list(asked, "property_item", items, lambda one: one["_at"], more=more)
        raise ApiError(404, "object_not_found", f"Could not find property with ID: {name}.")

    def _comments_reply(self, asked: Asked) -> Obj:
        if not self.limits.comments:
            raise _restricted()
        key = _dashed(asked.query.get("block_id", ""))
        if not self._shown(key):
            raise _not_found("block", key)
        found = self.workspace.comments.get(key, [])
        return self._list(asked, "comment", found)

    def _all_users_reply(self, asked: Asked) -> Obj:
        if not self.limits.users:
            raise _restricted()
        return self._list(asked, "user", list(self.workspace.users.values()), lambda one: one["id"])

    def _me_reply(self, asked: Asked) -> Obj:
        del asked
        bot = {"owner": {"type": "workspace", "workspace": True}, "workspace_name": "stand-in"}
        return {"object": "user", "id": shapes.BOT, "name": "brain", "avatar_url": None, "type": "bot", "bot": bot}

    # -- inner

    def _list(
        self,
        asked: Asked,
        kind: str,
        found: Sequence[Obj],
        place: Callable[[Obj], Any] | None = None,
        *,
        cap: int | None = None,
        newest: bool = False,
        more: Obj | None = None,
    ) -> Obj:
        """One page of a list; a cursor stands at a place in the order, at a count only where things have none."""
        given = asked.body if asked.method == "POST" else asked.query
        size = int(given.get("page_size") or 100)
        if not 1 <= size <= 100:
            message = f"body failed validation: body.page_size should be ≤ `100`, instead was `{size}`."
            raise ApiError(400, "validation_error", message)
        plain = {name: value for name, value in given.items() if name not in {"start_cursor", "page_size"}}
        what = f"{asked.path} {plain}"
        after, given_out = self._position(given.get("start_cursor"), what)
        if place is None:
            ordered = list(found[given_out:])
        else:
            ordered = sorted(found, key=place, reverse=newest)
            ordered = [
                one for one in ordered if after is None or ((place(one) < after) == newest and place(one) != after)
            ]
        size = min(size, cap - given_out) if cap else size
        part, rest = ordered[:size], ordered[size:]
        full = cap is not None and given_out + len(part) >= cap and bool(rest)
        cursor = None
        if rest and not full:
            cursor = str(uuid.uuid4())
            self._cursors[cursor] = what, place and place(part[-1]), given_out + len(part)
        if full:
            more = {
                **(more or {}),
                "request_status": {"type": "incomplete", "incomplete_reason": "query_result_limit_reached"},
            }
        results = [self._capped(deepcopy(one)) for one in part]
        for one in results:
            one.pop("_at", None)
        return shapes.listed(kind, results, cursor, **(more or {}))

    def _position(self, cursor: Any, what: str) -> tuple[Any, int]:
        if cursor is None:
            return None, 0
        held = self._cursors.get(str(cursor))
        if held is None or held[0] != what:
            message = f"The start_cursor provided is invalid: {cursor}"
            raise ApiError(400, "validation_error", message)
        return held[1], held[2]

    def _thing(self, key: str, kind: str) -> Obj:
        self._readable()
        found = self.workspace.things.get(key)
        if found is None or found["object"] != kind or not self.workspace.visible(key):
            raise _not_found(kind, key)
        return deepcopy(found)

    def _shown(self, key: str) -> bool:
        """Whether a page or block exists, is shared and lies outside the trash."""
        holders = [key, *self.workspace.above(key)]
        if key not in self.workspace.things and key not in self.workspace.block_of:
            return False
        return not any(
            one in self.workspace.unshared or self.workspace.things.get(one, {}).get("in_trash") for one in holders
        )

    def _children(self, key: str) -> Sequence[Obj]:
        """Children of a page or block; a synced copy has those of its original."""
        holder = self.workspace.block_of.get(key)
        if holder is not None and holder["type"] == "synced_block":
            original = holder["synced_block"].get("synced_from")
            if original:
                return self.workspace.blocks.get(original["block_id"], [])
        return self.workspace.blocks.get(key, [])

    def _may_read(self, block: Obj) -> bool:
        if block["type"] != "synced_block" or not block["synced_block"].get("synced_from"):
            return True
        return self._shown(block["synced_block"]["synced_from"]["block_id"])

    def _readable(self) -> None:
        if not self.limits.content:
            raise _restricted()

    def _capped(self, thing: Obj) -> Obj:
        """Cut long properties as the API does."""
        for value in (thing.get("properties") or {}).values() if thing.get("object") == "page" else ():
            held = value.get(value["type"])
            if value["type"] in {"relation", "people", "title", "rich_text"} and isinstance(held, list):
                value[value["type"]] = held[:PROPERTY_CAP]
                if value["type"] == "relation":
                    value["has_more"] = len(held) > PROPERTY_CAP
        return thing

    def _signed(self, reply: Obj) -> Obj:
        """Sign the addresses of files that Notion keeps, anew for every reply."""
        now = self.workspace.clock()
        signed = shapes.sign(deepcopy(reply), self.file_base, now, now + timedelta(seconds=self.limits.file_life_s))
        return signed if isinstance(signed, dict) else reply

    _routes: ClassVar[tuple[tuple[str, str, Callable[..., Obj]], ...]] = (
        ("POST", "search", _search_reply),
        ("POST", f"data_sources/{_ID}/query", _query_reply),
        ("GET", f"data_sources/{_ID}", _data_source_reply),
        ("GET", f"databases/{_ID}", _database_reply),
        ("GET", f"pages/{_ID}", _page_reply),
        ("GET", f"pages/{_ID}/markdown", _markdown_reply),
        ("GET", f"pages/{_ID}/properties/(.+)", _one_property_reply),
        ("GET", f"blocks/{_ID}", _block_reply),
        ("GET", f"blocks/{_ID}/children", _children_reply),
        ("GET", "comments", _comments_reply),
        ("GET", "users", _all_users_reply),
        ("GET", "users/me", _me_reply),
    )


def _dashed(key: str) -> str:
    plain = key.replace("-", "")
    return str(uuid.UUID(plain)) if re.fullmatch(r"[0-9a-f]{32}", plain) else key


def _not_found(kind: str, key: str) -> ApiError:
    message = (
        f"Could not find {kind} with ID: {key}. Make sure the relevant pages and databases are shared with your"
        ' integration "brain".'
    )
    return ApiError(404, "object_not_found", message)


def _restricted() -> ApiError:
    return ApiError(403, "restricted_resource", "Insufficient permissions for this endpoint.")
