"""`backup` and `restore`: one commit, whole or not at all, and no other program's file in the way."""

import shutil
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from corebrain.contract import Item
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import ConfigError, EngineError
from corebrain.model.item import Document
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import Hit

READER = """
import sys
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import StoreItem
from corebrain.model.requests import ListRequest
with LocalEngine(sys.argv[1]) as engine:
    engine.store(StoreItem.document("from the other process"))
    print(len(engine.list(ListRequest(limit=200)).items), flush=True)
    sys.stdin.readline()
    engine.store(StoreItem.document("written after the restore"))
    print(len(engine.list(ListRequest(limit=200)).items), flush=True)
"""


def texts(file: Path, listed: Callable[..., list[Hit]]) -> list[str]:
    with LocalEngine(file) as engine:
        assert engine.verify(deep=True) == []
        return sorted(hit.text for hit in listed(engine))


def test_a_backup_is_a_memory_of_its_own(
    engine: LocalEngine, sample: list[Item], tmp_path: Path, listed: Callable[..., list[Hit]]
) -> None:
    engine.store_many(sample)
    target = tmp_path / "copy.db"
    engine.backup(target)
    assert target.stat().st_mode & 0o777 == 0o600
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("copy")] == ["copy.db"]
    assert texts(target, listed) == sorted(hit.text for hit in listed(engine))


def test_a_backup_beside_a_writer_is_one_commit(
    engine: LocalEngine, document: Callable[..., Document], tmp_path: Path, listed: Callable[..., list[Hit]]
) -> None:
    stop = threading.Event()

    def write() -> None:
        batch = 0
        while not stop.is_set():
            engine.store_many([document(f"batch {batch} number {n}") for n in range(5)])
            batch += 1

    writer = threading.Thread(target=write)
    writer.start()
    try:
        sizes = []
        for number in range(5):
            engine.backup(tmp_path / f"{number}.db")
            sizes.append(len(texts(tmp_path / f"{number}.db", listed)))
    finally:
        stop.set()
        writer.join()
    assert sizes == sorted(sizes)
    assert all(size % 5 == 0 for size in sizes)


def test_a_snapshot_stands_still(
    engine: LocalEngine, document: Callable[..., Document], tmp_path: Path, listed: Callable[..., list[Hit]]
) -> None:
    engine.store(document("before"))
    with engine.snapshot() as held:
        engine.store(document("after"))
        held.copy_to(tmp_path / "copy.db")
    assert texts(tmp_path / "copy.db", listed) == ["before"]


def test_a_backup_onto_the_memory_or_into_nowhere_is_refused(engine: LocalEngine, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is the memory itself"):
        engine.backup(engine.path)
    with pytest.raises(ConfigError, match="cannot write"):
        engine.backup(tmp_path / "missing" / "copy.db")


def test_a_backup_that_fails_leaves_the_earlier_one(
    engine: LocalEngine, sample: list[Item], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "copy.db"
    engine.backup(target)
    content = target.read_bytes()
    engine.store_many(sample)

    def fails(*_: object) -> None:
        raise apsw.FullError("disk full")

    monkeypatch.setattr("corebrain.engines.local.copies.pour", fails)
    with pytest.raises(EngineError, match="no space left"):
        engine.backup(target)
    assert target.read_bytes() == content
    assert sorted(path.name for path in tmp_path.iterdir()) == ["brain", "copy.db"]


def test_a_restore_brings_back_what_was_and_keeps_what_is(
    tmp_path: Path, sample: list[Item], document: Callable[..., Document], listed: Callable[..., list[Hit]]
) -> None:
    file, copy = tmp_path / "memory.db", tmp_path / "copy.db"
    with LocalEngine(file) as engine:
        engine.store_many(sample)
        engine.backup(copy)
        engine.store(document("later"))
    before = texts(file, listed)
    for number in (1, 2):
        kept = LocalEngine.restore(copy, file)
        assert kept == tmp_path / f"memory.db.before-restore-{number}"
        assert texts(file, listed) == texts(copy, listed)
        assert "later" not in texts(file, listed)
    assert texts(tmp_path / "memory.db.before-restore-1", listed) == before


def test_a_restore_where_nothing_was_keeps_nothing(
    engine: LocalEngine, sample: list[Item], tmp_path: Path, listed: Callable[..., list[Hit]]
) -> None:
    engine.store_many(sample)
    engine.backup(tmp_path / "copy.db")
    assert LocalEngine.restore(tmp_path / "copy.db", tmp_path / "new" / "memory.db") is None
    assert len(texts(tmp_path / "new" / "memory.db", listed)) == 4


def test_engines_that_have_the_file_open_see_the_restored_memory(
    engine: LocalEngine, document: Callable[..., Document], tmp_path: Path, listed: Callable[..., list[Hit]]
) -> None:
    engine.store_many([document(f"kept {n}", at=f"source:s{n}") for n in range(3)])
    engine.backup(tmp_path / "copy.db")
    other = subprocess.Popen(
        [sys.executable, "-c", READER, str(engine.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert other.stdout is not None
    assert other.stdout.readline() == "4\n"
    engine.store_many([document(f"lost {n}", at=f"source:late{n}") for n in range(3)])
    LocalEngine.restore(tmp_path / "copy.db", engine.path)
    assert len(listed(engine)) == 3
    engine.store(document("new", at="source:late1"))
    out, _ = other.communicate("go\n")
    assert (out, other.returncode) == ("5\n", 0)
    assert engine.verify(deep=True) == []
    reach = Reach.exact(Namespace.parse("source:late1"))
    assert [hit.text for hit in listed(engine) if hit.meta.namespace == reach.at] == ["new"]


def test_a_damaged_memory_is_moved_aside_with_its_log(
    engine: LocalEngine, sample: list[Item], tmp_path: Path, listed: Callable[..., list[Hit]]
) -> None:
    engine.store_many(sample)
    engine.backup(tmp_path / "copy.db")
    file = tmp_path / "broken" / "memory.db"
    file.parent.mkdir()
    shutil.copy(tmp_path / "copy.db", file)
    raw = bytearray(file.read_bytes())
    raw[4096:] = b"\xff" * (len(raw) - 4096)
    file.write_bytes(raw)
    kept = LocalEngine.restore(tmp_path / "copy.db", file)
    assert kept is not None
    assert kept.read_bytes() == raw
    assert len(texts(file, listed)) == 4


@pytest.mark.parametrize("kind", ["missing", "text", "foreign", "newer", "cut", "empty"])
def test_what_is_no_backup_is_refused_and_changes_nothing(
    engine: LocalEngine, sample: list[Item], tmp_path: Path, kind: str, listed: Callable[..., list[Hit]]
) -> None:
    engine.store_many(sample)
    bad = tmp_path / "bad.db"
    if kind == "text":
        bad.write_text("no database\n" * 1000)
    elif kind == "foreign":
        connection = apsw.Connection(str(bad))
        connection.execute("CREATE TABLE theirs(x)")
        connection.close()
    elif kind == "empty":
        bad.touch()
    elif kind != "missing":
        engine.backup(bad)
        raw = bytearray(bad.read_bytes())
        raw[60:64] = struct.pack(">I", 99 if kind == "newer" else 1)
        bad.write_bytes(raw[: len(raw) // 2 // 4096 * 4096] if kind == "cut" else raw)
    with pytest.raises(EngineError if kind == "cut" else ConfigError) as caught:
        LocalEngine.restore(bad, engine.path)
    assert str(bad) in caught.value.message
    assert len(listed(engine)) == 4
    assert sorted(path.name for path in engine.path.parent.iterdir() if "restore" in path.name) == []


def test_another_programs_database_is_not_overwritten(engine: LocalEngine, tmp_path: Path) -> None:
    engine.backup(tmp_path / "copy.db")
    theirs = tmp_path / "theirs.db"
    connection = apsw.Connection(str(theirs))
    connection.execute("CREATE TABLE theirs(x)")
    connection.close()
    content = theirs.read_bytes()
    with pytest.raises(ConfigError, match="another program"):
        LocalEngine.restore(tmp_path / "copy.db", theirs)
    assert theirs.read_bytes() == content


def test_a_restore_from_the_memory_itself_is_refused(engine: LocalEngine) -> None:
    with pytest.raises(ConfigError, match="the memory itself"):
        LocalEngine.restore(engine.path, engine.path)
