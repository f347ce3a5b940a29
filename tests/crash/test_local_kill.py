"""A process killed at any instant loses nothing it was told is kept, doubles nothing and tears nothing."""

import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import EngineError
from corebrain.model.item import StoreItem
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import BeliefsRequest, ListRequest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="kills by signal")

CHILD = """
import json, os, sys
import apsw
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import Conversation, StoreItem
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import ConsolidateRequest, ForgetTarget

path, crash_at = sys.argv[1], int(sys.argv[2])
calls = 0
engine = LocalEngine(path)

def count(statement, bindings):
    global calls
    calls += 1
    if calls == crash_at:
        os.kill(os.getpid(), 9)
    return True

engine._database._writer.exec_trace = lambda cursor, sql, bindings: count(sql, bindings)

def tell(**said):
    print(json.dumps(said), flush=True)

def turn(number):
    return Conversation.from_dict({"turns": [{"role": "user", "text": f"turn {number}"}], "meta": {
        "namespace": "agent:a", "thread_id": "t", "turns": {"first": number, "last": number}}})

for batch in range(3):
    items = [StoreItem.document(f"batch {batch} number {n}. More text. " * 60) for n in range(2)]
    items += [turn(batch * 2), turn(batch * 2 + 1)]
    receipts = engine.store_many(items)
    tell(stored=[receipt.id for receipt in receipts])
engine.consolidate(ConsolidateRequest(reach=WHOLE_TREE))
tell(built=True)
gone = [turn(1).fingerprint(), StoreItem.document("batch 0 number 0. More text. " * 60).fingerprint()]
engine.forget(ForgetTarget.of_ids(*gone))
tell(forgotten=gone)
tell(calls=calls)
engine.close()
"""


def run(path: Path, crash_at: int) -> tuple[int, dict[str, object]]:
    child = subprocess.run(
        [sys.executable, "-c", CHILD, str(path), str(crash_at)], capture_output=True, text=True, check=False
    )
    said: dict[str, object] = {"stored": []}
    for line in child.stdout.splitlines():
        for key, value in json.loads(line).items():
            said[key] = said["stored"] + value if key == "stored" else value
    return child.returncode, said


def check(path: Path, said: dict[str, object]) -> None:
    """The store is whole, holds what was acknowledged, and only whole batches."""
    with LocalEngine(path) as engine:
        held = {each.id for each in engine.export(ListRequest(limit=1000)).items}
        stored = set(said["stored"])  # type: ignore[call-overload]  # a list of ids
        gone = set(said.get("forgotten", ()))  # type: ignore[call-overload]  # a list of ids
        assert stored - held in (gone, *([stored - held] if "built" in said and len(stored - held) == 2 else []))
        assert not held & gone
        assert len(held | gone) % 4 in {0, 2}
        if said.get("built") and not gone:
            beliefs = engine.beliefs(BeliefsRequest(reach=WHOLE_TREE, limit=1000))
            assert len(beliefs) in {len(stored), len(stored) - 2}
        assert engine.verify(deep=True) == []


@pytest.mark.slow
def test_a_kill_at_any_statement_leaves_a_whole_store_and_a_rerun_completes_it(tmp_path: Path) -> None:
    code, told = run(tmp_path / "whole.db", 0)
    assert code == 0
    calls = int(str(told["calls"]))
    assert calls > 200
    with LocalEngine(tmp_path / "whole.db") as engine:
        whole = {each.id for each in engine.export(ListRequest(limit=1000)).items}
    for at in range(1, calls, max(1, calls // 40)):
        path = tmp_path / f"killed{at}.db"
        code, said = run(path, at)
        assert code == -signal.SIGKILL
        check(path, said)
        code, _ = run(path, 0)
        assert code == 0
        with LocalEngine(path) as engine:
            assert {each.id for each in engine.export(ListRequest(limit=1000)).items} == whole
    kills = len(range(1, calls, max(1, calls // 40)))
    sys.stdout.write(f"\nkills: {kills} of {kills} stores whole; 0 acknowledged items lost, 0 torn, 0 doubled\n")


@pytest.fixture
def small_files() -> Iterator[int]:
    """No file of this process may grow beyond the limit: a full disk without a disk."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limit = 600_000
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, before[1]))
    yield limit
    resource.setrlimit(resource.RLIMIT_FSIZE, before)
    signal.signal(signal.SIGXFSZ, handler)


def test_a_full_disk_is_told_and_costs_only_the_batch_it_met(tmp_path: Path, small_files: int) -> None:
    engine = LocalEngine(tmp_path / "memory.db")
    kept: list[str] = []
    told = ""
    while not told:
        items = [StoreItem.document(f"number {len(kept)} {n} " + os.urandom(2_000).hex()) for n in range(4)]
        try:
            kept += [receipt.id for receipt in engine.store_many(items)]
        except EngineError as error:
            told = error.message
    assert "space" in told
    assert kept
    assert {each.id for each in engine.export(ListRequest(limit=10_000)).items} == set(kept)
    engine.close()
    assert (tmp_path / "memory.db").stat().st_size <= small_files
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))
    with LocalEngine(tmp_path / "memory.db") as engine:
        assert {each.id for each in engine.export(ListRequest(limit=10_000)).items} == set(kept)
        assert not engine.store(StoreItem.document("room again")).replayed
