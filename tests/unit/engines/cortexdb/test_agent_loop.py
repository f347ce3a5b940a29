"""One agent's loop over the Direct surface: what its packs hold, and which requests it made."""

from collections.abc import Callable

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.jobs import JobReport
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle.agent_memory import AgentMemory
from corebrain.lifecycle.core import CoreScope
from corebrain.lifecycle.policy import RecallPolicy
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.namespace import Namespace

FACT = "Refunds settle in five business days."
PDF = "app:tinymemory/source:pdf/app:documents"
TURNS = "app:tinymemory/agent:support-01/app:conversations"


def agent(engine: CortexEngine) -> AgentMemory:
    memory = AgentMemory(engine, MemoryLayout(), "support-01")
    return memory.with_policy(RecallPolicy(build_beliefs_every=2))


def writes(double: DirectDouble) -> list[str]:
    return [line for line in double.seen.lines if line.startswith("POST /v1/experience")]


def test_an_agents_loop_logs_recalls_and_builds(engine: CortexEngine, double: DirectDouble) -> None:
    memory = agent(engine)
    ingested = memory.brain().ingest(BrainDocument(source=BrainSource.PDF, text=FACT))
    assert [event["scope"] for event in double.log.events] == [PDF]

    first = memory.pre_turn("t1", 0, "when do refunds settle")
    assert first.log_error is None
    assert "## Brain" in first.pack.markdown
    assert FACT in first.pack.markdown
    report = memory.post_turn("t1", 1, "Five business days.")
    assert len(report.jobs) == 1
    assert ingested.job is not None
    resumed = memory.start_session("t1", "refunds")
    assert "## Earlier in this thread" in resumed.markdown
    assert writes(double) == [
        "POST /v1/experience?wait=indexed",
        "POST /v1/experience",
        "POST /v1/experience",
    ]

    ran: list[JobReport] = [memory.run_background(job) for job in (*report.jobs, ingested.job)]
    assert [each.outcome.outcome.value for each in ran] == ["done", "done"]
    assert [body["scope"] for body in double.seen.of("v1/beliefs/build")] == [TURNS, PDF]
    for pack in (memory.pre_turn("t2", 0, "how fast are refunds").pack, memory.start_session()):
        assert "## Learnings" in pack.markdown
        assert f"- user said {FACT}" in pack.markdown


def test_a_turn_that_cannot_be_read_yet_returns_at_once(engine: CortexEngine, double: DirectDouble) -> None:
    double.knobs.hide_listing_for = 1000
    assert agent(engine).pre_turn("t1", 0, "hello there").log_error is None
    assert agent(engine).post_turn("t1", 1, "hello").receipt.replayed is False
    assert agent(engine).post_turn("t1", 1, "hello").receipt.replayed is True


def test_a_core_scope_reaches_the_pack_of_an_agent_below(make: Callable[..., CortexEngine]) -> None:
    top = Namespace.parse("team:acme")
    layout = MemoryLayout(Namespace.parse("team:acme/ws:main"))
    memory = AgentMemory(make(), layout, "support-01").with_core([CoreScope(at=top, heading="House rules")])
    memory.promote(top, StoreItem.learning("Answer within a day", LearningKind.FACT, 0.9))
    pack = memory.pre_turn("t1", 0, "when must I answer").pack
    assert "## House rules" in pack.markdown
    assert "Answer within a day" in pack.markdown
