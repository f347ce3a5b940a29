"""One-line faults in guard, record order, reach, settling, turns, tools and reference counts, and who catches each."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SYNC = "tests/unit/pipeline/test_sync.py"
STATE = "tests/unit/pipeline/test_state.py"
CRASH = "tests/crash/test_sync_crashes.py"
NAMESPACE = "tests/unit/model/test_namespace.py"
REACH = "tests/unit/model/test_reach.py"
SETTLE = "tests/unit/recall/test_settle.py"
TURNS = "tests/unit/lifecycle/test_agent_memory.py"
CORE = "tests/unit/lifecycle/test_core.py"
TOOLS = "tests/unit/tools/test_scoping.py"


@dataclass(frozen=True)
class Mutant:
    """A fault: where, what stood there, what stands there now, and the tests that must fail."""

    about: str
    file: str
    was: str
    now: str
    tests: str
    only: str = ""


MUTANTS = [
    Mutant(
        "guard: the ceiling is never reached",
        "pipeline/removal.py",
        "gone <= options.max_delete * held",
        "gone <= 2 * held",
        SYNC,
    ),
    Mutant(
        "guard: an emptied root is believed",
        "pipeline/trust.py",
        "or not held or",
        "or held or",
        SYNC,
    ),
    Mutant(
        "guard: what could not be listed counts as absent",
        "connectors/contract.py",
        " and not any(within(scope, key) for scope in failed)",
        "",
        SYNC,
    ),
    Mutant(
        "guard: a listing that broke off counts as complete",
        "pipeline/scan.py",
        "        if listing.error is None:\n            self._plan_absent(failed)",
        '        listing.completed.append("")\n        self._plan_absent(failed)',
        SYNC,
    ),
    Mutant(
        "record order: nothing is intended before it is stored",
        "pipeline/store.py",
        "            self._ledger.intend([_intent(ready) for ready in batch])\n            self._ingest(batch)",
        "            self._ingest(batch)",
        CRASH,
        "lost_between",
    ),
    Mutant(
        "record order: recorded before it is stored",
        "pipeline/store.py",
        "        try:\n            documents = [document",
        "        self._ledger.record([one.record for one in batch])\n        try:\n            documents = [document",
        CRASH,
        "killed and reference",
    ),
    Mutant(
        "record order: a run that died owes no build",
        "pipeline/source_sync.py",
        "touched = owed or bool(",
        "touched = bool(",
        CRASH,
        "first_sync and reference-never",
    ),
    Mutant(
        "guard: an older state is believed",
        "pipeline/state/sqlite.py",
        "        age.check(self._database)\n",
        "",
        "tests/crash/test_state_crashes.py",
        "older and feeds",
    ),
    Mutant(
        "record order: the cursor moves before everything is stored",
        "pipeline/source_run.py",
        "if settled and listing.cursor is not None",
        "if listing.cursor is not None",
        SYNC,
    ),
    Mutant(
        "record order: a moved document's old record stays",
        "pipeline/state/books.py",
        "            self.end([old for old, _ in moved])\n",
        "",
        SYNC,
    ),
    Mutant(
        "reach: a subtree enters sandboxes",
        "corebrain/model/namespace.py",
        "segment.kind is not SegmentKind.SERVICE",
        "segment is not None",
        REACH,
    ),
    Mutant(
        "reach: everything inherits",
        "corebrain/model/namespace.py",
        "if self.inherit and self.at.is_within(node)",
        "if self.at.is_within(node)",
        REACH,
    ),
    Mutant(
        "reach: a sibling is within",
        "corebrain/model/namespace.py",
        "return self.segments[: other.depth] == other.segments",
        "return self.segments[: other.depth - 1] == other.segments[:-1]",
        NAMESPACE,
    ),
    Mutant(
        "settling: an item is listed in every section",
        "corebrain/recall/settle.py",
        "            shown.update(hit.id for hit in kept)\n",
        "",
        SETTLE,
    ),
    Mutant(
        "settling: beliefs come before stored learnings",
        "corebrain/recall/settle.py",
        "_by_rank(read.hits, admitted)",
        "_by_rank(admitted, read.hits)",
        SETTLE,
    ),
    Mutant(
        "settling: a section shows beliefs beyond its filter",
        "corebrain/recall/settle.py",
        "if section.filter.matches(ItemKind.LEARNING, belief.meta)",
        "if belief is not None",
        SETTLE,
    ),
    Mutant(
        "turns: the turn being logged stands in its own pack",
        "corebrain/lifecycle/agent_memory.py",
        '"exclude_ids": (item.fingerprint(),)',
        '"exclude_ids": ()',
        TURNS,
    ),
    Mutant(
        "turns: a failed log fails the turn",
        "corebrain/lifecycle/agent_memory.py",
        "return None, str(typed(error))",
        "raise",
        TURNS,
    ),
    Mutant(
        "turns: a core section shows what lies below its node",
        "corebrain/lifecycle/core.py",
        "MetaFilter(reach=Reach.exact(self.at)",
        "MetaFilter(reach=Reach.subtree(self.at)",
        CORE,
    ),
    Mutant(
        "tools: a filter reads beyond the scope",
        "corebrain/tools/memory_tools.py",
        '_filter(given).model_copy(update={"reach": self._scope.reach})',
        "_filter(given)",
        TOOLS,
    ),
    Mutant(
        "tools: forgetting by id reaches out of the scope",
        "corebrain/tools/memory_tools.py",
        "readable = {hit.id for hit in self._engine.get(GetRequest(ids=ids, reach=self._scope.reach))}",
        "readable = set(ids)",
        TOOLS,
    ),
    Mutant(
        "reference counts: what another record names is forgotten",
        "pipeline/state/books.py",
        "AND id IN (SELECT id FROM item WHERE item.id = doomed.id)",
        "AND id IS NULL",
        STATE,
    ),
    Mutant(
        "reference counts: what is being stored is forgotten",
        "pipeline/state/books.py",
        "(SELECT j.value FROM intent t, json_each(t.ids) j WHERE t.source = ?1)",
        "('')",
        STATE,
    ),
    Mutant(
        "reference counts: a superseded version is never doomed",
        "pipeline/state/books.py",
        "        self._doom_intent(key)\n        self._doom_record(key)\n        values",
        "        self._doom_intent(key)\n        values",
        SYNC,
    ),
]


@pytest.fixture(scope="session")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the packages and tests to break."""
    folder = tmp_path_factory.mktemp("mutants")
    for name in ("corebrain", "connectors", "pipeline", "tests"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copyfile(ROOT / "pyproject.toml", folder / "pyproject.toml")
    return folder


def run(folder: Path, tests: str, only: str) -> subprocess.CompletedProcess[str]:
    """Run *tests* against the copy; nothing of the original is imported."""
    command = [sys.executable, "-B", "-m", "pytest", tests, "-x", "-q", "-p", "no:cacheprovider", "--timeout=120"]
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return subprocess.run(
        [*command, *(["-k", only] if only else [])],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.slow
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.about)
def test_each_fault_is_caught(copy: Path, mutant: Mutant) -> None:
    file = copy / mutant.file
    plain = file.read_text()
    assert plain.count(mutant.was) == 1, "the line to break is not there (once) any more"
    file.write_text(plain.replace(mutant.was, mutant.now))
    try:
        ran = run(copy, mutant.tests, mutant.only)
    finally:
        file.write_text(plain)
    assert ran.returncode == 1, f"survived:\n{ran.stdout[-1500:]}{ran.stderr[-1500:]}"
    assert "failed" in ran.stdout


@pytest.mark.slow
def test_the_copy_itself_is_sound(copy: Path) -> None:
    for tests in (SYNC, STATE, NAMESPACE, REACH, SETTLE, TURNS, CORE, TOOLS):
        ran = run(copy, tests, "")
        assert ran.returncode == 0, ran.stdout[-1500:]
