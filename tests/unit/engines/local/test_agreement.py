"""The engine does what the reference engine does, op by op, on random trees."""

import tempfile
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from corebrain.contract import Item, MemoryEngine
from corebrain.engines.local.engine import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter, redacted_id
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    EraseRequest,
    ExploreRequest,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
)

PATHS = (
    *("root", "team:a", "team:a/agent:w", "team:a/agent:w/agent:h", "team:a/service:s", "team:a/service:s/agent:x"),
    *("team:a/source:f/project:p", "team:ab", "source:f", "agent:w", "service:s", "ws:a/project:b/team:c/user:d"),
)
NAMES = (
    "x",
    "",
    "a/b",
    "a/b/",
    "/a",
    "/",
    "a",
    "a/b/c.md",
    "A",
    "é\0",
    "user:+15551234567",
    redacted_id("user:+15551234567"),
)
nodes = st.sampled_from(PATHS).map(Namespace.parse)
names = st.none() | st.sampled_from(NAMES)
moments = st.none() | st.sampled_from((-(10**18), 0, 1, 10**9, 10**9 + 1, 250 * 10**18)).map(Instant)
ranges = st.none() | st.sampled_from(((0, 0), (1, 1), (0, 1), (2, 2))).map(lambda r: TurnRange(first=r[0], last=r[1]))
tags = st.lists(st.sampled_from(("a", "b", "", "a b")), max_size=3).map(tuple)
words = st.lists(st.sampled_from(("alpha", "beta", "gamma", "the", "Running", "x1")), min_size=1, max_size=4).map(
    " ".join
)


@st.composite
def metas(draw: st.DrawFn) -> MemoryMeta:
    fields: dict[str, Any] = {"namespace": draw(nodes), "tags": draw(tags), "observed_at": draw(moments)}
    rarely = ("workspace", "folder", "file_path", "language", "repo", "commit", "url", "thread_id", "agent_id")
    for name in draw(st.sets(st.sampled_from(rarely), max_size=3)):
        fields[name] = draw(names)
    fields["turns"] = draw(ranges)
    called = draw(st.none() | st.sampled_from(("grep", "")))
    fields["tool_call"] = None if called is None else ToolCallRef(name=called, id=draw(st.none() | st.just("1")))
    fields["source"] = SourceRef(kind=draw(st.sampled_from(SourceKind)), id=draw(names))
    fields["derive"] = draw(st.none() | st.booleans())
    return MemoryMeta(**fields)


@st.composite
def items(draw: st.DrawFn) -> Item:
    kind, text, meta = draw(st.sampled_from(ItemKind)), draw(words), draw(metas())
    if kind is ItemKind.DOCUMENT:
        long = draw(st.sampled_from((1, 1, 1, 900)))
        body = Body(text="\f".join([f"# {text}\n\n" + f"{text} " * long] * 2))
        return Document(title=draw(names), body=body, mime=draw(names), meta=meta)
    if kind is ItemKind.LEARNING:
        confidence = draw(st.floats(0, 1, width=32))
        return Learning(
            text=text, kind=draw(st.sampled_from(LearningKind)), confidence=confidence, evidence=draw(names), meta=meta
        )
    turns = st.builds(Turn, role=st.sampled_from(Role), text=words, at=moments)
    return Conversation(turns=tuple(draw(st.lists(turns, min_size=1, max_size=2))), meta=meta)


reaches = st.builds(Reach, at=nodes, inherit=st.booleans(), descendants=st.booleans())


@st.composite
def filters(draw: st.DrawFn) -> MetaFilter:
    fields: dict[str, Any] = {"reach": draw(st.none() | reaches)}
    strategies: dict[str, st.SearchStrategy[Any]] = {
        **dict.fromkeys(("workspace", "folder", "file_path", "language", "repo", "commit", "url"), names),
        **dict.fromkeys(("thread_id", "agent_id", "source_id"), names | st.just("\ud800")),
        "turns": ranges,
        "tool_call": names | st.just("grep"),
        "kinds": st.lists(st.sampled_from(ItemKind), max_size=3).map(tuple),
        "sources": st.lists(st.sampled_from(SourceKind), max_size=3).map(tuple),
        "tags_any": tags,
        "observed_after": moments,
        "observed_before": moments,
    }
    for name in draw(st.sets(st.sampled_from(sorted(strategies)), max_size=2)):
        fields[name] = draw(strategies[name])
    return MetaFilter(**fields)


def walk(engine: MemoryEngine, wanted: MetaFilter, page: int) -> dict[str, object]:
    found: dict[str, object] = {}
    cursor = None
    seen = set()
    while True:
        got = engine.list(ListRequest(filter=wanted, limit=page, cursor=cursor))
        for hit in got.items:
            assert hit.id not in found
            found[hit.id] = hit
        cursor = got.next_cursor
        if cursor is None:
            return found
        assert cursor not in seen
        seen.add(cursor)


class Agreement(RuleBasedStateMachine):
    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.local = LocalEngine(Path(self.folder.name) / "memory.db", durability="process")
        self.reference = ReferenceEngine()
        self.stored: list[Item] = []

    def teardown(self) -> None:
        self.local.close()
        self.folder.cleanup()

    @rule(batch=st.lists(items(), min_size=1, max_size=6))
    def store_many(self, batch: list[Item]) -> None:
        assert self.local.store_many(batch) == self.reference.store_many(batch)
        self.stored += batch

    @rule(data=st.data())
    def store_again(self, data: st.DataObject) -> None:
        if self.stored:
            item = data.draw(st.sampled_from(self.stored))
            again = item.with_meta(item.meta.model_copy(update={"observed_at": Instant(7)}))
            assert self.local.store(again) == self.reference.store(again)

    @rule(wanted=filters())
    def forget_by_filter(self, wanted: MetaFilter) -> None:
        if not wanted.is_empty:
            target = ForgetTarget.of_filter(wanted)
            assert self.local.forget(target) == self.reference.forget(target)

    @rule(data=st.data())
    def forget_by_id(self, data: st.DataObject) -> None:
        if self.stored:
            chosen = data.draw(st.lists(st.sampled_from(self.stored), min_size=1, max_size=3))
            target = ForgetTarget.of_ids(*(item.fingerprint() for item in chosen), "0" * 40, "no id")
            assert self.local.forget(target) == self.reference.forget(target)

    @rule(reach=reaches, kinds=st.lists(st.sampled_from(ItemKind), max_size=2).map(tuple))
    def erase(self, reach: Reach, kinds: tuple[ItemKind, ...]) -> None:
        request = EraseRequest(reach=reach, kinds=kinds, whole_tree=True)
        assert self.local.erase(request) == self.reference.erase(request)

    @rule(wanted=filters(), page=st.integers(1, 7))
    def list_by_filter(self, wanted: MetaFilter, page: int) -> None:
        assert walk(self.local, wanted, page) == walk(self.reference, wanted, 100)

    @rule(wanted=filters(), query=words, limit=st.integers(1, 4))
    def fetch_by_filter(self, wanted: MetaFilter, query: str, limit: int) -> None:
        """Every admitted item that holds a word of the query is found, each once, and nothing else is."""
        found: list[str] = []
        cursor = None
        last = float("inf")
        while True:
            page = self.local.fetch(
                FetchRequest(query=query, mode=FetchMode.KEYWORD, filter=wanted, limit=limit, cursor=cursor)
            )
            assert len(page.hits) <= limit
            for hit in page.hits:
                assert 0 < hit.score <= last
                last = hit.score
            found += [hit.id for hit in page.hits]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert len(found) == len(set(found))
        admitted = walk(self.reference, wanted, 100)
        assert set(found) <= set(admitted)
        asked = {word for word in query.split() if word != "the"} or {"the"}
        for item_id in admitted:
            (exported,) = [item for item in self.stored if item.fingerprint() == item_id][:1]
            text = exported.text if not isinstance(exported, Conversation) else " ".join(t.text for t in exported.turns)
            if asked & set(text.split()):
                assert item_id in found

    @rule(wanted=filters(), facet=st.sampled_from(Facet), limit=st.integers(1, 3))
    def explore(self, wanted: MetaFilter, facet: Facet, limit: int) -> None:
        request = ExploreRequest(facet=facet, filter=wanted, limit=limit)
        assert self.local.explore(request) == self.reference.explore(request)

    @rule(data=st.data(), reach=st.none() | reaches)
    def get(self, data: st.DataObject, reach: Reach | None) -> None:
        if self.stored:
            chosen = data.draw(st.lists(st.sampled_from(self.stored), min_size=1, max_size=4))
            request = GetRequest(ids=("0" * 40, *(item.fingerprint() for item in chosen)), reach=reach)
            assert self.local.get(request) == self.reference.get(request)

    @rule(wanted=filters())
    def export(self, wanted: MetaFilter) -> None:
        request = ListRequest(filter=wanted, limit=1000)
        local, reference = self.local.export(request).items, self.reference.export(request).items
        assert {each.id: each.item for each in local} == {each.id: each.item for each in reference}
        assert all(each.item.fingerprint() == each.id for each in local)

    @rule()
    def reopen(self) -> None:
        self.local.close()
        self.local = LocalEngine(Path(self.folder.name) / "memory.db", durability="process")

    @rule()
    def maintain(self) -> None:
        assert self.local.maintain(5).left == 0

    @invariant()
    def counts_agree(self) -> None:
        with self.local._database.reading() as connection:
            assert connection.execute("SELECT count(*) FROM items").get == len(self.reference)


Agreement.TestCase.settings = settings(
    max_examples=30,
    stateful_step_count=30,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
)
TestAgreement = Agreement.TestCase
