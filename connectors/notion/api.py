"""The calls of Notion's API that the connector makes, through notion-client, with typed errors.

Version 2026-03-11 (`https://developers.notion.com/reference/versioning`). notion-client's own retry is off: what may be
tried again, and how long to wait, is decided in one place, `connectors.notion.sending`.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from connectors.notion.ids import Obj
from connectors.notion.sending import Sender

VERSION = "2026-03-11"
PAGE_SIZE = 100
"""Most things the API gives at once."""


@dataclass(frozen=True, slots=True)
class Page:
    """One page of a list.

    Attributes:
        results: The things on it.
        cursor: Where the next one starts; `None` after the last.
        incomplete: Whether the service stopped although there is more.
    """

    results: tuple[Obj, ...]
    cursor: str | None
    incomplete: bool


class NotionApi:
    """Reads a workspace; connects at the first call.

    Args:
        sender: Sends requests, paced, tried again and counted.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    @property
    def requests(self) -> int:
        """Requests sent so far, repeated ones included."""
        return self._sender.requests

    def search(self, cursor: str | None, *, newest_first: bool = True) -> Page:
        """Return a page of everything shared, by time of last edit; never trust it as complete."""
        direction = "descending" if newest_first else "ascending"
        sort = {"timestamp": "last_edited_time", "direction": direction}
        return self._page("search", lambda client: client.search(**_paged(cursor), sort=sort))

    def rows(self, key: str, cursor: str | None, since: str | None = None) -> Page:
        """Return a page of a data source's rows by time of creation, those created at or after *since*."""
        more: Obj = {"sorts": [{"timestamp": "created_time", "direction": "ascending"}]}
        if since is not None:
            more["filter"] = {"timestamp": "created_time", "created_time": {"on_or_after": since}}
        return self._page(
            f"the database {key}",
            lambda client: client.data_sources.query(data_source_id=key, **_paged(cursor), **more),
        )

    def page(self, key: str) -> Obj:
        """Return a page with its properties."""
        return self._object(f"the page {key}", lambda client: client.pages.retrieve(page_id=key))

    def data_source(self, key: str) -> Obj:
        """Return a data source with its schema."""
        return self._object(f"the data source {key}", lambda client: client.data_sources.retrieve(data_source_id=key))

    def database(self, key: str) -> Obj:
        """Return a database, the container of data sources."""
        return self._object(f"the database {key}", lambda client: client.databases.retrieve(database_id=key))

    def block(self, key: str) -> Obj:
        """Return a block."""
        return self._object(f"the block {key}", lambda client: client.blocks.retrieve(block_id=key))

    def markdown(self, key: str) -> Obj:
        """Return a page, or the subtree of a block, as enhanced markdown."""
        return self._object(f"the page {key}", lambda client: client.pages.retrieve_markdown(page_id=key))

    def children(self, key: str) -> Iterator[Obj]:
        """Yield the blocks in a page or block."""
        return self._all(
            f"the block {key}", lambda client, cursor: client.blocks.children.list(block_id=key, **_paged(cursor))
        )

    def property_items(self, page: str, name: str) -> Iterator[Obj]:
        """Yield every value of a property."""
        return self._all(
            f"the page {page}",
            lambda client, cursor: client.pages.properties.retrieve(page_id=page, property_id=name, **_paged(cursor)),
        )

    def comments(self, key: str) -> Iterator[Obj]:
        """Yield the open comments on a page."""
        return self._all(f"the page {key}", lambda client, cursor: client.comments.list(block_id=key, **_paged(cursor)))

    def users(self) -> Iterator[Obj]:
        """Yield the people and bots of the workspace."""
        return self._all("the users", lambda client, cursor: client.users.list(**_paged(cursor)))

    def _object(self, what: str, call: Callable[[Any], Any]) -> Obj:
        answer = self._sender.send(what, call)
        return answer if isinstance(answer, dict) else {}

    def _page(self, what: str, call: Callable[[Any], Any]) -> Page:
        answer = self._object(what, call)
        results = answer.get("results")
        found = tuple(one for one in results if isinstance(one, dict)) if isinstance(results, list) else ()
        cursor = answer.get("next_cursor") if answer.get("has_more") else None
        status = answer.get("request_status")
        incomplete = isinstance(status, dict) and status.get("type") == "incomplete"
        return Page(found, str(cursor) if cursor else None, incomplete)

    def _all(self, what: str, call: Callable[[Any, str | None], Any]) -> Iterator[Obj]:
        cursor: str | None = None
        while True:
            at = cursor
            page = self._page(what, lambda client: call(client, at))  # noqa: B023 - called before the next turn
            yield from page.results
            if page.cursor is None or page.cursor == cursor:
                return
            cursor = page.cursor


def _paged(cursor: str | None) -> Obj:
    return {"page_size": PAGE_SIZE} | ({"start_cursor": cursor} if cursor else {})
