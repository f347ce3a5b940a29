"""The state store: private, locked, of one brain only, and never of the wrong version."""

import os
import resource
import stat
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import apsw
import pytest

from connectors.contract import Ref
from pipeline.errors import AlreadyRunning, StateError
from pipeline.process import identity_of
from pipeline.state.leases import LEASE_S
from pipeline.state.schema import VERSION
from pipeline.state.sqlite import SqliteState
from pipeline.state.values import Aside, Binding, Fact, Intent, Pinned, Record, SourceRow, Verdict, Work

FULL_REF = Ref(
    key="a/b é.md",
    token="t",
    content="c",
    collection="a",
    locator="a/b%20.md",
    title="T",
    url="https://x.example/",
    media_type="text/markdown",
    size=3,
    modified=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
)


def record(key: str, *ids: str, raw: str = "r") -> Record:
    facts = tuple(Fact(item, part=f"p{number}" if number else "") for number, item in enumerate(ids))
    return Record(Ref(key, "t"), "t", raw, "markdown", "markdown", None, Pinned(), facts)


def test_the_files_are_their_owners_only(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        state = SqliteState(tmp_path / "new" / "state.db")
        state.ledger("x")
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in (tmp_path / "new").iterdir()}
    finally:
        os.umask(before)
    assert set(modes.values()) == {0o600}
    assert len(modes) == 3, "the database, its WAL and its shared memory"
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    state.close()
    state.close()


def test_what_was_recorded_is_there_after_reopening(tmp_path: Path) -> None:
    facts = (Fact("1" * 40, "", "Title", "text/markdown", "en", ("x",)), Fact("2" * 40, "terms.md"))
    pinned = Pinned("c0ffee", "https://x.example/c0ffee", ("in:Docs",))
    wanted = Record(FULL_REF, "t2", "f" * 64, "markdown", "markdown", "a", pinned, facts)
    row = SourceRow({"at": [1, None]}, "yes", "(1, 2)", True, 10.5, 3.25, "down")
    aside = Aside("gone.md", FULL_REF, "why", "what to do", 3, 99.5, 1.5)
    with_state = SqliteState(tmp_path / "state.db")
    ledger = with_state.ledger("docs")
    ledger.record([wanted])
    ledger.update(row, {"etag": ["a"], "dropped": "x"})
    ledger.update(row, {"dropped": None})
    ledger.set_aside([aside])
    with_state.close()
    again = SqliteState(tmp_path / "state.db").ledger("docs")
    assert again.record_of(FULL_REF.key) == wanted
    assert list(again.records()) == [wanted]
    assert again.row() == row
    assert again.note("etag") == ["a"]
    assert again.note("dropped") is None
    assert again.asides() == [aside]


def test_a_file_that_is_no_state_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_text("this is no database, but a text of some length, longer than a header\n" * 20)
    before = path.read_bytes()
    with pytest.raises(StateError, match="not a database"):
        SqliteState(path)
    assert path.read_bytes() == before


def test_somebody_elses_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    other = apsw.Connection(str(path))
    other.execute("CREATE TABLE theirs (x); PRAGMA user_version = 1")
    other.close()
    with pytest.raises(StateError, match="not a brain's state"):
        SqliteState(path)


def test_a_state_from_the_future_is_refused_untouched(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    SqliteState(path).close()
    later = apsw.Connection(str(path))
    later.pragma("user_version", VERSION + 1)
    later.close()
    with pytest.raises(StateError, match="newer corebrain"):
        SqliteState(path)


def test_a_cut_file_is_told(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = SqliteState(path)
    ledger = state.ledger("docs")
    ledger.record([record(f"{number}.md", f"{number:040x}") for number in range(2_000)])
    state.close()
    path.write_bytes(path.read_bytes()[:20_000])
    with pytest.raises(StateError, match="damaged"):
        list(SqliteState(path).ledger("docs").records())


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(StateError, match="cannot open"):
        SqliteState(tmp_path / "file" / "state.db")


def test_a_full_disk_is_told_and_loses_nothing_recorded(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    state = SqliteState(path)
    ledger = state.ledger("docs")
    ledger.record([record("kept.md", "0" * 40)])
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    code = (
        "import resource, signal, sys\nfrom pathlib import Path\nsys.path[:0] = [sys.argv[2]]\n"
        "from pipeline.errors import StateError\nfrom pipeline.state.sqlite import SqliteState\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\nstate = SqliteState(Path(sys.argv[1]))\n"
        "ledger = state.ledger('docs')\nresource.setrlimit(resource.RLIMIT_FSIZE, (120_000, 120_000))\n"
        "try:\n  for n in range(100_000): ledger.doom([f'{n:040x}'])\n"
        "except StateError as error: print(error)\n"
    )
    root = str(Path(__file__).parents[3])
    ran = subprocess.run([sys.executable, "-c", code, str(path), root], capture_output=True, text=True, check=True)
    assert "cannot write" in ran.stdout or "no space left" in ran.stdout
    assert resource.getrlimit(resource.RLIMIT_FSIZE) == old
    assert ledger.record_of("kept.md") is not None
    state.close()


# -- one brain


def test_a_state_belongs_to_one_root_and_engine(tmp_path: Path) -> None:
    state = SqliteState(tmp_path / "state.db")
    state.bind(Binding("team:acme", "local", "memory.db"))
    state.bind(Binding("team:acme", "local", "memory.db"))
    for other in (
        Binding("root", "local", "memory.db"),
        Binding("team:acme", "cortexdb", "memory.db"),
        Binding("team:acme", "local", "other.db"),
    ):
        with pytest.raises(StateError, match="brain verify --fix"):
            state.bind(other)


# -- leases


def test_a_source_is_leased_to_one_at_a_time(tmp_path: Path) -> None:
    first, second = SqliteState(tmp_path / "state.db"), SqliteState(tmp_path / "state.db")
    lease = first.lease("docs", 1_000.0)
    with pytest.raises(AlreadyRunning, match=f"already running: pid {os.getpid()} since 1970-01-01T00:16:40Z"):
        second.lease("docs", 1_001.0)
    second.lease("other", 1_001.0).release()
    lease.release()
    lease.release()
    second.lease("docs", 1_002.0).release()


def test_a_lease_without_beats_can_be_taken_over_and_the_old_owner_cannot_release_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pipeline.state.leases.identity_of", lambda _pid: "")  # a system that tells no more
    state = SqliteState(tmp_path / "state.db")
    old = state.lease("docs", 1_000.0)
    old.beat(1_000.0 + LEASE_S)
    with pytest.raises(AlreadyRunning):
        state.lease("docs", 1_000.0 + 2 * LEASE_S - 1)
    new = state.lease("docs", 1_000.0 + 2 * LEASE_S)
    old.release()
    with pytest.raises(AlreadyRunning):
        state.lease("docs", 1_000.0 + 2 * LEASE_S)
    new.release()


def test_a_process_that_slept_keeps_its_lease_and_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.state.leases.identity_of", lambda pid: f"boot-{pid}")
    state = SqliteState(None)
    lease = state.lease("docs", 1_000.0)
    with pytest.raises(AlreadyRunning, match=f"pid {os.getpid()} .*without a sign of life since 1970-01-01T00:16:40Z"):
        state.lease("docs", 1_000_000.0)
    lease.release()


def test_a_later_process_with_the_number_of_a_dead_one_holds_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    state = SqliteState(None)
    with monkeypatch.context() as before:
        before.setattr("pipeline.state.leases.identity_of", lambda _pid: "boot-1")
        state.lease("docs", 1_000.0)
    monkeypatch.setattr("pipeline.state.leases.identity_of", lambda _pid: "boot-2")
    state.lease("docs", 1_001.0)  # as in a container, where every process is number 1


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="the system does not tell processes apart")
def test_a_process_is_told_from_every_other() -> None:
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as other:
        mine, theirs = identity_of(os.getpid()), identity_of(other.pid)
        assert mine
        assert mine == identity_of(os.getpid())
        assert mine != theirs
        other.communicate(b"\n")
    assert identity_of(other.pid) == ""


def test_the_lease_of_a_process_that_died_is_free_at_once(tmp_path: Path) -> None:
    code = (
        "import os, sys\nfrom pathlib import Path\nsys.path[:0] = [sys.argv[2]]\n"
        "from pipeline.state.sqlite import SqliteState\nSqliteState(Path(sys.argv[1])).lease('docs', 1000.0)\n"
        "os._exit(9)\n"
    )
    path = tmp_path / "state.db"
    subprocess.run([sys.executable, "-c", code, str(path), str(Path(__file__).parents[3])], check=False)
    SqliteState(path).lease("docs", 1_001.0).release()


def test_a_lease_of_another_machine_ends_when_its_beats_do_whichever_way_the_clock_was_set(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    state = SqliteState(None)
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr("pipeline.state.leases.socket.gethostname", lambda: "another")
        state.lease("docs", 1_000_000.0)
    for moment in (1_000_000.0 + LEASE_S - 1, 1_000_000.0 - LEASE_S + 1):
        with pytest.raises(AlreadyRunning):
            state.lease("docs", moment)
    state.lease("docs", 1_000_000.0 - LEASE_S)  # a clock that was years ahead has been set right


# -- books


def test_ids_that_a_record_no_longer_names_are_doomed_unless_another_names_them() -> None:
    ledger = SqliteState(None).ledger("docs")
    ledger.record([record("a.md", "1" * 40, "2" * 40), record("b.md", "2" * 40)])
    ledger.record([record("a.md", "3" * 40)])
    assert ledger.doomed(10) == ["1" * 40]
    ledger.end(["b.md"])
    assert ledger.doomed(10) == ["1" * 40, "2" * 40]
    ledger.forgotten(["1" * 40])
    assert ledger.doomed(10) == ["2" * 40]
    ledger.record([record("c.md", "2" * 40)])
    assert ledger.doomed(10) == []
    assert ledger.references(["2" * 40, "9" * 40]) == {"2" * 40}


def test_intended_ids_are_not_forgotten_until_they_are_recorded_or_abandoned() -> None:
    ledger = SqliteState(None).ledger("docs")
    ledger.doom(["1" * 40])
    ledger.intend([Intent("a.md", "raw", ("1" * 40, "2" * 40), Pinned(tags=("x",)))])
    assert ledger.doomed(10) == []
    assert ledger.intents()["a.md"].pinned == Pinned(tags=("x",))
    ledger.intend([Intent("a.md", "raw2", ("3" * 40,), Pinned())])
    assert ledger.doomed(10) == ["1" * 40, "2" * 40], "an earlier attempt's ids are not lost sight of"
    ledger.record([record("a.md", "3" * 40)])
    assert ledger.intents() == {}
    ledger.intend([Intent("b.md", "raw", ("4" * 40,), Pinned())])
    ledger.abandon(["b.md"])
    assert "4" * 40 in ledger.doomed(10)


def test_a_plan_counts_pages_and_claims_each_twin_once() -> None:
    ledger = SqliteState(None).ledger("docs")
    ledger.record([record("old1.md", "1" * 40, raw="same"), record("old2.md", "2" * 40, raw="same")])
    ledger.plan(Work(Verdict.NEW, Ref(f"n{number:04d}.md", "t", size=2)) for number in range(1_200))
    ledger.plan([Work(Verdict.GONE, Ref("old1.md", None)), Work(Verdict.GONE, Ref("old2.md", None))])
    assert ledger.counts()[Verdict.NEW] == 1_200
    assert ledger.planned_bytes() == 2_400
    assert [step.ref.key for step in ledger.planned(Verdict.NEW)] == [f"n{number:04d}.md" for number in range(1_200)]
    assert ledger.claim_twin(raw="same", format="pdf") is None
    claimed = [ledger.claim_twin(raw="same", format="markdown") for _ in range(3)]
    assert [twin.ref.key if twin else None for twin in claimed] == ["old1.md", "old2.md", None]
    assert list(ledger.planned(Verdict.GONE)) == []
    ledger.release_twin("old2.md")
    assert [step.ref.key for step in ledger.planned(Verdict.GONE)] == ["old2.md"]
    ledger.begin()
    assert sum(ledger.counts().values()) == 0


def test_known_keys_cost_one_statement_whatever_they_hold() -> None:
    ledger = SqliteState(None).ledger("docs")
    keys = ["a'b.md", 'a"b.md', "ünï.md", "x" * 5_000, "%_.md"]
    ledger.record([record(key, f"{number:040x}") for number, key in enumerate(keys)])
    known = ledger.known([*keys, "unknown"])
    assert set(known) == set(keys)
    assert ledger.known([]) == {}


def test_books_of_one_source_say_nothing_of_another_and_can_be_cleared() -> None:
    state = SqliteState(None)
    one, other = state.ledger("one"), state.ledger("other")
    for ledger in (one, other):
        ledger.record([record("a.md", "1" * 40)])
    one.clear()
    assert state.sources() == ["other"]
    assert other.held() == 1
    assert state.ledger("one").held() == 0


def test_equal_jobs_are_kept_once_and_dropped_when_run() -> None:
    state = SqliteState(None)
    for body in ("a", "b"):
        state.add_job(body, 1.0)
    running = state.jobs()[0][0]
    state.add_job("a", 2.0)  # asked for again while it runs
    assert [body for _, body in state.jobs()] == ["b", "a"]
    state.drop_job(running)
    assert [body for _, body in state.jobs()] == ["b", "a"]
    state.drop_job(state.jobs()[1][0])
    assert [body for _, body in state.jobs()] == ["b"]
    state.drop_job(state.jobs()[0][0])
    state.add_job("b", 3.0)
    assert state.jobs()[0][0] > running


def test_the_last_hundred_runs_are_kept() -> None:
    state = SqliteState(None)
    for number in range(105):
        state.log_run("docs", float(number), f'{{"n":{number}}}')
    assert [report for _, report in state.runs("docs", 2)] == ['{"n":104}', '{"n":103}']
    assert len(state.runs("docs", 1_000)) == 100


def test_a_scratch_copy_leaves_the_original_alone(tmp_path: Path) -> None:
    state = SqliteState(tmp_path / "state.db")
    state.ledger("docs").record([record("a.md", "1" * 40)])
    scratch = state.scratch()
    scratch.ledger("docs").end(["a.md"])
    assert scratch.ledger("docs").held() == 0
    scratch.close()
    assert state.ledger("docs").held() == 1


def test_sources_that_change_side_by_side_age_one_state(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    states = [SqliteState(path), SqliteState(path)]  # as two processes have it open

    def work(number: int) -> None:
        ledger = states[number % 2].ledger(f"source {number}")
        for moment in range(30):
            ledger.doom(["1" * 40])
            ledger.forgotten(["1" * 40])
            ledger.keep_builds([], float(moment))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))
    for state in states:
        state.close()
    SqliteState(path).close()  # brings the mark up to date
    assert int(Path(f"{path}.mark").read_text()) == 8 * 30
    assert stat.S_IMODE(Path(f"{path}.mark").stat().st_mode) == 0o600


def test_threads_may_share_a_state() -> None:
    ledger = SqliteState(None).ledger("docs")

    def work(number: int) -> None:
        for item in range(50):
            ledger.record([record(f"{number}-{item}.md", f"{number * 100 + item:040x}")])
            assert ledger.record_of(f"{number}-{item}.md") is not None

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert ledger.held() == 200
