import os
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import apsw
import pytest

from corebrain.contract import HealthState
from corebrain.embed.letters import Letters
from corebrain.engines.local import connection as connections
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import CorebrainError, EngineError, Unavailable
from corebrain.model.item import Document
from corebrain.model.requests import FetchMode, FetchRequest, Hit, ListRequest

WRITER = """
import sys
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import StoreItem
name = sys.argv[2]
with LocalEngine(sys.argv[1], durability="process") as engine:
    print("ready", flush=True)
    sys.stdin.readline()
    for batch in range(20):
        engine.store_many([StoreItem.document(f"{name} batch {batch} number {n}") for n in range(5)])
"""


def test_two_processes_write_and_a_third_reads_without_a_lock_error(
    tmp_path: Path, listed: Callable[..., list[Hit]], verified: Callable[[LocalEngine], None]
) -> None:
    file = tmp_path / "memory.db"
    with LocalEngine(file) as engine:
        writers = [
            subprocess.Popen(
                [sys.executable, "-c", WRITER, str(file), name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            for name in ("first", "second")
        ]
        for writer in writers:
            assert writer.stdout is not None
            assert writer.stdout.readline() == "ready\n"
        for writer in writers:
            assert writer.stdin is not None
            writer.stdin.write("go\n")
            writer.stdin.flush()
        while any(writer.poll() is None for writer in writers):
            for hit in engine.fetch(FetchRequest(query="batch", mode=FetchMode.KEYWORD)).hits:
                assert hit.text.split()[1] == "batch"
        assert [writer.communicate()[0] for writer in writers] == ["", ""]
        assert [writer.returncode for writer in writers] == [0, 0]
        assert len(listed(engine)) == 200
        verified(engine)


def test_many_threads_read_and_write_at_once(
    engine: LocalEngine,
    document: Callable[..., Document],
    listed: Callable[..., list[Hit]],
    verified: Callable[[LocalEngine], None],
) -> None:
    def write(worker: int) -> None:
        for batch in range(10):
            engine.store_many([document(f"w{worker} b{batch} n{n}", at=f"source:s{worker}") for n in range(4)])

    def read(_: int) -> int:
        counts = [len(listed(engine)) for _ in range(10)]
        assert counts == sorted(counts)
        assert all(count % 4 == 0 for count in counts)
        return counts[-1]

    with ThreadPoolExecutor(8) as pool:
        tasks = [pool.submit(write, n) for n in range(4)] + [pool.submit(read, n) for n in range(4)]
        for task in tasks:
            task.result()
    assert len(listed(engine)) == 160
    verified(engine)


def test_one_item_stored_by_many_threads_is_new_once(engine: LocalEngine, document: Callable[..., Document]) -> None:
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(lambda _: engine.store(document("same")), range(16)))
    assert [receipt.replayed for receipt in receipts].count(False) == 1


def test_a_file_kept_busy_is_unavailable_and_may_be_tried_again(
    tmp_path: Path, document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "BUSY_MS", 20)
    with LocalEngine(tmp_path / "memory.db") as engine:
        other = apsw.Connection(str(engine.path))
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(Unavailable, match="busy"):
            engine.store(document("a"))
        other.execute("COMMIT")
        other.close()
        assert not engine.store(document("a")).replayed


def test_an_error_in_a_write_undoes_it_whole(
    engine: LocalEngine, document: Callable[..., Document], listed: Callable[..., list[Hit]]
) -> None:
    def fail_midway() -> None:
        with engine._database.writing() as connection:
            engine._database.registry.node(document("x", at="source:new").meta.namespace)
            connection.execute("INSERT INTO branches(path, area) VALUES ('half', 'half')")
            raise RuntimeError("midway")

    with pytest.raises(RuntimeError):
        fail_midway()
    engine.store(document("x", at="source:new"))
    assert [hit.text for hit in listed(engine)] == ["x"]
    with engine._database.reading() as connection:
        assert connection.execute("SELECT count(*) FROM branches WHERE path = 'half'").get == 0


def test_closing_twice_is_safe_and_a_closed_engine_says_so(tmp_path: Path) -> None:
    before = set(threading.enumerate())  # other tests may have left some
    engine = LocalEngine(tmp_path / "memory.db")
    engine.list(ListRequest())
    assert set(threading.enumerate()) <= before
    engine.close()
    engine.close()
    assert set(threading.enumerate()) <= before
    uses: list[Callable[[], object]] = [
        lambda: engine.list(ListRequest()),
        lambda: engine.within(1).list(ListRequest()),
        engine.verify,
        lambda: engine.backup(tmp_path / "copy.db"),
        engine.optimize,
    ]
    for use in uses:
        with pytest.raises(EngineError, match="closed"):
            use()
    assert engine.health().state is HealthState.DOWN
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]


def test_no_thread_of_an_engine_that_embeds_outlives_it(tmp_path: Path, document: Callable[..., Document]) -> None:
    before = set(threading.enumerate())
    with LocalEngine(tmp_path / "memory.db", embedder=Letters()) as engine:
        engine.store_many([document(f"tea {n}") for n in range(20)])
        engine.maintain(1)
        engine.within(5).fetch(FetchRequest(query="tea leaves", mode=FetchMode.HYBRID))
    assert set(threading.enumerate()) <= before


def test_two_engines_in_one_process_share_a_file(tmp_path: Path, document: Callable[..., Document]) -> None:
    with LocalEngine(tmp_path) as first, LocalEngine(tmp_path) as second:
        first.store(document("a"))
        assert second.store(document("a")).replayed


@pytest.mark.skipif(sys.platform == "win32", reason="asks for a POSIX lock")
def test_opening_a_file_again_keeps_the_locks_of_the_first(tmp_path: Path) -> None:
    """Closing any descriptor of a file drops the process's POSIX locks on it: SQLite's own must be the only ones."""
    file = tmp_path / "memory.db"
    bytes_of_readers = "510, 0x40000000 + 2"  # SHARED_SIZE and SHARED_FIRST (sqlite3 os.h)
    script = (
        f"import fcntl, sys; fcntl.lockf(open(sys.argv[1], 'r+'), fcntl.LOCK_EX | fcntl.LOCK_NB, {bytes_of_readers})"
    )
    ask = [sys.executable, "-c", script, str(file)]
    with LocalEngine(file):
        LocalEngine(file).close()
        assert b"BlockingIOError" in subprocess.run(ask, check=False, capture_output=True).stderr
    assert subprocess.run(ask, check=False, capture_output=True).returncode == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork on this system")
def test_a_forked_process_may_use_neither_the_engine_nor_its_file(tmp_path: Path) -> None:
    engine = LocalEngine(tmp_path / "memory.db")
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  # the child reports through the pipe
        told = []
        for attempt in (lambda: engine.list(ListRequest()), lambda: LocalEngine(tmp_path / "memory.db")):
            try:
                attempt()
            except CorebrainError as error:
                told.append(str(error))
        engine.close()
        os.write(write_end, "\n".join(told).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    told = os.read(read_end, 4096).decode().split("\n")
    os.close(read_end)
    assert ["before a fork" in told[0], "after the fork" in told[1]] == [True, True]
    assert engine.list(ListRequest()).items == ()
    engine.close()


@pytest.mark.parametrize(("durability", "synchronous"), [("power", 2), ("process", 1)])
def test_durability_decides_whether_a_write_waits_for_the_disk(
    tmp_path: Path, durability: connections.Durability, synchronous: int
) -> None:
    database = connections.Database(tmp_path / "memory.db", durability=durability)
    with database.writing() as connection:
        assert connection.pragma("synchronous") == synchronous
    database.close()
