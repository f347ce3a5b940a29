"""Any engine against a plain dict: every call, in any order, over random trees, must do what the dict does.

`--properties long` runs 10,000 steps and more for each engine.
"""

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
    run_state_machine_as_test,
)

from corebrain.contract import Item, MemoryEngine
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
    EraseRequest,
    ExploreRequest,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    Hit,
    ListRequest,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)

EXAMPLES, STEPS = 25, 30
LONG_EXAMPLES, LONG_STEPS = 220, 50
LONG_TOTAL = 10_000

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


CONDITIONS = {
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
FILTERS = st.sets(st.sampled_from(sorted(CONDITIONS)), max_size=2).flatmap(
    lambda fields: st.fixed_dictionaries({field: CONDITIONS[field] for field in sorted(fields)})
)
"""The conditions of a filter, reach left out: none, one or two."""


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


class EngineAndDict(RuleBasedStateMachine):
    """Does everything to the engine and to a dict, and compares."""

    nodes = Bundle("nodes")
    reaches = Bundle("reaches")
    known = Bundle("known")
    taken: ClassVar[int] = 0
    """Steps of all runs of this class."""

    keeps_place = True
    """Whether a cursor keeps its place when items before it are removed."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, Item] = {}
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
        for walk in self.walks:
            walk.removed.update(doomed)
            walk.due.difference_update(doomed)

    def expect_hit(self, hit: Hit) -> None:
        item = self.held[hit.id]
        assert hit.kind is item.kind
        assert hit.meta == item.meta
        assert hit.text == item.render_text()
        assert hit.confidence == item.confidence_or_none

    def pages(self, wanted: MetaFilter, limit: int) -> Iterator[Hit]:
        cursor, cursors = None, set()
        while True:
            page = self.engine.list(ListRequest(filter=wanted, limit=limit, cursor=cursor))
            assert len(page.items) <= limit
            yield from page.items
            cursor = page.next_cursor
            if cursor is None:
                return
            assert cursor not in cursors
            cursors.add(cursor)

    # A random tree

    @initialize(target=nodes)
    def root(self) -> Namespace:
        return Namespace.ROOT

    @rule(target=nodes, above=nodes, below=st.lists(SEGMENTS, min_size=1, max_size=MAX_DEPTH))
    def grow(self, above: Namespace, below: Sequence[Segment]) -> Namespace:
        return Namespace((*above.segments, *below)[:MAX_DEPTH])

    @rule(target=reaches, at=nodes, inherit=st.booleans(), descendants=st.booleans())
    def look(self, at: Namespace, inherit: bool, descendants: bool) -> Reach | None:
        return Reach(at=at, inherit=inherit, descendants=descendants)

    @rule(target=reaches)
    def look_everywhere(self) -> Reach | None:
        return None

    # Storing

    @rule(target=known, item=items(nodes), accepted=st.booleans())
    def store(self, item: Item, accepted: bool) -> str:
        options = WriteOptions.accepted() if accepted else WriteOptions.visible()
        self.keep([item], [self.engine.store_with(item, options)])
        return item.fingerprint()

    @rule(target=known, batch=st.lists(items(nodes), min_size=1, max_size=6), repeated=st.booleans())
    def store_many(self, batch: list[Item], repeated: bool) -> object:
        batch = batch + batch[:2] if repeated else batch
        self.keep(batch, self.engine.store_many(batch))
        return multiple(*(item.fingerprint() for item in batch))

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def replay(self, data: st.DataObject) -> None:
        """Also with another `observed_at`, which does not count: the first one stays."""
        item = self.held[data.draw(st.sampled_from(sorted(self.held)))]
        seen = item.meta.model_copy(update={"observed_at": data.draw(st.none() | MOMENTS)})
        self.keep([item], [self.engine.store(item.with_meta(seen))])

    @rule(batch=st.lists(items(nodes), min_size=1, max_size=3), place=st.integers(0, 3))
    def refuse_a_batch(self, batch: list[Item], place: int) -> None:
        blank = Learning(text=" ", kind=LearningKind.FACT, confidence=1.0)
        with pytest.raises(InvalidRequest):
            self.engine.store_many([*batch[:place], blank, *batch[place:]])

    # Forgetting

    @rule(ids=st.lists(known, min_size=1, max_size=4), unknown=st.booleans())
    def forget_ids(self, ids: list[str], unknown: bool) -> None:
        named = (*ids, "0" * 40, "not an id") if unknown else tuple(ids)
        doomed = [item_id for item_id in dict.fromkeys(ids) if item_id in self.held]
        assert self.engine.forget(ForgetTarget(ids=named)).forgotten == len(doomed)
        self.drop(doomed)

    @rule(conditions=FILTERS, reach=reaches)
    def forget_by_filter(self, conditions: dict[str, object], reach: Reach | None) -> None:
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
        if wanted.is_empty:
            with pytest.raises(InvalidRequest):
                self.engine.forget(ForgetTarget.of_filter(wanted))
            return
        doomed = list(self.matching(wanted))
        assert self.engine.forget(ForgetTarget.of_filter(wanted)).forgotten == len(doomed)
        self.drop(doomed)

    @rule(
        at=nodes,
        inherit=st.booleans(),
        descendants=st.booleans(),
        kinds=st.lists(st.sampled_from(ItemKind), max_size=2),
    )
    def erase(self, at: Namespace, inherit: bool, descendants: bool, kinds: list[ItemKind]) -> None:
        request = EraseRequest(reach=Reach(at=at, inherit=inherit, descendants=descendants), kinds=tuple(kinds))
        if at.is_root and descendants and not kinds:
            with pytest.raises(InvalidRequest):
                self.engine.erase(request)
            return
        alone = Reach(at=at, inherit=False, descendants=descendants)
        doomed = self.matching(MetaFilter(reach=alone, kinds=tuple(kinds)))
        scopes = {(item.meta.namespace, item.kind) for item in doomed.values()}
        assert self.engine.erase(request).erased_scopes == len(scopes)
        self.drop(list(doomed))

    # Reading

    @rule(conditions=FILTERS, reach=reaches, limit=st.integers(1, 7))
    def list_by_filter(self, conditions: dict[str, object], reach: Reach | None, limit: int) -> None:
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
        found = list(self.pages(wanted, limit))
        assert sorted(hit.id for hit in found) == sorted(self.matching(wanted))
        for hit in found:
            assert hit.score == 0.0
            self.expect_hit(hit)

    @rule(conditions=FILTERS, reach=reaches, limit=st.integers(1, 7))
    def export_by_filter(self, conditions: dict[str, object], reach: Reach | None, limit: int) -> None:
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
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

    @rule(ids=st.lists(known, min_size=1, max_size=5), reach=reaches)
    def get(self, ids: list[str], reach: Reach | None) -> None:
        found = self.engine.get(GetRequest(ids=("0" * 40, *ids, "not an id"), reach=reach))
        within = self.matching(MetaFilter(reach=reach))
        assert [hit.id for hit in found] == [item_id for item_id in dict.fromkeys(ids) if item_id in within]
        for hit in found:
            self.expect_hit(hit)

    @rule(facet=st.sampled_from(Facet), conditions=FILTERS, reach=reaches, limit=st.integers(1, 5))
    def explore(self, facet: Facet, conditions: dict[str, object], reach: Reach | None, limit: int) -> None:
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
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

    @rule(query=WORDS.map(" ".join), conditions=FILTERS, reach=reaches, limit=st.integers(1, 20), data=st.data())
    def fetch(
        self, query: str, conditions: dict[str, object], reach: Reach | None, limit: int, data: st.DataObject
    ) -> None:
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
        mode = data.draw(st.sampled_from(self.engine.descriptor.fetch_modes))
        hits = self.engine.fetch(FetchRequest(query=query, mode=mode, filter=wanted, limit=limit)).hits
        within = self.matching(wanted)
        assert len({hit.id for hit in hits}) == len(hits) <= limit
        assert {hit.id for hit in hits} <= within.keys()
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
        assert all(hit.meta.namespace == within[hit.id].meta.namespace for hit in hits)

    @rule(word=st.sampled_from(["refunds", "deploy"]), conditions=FILTERS, reach=reaches)
    def fetch_by_a_word(self, word: str, conditions: dict[str, object], reach: Reach | None) -> None:
        """Every item in reach that holds the word is found: an index that lost a row, or kept one, shows here."""
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
        mode = self.engine.descriptor.fetch_modes[0]
        hits = self.engine.fetch(FetchRequest(query=word, mode=mode, filter=wanted, limit=500)).hits
        within = self.matching(wanted)
        holding = {item_id for item_id, item in within.items() if word in item.render_text()}
        assert holding <= {hit.id for hit in hits} <= within.keys()

    @rule(question=WORDS.map(" ".join), conditions=FILTERS, reach=reaches, limit=st.integers(1, 4))
    def recall(self, question: str, conditions: dict[str, object], reach: Reach | None, limit: int) -> None:
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
        answer = self.engine.recall(RecallRequest(question=question, filter=wanted, limit=limit))
        assert answer.answer.strip()
        assert len(answer.citations) <= limit
        assert {citation.id for citation in answer.citations} <= self.matching(wanted).keys()

    # Listing while others write

    @precondition(lambda self: len(self.walks) < 3)
    @rule(conditions=FILTERS, reach=reaches, limit=st.integers(1, 3))
    def begin_a_walk(self, conditions: dict[str, object], reach: Reach | None, limit: int) -> None:
        wanted = MetaFilter.model_validate({**conditions, "reach": reach})
        walk = Walk(wanted, limit, set(self.matching(wanted)))
        self.walks.append(walk)
        self.step(walk)

    @precondition(lambda self: self.walks)
    @rule(data=st.data(), steps=st.integers(1, 10))
    def go_on_with_a_walk(self, data: st.DataObject, steps: int) -> None:
        walk = data.draw(st.sampled_from(self.walks))
        for _ in range(steps):
            if walk in self.walks:
                self.step(walk)

    def step(self, walk: Walk) -> None:
        page = self.engine.list(ListRequest(filter=walk.wanted, limit=walk.limit, cursor=walk.cursor))
        within = self.matching(walk.wanted)
        for hit in page.items:
            assert hit.id in within, "shows what is not held"
            assert hit.id not in walk.seen or hit.id in walk.removed, "shows an item twice"
            self.expect_hit(hit)
            walk.seen.append(hit.id)
        walk.cursor = page.next_cursor
        if walk.cursor is None:
            self.walks.remove(walk)
            if self.keeps_place or not walk.removed:
                assert walk.due <= set(walk.seen), "misses what was held all the time"

    # Bad calls

    @rule(cursor=st.sampled_from(["", "x", "-1", "1 ", "٣"]))
    def refuse_a_foreign_cursor(self, cursor: str) -> None:
        with pytest.raises(InvalidRequest):
            self.engine.list(ListRequest(cursor=cursor))
        with pytest.raises(InvalidRequest):
            self.engine.export(ListRequest(cursor=cursor))

    @invariant()
    def count_the_step(self) -> None:
        type(self).taken += 1


class ReferenceAndDict(EngineAndDict):
    """Its cursors are offsets: they slip when something before them is removed."""

    keeps_place = False

    def make(self) -> MemoryEngine:
        return ReferenceEngine()


class LocalAndDict(EngineAndDict):
    """On disk, and closed and opened again at random."""

    def make(self) -> MemoryEngine:
        self.folder = Path(tempfile.mkdtemp())
        return LocalEngine(self.folder, durability="process")

    @rule()
    def reopen(self) -> None:
        self.engine.close()
        self.engine = LocalEngine(self.folder, durability="process")

    @rule()
    def maintain(self) -> None:
        assert isinstance(self.engine, LocalEngine)
        self.engine.maintain(0.01)

    def teardown(self) -> None:
        super().teardown()
        shutil.rmtree(self.folder)


@pytest.mark.slow
@pytest.mark.parametrize("machine", [ReferenceAndDict, LocalAndDict])
def test_an_engine_does_what_a_dict_does(machine: type[EngineAndDict], pytestconfig: pytest.Config) -> None:
    long = pytestconfig.getoption("properties") == "long"
    machine.taken = 0
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=LONG_EXAMPLES if long else EXAMPLES,
            stateful_step_count=LONG_STEPS if long else STEPS,
            derandomize=not long,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
    assert machine.taken >= (LONG_TOTAL if long else EXAMPLES)
