"""What a crawl remembers: the frontier and the pages' notes."""

import tracemalloc

from hypothesis import given
from hypothesis import strategies as st

from connectors.contract import Json
from connectors.notes import MemoryNotes
from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import documentation
from connectors.web.connector import WebConnector
from connectors.web.frontier import PIECE, Entry, Frontier
from connectors.web.page_notes import PageNote, PageNotes
from connectors.web.scope import Scope
from connectors.web.site import Habits


class Elsewhere(MemoryNotes):
    """Notes that take no memory here, but for the queue."""

    def get(self, key: str) -> Json:
        return super().get(key) if key.startswith("queue") else None

    def put(self, key: str, value: Json) -> None:
        if key.startswith("queue"):
            super().put(key, value)


def filled(notes: MemoryNotes | None, count: int) -> Frontier:
    frontier = Frontier(notes, None)
    for number in range(count):
        frontier.add(Entry(f"https://a/{number}", depth=number % 7))
    return frontier


@given(st.integers(0, 3 * PIECE), st.integers(0, 3 * PIECE), st.booleans())
def test_entries_come_in_the_order_they_were_added(count: int, taken: int, kept: bool) -> None:
    frontier = filled(MemoryNotes() if kept else None, count)
    first = [frontier.take() for _ in range(min(taken, count))]
    frontier.add(Entry("https://a/last"))
    rest = []
    while (entry := frontier.take()) is not None:
        rest.append(entry)
    urls = [entry.url for entry in (*first, *rest) if entry]
    assert urls == [*(f"https://a/{number}" for number in range(count)), "https://a/last"]


@given(st.integers(1, 3 * PIECE), st.data())
def test_frontier_goes_on_where_it_was(count: int, data: st.DataObject) -> None:
    notes = MemoryNotes()
    frontier = filled(notes, count)
    done = data.draw(st.integers(1, count))
    for _ in range(done):
        frontier.take()
    frontier.done = done
    again = Frontier(notes, frontier.checkpoint())
    assert again.resumed
    assert (again.length, again.done) == (count, done)
    again.add(Entry("https://a/last"))
    left = []
    while (entry := again.take()) is not None:
        left.append(entry.url)
    assert left == [*(f"https://a/{number}" for number in range(done, count)), "https://a/last"]


def test_cursors_of_nothing_begin_anew() -> None:
    notes = MemoryNotes()
    filled(notes, 40).checkpoint()
    cursors: list[Json] = [
        None,
        "x",
        [1],
        {"crawl": 1},
        {"crawl": 1, "done": 9, "length": 500},
        {"crawl": 1, "over": True},
    ]
    assert not any(Frontier(notes, cursor).resumed for cursor in cursors)


def test_cleared_frontier_leaves_no_note() -> None:
    notes = MemoryNotes()
    frontier = filled(notes, 100)
    frontier.checkpoint()
    frontier.clear()
    assert notes._values == {}


def test_crawl_remembers_little_of_each_page() -> None:
    """What a page leaves in memory is its key and a mark; the rest lies in notes, which a store keeps."""
    pages = 600
    with WebStandIn(documentation(pages)) as site:
        scope = Scope([f"{site.url}/"])
        connector = WebConnector(scope, Habits(interval_s=0, concurrency=1), allow_private=[site.place])
        grown: dict[int, int] = {}
        tracemalloc.start()
        try:
            for number, event in enumerate(connector.scan(None, Elsewhere())):
                del event
                if number in {pages // 3, pages - 40}:
                    site.log.clear()
                    grown[number] = tracemalloc.get_traced_memory()[0]
        finally:
            tracemalloc.stop()
            connector.close()
    first, last = grown
    assert (grown[last] - grown[first]) / (last - first) < 1024  # bytes a page; its text alone has three times as many


def test_notes_of_long_pages_stay_small_and_whole() -> None:
    notes = MemoryNotes()
    pages = PageNotes(notes)
    links = tuple(f"https://docs.example/some/quite/long/path/to/page-{number}.html" for number in range(5_000))
    note = PageNote("https://docs.example/", links=links, etag='"x"', misses=1)
    pages.put("docs.example", note)
    assert pages.get("docs.example") == note
    assert max(map(len, notes._values.values())) <= 64 * 1024
    pages.drop("docs.example")
    assert notes._values == {}


def test_note_of_another_version_is_read_as_far_as_it_goes() -> None:
    notes = MemoryNotes({"page:k": {"url": "https://a/", "unheard": 1, "token": "t"}, "page:bad": [1]})
    pages = PageNotes(notes)
    assert pages.get("k") == PageNote("https://a/", token="t")
    assert pages.get("bad") is None
    assert pages.get("missing") is None
