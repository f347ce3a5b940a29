"""Giving collections nodes of their own when documents are held already."""

from collections.abc import Callable
from typing import Any

import pytest

from connectors.errors import DocumentRefused
from connectors.testing.behaviour import Behaviour
from connectors.testing.scripted import ScriptedConnector
from corebrain.brain import Brain
from pipeline.errors import AlreadyRunning
from pipeline.options import SyncOptions
from pipeline.report import SyncReport
from pipeline.source import Source
from pipeline.splitting import split

FOLDERS = {"a/one.md": "# One\n\nFirst.", "b/two.md": "# Two\n\nSecond.", "top.md": "# Top\n\nAbove."}


def split_now(bench: Any, connector: ScriptedConnector) -> SyncReport:
    bench.engine.calls.clear()
    source = Source(connector.name, connector, Brain(bench.engine, bench.layout), SyncOptions(split="always"))
    return split(source, bench.state, bench.host())


def test_a_split_moves_what_is_there_and_reads_nothing(bench: Any) -> None:
    source = ScriptedConnector(FOLDERS)
    bench.sync(source)
    source.fetches.clear()
    source.scans.clear()
    report = split_now(bench, source)
    assert (report.ok, report.sources[0].moved, report.sources[0].forgotten) == (True, 2, 2)
    assert not source.fetches
    assert not source.scans
    assert bench.engine.nodes() == {
        "a/one.md": "source:files/project:a",
        "b/two.md": "source:files/project:b",
        "top.md": "source:files",
    }
    assert [job.to_dict()["request"]["reach"]["at"] for job in report.jobs] == ["source:files"]
    assert bench.engine.calls.index("store_many") < bench.engine.calls.index("forget")


def test_the_decision_outlasts_the_split(bench: Any) -> None:
    source = ScriptedConnector(FOLDERS)
    bench.sync(source)
    split_now(bench, source)
    source.put("c/three.md", "# Three\n\nThird.")
    report = bench.sync(source)
    assert (report.new, report.moved, report.unchanged) == (1, 0, 3)
    assert bench.engine.nodes()["c/three.md"] == "source:files/project:c"


def test_a_second_split_has_nothing_to_do(bench: Any) -> None:
    source = ScriptedConnector(FOLDERS)
    bench.sync(source)
    split_now(bench, source)
    report = split_now(bench, source)
    assert (report.sources[0].moved, report.jobs) == (0, ())
    assert "store_many" not in bench.engine.calls


def test_a_stopped_split_is_finished_by_a_sync_that_lists_only_changes(
    bench: Any, documents: Callable[..., Any]
) -> None:
    source = ScriptedConnector(documents(300), behaviour=Behaviour(deltas=True))
    bench.sync(source)
    host = bench.host()
    bench.host = lambda: host
    bench.engine.store_many, plain = stopping(host.stop, bench.engine), bench.engine.store_many
    report = split_now(bench, source)
    assert report.interrupted
    assert 0 < report.sources[0].moved < 300
    host.stop.clear()
    bench.engine.store_many = plain
    assert len(set(bench.engine.texts())) == 300
    rest = bench.sync(source)
    assert rest.moved == 300 - report.sources[0].moved
    assert set(bench.engine.nodes().values()) == {"source:files/project:docs"}


def stopping(stop: Any, engine: Any) -> Callable[..., Any]:
    """A store that is the last before a stop."""
    plain = engine.store_many

    def store(items: Any) -> Any:
        stop.set()
        return plain(items)

    return store


def test_a_text_the_engine_lost_is_fetched_again(bench: Any) -> None:
    source = ScriptedConnector(FOLDERS)
    bench.sync(source)
    bench.engine._items.clear()
    assert split_now(bench, source).sources[0].error is None
    assert bench.engine.texts()["a/one.md"] == FOLDERS["a/one.md"]


def test_a_change_that_could_not_be_read_stays_set_aside_and_moves_once_it_can_be(bench: Any) -> None:
    source = ScriptedConnector(FOLDERS, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    source.put("a/one.md", "# One\n\nChanged.")
    source.faults.poison("a/one.md", DocumentRefused("a/one.md is locked", "unlock it"))
    bench.sync(source)
    report = split_now(bench, source).sources[0]
    assert [aside.key for aside in report.set_aside] == ["a/one.md"]
    assert bench.engine.texts()["a/one.md"] == FOLDERS["a/one.md"]
    source.faults.heal()
    bench.sync(source, retry=True)
    assert bench.engine.texts()["a/one.md"] == "# One\n\nChanged."
    assert bench.engine.nodes()["a/one.md"] == "source:files/project:a"


def test_an_engine_that_is_down_leaves_everything_findable_and_the_rest_to_the_next(bench: Any) -> None:
    source = ScriptedConnector(FOLDERS)
    bench.sync(source)
    bench.engine.go_down()
    report = split_now(bench, source)
    assert not report.ok
    assert "the engine is down" in str(report.sources[0].error)
    assert set(bench.engine.texts()) == set(FOLDERS)
    bench.engine.failure = None
    assert bench.sync(source).moved == 2


def test_a_source_that_is_being_synced_is_not_split(bench: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    source = ScriptedConnector(FOLDERS)
    bench.sync(source)
    monkeypatch.setattr("pipeline.state.leases.is_alive", lambda _pid: True)
    lease = bench.state.lease(source.name, bench.clock)
    with pytest.raises(AlreadyRunning):
        split_now(bench, source)
    lease.release()


def test_a_look_at_a_part_does_not_pass_for_the_rest_of_a_split(bench: Any) -> None:
    source = ScriptedConnector(FOLDERS)
    bench.sync(source)
    bench.sync(source, split="always", scopes=("a/",))
    assert bench.engine.nodes()["b/two.md"] == "source:files"
    source.behaviour = Behaviour(deltas=True)
    assert bench.sync(source, split="always").moved == 1
    assert bench.engine.nodes()["b/two.md"] == "source:files/project:b"
