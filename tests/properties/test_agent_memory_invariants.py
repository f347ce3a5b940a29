"""What no pack may hold, over random trees, histories and policies, on our own engines (spec 00)."""

import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine
from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError, Unavailable, Unsupported
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, CoreScope, RecallPolicy, forget_history
from corebrain.model.filter import MetaFilter
from corebrain.model.first_sentence import CONSOLIDATED_TAG
from corebrain.model.item import LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach, SegmentKind
from corebrain.model.requests import (
    BeliefsRequest,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    Hit,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
)
from corebrain.recall import ContextPack, HolisticRecall, ScopeSection, holistic_recall
from corebrain.recall.failure import typed

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
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalEngine(Path(folder) / "memory.db", durability="process") as engine,
    ):
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
        assert set(threading.enumerate()) <= before
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
    live = history["live"]
    thread, text = live[0], live[2]
    dropped = [Turn(role=Role.USER, text=text)]
    with engine_of(kind) as engine:
        fill(engine, history)
        plain = memory_of(engine, history)
        plain.pre_turn(*live)  # so that both of those compared are replays, and find the same tree
        dropped_core = plain.with_core(history["core"]).with_core([])
        for one, other in (
            (plain.recall(text), dropped_core.recall(text)),
            (plain.start_session(thread), dropped_core.start_session(thread)),
            (plain.recall_for_compaction(thread, dropped), dropped_core.recall_for_compaction(thread, dropped)),
            (plain.pre_turn(*live).pack, dropped_core.pre_turn(*live).pack),
        ):
            assert one == other
        assert plain.recall(text) == holistic_recall(engine, without_the_feature(plain, text))


def without_the_feature(memory: AgentMemory, query: str) -> HolisticRecall:
    """The recall of spec 03 section 3.1 as it reads without its line on core scopes."""
    layout, policy, agent = memory.layout, memory.policy, memory.agent_id
    rows = [
        ("Learnings", layout.learnings_filter(), policy.learnings_limit, None),
        ("Brain", layout.brain_filter(), policy.brain_limit, 4),
        ("This agent's history", layout.conversations_filter(agent), policy.history_limit, None),
    ]
    if layout.pool is None:
        rows.append(("Team conversations", layout.conversations_filter(), policy.team_limit, None))
    sections = [
        ScopeSection(heading=heading, filter=wanted, limit=limit, max_scopes=scopes)
        for heading, wanted, limit, scopes in rows
        if limit
    ]
    return HolisticRecall(query=query, sections=tuple(sections), budget_tokens=policy.budget_tokens)


class Failing(MemoryEngine):
    """An engine whose calls fail as a plan says: one entry for each call that has begun, in any order of threads."""

    def __init__(self, engine: MemoryEngine, plan: list[Exception | None]) -> None:
        self._engine = engine
        self._plan = plan
        self._lock = threading.Lock()
        self.raised: list[str] = []
        self.works_in_process = getattr(engine, "works_in_process", False)

    def _next(self) -> None:
        with self._lock:
            error = self._plan.pop(0) if self._plan else None
        if error is not None:
            self.raised.append(str(typed(error)))
            raise error

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._engine.descriptor

    def health(self) -> EngineHealth:
        return self._engine.health()

    def store(self, item: Item) -> StoreReceipt:
        self._next()
        return self._engine.store(item)

    def fetch(self, request: FetchRequest) -> FetchPage:
        self._next()
        return self._engine.fetch(request)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        self._next()
        return self._engine.recall(request)

    def list(self, request: ListRequest) -> ListPage:
        self._next()
        return self._engine.list(request)

    def beliefs(self, request: BeliefsRequest) -> Hits:
        self._next()
        return self._engine.beliefs(request)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        self._next()
        return self._engine.forget(target)


FAILURES = st.sampled_from(
    [
        None,
        None,
        Unavailable("away"),
        EngineError("torn"),
        Unsupported("not here"),
        ValueError("key=s3cr3t"),
        KeyError(),
    ]
)


@pytest.mark.parametrize("kind", ["reference", "local"])
@given(history=histories(), plan=st.lists(FAILURES, max_size=12))
def test_failing_call_costs_its_section_or_the_log_and_never_the_pack(
    kind: str, history: dict[str, Any], plan: list[Exception | None]
) -> None:
    thread, index, text, window, at = history["live"]
    dropped = [Turn(role=Role.USER, text=text)]
    with engine_of(kind) as engine:
        fill(engine, history)
        failing = Failing(engine, list(plan))
        memory = AgentMemory(failing, history["layout"], history["agent"]).with_policy(history["policy"])
        before = set(threading.enumerate())
        turn = memory.pre_turn(thread, index, text, in_prompt_from=window, at=at)
        assert (turn.logged is None) == (turn.log_error is not None)
        for pack in (turn.pack, memory.start_session(thread), memory.recall_for_compaction(thread, dropped)):
            for skipped in pack.skipped:
                assert skipped.reason == "empty" or skipped.reason in failing.raised
            headings = {found.heading for found in pack.sections} | {skipped.heading for skipped in pack.skipped}
            assert len(headings) == len(pack.sections) + len(pack.skipped)
            assert "s3cr3t" not in pack.to_json()
        assert set(threading.enumerate()) <= before


@settings(max_examples=15)
@given(history=histories())
def test_deadline_that_is_over_ends_every_read_of_the_local_engine_and_no_write(history: dict[str, Any]) -> None:
    thread, index, text, window, at = history["live"]
    with engine_of("local") as engine:
        fill(engine, history)
        policy = history["policy"].model_copy(update={"section_timeout_s": 1e-9})
        turn = memory_of(engine, history).with_policy(policy).pre_turn(thread, index, text, window, at)
        assert turn.logged is not None
        assert (turn.pack.markdown, turn.pack.sections) == ("", ())
        assert {skipped.reason for skipped in turn.pack.skipped} <= {
            "unavailable: the deadline is over: nothing was read"
        }


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


@pytest.mark.parametrize("kind", ["reference", "local"])
@given(history=histories())
def test_pooled_history_holds_no_turn_of_another_agent(kind: str, history: dict[str, Any]) -> None:
    layout = history["layout"]
    with engine_of(kind) as engine:
        fill(engine, history)
        pack = memory_of(engine, history).recall(history["live"][2])
        own = [found for found in pack.sections if found.heading == "This agent's history"]
        assert all(hit.meta.agent_id == history["agent"] for found in own for hit in found.hits)
        if layout.pool is not None:
            assert not any(found.heading == "Team conversations" for found in pack.sections)


@pytest.mark.parametrize("kind", ["reference", "local"])
@given(history=histories())
def test_forgotten_history_is_nowhere_and_all_else_stays(kind: str, history: dict[str, Any]) -> None:
    everything = MetaFilter(reach=Reach.subtree(Namespace.ROOT))
    with engine_of(kind) as engine:
        fill(engine, history)
        memory = memory_of(engine, history)
        before = engine.list(ListRequest(filter=everything, limit=1000)).items
        gone = {
            hit.id
            for hit in before
            if hit.meta.agent_id == memory.agent_id
            and hit.meta.namespace == memory.namespace
            and (hit.kind is ItemKind.CONVERSATION or CONSOLIDATED_TAG in hit.meta.tags)
        }
        assert forget_history(memory, dry_run=True).forgotten == len(gone)
        assert forget_history(memory).forgotten == len(gone)
        left = {hit.id for hit in engine.list(ListRequest(filter=everything, limit=1000)).items}
        assert left == {hit.id for hit in before} - gone
        assert not any(found.heading == "This agent's history" for found in memory.recall(None).sections)


@given(history=histories())
def test_newest_that_the_local_engine_picks_itself_are_those_that_listing_all_would_show(
    history: dict[str, Any],
) -> None:
    thread = history["live"][0]
    with engine_of("local") as engine:
        fill(engine, history)
        picking = memory_of(engine, history)
        listing = AgentMemory(Failing(engine, []), history["layout"], history["agent"]).with_policy(history["policy"])
        assert picking.recall(None) == listing.recall(None)
        assert picking.start_session(thread) == listing.start_session(thread)
