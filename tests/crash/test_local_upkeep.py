"""A process killed in the midst of `optimize` or `restore`: the memory is the old one or the new one, and sound."""

import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import StoreItem
from corebrain.model.requests import ForgetTarget, ListRequest

DIES = 9
PREPARE = """
import os, sys, apsw
from corebrain.engines.local import connection as connections
from corebrain.engines.local.engine import LocalEngine
left = int(sys.argv[2])
def step(*_):
    global left
    left -= 1
    if left < 0:
        os._exit(9)
    return False
"""
OPTIMIZE = (
    PREPARE
    + """
engine = LocalEngine(sys.argv[1])
engine._database._writer.set_progress_handler(step, 400)
engine.optimize()
"""
)
RESTORE = (
    PREPARE
    + """
from corebrain.engines.local import copies
pour = copies.pour
def slow(source, into):
    with into.backup("main", source, "main") as backup:
        while not backup.done:
            step()
            backup.step(2)
    step()
copies.pour = slow
step()
LocalEngine.restore(sys.argv[3], sys.argv[1])
step()
"""
)


def texts(file: Path) -> list[str]:
    with LocalEngine(file) as engine:
        assert engine.verify(deep=True) == []
        return sorted(hit.text for hit in engine.list(ListRequest(limit=500)).items)


def store(file: Path, name: str, count: int) -> None:
    with LocalEngine(file, durability="process") as engine:
        items = [StoreItem.document(f"{name} number {n} " * 12) for n in range(count)]
        for start in range(0, count, 100):
            engine.store_many(items[start : start + 100])


def points(run: Callable[[int], int], steps: Iterable[int]) -> int:
    """Run with a death after each number of steps until it gets to its end; return how many died."""
    for died, after in enumerate(steps):
        status = run(after)
        if status == 0:
            return died
        assert status == DIES
    raise AssertionError("it never got to its end")


def killed(script: str, *arguments: str) -> int:
    ran = subprocess.run([sys.executable, "-c", script, *arguments], check=False, capture_output=True, text=True)
    assert ran.returncode in {0, DIES}, ran.stderr
    return ran.returncode


@pytest.mark.slow
def test_a_death_while_optimizing_loses_nothing(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    store(file, "kept", 100)
    store(file, "gone", 100)
    with LocalEngine(file) as engine:
        hits = engine.list(ListRequest(limit=500)).items
        engine.forget(ForgetTarget.of_ids(*(hit.id for hit in hits if hit.text.startswith("gone"))))
    kept = texts(file)
    assert len(kept) == 100

    def run(after: int) -> int:
        status = killed(OPTIMIZE, str(file), str(after))
        assert texts(file) == kept
        return status

    assert points(run, (0, 1, 3, 6, 12, 25, 50, 100, 200, 10_000)) >= 4


@pytest.mark.slow
def test_a_death_while_restoring_leaves_the_old_memory_or_the_new_one(tmp_path: Path) -> None:
    file, backup = tmp_path / "memory.db", tmp_path / "copy.db"
    store(file, "first", 60)
    with LocalEngine(file) as engine:
        engine.backup(backup)
    old = texts(file)
    store(file, "second", 60)
    new = texts(file)
    seen = set()

    def run(after: int) -> int:
        status = killed(RESTORE, str(file), str(after), str(backup))
        held = texts(file)
        assert held in (old, new)
        seen.add(len(held))
        if held == old:
            store(file, "second", 60)
        for aside in tmp_path.glob("*.before-restore-*"):
            if not aside.name.endswith((".part", "-journal", "-wal", "-shm")):
                assert texts(aside) == new, "what is kept aside is whole"
            aside.unlink()
        return status

    assert points(run, (0, 1, 2, 5, 10, 20, 40, 80, 160, 320, 10_000)) >= 5
    assert seen == {60, 120}
