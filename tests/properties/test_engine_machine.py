"""Any engine against a plain dict: every call, in any order, over random trees, must do what the dict does.

`--properties long --timeout 3600` runs 10,000 steps and more for each engine.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from corebrain.contract import Hits, Item, MemoryEngine
from corebrain.embed.letters import Letters
from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import MAX_DEPTH, Namespace, Reach, Segment, SegmentKind
from corebrain.model.requests import (
    EraseReport,
    EraseRequest,
    ExplorePage,
    ExploreRequest,
    ExportPage,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    Hit,
    ListPage,
    ListRequest,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)

EXAMPLES, STEPS = 40, 30
LONG_EXAMPLES, LONG_STEPS = 260, 50
LONG_TOTAL = 10_000
FEW = 4
"""Items below which nothing is removed, so that reads have something to read."""

SEGMENTS = st.sampled_from(
    [
        Segment(kind, name)
        for kind in (SegmentKind.AGENT, SegmentKind.TEAM, SegmentKind.SERVICE)
        for name in ("a", "a-1", "b")
    ]
)
WORDS = st.lists(st.sampled_from(["refunds", "take", "five", "days", "deploy", "the"]), min_size=1, max_size=4)
TEXTS = WORDS.map(" ".join) | st.sampled_from(["Ünïcode 日本 😀", "line one\nline two\f page two", "the"])
NAMES = st.sampled_from(["x", "y", "x/y", "x/yz", "+15551234567"])
OPTIONAL_NAMES = st.none() | NAMES
RANGES = st.sampled_from([TurnRange(first=0, last=0), TurnRange(first=4, last=5)])
MOMENTS = st.sampled_from([0, 1, 999_999_999, 1_000_000_000, -1]).map(Instant)
SOURCES = st.builds(SourceRef, kind=st.sampled_from(SourceKind), id=OPTIONAL_NAMES)


def metas(nodes: st.SearchStrategy[Namespace]) -> st.SearchStrategy[MemoryMeta]:
    return st.builds(
        MemoryMeta,
        namespace=nodes,
        workspace=OPTIONAL_NAMES,
        folder=OPTIONAL_NAMES,
        file_path=OPTIONAL_NAMES,
        language=OPTIONAL_NAMES,
        repo=OPTIONAL_NAMES,
        commit=OPTIONAL_NAMES,
        url=OPTIONAL_NAMES,
        thread_id=OPTIONAL_NAMES,
        turns=st.none() | RANGES,
        agent_id=OPTIONAL_NAMES,
        tool_call=st.none() | st.builds(ToolCallRef, name=NAMES),
        source=SOURCES,
        tags=st.lists(st.sampled_from("xyz"), max_size=3),
        observed_at=st.none() | MOMENTS,
        derive=st.none() | st.booleans(),
    )


def items(nodes: st.SearchStrategy[Namespace]) -> st.SearchStrategy[Item]:
    turns = st.builds(Turn, role=st.sampled_from(Role), text=TEXTS, at=st.none() | MOMENTS)
    meta = metas(nodes) | st.builds(MemoryMeta, namespace=nodes)
    return st.one_of(
        st.builds(Document, title=st.none() | TEXTS, body=st.builds(Body, text=TEXTS), meta=meta),
        st.builds(Conversation, turns=st.lists(turns, min_size=1, max_size=3), meta=meta),
        st.builds(
            Learning,
            text=TEXTS,
            kind=st.sampled_from(LearningKind),
            confidence=st.sampled_from([0.0, 0.1, 1 / 3, 1.0]),
            evidence=OPTIONAL_NAMES,
            meta=meta,
        ),
    )


CONDITIONS: dict[str, st.SearchStrategy[object]] = {
    **dict.fromkeys(
        ("workspace", "folder", "file_path", "language", "repo", "commit", "url", "thread_id", "agent_id"), NAMES
    ),
    "turns": RANGES,
    "tool_call": NAMES,
    "kinds": st.lists(st.sampled_from(ItemKind), min_size=1, max_size=2),
    "sources": st.lists(st.sampled_from(SourceKind), min_size=1, max_size=2),
    "source_id": NAMES,
    "tags_any": st.lists(st.sampled_from("xyz"), min_size=1, max_size=2),
    "observed_after": MOMENTS,
    "observed_before": MOMENTS,
}
"""What a filter may ask for, reach left out."""


def conditions_of(item: Item) -> dict[str, object]:
    """What filters admit *item*, one condition each."""
    meta = item.meta
    known: dict[str, object] = {
        "kinds": (item.kind,),
        "sources": (meta.source.kind,),
        "source_id": meta.source.id,
        "tool_call": meta.tool_call and meta.tool_call.name,
        "tags_any": meta.tags[:1],
        "observed_after": meta.observed_at,
    }
    plain = {field: getattr(meta, field) for field in CONDITIONS if hasattr(meta, field) and field not in known}
    return {field: value for field, value in (known | plain).items() if value}


def reaches_of(item: Item) -> list[Reach | None]:
    """What reaches admit *item*."""
    at = item.meta.namespace
    below = [
        Reach(at=above, inherit=inherit, descendants=True)
        for above in at.ancestors_and_self()
        for inherit in (False, True)
    ]
    return [reach for reach in (None, Reach.exact(at), Reach.of(at), *below) if Reach.admitted_by(reach, at)]


class Walk:
    """One listing under way: what it must still show, and what it may not show again."""

    def __init__(self, wanted: MetaFilter, limit: int, due: set[str]) -> None:
        self.wanted = wanted
        self.limit = limit
        self.cursor: str | None = None
        self.due = due
        """Held when the walk began and ever since."""
        self.removed: set[str] = set()
        """Removed at any time since; may be shown or not, and again when stored again."""
        self.seen: list[str] = []
        self.cursors: set[str] = set()


class EngineAndDict(RuleBasedStateMachine):
    """Does everything to the engine and to a dict, and compares."""

    taken: ClassVar[int] = 0
    """Steps of all runs of this class."""

    keeps_place = True
    """Whether a cursor keeps its place when items before it are removed."""

    def __init__(self) -> None:
        super().__init__()
        self.nodes = [Namespace.ROOT]
        self.held: dict[str, Item] = {}
        self.gone: list[str] = ["0" * 40, "not an id"]
        self.walks: list[Walk] = []
        self.engine = self.make()

    def make(self) -> MemoryEngine:
        raise NotImplementedError

    def teardown(self) -> None:
        self.engine.close()

    # What the dict does

    def matching(self, wanted: MetaFilter) -> dict[str, Item]:
        return {item_id: item for item_id, item in self.held.items() if wanted.matches(item.kind, item.meta)}

    def keep(self, batch: Sequence[Item], receipts: Sequence[StoreReceipt]) -> None:
        assert [receipt.id for receipt in receipts] == [item.fingerprint() for item in batch]
        for item, receipt in zip(batch, receipts, strict=True):
            assert receipt.replayed == (receipt.id in self.held)
            self.held.setdefault(receipt.id, item)

    def drop(self, doomed: Sequence[str]) -> None:
        for item_id in doomed:
            del self.held[item_id]
        self.gone += doomed[:2]
        for walk in self.walks:
            walk.removed.update(doomed)
            walk.due.difference_update(doomed)

    def expect_hit(self, hit: Hit) -> None:
        item = self.held[hit.id]
        assert hit.score == 0.0
        assert hit.kind is item.kind
        assert hit.meta == item.meta
        assert hit.text == item.render_text()
        assert hit.confidence == item.confidence_or_none

    # What is drawn

    def items(self, data: st.DataObject, *, most: int, least: int = 1) -> list[Item]:
        return data.draw(st.lists(items(st.sampled_from(self.nodes)), min_size=least, max_size=most), "items")

    def ids(self, data: st.DataObject) -> list[str]:
        known = [*sorted(self.held), *self.gone[-4:]]
        return data.draw(st.lists(st.sampled_from(known), min_size=1, max_size=8), "ids")

    def reach(self, data: st.DataObject) -> Reach | None:
        built = st.builds(Reach, at=st.sampled_from(self.nodes), inherit=st.booleans(), descendants=st.booleans())
        return data.draw(built | st.none(), "reach")

    def filter(self, data: st.DataObject) -> MetaFilter:
        """Most of them made to admit some item, by up to two conditions and a reach."""
        if self.held and data.draw(st.integers(0, 3), "fits an item, unless 0") != 0:
            item = self.held[data.draw(st.sampled_from(sorted(self.held)), "item")]
            fitting = conditions_of(item)
            fields = data.draw(st.sets(st.sampled_from(sorted(fitting)), max_size=2), "fields")
            reach = data.draw(st.sampled_from(reaches_of(item)), "reach")
            return MetaFilter.model_validate({**{field: fitting[field] for field in sorted(fields)}, "reach": reach})
        field = data.draw(st.sampled_from(sorted(CONDITIONS)), "field")
        return MetaFilter.model_validate({field: data.draw(CONDITIONS[field]), "reach": self.reach(data)})

    @initialize(
        growth=st.lists(
            st.tuples(st.integers(0, 20), st.lists(SEGMENTS, min_size=1, max_size=MAX_DEPTH)), min_size=1, max_size=8
        ),
        data=st.data(),
    )
    def plant(self, growth: Sequence[tuple[int, Sequence[Segment]]], data: st.DataObject) -> None:
        """Grow a tree, each node below one that is there, and put a few items in it."""
        for above, below in growth:
            segments = (*self.nodes[above % len(self.nodes)].segments, *below)[:MAX_DEPTH]
            self.nodes.append(Namespace(segments))
        self.store_many(data, repeated=False, least=5)

    # Writing

    @rule(data=st.data(), accepted=st.booleans())
    def store(self, data: st.DataObject, accepted: bool) -> None:
        [item] = self.items(data, most=1)
        options = WriteOptions.accepted() if accepted else WriteOptions.visible()
        self.keep([item], [self.engine.store_with(item, options)])

    @rule(data=st.data(), repeated=st.booleans(), least=st.just(1))
    def store_many(self, data: st.DataObject, repeated: bool, least: int) -> None:
        batch = self.items(data, most=12, least=least)
        batch = batch + batch[:2] if repeated else batch
        self.keep(batch, self.engine.store_many(batch))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        """Also with another `observed_at`, which does not count: the first one stays."""
        item = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        seen = item.meta.model_copy(update={"observed_at": data.draw(st.none() | MOMENTS)})
        self.keep([item], [self.engine.store(item.with_meta(seen))])

    @precondition(lambda self: len(self.held) >= FEW)
    @rule(data=st.data())
    def forget_ids(self, data: st.DataObject) -> None:
        ids = self.ids(data)
        doomed = [item_id for item_id in dict.fromkeys(ids) if item_id in self.held]
        assert self.engine.forget(ForgetTarget.of_ids(*ids)).forgotten == len(doomed)
        self.drop(doomed)

    @precondition(lambda self: len(self.held) >= FEW)
    @rule(data=st.data())
    def forget_by_filter(self, data: st.DataObject) -> None:
        wanted = self.filter(data)
        doomed = list(self.matching(wanted))
        if wanted.is_empty:
            with pytest.raises(InvalidRequest):
                self.engine.forget(ForgetTarget.of_filter(wanted))
            return
        assert self.engine.forget(ForgetTarget.of_filter(wanted)).forgotten == len(doomed)
        self.drop(doomed)

    @precondition(lambda self: len(self.held) >= FEW)
    @rule(data=st.data(), kinds=st.lists(st.sampled_from(ItemKind), max_size=2))
    def erase(self, data: st.DataObject, kinds: Sequence[ItemKind]) -> None:
        reach = self.filter(data).reach or Reach.exact(Namespace.ROOT)
        request = EraseRequest(reach=reach, kinds=tuple(kinds))
        if reach.at.is_root and reach.descendants and not kinds:
            with pytest.raises(InvalidRequest):
                self.engine.erase(request)
            return
        alone = reach.model_copy(update={"inherit": False})
        doomed = self.matching(MetaFilter(reach=alone, kinds=tuple(kinds)))
        scopes = {(item.meta.namespace, item.kind) for item in doomed.values()}
        assert self.engine.erase(request).erased_scopes == len(scopes)
        self.drop(list(doomed))

    # Reading

    @rule(data=st.data(), limit=st.integers(1, 7))
    def list_by_filter(self, data: st.DataObject, limit: int) -> None:
        walk = self.begin(self.filter(data), limit)
        while walk in self.walks:
            self.step(walk)
        assert len(set(walk.seen)) == len(walk.seen)

    @rule(data=st.data(), limit=st.integers(1, 7))
    def export_by_filter(self, data: st.DataObject, limit: int) -> None:
        wanted = self.filter(data)
        found: dict[str, Item] = {}
        cursor: str | None = None
        while True:
            page = self.engine.export(ListRequest(filter=wanted, limit=limit, cursor=cursor))
            assert len(page.items) <= limit
            assert not page.incomplete
            assert not found.keys() & {each.id for each in page.items}
            found |= {each.id: each.item for each in page.items}
            cursor = page.next_cursor
            if cursor is None:
                break
        assert found == self.matching(wanted)

    @rule(data=st.data())
    def get(self, data: st.DataObject) -> None:
        ids, reach = self.ids(data), self.filter(data).reach
        found = self.engine.get(GetRequest(ids=tuple(ids), reach=reach))
        within = self.matching(MetaFilter(reach=reach))
        assert [hit.id for hit in found] == [item_id for item_id in dict.fromkeys(ids) if item_id in within]
        for hit in found:
            self.expect_hit(hit)

    @rule(data=st.data(), facet=st.sampled_from(Facet), limit=st.integers(1, 5))
    def explore(self, data: st.DataObject, facet: Facet, limit: int) -> None:
        wanted = data.draw(st.sampled_from([self.filter(data), MetaFilter(reach=self.reach(data))]))
        page = self.engine.explore(ExploreRequest(facet=facet, filter=wanted, limit=limit))
        within = self.matching(wanted).values()
        values = [facet.values(item.kind, item.meta) for item in within]
        counts = Counter(value for held in values for value in held)
        ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0].encode()))
        assert [(bucket.value, bucket.count) for bucket in page.buckets] == ordered[:limit]
        assert page.total == len(within)
        assert page.missing == sum(not held for held in values)
        assert page.more_buckets == max(0, len(ordered) - limit)
        assert not page.truncated

    @rule(data=st.data(), query=WORDS.map(" ".join), limit=st.integers(1, 20))
    def fetch(self, data: st.DataObject, query: str, limit: int) -> None:
        wanted = self.filter(data)
        mode = data.draw(st.sampled_from(self.engine.descriptor.fetch_modes))
        hits = self.engine.fetch(FetchRequest(query=query, mode=mode, filter=wanted, limit=limit)).hits
        within = self.matching(wanted)
        assert len({hit.id for hit in hits}) == len(hits) <= limit
        assert {hit.id for hit in hits} <= within.keys()
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(hit.meta.namespace == within[hit.id].meta.namespace for hit in hits)

    @rule(data=st.data(), word=st.sampled_from(["refunds", "deploy"]))
    def fetch_by_a_word(self, data: st.DataObject, word: str) -> None:
        """Every item in reach that holds the word is found: an index that lost a row, or kept one, shows here."""
        wanted = self.filter(data)
        mode = self.engine.descriptor.fetch_modes[0]
        hits = self.engine.fetch(FetchRequest(query=word, mode=mode, filter=wanted, limit=500)).hits
        within = self.matching(wanted)
        holding = {item_id for item_id, item in within.items() if word in item.render_text()}
        assert holding <= {hit.id for hit in hits} <= within.keys()

    @rule(data=st.data(), question=WORDS.map(" ".join), limit=st.integers(1, 4))
    def recall(self, data: st.DataObject, question: str, limit: int) -> None:
        wanted = self.filter(data)
        answer = self.engine.recall(RecallRequest(question=question, filter=wanted, limit=limit))
        assert answer.answer.strip()
        assert len(answer.citations) <= limit
        assert {citation.id for citation in answer.citations} <= self.matching(wanted).keys()

    # Listing while others write

    def begin(self, wanted: MetaFilter, limit: int) -> Walk:
        walk = Walk(wanted, limit, set(self.matching(wanted)))
        self.walks.append(walk)
        return walk

    def step(self, walk: Walk) -> None:
        page = self.engine.list(ListRequest(filter=walk.wanted, limit=walk.limit, cursor=walk.cursor))
        within = self.matching(walk.wanted)
        assert len(page.items) <= walk.limit
        for hit in page.items:
            assert hit.id in within, "shows what is not held"
            assert hit.id not in walk.seen or hit.id in walk.removed, "shows an item twice"
            self.expect_hit(hit)
            walk.seen.append(hit.id)
        assert page.next_cursor is None or page.next_cursor not in walk.cursors, "repeats a cursor"
        walk.cursor = page.next_cursor
        if walk.cursor is not None:
            walk.cursors.add(walk.cursor)
            return
        self.walks.remove(walk)
        if self.keeps_place or not walk.removed:
            assert walk.due <= set(walk.seen), "misses what was held all the time"

    @precondition(lambda self: len(self.walks) < 3)
    @rule(data=st.data(), limit=st.integers(1, 3))
    def begin_a_walk(self, data: st.DataObject, limit: int) -> None:
        self.step(self.begin(MetaFilter(reach=self.reach(data)), limit))

    @precondition(lambda self: self.walks)
    @rule(data=st.data(), steps=st.integers(1, 4))
    def go_on_with_a_walk(self, data: st.DataObject, steps: int) -> None:
        walk = data.draw(st.sampled_from(self.walks))
        for _ in range(steps):
            if walk in self.walks:
                self.step(walk)

    # What always holds

    @rule(data=st.data(), place=st.integers(0, 3), cursor=st.sampled_from(["", "x", "-1", "1 ", "٣"]))
    def refuse(self, data: st.DataObject, place: int, cursor: str) -> None:
        """What is malformed is refused, and nothing is touched."""
        batch = self.items(data, most=3)
        blank = Learning(text=" ", kind=LearningKind.FACT, confidence=1.0)
        with pytest.raises(InvalidRequest):
            self.engine.store_many([*batch[:place], blank, *batch[place:]])
        with pytest.raises(InvalidRequest):
            self.engine.list(ListRequest(cursor=cursor))
        with pytest.raises(InvalidRequest):
            self.engine.export(ListRequest(cursor=cursor))

    @invariant()
    def everything_outside_sandboxes_lists(self) -> None:
        type(self).taken += 1
        page = self.engine.list(ListRequest(limit=len(self.held) + 1))
        assert page.next_cursor is None
        assert sorted(hit.id for hit in page.items) == sorted(self.matching(MetaFilter()))
        for hit in page.items:
            self.expect_hit(hit)


class ReferenceAndDict(EngineAndDict):
    """Its cursors are offsets: they slip when something before them is removed."""

    keeps_place = False

    def make(self) -> MemoryEngine:
        return ReferenceEngine()


class LocalAndDict(EngineAndDict):
    """On disk, and closed and opened again at random."""

    def make(self) -> MemoryEngine:
        self.folder = Path(tempfile.mkdtemp())
        return self.opened()

    def opened(self) -> LocalEngine:
        return LocalEngine(self.folder, durability="process")

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        self.engine = self.opened()

    @rule()
    def maintain(self) -> None:
        assert isinstance(self.engine, LocalEngine)
        self.engine.maintain(0.01)

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


class EmbeddedAndDict(LocalAndDict):
    """With vectors for some of what it holds, which now and then are all made again."""

    def opened(self) -> LocalEngine:
        return LocalEngine(self.folder, durability="process", embedder=Letters())

    @rule()
    def prove(self) -> None:
        assert isinstance(self.engine, LocalEngine)
        assert self.engine.verify() == []

    @rule()
    def change_the_model(self) -> None:
        assert isinstance(self.engine, LocalEngine)
        self.engine.change_model()

    @rule(data=st.data())
    def move(self, data: st.DataObject) -> None:
        """Store something anew at another node before it is forgotten, as a sync moves a document."""
        for old in self.ids(data)[:1]:
            if old in self.held:
                meta = self.held[old].meta.model_copy(update={"namespace": data.draw(st.sampled_from(self.nodes))})
                moved = self.held[old].model_copy(update={"meta": meta})
                self.keep([moved], [self.engine.store(moved)])


def budget(*, long: bool, phases: Sequence[Phase] = tuple(Phase), at_random: bool = False) -> settings:
    return settings(
        max_examples=LONG_EXAMPLES if long else EXAMPLES,
        stateful_step_count=LONG_STEPS if long else STEPS,
        derandomize=not (long or at_random),
        database=None,
        deadline=None,
        phases=phases,
        report_multiple_bugs=False,
        suppress_health_check=list(HealthCheck),
    )


@pytest.mark.slow
@pytest.mark.parametrize("machine", [ReferenceAndDict, LocalAndDict, EmbeddedAndDict])
def test_an_engine_does_what_a_dict_does(machine: type[EngineAndDict], pytestconfig: pytest.Config) -> None:
    long = pytestconfig.getoption("properties") == "long"
    machine.taken = 0
    run_state_machine_as_test(machine, settings=budget(long=long))
    while long and machine.taken < LONG_TOTAL:  # runs may end early
        run_state_machine_as_test(machine, settings=budget(long=long))
    assert machine.taken >= EXAMPLES


class Miscounts(ReferenceEngine):
    def forget(self, target: ForgetTarget) -> ForgetReport:
        return ForgetReport(forgotten=max(0, super().forget(target).forgotten - 1))


class KeepsChildren(ReferenceEngine):
    def erase(self, request: EraseRequest) -> EraseReport:
        alone = request.reach.model_copy(update={"descendants": False})
        return super().erase(request.model_copy(update={"reach": alone}))


class ReachlessGet(ReferenceEngine):
    def get(self, request: GetRequest) -> Hits:
        return super().get(request.model_copy(update={"reach": None}))


class Overwrites(ReferenceEngine):
    """A replay writes: the time of the first store is lost."""

    def store(self, item: Item) -> StoreReceipt:
        receipt = super().store(item)
        self._items[receipt.id] = item
        return receipt


class SkipsOnPages(ReferenceEngine):
    def list(self, request: ListRequest) -> ListPage:
        page = super().list(request)
        return page.model_copy(update={"items": page.items[1:]}) if request.cursor else page


class SkipsInExport(ReferenceEngine):
    def export(self, request: ListRequest) -> ExportPage:
        page = super().export(request)
        return page.model_copy(update={"items": page.items[1:]}) if request.cursor else page


class HidesBuckets(ReferenceEngine):
    def explore(self, request: ExploreRequest) -> ExplorePage:
        return super().explore(request).model_copy(update={"more_buckets": 0})


class Overflows(ReferenceEngine):
    def fetch(self, request: FetchRequest) -> FetchPage:
        return super().fetch(request.model_copy(update={"filter": MetaFilter(reach=request.filter.reach)}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "broken",
    [Miscounts, KeepsChildren, ReachlessGet, Overwrites, SkipsOnPages, SkipsInExport, HidesBuckets, Overflows],
)
def test_an_engine_that_does_otherwise_is_seen(broken: type[ReferenceEngine]) -> None:
    class BrokenAndDict(ReferenceAndDict):
        def make(self) -> MemoryEngine:
            return broken()

    with pytest.raises((AssertionError, pytest.fail.Exception)):
        walk_often(BrokenAndDict)


def walk_often(machine: type[EngineAndDict]) -> None:
    """Walk ten times at random: one walk of many sees a broken engine, all ten together miss it next to never."""
    for _ in range(10):
        run_state_machine_as_test(machine, settings=budget(long=False, phases=[Phase.generate], at_random=True))
