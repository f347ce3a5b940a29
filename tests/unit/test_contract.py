"""The contract's defaults at their edges, on an engine that has only what every engine must have."""

from collections.abc import Callable
from typing import Any

import pytest

from corebrain.contract import EngineDescriptor, EngineHealth, HealthState, Item, MemoryEngine, validate_batch
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.facet import Facet
from corebrain.model.item import StoreItem
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateRequest,
    EraseRequest,
    ExploreRequest,
    FetchMode,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)


class Bare(MemoryEngine):
    """Only the abstract methods; lists at most `short` items a page, and notes what it was asked."""

    def __init__(self, short: int = 1000) -> None:
        self.inner = ReferenceEngine()
        self.short = short
        self.asked: list[tuple[str, Any]] = []

    @property
    def descriptor(self) -> EngineDescriptor:
        return EngineDescriptor(id="bare", label="Bare", description="")

    def health(self) -> EngineHealth:
        return EngineHealth.ok()

    def store(self, item: Item) -> StoreReceipt:
        self.asked.append(("store", item))
        return self.inner.store(item)

    def fetch(self, request: FetchRequest) -> FetchPage:
        self.descriptor.ensure_mode(request.mode)
        return self.inner.fetch(request)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        return self.inner.recall(request)

    def list(self, request: ListRequest) -> ListPage:
        self.asked.append(("list", request))
        return self.inner.list(request.model_copy(update={"limit": min(request.limit, self.short)}))

    def forget(self, target: ForgetTarget) -> ForgetReport:
        return self.inner.forget(target)


def filled(count: int, short: int = 1000) -> tuple[Bare, list[str]]:
    engine = Bare(short)
    items = [StoreItem.document(f"tea {number}", MemoryMeta(tags=("t",))) for number in range(count)]
    ids = [engine.inner.store(item).id for item in items]
    return engine, ids


def test_an_engine_must_have_seven_things_and_no_more() -> None:
    required = {"descriptor", "health", "store", "fetch", "recall", "list", "forget"}
    assert MemoryEngine.__abstractmethods__ == required


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.get(GetRequest(ids=())),
        lambda engine: engine.get(GetRequest(ids=("",))),
        lambda engine: engine.explore(ExploreRequest(facet=Facet.TAG, limit=0)),
        lambda engine: engine.store_many([]),
        lambda engine: engine.store_many_with([], WriteOptions.accepted()),
        lambda engine: engine.erase(EraseRequest(reach=Reach.subtree(Namespace.ROOT))),
        lambda engine: engine.export(ListRequest(limit=0)),
        lambda engine: engine.consolidate(ConsolidateRequest(reach=Reach(), kinds=(ItemKind.LEARNING,) * 2)),
        lambda engine: engine.beliefs(BeliefsRequest(limit=0)),
    ],
)
def test_every_default_validates_before_it_touches_anything(call: Callable[[Bare], Any]) -> None:
    engine, _ = filled(1)
    with pytest.raises(InvalidRequest):
        call(engine)
    assert engine.asked == []


def test_both_waits_of_both_stores_are_served_by_store() -> None:
    engine = Bare()
    item = StoreItem.document("tea")
    for options in (WriteOptions.visible(), WriteOptions.accepted()):
        assert engine.store_with(item, options).id == item.fingerprint()
        assert [receipt.id for receipt in engine.store_many_with([item], options)] == [item.fingerprint()]
    assert engine.asked == [("store", item)] * 4


def test_a_batch_of_one_to_a_hundred_valid_items_passes() -> None:
    items = [StoreItem.document(f"tea {number}") for number in range(101)]
    validate_batch(items[:1])
    validate_batch(items[:100])
    with pytest.raises(InvalidRequest, match="101 items"):
        validate_batch(items)
    with pytest.raises(InvalidRequest, match="lone surrogate") as caught:
        validate_batch([*items[:2], StoreItem.document("\ud800")])
    assert caught.value.index == 2


def test_get_asks_for_pages_of_two_hundred_under_the_reach_alone() -> None:
    engine, ids = filled(3)
    reach = Reach.exact(Namespace.ROOT)
    engine.get(GetRequest(ids=(ids[2],), reach=reach))
    [(_, request)] = engine.asked
    assert request.to_dict() == {"filter": {"reach": reach.to_dict()}, "limit": 200}
    engine.get(GetRequest(ids=("unknown",)))
    assert engine.asked[1][1].to_dict() == {"filter": {}, "limit": 200}


def test_short_and_empty_pages_are_not_the_end() -> None:
    class Hollow(Bare):
        def list(self, request: ListRequest) -> ListPage:
            if request.cursor is None:
                return ListPage(next_cursor="0")
            return super().list(request)

    engine = Hollow(short=1)
    ids = [engine.inner.store(StoreItem.document(f"tea {number}")).id for number in range(3)]
    assert [hit.id for hit in engine.get(GetRequest(ids=(ids[2], ids[0])))] == [ids[2], ids[0]]
    page = engine.explore(ExploreRequest(facet=Facet.KIND))
    assert (page.total, page.truncated) == (3, False)


def test_get_of_two_hundred_ids_is_allowed() -> None:
    engine, ids = filled(200)
    assert [hit.id for hit in engine.get(GetRequest(ids=tuple(reversed(ids))))] == ids[::-1]


@pytest.mark.parametrize(
    ("held", "scan_limit", "pages", "total", "truncated"),
    [
        (0, 5, [5], 0, False),
        (5, 5, [5], 5, False),
        (6, 5, [5], 5, True),
        (1, 1, [1], 1, False),
        (200, 5000, [200], 200, False),
        (201, 5000, [200, 200], 201, False),
        (201, 201, [200, 1], 201, False),
        (202, 201, [200, 1], 201, True),
    ],
)
def test_explore_reads_pages_until_its_scan_limit(
    held: int, scan_limit: int, pages: list[int], total: int, truncated: bool
) -> None:
    engine, _ = filled(held)
    page = engine.explore(ExploreRequest(facet=Facet.TAG, scan_limit=scan_limit))
    assert [request.limit for _, request in engine.asked] == pages
    assert (page.total, page.truncated) == (total, truncated)
    assert [(bucket.value, bucket.count) for bucket in page.buckets] == ([("t", total)] if total else [])


def test_explore_with_short_pages_never_reads_more_than_its_scan_limit() -> None:
    engine, _ = filled(10, short=3)
    page = engine.explore(ExploreRequest(facet=Facet.TAG, scan_limit=7))
    assert [request.limit for _, request in engine.asked] == [7, 4, 1]
    assert (page.total, page.truncated) == (7, True)


def test_equal_counts_are_ordered_by_bytes_and_the_cut_is_told() -> None:
    engine = Bare()
    for number, tag in enumerate(["é", "z", "Z", "\U0001f600", "\uffff", "a"]):
        engine.store(StoreItem.document(f"tea {number}", MemoryMeta(tags=(tag,))))
    page = engine.explore(ExploreRequest(facet=Facet.TAG, limit=5))
    assert [bucket.value for bucket in page.buckets] == ["Z", "a", "z", "é", "\uffff"]
    assert page.more_buckets == 1
    assert engine.explore(ExploreRequest(facet=Facet.TAG, limit=6)).more_buckets == 0


def test_what_explore_counts_each_narrowed_filter_lists() -> None:
    engine = Bare()
    for number in range(6):
        meta = MemoryMeta(namespace=Namespace.parse(f"agent:a{number % 2}"), tags=("t",) * (number % 3))
        engine.store(StoreItem.document(f"tea {number}", meta))
    for facet in (Facet.NAMESPACE, Facet.KIND):
        request = ExploreRequest(facet=facet)
        for bucket in engine.explore(request).buckets:
            narrowed = facet.narrow(request.filter, bucket.value)
            assert len(engine.list(ListRequest(filter=narrowed)).items) == bucket.count


def test_the_limits_of_an_exploration_are_inclusive() -> None:
    for limit, scan_limit in ((1, 1), (500, 50_000)):
        ExploreRequest(facet=Facet.TAG, limit=limit, scan_limit=scan_limit).validate()


def test_an_engine_without_modes_names_itself_and_the_mode() -> None:
    described = Bare().descriptor
    assert not described.supports(FetchMode.HYBRID)
    with pytest.raises(Unsupported, match="bare does not offer hybrid"):
        described.ensure_mode(FetchMode.HYBRID)
    with pytest.raises(Unsupported, match="bare declares no fetch mode"):
        _ = described.best_mode
    one = described.model_copy(update={"fetch_modes": (FetchMode.VECTOR,)})
    one.ensure_mode(FetchMode.VECTOR)
    assert one.best_mode is FetchMode.VECTOR


def test_an_engine_serves_unless_it_is_down() -> None:
    healths = (EngineHealth.ok(), EngineHealth.degraded("slow"), EngineHealth.down("gone"))
    assert [health.is_serving for health in healths] == [True, True, False]
    assert [health.state for health in healths] == [HealthState.OK, HealthState.DEGRADED, HealthState.DOWN]
    assert [EngineHealth.from_json(health.to_json()) for health in healths] == list(healths)
    assert EngineHealth.down("gone").to_json() == '{"state":"down","reason":"gone"}'


def test_an_engine_is_closed_by_leaving_its_block() -> None:
    class Closing(Bare):
        closed = 0

        def close(self) -> None:
            self.closed += 1

    with Closing() as engine:
        assert engine.closed == 0
    assert engine.closed == 1
    Bare().close()
