"""Lists a workspace: search and every database's rows in full, or what was edited since, newest first.

Search gives no promise to be whole, is behind by a while, and ends at a cap; a query ends at 10,000 rows. So a full
listing asks every data source for its rows, in windows of time of creation, and is said to be complete only when
nothing failed and nothing was cut off. What it misses all the same is asked for singly before it counts as gone
(`Confirms`).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from connectors.errors import ConnectorError, DocumentError
from connectors.notion.ancestry import is_away
from connectors.notion.api import NotionApi, Page
from connectors.notion.errors import CapabilityMissing, NotShared, Rejected
from connectors.notion.ids import Obj, id_of
from connectors.notion.settled import moment
from connectors.notion.spool import Spool

OVERLAP = timedelta(minutes=10)
"""How far an incremental listing goes back behind the newest edit it knows: minutes of time and search's delay."""

LISTED = frozenset({"page", "data_source"})


@dataclass(slots=True)
class Found:
    """What a full listing came to, beside what it put into the spool.

    Attributes:
        newest: Time of the newest edit seen, as the API writes it; `""` when there was nothing.
        failed: What could not be listed, by id of the data source, or `search`.
        sources: Ids of the data sources met: listed themselves, or holding a row that is.
    """

    newest: str = ""
    sources: dict[str, None] = field(default_factory=dict)
    failed: dict[str, ConnectorError] = field(default_factory=dict)

    def note(self, thing: Obj) -> None:
        """Remember its time, and the data source it is or lies in."""
        self.newest = max(self.newest, str(thing.get("last_edited_time") or ""))
        parent = thing.get("parent")
        if thing.get("object") == "data_source":
            self.sources[str(thing["id"])] = None
        elif isinstance(parent, dict) and parent.get("data_source_id"):
            self.sources[str(parent["data_source_id"])] = None


def is_listed(thing: Obj) -> bool:
    """Whether a thing is a document: a page or data source outside the trash, whole enough to be read."""
    whole = isinstance(thing.get("properties"), dict) and id_of(str(thing.get("id"))) is not None
    return thing.get("object") in LISTED and whole and not is_away(thing)


def list_everything(api: NotionApi, spool: Spool) -> Found:
    """Put everything that can be seen into the spool."""
    found = Found()
    _search_all(api, spool, found)
    asked: set[str] = set()
    while True:
        sources = [key for key in found.sources if key not in asked]
        if not sources:
            return found
        for key in sources:
            asked.add(key)
            try:
                _all_rows(api, key, spool, found)
            except NotShared:
                continue  # only a row of it is shared, or it went meanwhile
            except CapabilityMissing:
                raise
            except DocumentError as error:
                found.failed[key] = error


def changed_since(api: NotionApi, newest: str) -> Iterator[tuple[Obj, bool]]:
    """Yield what was edited since, newest first, a little more than needed, each with whether all there is was listed.

    The first page of search is given whole, for it costs nothing more; when it is the only one, it was everything.
    """
    border = moment(newest)
    for number, page in enumerate(_walk(api.search)):
        whole = number == 0 and page.cursor is None and not page.incomplete
        yield from ((thing, whole) for thing in page.results if is_listed(thing))
        oldest = moment(page.results[-1].get("last_edited_time")) if page.results else None
        if border is None or oldest is None or oldest < border - OVERLAP:
            return


def _search_all(api: NotionApi, spool: Spool, found: Found) -> None:
    """Search from the newest; when it ends at a cap, from the oldest too, until both meet."""
    cut = _pages(api.search, lambda thing: _keep(thing, spool, found))
    if not cut:
        return
    met = False

    def keep_until_met(thing: Obj) -> None:
        nonlocal met
        known = str(thing.get("id")) in spool
        _keep(thing, spool, found)
        met = met or known

    for cursor_page in _walk(lambda cursor: api.search(cursor, newest_first=False)):
        for thing in cursor_page.results:
            keep_until_met(thing)
        if met:
            return
        if cursor_page.incomplete:
            found.failed["search"] = DocumentError(
                "notion's search ends before it has listed everything",
                "name the pages that matter as roots, in several sources",
            )


def _all_rows(api: NotionApi, key: str, spool: Spool, found: Found) -> None:
    """Ask for all rows of a data source, in windows that start where the last one was cut off."""
    since: str | None = None
    while True:
        last = ""

        def keep(thing: Obj) -> None:
            nonlocal last
            last = str(thing.get("created_time") or last)
            _keep(thing, spool, found)

        window = since
        cut = _pages(lambda cursor: api.rows(key, cursor, window), keep)  # noqa: B023 - used before the next turn
        if not cut:
            return
        if not last or last == since:
            raise DocumentError(
                f"the database {key} has more rows of one minute than Notion gives", "split the database in two"
            )
        since = last


def _pages(ask: Callable[[str | None], Page], keep: Callable[[Obj], None]) -> bool:
    """Keep everything of a list; returns whether the service stopped before its end."""
    incomplete = False
    for page in _walk(ask):
        for thing in page.results:
            keep(thing)
        incomplete = page.incomplete
    return incomplete


def _walk(ask: Callable[[str | None], Page]) -> Iterator[Page]:
    """Yield the pages of a list; a cursor that expired starts it once more, for all of it."""
    cursor: str | None = None
    restarted = False
    while True:
        try:
            page = ask(cursor)
        except Rejected as error:
            if cursor is None or restarted or error.code != "validation_error":
                raise
            cursor, restarted = None, True
            continue
        yield page
        if page.cursor is None or page.cursor == cursor:
            return
        cursor = page.cursor


def _keep(thing: Obj, spool: Spool, found: Found) -> None:
    if is_listed(thing) and spool.add(thing):
        found.note(thing)


def hours_since(text: str, now: datetime) -> float:
    """Return the hours since a time, more than any schedule when it cannot be read."""
    then = moment(text)
    return (now - then).total_seconds() / 3600 if then else float("inf")
