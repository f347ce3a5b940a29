"""One agent's loop over both wires (acceptance A3, A6): what its packs hold, and which requests it made."""

import pytest

from corebrain import context
from corebrain.conformance.doubles.served import ServedDouble
from corebrain.context import ContextSpec
from corebrain.engines.cortexdb.digests import label_digest
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.jobs import JobReport
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle.agent_memory import AgentMemory
from corebrain.lifecycle.core import CoreScope
from corebrain.lifecycle.policy import RecallPolicy
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace

Wire = tuple[CortexWriter, ServedDouble]
FACT = "Refunds settle in five business days."
PDF = "app:tinymemory/source:pdf/app:documents"
TURNS = "app:tinymemory/agent:support-01/app:conversations"
ACME = Namespace.parse("ws:acme")


def agent(engine: CortexWriter, layout: MemoryLayout | None = None) -> AgentMemory:
    memory = AgentMemory(engine, layout or MemoryLayout(), "support-01")
    return memory.with_policy(RecallPolicy(build_beliefs_every=2))


def writes(double: ServedDouble) -> list[str]:
    return [line for line in double.seen.lines if line.startswith("POST") and "experience" in line]


def test_a3_one_agents_loop_logs_recalls_and_builds(wire: Wire) -> None:
    engine, double = wire
    hosted = engine.descriptor.hosted
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
    if hosted:
        assert writes(double) == ["POST /memory/experience"] * 3
    else:
        assert writes(double) == ["POST /v1/experience?wait=indexed", "POST /v1/experience", "POST /v1/experience"]

    ran: list[JobReport] = [memory.run_background(job) for job in (*report.jobs, ingested.job)]
    assert [each.outcome.outcome.value for each in ran] == ["scheduled" if hosted else "done"] * 2
    built = [body["scope"] for body in double.seen.of("v1/beliefs/build")]
    assert built == ([] if hosted else [TURNS, PDF])
    assert not any("belief" in line for line in double.seen.lines if hosted)
    for pack in (memory.pre_turn("t2", 0, "how fast are refunds").pack, memory.start_session()):
        assert ("## Learnings" in pack.markdown) is not hosted
        assert (f"- user said {FACT}" in pack.markdown) is not hosted


def test_a_turn_that_cannot_be_read_yet_returns_at_once(wire: Wire) -> None:
    engine, double = wire
    double.knobs.hide_listing_for = 1000
    assert agent(engine).pre_turn("t1", 0, "hello there").log_error is None
    assert agent(engine).post_turn("t1", 1, "hello").receipt.replayed is False
    if not engine.descriptor.hosted:  # a hosted turn's replay is known by its listing
        assert agent(engine).post_turn("t1", 1, "hello").receipt.replayed is True


def test_a_retried_turn_is_a_replay(wire: Wire) -> None:
    engine, double = wire
    assert not agent(engine).post_turn("t1", 1, "hello").receipt.replayed
    assert agent(engine).post_turn("t1", 1, "hello").receipt.replayed
    assert len(double.log.events) == 1


def test_a_pack_names_its_items_keeps_its_budget_and_says_what_it_skipped(wire: Wire) -> None:
    engine, double = wire
    memory = agent(engine)
    memory.brain().ingest(BrainDocument(source=BrainSource.PDF, text=FACT))
    memory.post_turn("t0", 1, "Refunds are slow.")
    double.knobs.recall_down = True
    failing = memory.pre_turn("t1", 0, "when do refunds settle")
    assert failing.log_error is None
    assert failing.pack.refs == ()
    assert failing.pack.skipped
    assert all("answered 500" in skipped.reason for skipped in failing.pack.skipped)
    double.knobs.recall_down = False
    pack = memory.pre_turn("t1", 2, "when do refunds settle").pack
    held = {label for event in double.log.events for label in event["context"]["labels"][:1]}
    assert pack.refs
    assert {f"tm:i:{label_digest(ref)}" for ref in pack.refs} <= held
    assert 0 < pack.tokens <= memory.policy.budget_tokens


def test_a6_a_core_scope_reads_its_node_and_no_sibling_team(wire: Wire) -> None:
    engine, double = wire
    sales = MemoryLayout(Namespace.parse("ws:acme/team:sales"))
    core = CoreScope(at=ACME, heading="House rules")
    memory = agent(engine, sales).with_core([core])
    memory.promote(ACME, StoreItem.learning("Answer within a day", LearningKind.FACT, 0.9))
    hr = MemoryMeta(namespace=Namespace.parse("ws:acme/team:hr"))
    engine.store(StoreItem.learning("Answer to nobody about salaries", LearningKind.FACT, 0.9, hr))
    double.seen.clear()
    pack = memory.pre_turn("t1", 0, "when must I answer").pack
    assert "## House rules\n\n- Answer within a day" in pack.markdown
    assert "salaries" not in pack.markdown
    route = "memory/recall" if engine.descriptor.hosted else "v1/recall"
    recalled = {body["scope"] for body in double.seen.of(route)}
    assert "app:tinymemory/ws:acme/app:learnings" in recalled
    assert not any("team:hr" in scope for scope in recalled)


def test_a6_a_brief_of_a_core_scope_reads_only_its_node(wire: Wire) -> None:
    engine, double = wire
    core = CoreScope(at=ACME, heading="House rules")
    engine.store(StoreItem.learning("Answer within a day", LearningKind.FACT, 0.9, MemoryMeta(namespace=ACME)))
    sales = MemoryMeta(namespace=Namespace.parse("ws:acme/team:sales"))
    engine.store(StoreItem.learning("Answer in French", LearningKind.FACT, 0.9, sales))
    double.seen.clear()
    context.compile(engine, ContextSpec(briefs=(core.brief("When must I answer?"),), learnings_limit=0))
    route = "memory/recall" if engine.descriptor.hosted else "v1/recall"
    assert {body["scope"] for body in double.seen.of(route)} == {
        "app:tinymemory/ws:acme/app:documents",
        "app:tinymemory/ws:acme/app:learnings",
    }


@pytest.mark.parametrize("kind", ["app:learnings", "app:documents", "app:conversations"])
def test_an_agents_reads_name_one_scope_each_and_never_a_parent(wire: Wire, kind: str) -> None:
    engine, double = wire
    agent(engine).pre_turn("t1", 0, "when do refunds settle")
    route = "memory/recall" if engine.descriptor.hosted else "v1/recall"
    bodies = double.seen.of(route)
    assert all(body["view"] == "granular" for body in bodies)
    assert any(body["scope"].endswith(kind) for body in bodies)
