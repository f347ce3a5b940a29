"""What no pack may hold, over random trees, histories and policies, on our own engines (spec 00)."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.contract import MemoryEngine
from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, CoreScope, RecallPolicy
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, SegmentKind
from corebrain.model.requests import GetRequest, Hit, ListRequest
from corebrain.recall import ContextPack

ROOTS = ["root", "team:acme", "ws:acme/team:hive"]
NODES = [
    *ROOTS,
    "ws:acme",
    "team:globex",
    "ws:acme/team:other",
    "agent:a",
    "team:acme/agent:a/agent:b",
    "team:acme/service:news",
    "ws:acme/team:hive/service:news/agent:a",
    "ws:acme/team:hive/agent:a/service:x",
    "service:cron",
]
AGENTS = ["a", "b", "o'neil@acme.com"]
THREADS = ["t", "u"]
SAYINGS = st.lists(st.sampled_from(["marlin", "refund", "ghent", "tea"]), min_size=1, max_size=4).map(" ".join)
TIMES = st.none() | st.integers(0, 50).map(lambda minute: f"2026-01-01T10:{minute:02d}:00Z")


@contextmanager
def engine_of(kind: str) -> Iterator[MemoryEngine]:
    if kind == "reference":
        yield ReferenceEngine()
        return
    with tempfile.TemporaryDirectory() as folder, LocalEngine(Path(folder) / "memory.db") as engine:
        yield engine


@st.composite
def histories(draw: st.DrawFn) -> dict[str, Any]:
    """A layout, what lies around it, what was said, and one more turn."""
    layout = MemoryLayout(Namespace.parse(draw(st.sampled_from(ROOTS))))
    if draw(st.booleans()):
        layout = layout.with_pooled_conversations(Namespace.parse("ws:pool"))
    ancestors = layout.ancestors()
    return {
        "layout": layout,
        "items": draw(st.lists(st.tuples(st.sampled_from(NODES), SAYINGS, st.booleans()), max_size=12)),
        "documents": draw(st.lists(SAYINGS, max_size=4)),
        "turns": draw(
            st.lists(
                st.tuples(st.sampled_from(AGENTS), st.sampled_from(THREADS), st.integers(0, 9), SAYINGS, TIMES),
                max_size=16,
            )
        ),
        "agent": draw(st.sampled_from(AGENTS)),
        "core": [CoreScope(node, f"Core {node}") for node in ancestors if draw(st.booleans())],
        "policy": draw(
            st.builds(
                RecallPolicy,
                budget_tokens=st.integers(1, 300),
                learnings_limit=st.integers(0, 4),
                brain_limit=st.integers(0, 4),
                history_limit=st.integers(0, 4),
                team_limit=st.integers(0, 4),
            )
        ),
        "live": draw(st.tuples(st.sampled_from(THREADS), st.integers(0, 12), SAYINGS, st.integers(0, 12), TIMES)),
        "built": draw(st.booleans()),
    }


def fill(engine: MemoryEngine, history: dict[str, Any]) -> None:
    layout = history["layout"]
    for node, text, learned in history["items"]:
        meta = MemoryMeta(namespace=Namespace.parse(node))
        learning = StoreItem.learning(text, LearningKind.FACT, 0.5, meta)
        engine.store(learning if learned else StoreItem.document(text, meta))
    for text in history["documents"]:
        document = BrainDocument(source=BrainSource.FILES, text=f"{text} handbook", meta=MemoryMeta(agent_id="a"))
        AgentMemory(engine, layout, "a").brain().ingest(document)
    for agent, thread, index, text, at in history["turns"]:
        AgentMemory(engine, layout, agent).post_turn(thread, index, text, at=at)
    if history["built"]:
        memory = AgentMemory(engine, layout, "a")
        memory.run_background(memory.history_build())


def memory_of(engine: MemoryEngine, history: dict[str, Any]) -> AgentMemory:
    return AgentMemory(engine, history["layout"], history["agent"]).with_policy(history["policy"])


def hits_of(pack: ContextPack) -> list[Hit]:
    return [hit for found in pack.sections for hit in found.hits]


def in_sandbox(node: Namespace, root: Namespace) -> bool:
    return any(segment.kind is SegmentKind.SERVICE for segment in node.segments[root.depth :])


@pytest.mark.parametrize("kind", ["reference", "local"])
@given(history=histories())
def test_no_pre_turn_breaks_an_invariant(kind: str, history: dict[str, Any]) -> None:
    layout = history["layout"]
    thread, index, text, window, at = history["live"]
    with engine_of(kind) as engine:
        fill(engine, history)
        before = set(threading.enumerate())
        memory = memory_of(engine, history).with_core(history["core"])
        turn = memory.pre_turn(thread, index, text, in_prompt_from=window, at=at)
        assert set(threading.enumerate()) == before
        assert turn.log_error is None
        assert turn.logged is not None
        (logged,) = engine.get(GetRequest(ids=(turn.logged.id,)))
        assert logged.meta.namespace == memory.namespace
        core = {scope.at for scope in history["core"]}
        for hit in hits_of(turn.pack):
            turns = hit.meta.turns
            assert hit.id != turn.logged.id
            assert hit.meta.thread_id != thread or turns is None or turns.last < window
            assert hit.meta.namespace.is_within(layout.root) or hit.meta.namespace in core
            assert not in_sandbox(hit.meta.namespace, layout.root)
        shown = [hit.id for hit in hits_of(turn.pack)]
        assert len(shown) == len(set(shown))
        assert turn.pack.tokens == -(-len(turn.pack.markdown) // 4) <= history["policy"].budget_tokens
        assert set(turn.pack.refs) <= set(shown)


@pytest.mark.parametrize("kind", ["reference", "local"])
@given(history=histories())
def test_no_brain_document_carries_an_agent_and_each_lies_at_its_source(kind: str, history: dict[str, Any]) -> None:
    layout = history["layout"]
    with engine_of(kind) as engine:
        fill(engine, history)
        wanted = MetaFilter(reach=layout.brain_filter(BrainSource.FILES).reach, kinds=(ItemKind.DOCUMENT,))
        held = engine.list(ListRequest(filter=wanted, limit=100)).items
        assert len(held) == len(set(history["documents"]))
        assert all(hit.meta.agent_id is None and hit.meta.namespace == layout.brain(BrainSource.FILES) for hit in held)


@pytest.mark.parametrize("kind", ["reference", "local"])
@given(history=histories())
def test_packs_without_core_scopes_are_byte_for_byte_what_they_are_without_the_feature(
    kind: str, history: dict[str, Any]
) -> None:
    thread, _, text, _, _ = history["live"]
    dropped = [Turn(role=Role.USER, text=text)]
    with engine_of(kind) as engine:
        fill(engine, history)
        plain = memory_of(engine, history)
        dropped_core = plain.with_core(history["core"]).with_core([])
        for one, other in (
            (plain.recall(text), dropped_core.recall(text)),
            (plain.start_session(thread), dropped_core.start_session(thread)),
            (plain.recall_for_compaction(thread, dropped), dropped_core.recall_for_compaction(thread, dropped)),
        ):
            assert one == other


@pytest.mark.parametrize("kind", ["reference", "local"])
@given(history=histories())
def test_no_read_of_a_session_leaves_the_tree_or_its_budget(kind: str, history: dict[str, Any]) -> None:
    thread, _, text, _, _ = history["live"]
    layout, core = history["layout"], {scope.at for scope in history["core"]}
    with engine_of(kind) as engine:
        fill(engine, history)
        memory = memory_of(engine, history).with_core(history["core"])
        packs = (
            memory.recall(text),
            memory.recall(None),
            memory.start_session(thread, focus=text),
            memory.start_session(thread),
            memory.recall_for_compaction(thread, [Turn(role=Role.USER, text=text)]),
        )
        for pack in packs:
            assert pack.tokens <= history["policy"].budget_tokens
            for hit in hits_of(pack):
                assert hit.meta.namespace.is_within(layout.root) or hit.meta.namespace in core
                assert not in_sandbox(hit.meta.namespace, layout.root)


@given(history=histories())
def test_pooled_history_holds_no_turn_of_another_agent(history: dict[str, Any]) -> None:
    layout = history["layout"]
    with engine_of("reference") as engine:
        fill(engine, history)
        pack = memory_of(engine, history).recall(history["live"][2])
        own = [found for found in pack.sections if found.heading == "This agent's history"]
        assert all(hit.meta.agent_id == history["agent"] for found in own for hit in found.hits)
        if layout.pool is not None:
            assert not any(found.heading == "Team conversations" for found in pack.sections)
