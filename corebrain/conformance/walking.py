"""Reading everything of a run, two items a page, so that cursors are always in play."""

from collections.abc import Collection, Iterator, Sequence

from corebrain.conformance.trial import Trial
from corebrain.model.filter import MetaFilter
from corebrain.model.requests import ExportPage, Hit, ListPage, ListRequest

PAGE = 2
"""Items a page when the suite lists or exports."""

MAX_PAGES = 10_000
"""Pages after which a walk is given up."""


def list_all(trial: Trial, wanted: MetaFilter) -> list[Hit]:
    """List everything *wanted* admits; fail on a score, an over-full page, or a cursor or item that comes twice."""
    found: list[Hit] = []
    for page in _pages(trial, wanted):
        trial.require(len(page.items) <= PAGE, f"a list page of limit {PAGE} holds {len(page.items)} items")
        trial.require(all(hit.score == 0.0 for hit in page.items), "a listed item has a score, it must be 0.0")
        found += page.items
    trial.require(len({hit.id for hit in found}) == len(found), "list names an item twice")
    return found


def ids(trial: Trial, wanted: MetaFilter) -> list[str]:
    """List the ids of everything *wanted* admits, in the engine's order."""
    return [hit.id for hit in list_all(trial, wanted)]


def export_all(trial: Trial, wanted: MetaFilter, first: ExportPage) -> list[ExportPage]:
    """Return *first* and the pages that follow it; fail on an over-full page or a cursor that comes twice."""
    pages, cursors = [first], Cursors(trial, "export")
    while (cursor := cursors.next(pages[-1].next_cursor)) is not None:
        pages.append(trial.engine.export(ListRequest(filter=wanted, limit=PAGE, cursor=cursor)))
    sizes = [len(page.items) + len(page.incomplete) for page in pages]
    trial.require(max(sizes) <= PAGE, f"an export page of limit {PAGE} holds {max(sizes)} items")
    return pages


class Cursors:
    """The cursors of one walk: none may come twice, and they must end."""

    def __init__(self, trial: Trial, what: str) -> None:
        self._trial = trial
        self._what = what
        self._seen: set[str] = set()

    def next(self, cursor: str | None) -> str | None:
        """Return *cursor* after noting it; fail when it came before, or came after 10,000 others."""
        if cursor is not None:
            self._trial.require(cursor not in self._seen, f"{self._what} repeats the cursor {cursor[:60]!r}")
            self._seen.add(cursor)
            self._trial.require(len(self._seen) < MAX_PAGES, f"{self._what} has not ended after {MAX_PAGES} pages")
        return cursor


def _pages(trial: Trial, wanted: MetaFilter) -> Iterator[ListPage]:
    cursors = Cursors(trial, "list")
    cursor: str | None = None
    while True:
        page = trial.engine.list(ListRequest(filter=wanted, limit=PAGE, cursor=cursor))
        yield page
        cursor = cursors.next(page.next_cursor)
        if cursor is None:
            return


def expect_ids(trial: Trial, what: str, found: Sequence[str], wanted: Collection[str]) -> None:
    """Expect exactly the *wanted* ids, in any order."""
    missing = [item_id for item_id in wanted if item_id not in found]
    foreign = [item_id for item_id in found if item_id not in wanted]
    trial.expect(
        not missing and not foreign and len(found) == len(wanted),
        f"{what} holds {len(found)} items where {len(wanted)} are due; missing {missing}, too many {foreign}",
    )
