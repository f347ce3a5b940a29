"""A memory of an older version, whose upgrade dies or is made by two processes at once, is never half upgraded."""

import gzip
import signal
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from corebrain.engines.local import migration
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.requests import ListRequest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")

KEPT = Path(__file__).parents[1] / "golden" / "local" / "memory-v1.db.gz"
CHILD = """
import os, sys
import apsw
from corebrain.engines.local.engine import LocalEngine

crash_at, calls = int(sys.argv[2]), 0

def count(cursor, sql, bindings):
    global calls
    calls += 1
    if calls == crash_at:
        os.kill(os.getpid(), 9)
    return True

apsw.connection_hooks.append(lambda connection: setattr(connection, "exec_trace", count))
LocalEngine(sys.argv[1]).close()
print(calls)
"""


def command(file: Path, crash_at: int) -> list[str]:
    return [sys.executable, "-c", CHILD, str(file), str(crash_at)]


def opened(file: Path, crash_at: int) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(command(file, crash_at), capture_output=True, text=True, check=False)


def old(folder: Path) -> Path:
    folder.mkdir()
    file = folder / "memory.db"
    file.write_bytes(gzip.decompress(KEPT.read_bytes()))
    return file


def held(file: Path) -> set[str]:
    with LocalEngine(file) as engine:
        assert engine.verify(deep=True) == []
        return {each.id for each in engine.export(ListRequest(limit=100)).items}


def version(file: Path) -> int:
    connection = apsw.Connection(str(file))
    try:
        assert connection.pragma("integrity_check") == "ok"
        return int(connection.pragma("user_version"))
    finally:
        connection.close()


@pytest.mark.slow
def test_an_upgrade_killed_at_any_statement_leaves_the_old_memory_or_the_new_one(tmp_path: Path) -> None:
    whole = old(tmp_path / "whole")
    calls = int(opened(whole, 0).stdout)
    expected = held(whole)
    assert len(expected) == 9
    assert calls > 100
    kills = range(1, calls + 1, max(1, calls // 9))
    found: list[int] = []
    for at in kills:
        file = old(tmp_path / f"killed{at}")
        assert opened(file, at).returncode == -signal.SIGKILL
        found.append(version(file))
        assert held(file) == expected
        assert version(file) == migration.VERSION
        assert held(file.with_name("memory.db.v1")) == expected
    assert found == sorted(found)
    assert found[0] == 1
    sys.stdout.write(f"\nupgrades killed: {len(kills)} of {len(kills)} whole; 0 items lost, 0 half upgraded\n")


def test_two_processes_that_open_an_old_memory_at_once_upgrade_it_once(tmp_path: Path) -> None:
    file = old(tmp_path / "both")
    children = [subprocess.Popen(command(file, 0), stdout=subprocess.DEVNULL) for _ in range(3)]
    assert [child.wait() for child in children] == [0, 0, 0]
    assert len(held(file)) == 9
    assert len(held(file.with_name("memory.db.v1"))) == 9
