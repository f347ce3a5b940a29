"""An agent's lifecycle on CortexDB (acceptance A5).

Always against the Direct double; also against a real server when CORTEXDB_KEY is set (its endpoint in CORTEXDB_URL,
else the managed API). Everything is stored below a node of the run's own and forgotten, whatever happens.
"""

import os
import subprocess
import sys
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.contract import MemoryEngine
from corebrain.engines.registry import build_engine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, RecallPolicy
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import Consolidation, ForgetTarget, ListRequest, RecallRequest

pytestmark = pytest.mark.live

KEY = os.environ.get("CORTEXDB_KEY", "")
URL = os.environ.get("CORTEXDB_URL", "")
EXAMPLE = Path(__file__).parents[2] / "examples" / "cortex_agent.py"
FACT = "Refunds settle within five business days."
SERVERS = ["double", pytest.param("real", marks=pytest.mark.skipif(not KEY, reason="needs CORTEXDB_KEY"))]


@pytest.fixture(params=SERVERS)
def engine(request: pytest.FixtureRequest) -> Iterator[MemoryEngine]:
    if request.param == "real":
        with build_engine("cortexdb", credential=KEY, endpoint=URL) as made:
            yield made
        return
    with DirectDouble() as double, build_engine("cortexdb", credential=TOKEN, endpoint=double.endpoint) as made:
        yield made


@pytest.fixture
def node(engine: MemoryEngine) -> Iterator[Namespace]:
    """A node of this run's own, empty again afterwards."""
    own = Namespace.parse(f"ws:live-{uuid.uuid4().hex[:12]}")
    everything = MetaFilter(reach=Reach.subtree(own))
    yield own
    engine.forget(ForgetTarget.of_filter(everything))
    assert engine.list(ListRequest(filter=everything)).items == ()


def test_a5_an_agent_lives_on_cortexdb(engine: MemoryEngine, node: Namespace) -> None:
    assert engine.health().is_serving
    memory = AgentMemory(engine, MemoryLayout(node), "support-01").with_policy(RecallPolicy(build_beliefs_every=2))
    ingested = memory.brain().ingest(BrainDocument(source=BrainSource.FILES, title="Refund policy", text=FACT))
    assert not ingested.receipt.replayed
    turn = memory.pre_turn("t1", 0, "When do refunds settle?")
    assert turn.log_error is None
    assert FACT in turn.pack.markdown
    report = memory.post_turn("t1", 1, "Five business days.")
    assert memory.post_turn("t1", 1, "Five business days.").receipt.id == report.receipt.id

    by_itself = engine.descriptor.consolidation is Consolidation.AUTOMATIC
    assert [len(report.jobs), ingested.job is not None] == ([0, False] if by_itself else [1, True])
    for job in [*report.jobs, *([ingested.job] if ingested.job else [])]:
        assert memory.run_background(job).outcome.outcome.value in {"done", "started"}
    dropped = [Turn(role=Role.USER, text="When do refunds settle?")]
    assert memory.recall_for_compaction("t1", dropped).markdown
    assert engine.recall(RecallRequest(question="When do refunds settle?", filter=memory.layout.brain_filter())).answer


def test_a5_what_was_stored_is_listed_exported_and_a_replay(engine: MemoryEngine, node: Namespace) -> None:
    item = StoreItem.learning("Answers are read on a phone", LearningKind.FACT, 0.75, MemoryMeta(namespace=node))
    receipt = engine.store(item)
    assert (receipt.id, receipt.replayed) == (item.fingerprint(), False)
    here = MetaFilter(reach=Reach.exact(node))
    assert [hit.id for hit in engine.list(ListRequest(filter=here)).items] == [receipt.id]
    (exported,) = engine.export(ListRequest(filter=here)).items
    assert exported.item == item
    assert engine.store(item).replayed
    assert engine.forget(ForgetTarget.of_ids(receipt.id)).forgotten == 1
    assert not engine.store(item).replayed


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["--hosted"],
        pytest.param(
            ["--url", URL or "https://api-v1.cortexdb.ai"],
            marks=pytest.mark.skipif(not KEY, reason="needs CORTEXDB_KEY"),
        ),
    ],
    ids=["double", "hosted double", "real"],
)
def test_a5_the_example_runs(command: list[str]) -> None:
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLE.parents[1]), "PYTHONIOENCODING": "utf-8"}
    ran = subprocess.run(
        [sys.executable, str(EXAMPLE), *command], capture_output=True, text=True, check=False, env=environment
    )
    assert ran.returncode == 0, ran.stderr
    assert FACT in ran.stdout
    assert "It rests on" in ran.stdout
    assert "Forgot the 3 items of this run." in ran.stdout


def test_the_example_names_the_variable_it_misses() -> None:
    environment = {name: value for name, value in os.environ.items() if name != "CORTEXDB_KEY"}
    environment |= {"PYTHONPATH": str(EXAMPLE.parents[1])}
    command = [sys.executable, str(EXAMPLE), "--url", "https://cortexdb.example.com"]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert (ran.returncode, ran.stderr) == (1, "set CORTEXDB_KEY to the credential of https://cortexdb.example.com\n")
