"""`backup` and `restore`: memory and state of one moment in one file, and back, whole or not at all."""

import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import EngineError
from pipeline.errors import AlreadyRunning, StateError
from pipeline.state.sqlite import SqliteState


def test_a_restore_brings_the_whole_brain_back(two: Any) -> None:
    before = two.brain("dump").out
    written = two.brain("backup", "b.zip", "--json")
    assert written.status == 0
    assert written.json["bytes"] == (two.folder / "b.zip").stat().st_size
    assert (two.folder / "b.zip").stat().st_mode & 0o777 == 0o600
    two.brain("forget", "docs", "--yes")
    later = two.brain("dump").out
    answer = two.brain("restore", "b.zip", "--json")
    assert answer.status == 0
    assert two.brain("dump").out == before
    assert two.brain("verify", "--deep").status == 0
    assert two.brain("sync", "--json").json["sources"][0]["unchanged"] == 2
    kept = {Path(path).name for path in answer.json["kept"]}
    assert kept == {"memory.db.before-restore-1", "state.db.before-1"}
    for name, old in (("memory.db", "memory.db.before-restore-1"), ("state.db", "state.db.before-1")):
        (two.folder / ".brain" / old).replace(two.folder / ".brain" / name)
    assert two.brain("dump").out == later, "what was there is kept whole"


def test_a_backup_can_be_restored_on_another_machine(two: Any) -> None:
    two.brain("backup", "b.zip")
    before = sorted(two.ids().values())
    (two.folder / ".brain").rename(two.folder / "gone")
    answer = two.brain("restore", "b.zip")
    assert answer.status == 0
    assert "is kept in" not in answer.out
    assert sorted(two.ids().values()) == before
    assert (two.folder / ".brain").stat().st_mode & 0o777 == 0o700
    assert (two.folder / ".brain" / "memory.db").stat().st_mode & 0o777 == 0o600


def test_folders_synced_by_path_come_back_with_their_names(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.brain("sync", "docs")
    desk.brain("backup", "b.zip")
    desk.brain("forget", "docs", "--yes")
    assert desk.brain("restore", "b.zip").status == 0
    assert desk.brain("sync", "--json").json["sources"][0]["name"] == "docs"


def test_the_configuration_and_leases_are_not_in_a_backup(two: Any) -> None:
    state = SqliteState(two.folder / ".brain" / "state.db")
    state.lease("docs", 4e9)
    two.brain("backup", "b.zip")
    state.close()
    with zipfile.ZipFile(two.folder / "b.zip") as packed:
        assert sorted(packed.namelist()) == ["backup.json", "memory.db", "state.db"]
    (two.folder / ".brain").rename(two.folder / "gone")
    assert two.brain("restore", "b.zip").status == 0
    assert two.brain("sync").status == 0


def test_state_and_memory_of_a_backup_are_of_one_moment(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """While the engine is fixed nobody can write the state, and what is written later is in neither copy."""
    begun: list[bool] = []
    snapshot = LocalEngine.snapshot

    def noted(self: LocalEngine) -> Any:
        monkeypatch.setattr("pipeline.state.database.BUSY_TIMEOUT_MS", 20)
        other = SqliteState(two.folder / ".brain" / "state.db")
        with pytest.raises(StateError, match="stays locked"):
            other.add_job("{}", 1.0)
        other.close()
        begun.append(True)
        return snapshot(self)

    monkeypatch.setattr(LocalEngine, "snapshot", noted)
    assert two.brain("backup", "b.zip").status == 0
    assert begun == [True]


def test_nothing_is_restored_while_a_sync_runs(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    two.brain("backup", "b.zip")
    before = two.brain("dump").out
    state = SqliteState(two.folder / ".brain" / "state.db")
    lease = state.lease("brain run", 4e9)
    with monkeypatch.context() as patched:
        patched.setattr("pipeline.state.copies.os.getpid", lambda: -1)
        answer = two.brain("restore", "b.zip")
    assert answer.status == 1
    assert "brain run is being synced by pid" in answer.err
    lease.release()
    state.close()
    assert two.brain("dump").out == before


def test_no_sync_begins_while_a_restore_is_under_way(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    two.brain("backup", "b.zip")
    refused: list[str] = []
    restore = LocalEngine.restore

    def tried(*arguments: Any) -> Any:
        state = SqliteState(two.folder / ".brain" / "state.db")
        for name in ("docs", "more"):
            with pytest.raises(AlreadyRunning):
                state.lease(name, 1.0)
            refused.append(name)
        state.close()
        return restore(*arguments)

    monkeypatch.setattr(LocalEngine, "restore", tried)
    assert two.brain("restore", "b.zip").status == 0
    assert refused == ["docs", "more"]
    assert two.brain("sync").status == 0


def test_a_damaged_state_does_not_hinder_a_restore(two: Any) -> None:
    before = two.brain("dump").out
    two.brain("backup", "b.zip")
    (two.folder / ".brain" / "state.db").write_bytes(b"no database" * 1000)
    answer = two.brain("restore", "b.zip", "--json")
    assert answer.status == 0
    assert (two.folder / ".brain" / "state.db.before-1").read_bytes() == b"no database" * 1000
    assert two.brain("dump").out == before


def test_a_restore_that_dies_midway_leaves_a_state_that_believes_nothing(
    two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    two.brain("backup", "b.zip")
    two.write(new="# New\n\nlater")
    two.brain("sync")
    whole = sorted(two.ids())

    def dies(*_: object) -> None:
        raise EngineError("the disk failed")

    with monkeypatch.context() as patched:
        patched.setattr("pipeline.archive.pour_state", dies)
        assert two.brain("restore", "b.zip").status == 1
    assert two.brain("status", "docs", "--json").json["sources"][0]["documents"] == 0
    assert two.brain("sync").status == 0
    assert sorted(two.ids()) == whole
    assert two.brain("verify", "--deep").status == 0


def rewritten(file: Path, **parts: bytes | None) -> None:
    """Replace or drop parts of a backup."""
    with zipfile.ZipFile(file) as packed:
        held = {name: packed.read(name) for name in packed.namelist()}
    held |= {name.replace("_", "."): raw for name, raw in parts.items() if raw is not None}
    for name in [name.replace("_", ".") for name, raw in parts.items() if raw is None]:
        del held[name]
    with zipfile.ZipFile(file, "w") as packed:
        for name, raw in held.items():
            packed.writestr(name, raw)


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        ("missing", "there is no b.zip"),
        ("text", "is no whole backup"),
        ("cut", "is no whole backup"),
        ("flipped", "is no whole backup"),
        ("no memory", "memory.db is missing"),
        ("no manifest", "is no whole backup"),
        ("newer", "newer corebrain"),
        ("foreign memory", "is not a corebrain memory"),
        ("foreign state", "is not a database"),
    ],
)
def test_what_is_no_backup_changes_nothing(two: Any, damage: str, told: str) -> None:
    file = two.folder / "b.zip"
    two.brain("backup", "b.zip")
    before = two.brain("dump").out
    raw = file.read_bytes()
    match damage:
        case "missing":
            file.unlink()
        case "text":
            file.write_text("no zip")
        case "cut":
            file.write_bytes(raw[: len(raw) // 2])
        case "flipped":
            middle = len(raw) // 2
            file.write_bytes(
                raw[:middle] + bytes(byte ^ 0xFF for byte in raw[middle : middle + 64]) + raw[middle + 64 :]
            )
        case "no memory":
            rewritten(file, memory_db=None)
        case "no manifest":
            rewritten(file, backup_json=None)
        case "newer":
            rewritten(file, backup_json=json.dumps({"format": 99, "made": "x"}).encode())
        case "foreign memory":
            rewritten(file, memory_db=b"something else " * 1000)
        case _:
            rewritten(file, state_db=b"something else " * 1000)
    answer = two.brain("restore", "b.zip")
    assert answer.status == 2
    assert told in answer.err
    assert two.brain("dump").out == before
    assert not list((two.folder / ".brain").glob("*before*"))
    assert not list((two.folder / ".brain").glob("backup-*"))


def test_a_backup_of_another_root_is_refused(two: Any) -> None:
    two.brain("backup", "b.zip")
    (two.folder / ".brain").rename(two.folder / "gone")
    two.configure('[brain]\nroot = "team:acme"\n')
    answer = two.brain("restore", "b.zip")
    assert answer.status == 2
    assert "is of a brain at root, this one is at team:acme" in answer.err


def test_what_cannot_be_written_is_told_and_keeps_the_earlier_backup(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    two.brain("backup", "b.zip")
    content = (two.folder / "b.zip").read_bytes()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("zipfile.ZipFile.write", full)
    answer = two.brain("backup", "b.zip")
    assert answer.status == 2
    assert "no space left on device" in answer.err
    assert (two.folder / "b.zip").read_bytes() == content
    assert not (two.folder / "b.zip.part").exists()
    assert two.brain("backup", ".").status == 2
    assert two.brain("backup", "nowhere/b.zip").status == 2


def test_leftovers_of_a_backup_that_was_killed_are_swept(two: Any) -> None:
    left = two.folder / ".brain" / "backup-999999999-x"
    left.mkdir()
    (left / "memory.db").write_text("old")
    two.brain("backup", "b.zip")
    assert not left.exists()


def test_there_is_nothing_to_back_up_before_the_first_sync(desk: Any) -> None:
    answer = desk.brain("backup", "b.zip")
    assert answer.status == 2
    assert not (desk.folder / ".brain").exists()
