"""The reference engine against a plain list: any sequence of calls, any page size."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import Bundle, RuleBasedStateMachine, consumes, invariant, multiple, rule

from corebrain.contract import Item
from corebrain.engines.reference import NOTHING_FOUND, ReferenceEngine, keyword_score, score, vector_score
from corebrain.errors import InvalidRequest
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Learning, LearningKind, StoreItem
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    EraseRequest,
    ExploreRequest,
    ExportPage,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListPage,
    ListRequest,
    RecallRequest,
)

NODES = st.sampled_from(["root", "team:a", "team:a/agent:b", "team:a/service:s", "team:b"]).map(Namespace.parse)
WORDS = st.lists(st.sampled_from(["refunds", "take", "five", "days", "deploy"]), min_size=1, max_size=4).map(" ".join)
METAS = st.builds(MemoryMeta, namespace=NODES, tags=st.lists(st.sampled_from("xy"), max_size=2))
ITEMS = st.builds(StoreItem.document, WORDS, METAS) | st.builds(
    Learning, text=WORDS, kind=st.just(LearningKind.FACT), confidence=st.sampled_from([0.5, 1.0]), meta=METAS
)
REACHES = st.builds(Reach, at=NODES, inherit=st.booleans(), descendants=st.booleans())
FILTERS = st.builds(
    MetaFilter,
    reach=st.none() | REACHES,
    kinds=st.lists(st.sampled_from(ItemKind), max_size=1),
    tags_any=st.lists(st.sampled_from("xy"), max_size=1),
)


class EngineAndList(RuleBasedStateMachine):
    """Does everything twice, to the engine and to a list of items, and compares."""

    stored = Bundle("stored")

    def __init__(self) -> None:
        super().__init__()
        self.engine = ReferenceEngine()
        self.held: list[Item] = []

    def matching(self, wanted: MetaFilter) -> list[Item]:
        return [item for item in self.held if wanted.matches(item.kind, item.meta)]

    @rule(target=stored, items=st.lists(ITEMS, min_size=1, max_size=5), batched=st.booleans())
    def store(self, items: list[Item], batched: bool) -> object:
        receipts = self.engine.store_many(items) if batched else [self.engine.store(item) for item in items]
        for item, receipt in zip(items, receipts, strict=True):
            assert receipt.id == item.fingerprint()
            assert receipt.replayed == (item in self.held)
            if item not in self.held:
                self.held.append(item)
        return multiple(*items)

    @rule(item=consumes(stored), twice=st.booleans())
    def forget_by_id(self, item: Item, twice: bool) -> None:
        ids = (item.fingerprint(), "unknown") if twice else (item.fingerprint(),) * 2
        assert self.engine.forget(ForgetTarget(ids=ids)).forgotten == (item in self.held)
        self.held = [each for each in self.held if each != item]

    @rule(wanted=FILTERS)
    def forget_by_filter(self, wanted: MetaFilter) -> None:
        if wanted.is_empty:
            return
        doomed = self.matching(wanted)
        assert self.engine.forget(ForgetTarget.of_filter(wanted)).forgotten == len(doomed)
        self.held = [item for item in self.held if item not in doomed]

    @rule(reach=REACHES, kinds=st.lists(st.sampled_from(ItemKind), max_size=1))
    def erase(self, reach: Reach, kinds: list[ItemKind]) -> None:
        exact = reach.model_copy(update={"inherit": False})
        doomed = self.matching(MetaFilter(reach=exact, kinds=tuple(kinds)))
        report = self.engine.erase(EraseRequest(reach=reach, kinds=tuple(kinds), whole_tree=True))
        assert report.erased_scopes == len({(item.meta.namespace, item.kind) for item in doomed})
        self.held = [item for item in self.held if item not in doomed]

    @rule(wanted=FILTERS, limit=st.integers(1, 4))
    def page(self, wanted: MetaFilter, limit: int) -> None:
        expected = [item.fingerprint() for item in self.matching(wanted)]
        request = ListRequest(filter=wanted, limit=limit)
        assert [hit.id for page in self.pages(request) for hit in page.items] == expected
        assert {hit.score for page in self.pages(request) for hit in page.items} <= {0.0}
        exported = [held for page in self.exports(request) for held in page.items]
        assert [(held.id, held.item) for held in exported] == list(zip(expected, self.matching(wanted), strict=True))

    def pages(self, request: ListRequest) -> list[ListPage]:
        pages = [self.engine.list(request)]
        while pages[-1].next_cursor is not None:
            pages.append(self.engine.list(request.model_copy(update={"cursor": pages[-1].next_cursor})))
        cursors = [page.next_cursor for page in pages]
        assert len(set(cursors)) == len(cursors)
        return pages

    def exports(self, request: ListRequest) -> list[ExportPage]:
        pages = [self.engine.export(request)]
        while pages[-1].next_cursor is not None:
            pages.append(self.engine.export(request.model_copy(update={"cursor": pages[-1].next_cursor})))
        return pages

    @rule(items=st.lists(stored, min_size=1, max_size=4), reach=st.none() | REACHES)
    def get(self, items: list[Item], reach: Reach | None) -> None:
        ids = [item.fingerprint() for item in items]
        there = {item.fingerprint() for item in self.held if Reach.admitted_by(reach, item.meta.namespace)}
        found = self.engine.get(GetRequest(ids=(*ids, "unknown"), reach=reach))
        assert [hit.id for hit in found] == [each for each in dict.fromkeys(ids) if each in there]

    @rule(query=WORDS, mode=st.sampled_from(FetchMode), wanted=FILTERS, limit=st.integers(1, 3))
    def fetch(self, query: str, mode: FetchMode, wanted: MetaFilter, limit: int) -> None:
        scored = [(score(mode, query, item.render_text()), item) for item in self.matching(wanted)]
        hits = [(value, item.fingerprint()) for value, item in scored if value is not None]
        expected = sorted(hits, key=lambda hit: -hit[0])
        request = FetchRequest(query=query, mode=mode, filter=wanted, limit=limit)
        found = []
        while True:
            page = self.engine.fetch(request)
            assert len(page.hits) <= limit
            found += [(hit.score, hit.id) for hit in page.hits]
            if page.next_cursor is None:
                break
            request = request.model_copy(update={"cursor": page.next_cursor})
        assert found == expected
        if mode is FetchMode.HYBRID:
            answer = self.engine.recall(RecallRequest(question=query, filter=wanted, limit=limit))
            assert [(hit.score, hit.id) for hit in answer.citations] == expected[:limit]
            assert (answer.answer == NOTHING_FOUND) == (not expected)

    @rule(
        facet=st.sampled_from([Facet.KIND, Facet.TAG, Facet.NAMESPACE, Facet.URL]),
        wanted=FILTERS,
        limit=st.integers(1, 3),
    )
    def explore(self, facet: Facet, wanted: MetaFilter, limit: int) -> None:
        items = self.matching(wanted)
        counts = Counter(value for item in items for value in facet.values(item.kind, item.meta))
        expected = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0].encode()))
        page = self.engine.explore(ExploreRequest(facet=facet, filter=wanted, limit=limit))
        assert [(bucket.value, bucket.count) for bucket in page.buckets] == expected[:limit]
        assert page.total == len(items)
        assert page.missing == sum(not facet.values(item.kind, item.meta) for item in items)
        assert page.more_buckets == max(0, len(expected) - limit)
        assert not page.truncated

    @invariant()
    def the_engine_counts_what_the_list_holds(self) -> None:
        assert len(self.engine) == len(self.held)


EngineAndList.TestCase.settings = settings(stateful_step_count=25)
TestEngineAndList = EngineAndList.TestCase


@given(st.text(max_size=40), st.text(max_size=40))
def test_scores_stay_in_their_range(query: str, text: str) -> None:
    assert 0.0 <= keyword_score(query, text) <= 1.0
    assert 0.0 <= vector_score(query, text) <= 1.0 + 1e-6
    if keyword_score(query, query):
        assert keyword_score(query, query) == 1.0
        assert abs(vector_score(query, query) - 1.0) < 1e-6


@given(st.text(max_size=25))
def test_a_cursor_is_one_the_engine_could_have_written_or_refused(cursor: str) -> None:
    engine = ReferenceEngine()
    try:
        page = engine.list(ListRequest(cursor=cursor))
    except InvalidRequest:
        assert not cursor.isascii() or not cursor.isdigit() or str(int(cursor)) != cursor or len(cursor) > 18
        return
    assert str(int(cursor)) == cursor
    assert page.items == ()
