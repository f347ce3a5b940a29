"""The loop that keeps sources true, on a clock of its own."""

import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from queue import Empty
from typing import Any
from unittest.mock import Mock

import pytest

from connectors.contract import Event, Json, Notes
from connectors.errors import AuthError, Unavailable
from connectors.testing.scripted import ScriptedConnector
from corebrain.brain import Brain
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import Unavailable as EngineDown
from corebrain.layout import MemoryLayout
from pipeline.daemon import IDLE_S, Daemon, Inbox, Listener, Message, Tended
from pipeline.errors import SetupError, StateError
from pipeline.health import Beat, Pulse, is_overdue, last_beat
from pipeline.host import Host
from pipeline.report import SourceReport
from pipeline.schedule import Every, Schedule, cron_of
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.upkeep import Upkeep

DEADLINE_S = 30.0


class Hinting(ScriptedConnector):
    """A source that hints when a test says so."""

    def __init__(self, *arguments: Any, **settings: Any) -> None:
        super().__init__(*arguments, **settings)
        self.hinted: list[str] = [""]
        self.word = threading.Condition()

    def hint(self, scope: str) -> None:
        with self.word:
            self.hinted.append(scope)
            self.word.notify_all()

    def watch(self, stop: threading.Event) -> Iterator[str]:
        while not stop.is_set():
            with self.word:
                scopes, self.hinted = self.hinted, []
                if not scopes:
                    self.word.wait(0.05)
            yield from scopes


@dataclass
class Stage:
    """A daemon whose time passes only while nothing runs."""

    bench: Any
    clock: float = 1_000_000.0
    reports: list[tuple[SourceReport, tuple[str, ...]]] = field(default_factory=list)
    moments: list[float] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    beats: list[tuple[float, str]] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)
    at_report: Callable[[], None] = lambda: None

    def tended(self, connector: Any, schedule: Schedule | None = None, *, watched: bool = False) -> Tended:
        return Tended(Source(connector.name, connector, Brain(self.bench.engine)), schedule, watched=watched)

    def host(self) -> Host:
        return Host(now=lambda: self.clock, chance=lambda: 0.5, stop=self.stop)

    def run(self, *tended: Tended, until: int, upkeep: Upkeep | None = None, **settings: Any) -> Daemon:
        """Run until that many syncs have ended."""
        stage = self

        class Clocked(Inbox):
            def get(self, timeout_s: float) -> Message | None:
                try:
                    return self._queue.get_nowait()
                except Empty:
                    pass
                if daemon.running and not stage.watched_only:
                    return self._queue.get(timeout=DEADLINE_S)
                if not stage.watched_only:
                    stage.clock += timeout_s
                    return None
                message = super().get(0.02)  # a watch may have something to say
                stage.clock += min(timeout_s, 1.0) if message is None else 0
                return message

        def reported(report: SourceReport, scopes: tuple[str, ...]) -> None:
            self.reports.append((report, scopes))
            self.moments.append(self.clock)
            self.at_report()
            if len(self.reports) >= until:
                self.stop.set()

        self.watched_only = any(one.watched for one in tended)

        def beat(now: float, line: str, running: tuple[str, ...]) -> None:
            assert set(running) <= {"", *(one.source.name for one in tended)}
            self.beats.append((now, line))

        listener = Listener(say=self.said.append, reported=reported, beat=beat)
        daemon = Daemon(
            tended, self.bench.state, self.host(), listener=listener, upkeep=upkeep, inbox=Clocked(), **settings
        )
        assert daemon.run()
        return daemon


@pytest.fixture
def stage(bench: Any) -> Stage:
    return Stage(bench)


def test_a_scheduled_source_is_synced_at_its_times(stage: Stage) -> None:
    stage.run(stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0)), until=4)
    assert stage.moments == [1_000_000.0, 1_000_100.0, 1_000_200.0, 1_000_300.0]
    assert stage.bench.engine.texts() == {"a.md": "a"}


def test_what_was_missed_while_nobody_ran_is_one_run(stage: Stage) -> None:
    source = stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0))
    stage.run(source, until=1)
    stage.clock += 100_000
    stage.stop.clear()
    stage.run(source, until=3)
    assert stage.moments[1:] == [1_100_000.0, 1_100_100.0]


def test_a_next_run_is_kept_for_the_next_process(stage: Stage) -> None:
    source = stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0))
    stage.run(source, until=2)
    assert stage.bench.state.ledger("scripted").next_run() == 1_000_200.0
    stage.clock += 50
    stage.stop.clear()
    stage.run(source, until=3)
    assert stage.moments[2] == 1_000_200.0


def test_sleep_is_caught_up_with_once(stage: Stage) -> None:
    connector = ScriptedConnector({"a.md": "a"})

    def sleep() -> None:
        if len(stage.moments) == 2:
            stage.clock += 10_000.0

    stage.at_report = sleep
    stage.run(stage.tended(connector, Every(100.0)), until=4)
    assert stage.moments == [1_000_000.0, 1_000_100.0, 1_010_100.0, 1_010_200.0]


def test_a_clock_that_jumps_back_strands_no_source(stage: Stage) -> None:
    def jump() -> None:
        if len(stage.moments) == 2:
            stage.clock -= 500_000.0

    stage.at_report = jump
    stage.run(stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0)), until=4)
    assert stage.moments[2:] == [500_200.0, 500_300.0]


def test_what_a_source_says_is_heard_though_nobody_watches_it(stage: Stage) -> None:
    class Talkative(ScriptedConnector):
        def __init__(self) -> None:
            super().__init__({"a.md": "a"})
            self.say: Callable[[str], None] = lambda _line: None

        def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
            self.say("the listing was cut at its limit")
            return super().scan(cursor, notes, scope)

    stage.run(stage.tended(Talkative(), Every(100.0)), until=1)
    assert stage.said == ["scripted: the listing was cut at its limit"]


def test_cron_and_interval_run_side_by_side(stage: Stage) -> None:
    hourly = ScriptedConnector({"a.md": "a"}, name="hourly")
    often = ScriptedConnector({"b.md": "b"}, name="often")
    stage.run(stage.tended(hourly, cron_of("0 * * * *")), stage.tended(often, Every(600.0)), until=12)
    names = [report.name for report, _ in stage.reports]
    assert names.count("often") > names.count("hourly") >= 2


def test_a_failing_source_backs_off_and_the_other_goes_on(stage: Stage) -> None:
    bad = ScriptedConnector({"a.md": "a"}, name="bad")
    bad.faults.fail("", Unavailable("gone"))
    good = ScriptedConnector({"b.md": "b"}, name="good")
    stage.run(stage.tended(bad, Every(100.0)), stage.tended(good, Every(100.0)), until=12)
    names = [report.name for report, _ in stage.reports]
    assert names.count("good") > names.count("bad") >= 3


def test_a_pause_that_the_source_asks_for_is_kept(stage: Stage) -> None:
    source = ScriptedConnector({"a.md": "a"})
    source.faults.stop_scan(after=0, error=Unavailable("slow down", retry_after_s=1234))
    stage.run(stage.tended(source, Every(100.0)), until=2)
    assert stage.moments == [1_000_000.0, 1_001_234.0]
    assert [report.error for report, _ in stage.reports] == ["slow down", None]


def test_a_failing_source_keeps_its_next_try(stage: Stage) -> None:
    source = ScriptedConnector({"a.md": "a"})
    source.faults.fail("", AuthError("the token is refused"))

    def look() -> None:
        kept.append(stage.bench.state.ledger("scripted").next_run())

    kept: list[float | None] = []
    stage.at_report = look
    stage.run(stage.tended(source, Every(3600.0)), until=3)
    assert kept[:2] == [1_000_060.0, 1_000_180.0]


def test_a_fault_in_one_connector_costs_only_that_one(stage: Stage, caplog: pytest.LogCaptureFixture) -> None:
    class Broken(ScriptedConnector):
        def scan(self, *arguments: Any) -> Any:
            raise KeyError(arguments[0])

    good = ScriptedConnector({"b.md": "b"}, name="good")
    stage.run(stage.tended(Broken(name="broken"), Every(100.0)), stage.tended(good, Every(100.0)), until=4)
    errors = {report.name: report.error for report, _ in stage.reports}
    assert "failed unexpectedly" in str(errors["broken"])
    assert errors["good"] is None
    assert "the sync of broken failed" in caplog.text


def test_a_state_that_cannot_be_used_ends_the_daemon(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    refuse = Mock(side_effect=StateError("no space left"))
    source = stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0))
    monkeypatch.setattr(SqliteState, "lease", refuse)
    with pytest.raises(StateError, match="no space left"):
        stage.run(source, until=99)


def test_a_source_that_cannot_be_watched_is_refused(stage: Stage) -> None:
    with pytest.raises(SetupError, match="scripted cannot be watched"):
        stage.run(stage.tended(ScriptedConnector(), watched=True), until=1)


def test_hints_become_scoped_syncs(stage: Stage) -> None:
    source = Hinting({f"{folder}/1.md": folder for folder in "abcd"})

    def edit() -> None:
        if len(stage.reports) == 1:
            source.put("a/1.md", "edited")
            source.hint("a/")

    stage.at_report = edit
    stage.run(stage.tended(source, watched=True), until=2)
    assert [scopes for _, scopes in stage.reports] == [(), ("a/",)]
    assert source.scans == [(None, ""), (None, "a/")]
    assert stage.bench.engine.texts()["a/1.md"] == "edited"


def test_hints_while_a_sync_runs_are_one_more_sync(stage: Stage) -> None:
    source = Hinting({"a.md": "a", "b.md": "b", "c.md": "c"})

    def hint() -> None:
        for scope in ("b.md", "c.md", "b.md"):
            source.hint(scope)

    source.faults.before_fetch("a.md", hint)
    stage.run(stage.tended(source, watched=True), until=2)
    asked = {scope for _, scopes in stage.reports[1:] for scope in scopes}
    assert stage.reports[0][1] == ()
    assert asked <= {"b.md", "c.md"}
    assert asked


def test_one_source_is_never_synced_twice_at_a_time(stage: Stage) -> None:
    under_way, most = 0, 0

    class Counting(Hinting):
        def scan(self, *arguments: Any) -> Any:
            nonlocal under_way, most
            under_way += 1
            most = max(most, under_way)
            self.hint("a.md")
            yield from super().scan(*arguments)
            under_way -= 1

    stage.run(stage.tended(Counting({"a.md": "a", "b.md": "b"}), Every(5.0), watched=True), until=6)
    assert most == 1


def test_the_loop_beats_and_says_how_sources_stand(stage: Stage) -> None:
    stage.run(stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0)), until=2)
    assert len(stage.beats) >= 5
    assert stage.beats[-2][1].startswith("1 source, next scripted at 1970-01-12T13:48:20Z")


def test_threads_end_with_the_daemon(stage: Stage) -> None:
    before = threading.active_count()
    source = Hinting({"a.md": "a"})
    stage.run(stage.tended(source, watched=True), until=1)
    assert threading.active_count() == before


def test_a_stop_ends_a_sync_after_its_batch_and_says_it_was_cut_short(stage: Stage) -> None:
    source = ScriptedConnector({f"{number:03}.md": f"text {number}" for number in range(500)})
    source.faults.before_fetch("000.md", stage.stop.set)
    daemon = stage.run(stage.tended(source, Every(100.0)), until=99)
    assert daemon.interrupted
    assert len(source.fetches) < 500
    stage.stop.clear()
    stage.run(stage.tended(source, Every(100.0)), until=len(stage.reports) + 1)
    assert len(stage.bench.engine.texts()) == 500


# -- idle work


def idle(stage: Stage, *, build: bool) -> Upkeep:
    return Upkeep(
        stage.bench.engine,
        MemoryLayout(),
        stage.bench.state,
        now=lambda: stage.clock,
        say=stage.said.append,
        build_beliefs=build,
    )


def test_belief_builds_run_once_everything_is_quiet(stage: Stage) -> None:
    sources = [ScriptedConnector({f"{name}.md": f"{name} text"}, name=name) for name in "abc"]
    tended = [stage.tended(source, Every(100.0)) for source in sources]
    stage.run(*tended, until=6, upkeep=idle(stage, build=True))
    assert stage.said == ["build_beliefs: done"]  # three sources of one node are one build
    assert stage.bench.state.jobs() == []


def test_belief_builds_wait_for_people_unless_they_are_wanted(stage: Stage) -> None:
    source = stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0))
    stage.run(source, until=3, upkeep=idle(stage, build=False))
    assert stage.said == []
    assert len(stage.bench.state.jobs()) == 1


class Watchful(Upkeep):
    """Idle work that notes when it was called, and does what a test says."""

    def __init__(self, act: Callable[[], None]) -> None:
        self.act = act

    def is_due(self) -> bool:
        return False

    def step(self) -> bool:
        self.act()
        return False


def test_idle_work_waits_for_some_seconds_without_a_sync(stage: Stage) -> None:
    moments: list[float] = []
    upkeep = Watchful(lambda: moments.append(stage.clock))
    stage.run(stage.tended(ScriptedConnector({"a.md": "a"}), Every(100.0)), until=3, upkeep=upkeep)
    assert moments == [1_000_000.0 + IDLE_S]  # the syncs after the first stored nothing


def test_a_build_that_a_sync_asks_for_while_it_runs_is_run_again(stage: Stage) -> None:
    source = ScriptedConnector({"a.md": "a"})
    stage.bench.sync(source)
    built = stage.bench.engine.consolidate

    def meanwhile(request: Any) -> Any:
        report = built(request)
        source.put("b.md", "b")
        stage.bench.sync(source)
        return report

    stage.bench.engine.consolidate = Mock(side_effect=meanwhile)
    work = idle(stage, build=True)
    assert work.step()
    assert len(stage.bench.state.jobs()) == 1
    stage.bench.engine.consolidate = built
    assert work.step()
    assert stage.bench.state.jobs() == []


def test_a_job_that_fails_is_kept_and_stops_no_other(stage: Stage) -> None:
    stage.bench.sync(ScriptedConnector({"a.md": "a"}))
    stage.bench.engine.consolidate = Mock(side_effect=EngineDown("the engine is down"))
    work = idle(stage, build=True)
    assert work.step()
    assert not work.step()
    assert "it is kept" in stage.said[0]
    assert len(stage.bench.state.jobs()) == 1


def test_the_engine_is_looked_after_until_nothing_is_left(stage: Stage, tmp_path: Any) -> None:
    engine = LocalEngine(tmp_path / "memory.db")
    work = Upkeep(engine, MemoryLayout(), stage.bench.state, now=lambda: 0.0, say=stage.said.append)
    while work.step():
        pass
    engine.close()
    assert stage.said == []


# -- health


def test_a_beat_is_read_back_and_ends_with_the_process(tmp_path: Any) -> None:
    pulse = Pulse(tmp_path, 5.0)
    pulse.beat(6.0, "1 source", ("a",))
    beat = last_beat(tmp_path)
    assert beat is not None
    assert (beat.since, beat.beat, beat.line, beat.trouble(7.0)) == (5.0, 6.0, "1 source", None)
    assert "stuck" in str(beat.trouble(1_000.0))
    pulse.end()
    assert last_beat(tmp_path) is None


def test_a_beat_of_a_dead_process_is_trouble() -> None:
    dead = Beat(pid=2**22 + 1, host=socket.gethostname(), since=0.0, beat=1.0, line="")
    assert "ended without a word" in str(dead.trouble(2.0))


@pytest.mark.parametrize("content", ["", "[]", "{}", "{", '{"pid": 1}'])
def test_a_damaged_beat_is_none(tmp_path: Any, content: str) -> None:
    (tmp_path / "run.json").write_text(content)
    assert last_beat(tmp_path) is None


def test_overdue_is_a_minute_past_the_time() -> None:
    assert not is_overdue(None, 1e9)
    assert not is_overdue(100.0, 150.0)
    assert is_overdue(100.0, 161.0)
