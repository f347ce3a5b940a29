"""A sync of some scopes: what they hold is made true, and nothing else is touched."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.contract import Complete, Event, Json, Notes
from connectors.errors import DocumentError, Unavailable
from connectors.testing.scripted import Behaviour, ScriptedConnector
from pipeline.scan import Scan
from pipeline.spool import Spool


class Rooted(ScriptedConnector):
    """A source with a root that can be replaced."""

    identity = (1, 1)

    def root_identity(self) -> tuple[int, int]:
        return self.identity


@pytest.fixture
def source() -> Rooted:
    return Rooted({f"{folder}/{number}.md": f"{folder} {number}" for folder in "ab" for number in range(3)})


def test_only_the_scope_is_listed_and_made_true(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    source.put("a/0.md", "a edited")
    source.put("a/new.md", "a new")
    source.remove("a/1.md")
    source.put("b/0.md", "b edited too")

    report = bench.sync(source, scopes=("a/",))

    assert source.scans[-1] == (None, "a/")
    assert (report.new, report.changed, report.gone) == (1, 1, 1)
    texts = bench.engine.texts()
    assert texts["a/0.md"] == "a edited"
    assert "a/1.md" not in texts
    assert texts["b/0.md"] == "b 0"  # the next whole sync sees it
    assert bench.sync(source).changed == 1


def test_a_scope_of_one_document_takes_only_that_one(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    source.put("a/0.md", "a edited")
    source.remove("a/1.md")
    report = bench.sync(source, scopes=("a/0.md",))
    assert (report.changed, report.gone) == (1, 0)
    assert "a/1.md" in bench.engine.texts()


def test_a_move_between_two_scopes_is_a_move(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    source.rename("a/0.md", "b/moved.md")
    report = bench.sync(source, scopes=("a/0.md", "b/moved.md"))
    assert (report.moved, report.new, report.gone) == (1, 0, 0)
    assert source.fetches.count("b/moved.md") == 1


def test_the_cursor_of_a_scoped_scan_is_not_kept(bench: Any) -> None:
    source = ScriptedConnector({"a/1.md": "one", "b/1.md": "two"}, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    kept = bench.state.ledger("scripted").row().cursor
    source.put("b/1.md", "edited")
    bench.sync(source, scopes=("a/",))
    assert source.scans[-1] == (None, "a/")
    assert bench.state.ledger("scripted").row().cursor == kept
    assert bench.sync(source).changed == 1


def test_a_scoped_success_is_no_success_of_the_source(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    first = bench.state.ledger("scripted").row().last_success
    bench.clock += 100
    source.put("a/0.md", "edited")
    bench.sync(source, scopes=("a/0.md",))
    row = bench.state.ledger("scripted").row()
    assert (row.last_success, row.failing_since) == (first, None)


def test_what_was_never_synced_is_listed_whole(bench: Any, source: Rooted) -> None:
    report = bench.sync(source, scopes=("a/0.md",))
    assert report.new == 6
    assert source.scans == [(None, "")]


def test_a_replaced_root_is_listed_whole_and_paused(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    source.identity = (2, 2)
    for key in source.keys:
        source.remove(key)
    report = bench.sync(source, scopes=("a/0.md",))
    assert report.error is not None
    assert "another folder" in report.error
    assert source.scans[-1] == (None, "")
    assert len(bench.engine.texts()) == 6


def test_more_than_half_gone_is_judged_by_a_whole_listing(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    for key in source.keys:
        source.remove(key)
    report = bench.sync(source, scopes=("a/", "b/0.md"))
    assert report.error is not None
    assert "its folder is empty" in report.error
    assert len(bench.engine.texts()) == 6


def test_what_is_set_aside_elsewhere_stays_so(bench: Any, source: Rooted) -> None:
    source.faults.poison("b/0.md", DocumentError("b/0.md cannot be read"))
    bench.sync(source)
    source.faults.heal()
    bench.clock += 10_000
    source.put("a/0.md", "edited")
    report = bench.sync(source, scopes=("a/0.md",))
    assert [aside.key for aside in report.set_aside] == ["b/0.md"]
    assert bench.sync(source).set_aside == ()


def test_a_scope_that_cannot_be_listed_loses_nothing(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    source.faults.fail("a/", Unavailable("gone away", retry_after_s=7))
    report = bench.sync(source, scopes=("a/",))
    assert report.gone == 0
    assert len(bench.engine.texts()) == 6


def test_a_broken_listing_says_when_to_come_back(bench: Any, source: Rooted) -> None:
    bench.sync(source)
    source.faults.stop_scan(after=1, error=Unavailable("too many", retry_after_s=42))
    report = bench.sync(source)
    assert report.retry_after_s == 42
    assert "retry_after_s" not in bench.sync(source).to_dict()


class Boundless(ScriptedConnector):
    """Claims more than it was asked for."""

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        for event in super().scan(cursor, notes, scope):
            yield Complete("") if isinstance(event, Complete) else event


def test_a_scoped_listing_that_claims_everything_deletes_only_below_its_scope(bench: Any, tmp_path: Path) -> None:
    source = Boundless({f"{folder}/1.md": folder for folder in "abcd"})
    bench.sync(source)
    source.remove("a/1.md")
    scan = Scan(
        bench.state.ledger("scripted"),
        source,
        due=lambda aside: False,  # noqa: ARG005 - nothing is set aside here
        spool=Spool(tmp_path),
        at_checkpoint=lambda scan: None,  # noqa: ARG005 - nothing is stored here
        scopes=("a/",),
    )
    assert scan.run(None, lambda count: None).completed == ["a/"]  # noqa: ARG005 - nobody listens
    assert bench.sync(source, scopes=("a/",)).gone == 1
    assert sorted(bench.engine.texts()) == ["b/1.md", "c/1.md", "d/1.md"]
