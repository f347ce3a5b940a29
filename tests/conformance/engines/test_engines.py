"""Every engine of ours passes every check and holds afterwards what it held before."""

from collections.abc import Sequence

from corebrain import conformance
from corebrain.conformance.suite import CHECKS
from corebrain.contract import Item, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import Namespace, Reach, SegmentKind
from corebrain.model.requests import ForgetReport, ForgetTarget, GetRequest, ListRequest, StoreReceipt

ORDER = (
    *("health", "round_trip", "export", "erase", "replay", "explore", "get", "store_many", "store_with"),
    *("fetch_filters", "unsupported_modes", "namespaces", "empty_forget", "forget_by_id", "forget_by_filter"),
    *("recall", "consolidate"),
)


def held(engine: MemoryEngine) -> set[str]:
    return {hit.id for hit in engine.list(ListRequest(limit=1000)).items}


def test_an_engine_passes_and_holds_what_it_held(engine: MemoryEngine) -> None:
    before = held(engine)
    conformance.run(engine)
    assert held(engine) == before


def test_an_engine_passes_each_check_alone(engine: MemoryEngine) -> None:
    before = held(engine)
    report = conformance.run_all(engine)
    assert report.failed == ()
    assert [outcome.check for outcome in report.outcomes] == [*ORDER, "cleanup"]
    assert all(outcome.assertions > 0 for outcome in report.outcomes)
    assert held(engine) == before


def test_the_checks_are_those_of_the_contract_in_its_order() -> None:
    assert tuple(check.name for check in CHECKS) == ORDER
    assert all(check.passes_when.endswith(".") for check in CHECKS)


def test_the_reference_engine_ends_empty() -> None:
    engine = ReferenceEngine()
    conformance.run(engine)
    assert len(engine) == 0


def test_a_foreign_item_survives(foreign: Item) -> None:
    engine = ReferenceEngine()
    item_id = engine.store(foreign).id
    conformance.run(engine)
    conformance.run_all(engine)
    assert [hit.id for hit in engine.get(GetRequest(ids=(item_id,)))] == [item_id]
    assert len(engine) == 1


class Watched(ReferenceEngine):
    """Notes what is stored and by which filters it was made to forget."""

    def __init__(self) -> None:
        super().__init__()
        self.stored: list[Item] = []
        self.asked: list[MetaFilter] = []

    def store(self, item: Item) -> StoreReceipt:
        self.stored.append(item)
        return super().store(item)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        report = super().forget(target)
        self.asked += [target.filter] if target.filter else []
        return report


def test_two_runs_share_no_name() -> None:
    first, second = Watched(), Watched()
    conformance.run(first)
    conformance.run(second)

    def workspaces(items: Sequence[Item]) -> set[str | None]:
        return {item.meta.workspace for item in items}

    assert len(workspaces(first.stored)) == 2
    assert workspaces(first.stored) & workspaces(second.stored) == set()


def test_every_item_and_every_forget_is_the_runs_own() -> None:
    engine = Watched()
    conformance.run(engine, nonce="abc1")
    own = {"tinymemory-conformance/abc1", "tinymemory-conformance/abc1/probes"}
    assert {item.meta.workspace for item in engine.stored} == own
    assert all("tmconfabc1" in item.render_text() for item in engine.stored)
    assert {wanted.workspace for wanted in engine.asked} == own


def test_a_sandbox_of_the_run_is_emptied_too() -> None:
    engine = Watched()
    conformance.run(engine)
    kinds = {segment.kind for item in engine.stored for segment in item.meta.namespace.segments}
    assert SegmentKind.SERVICE in kinds
    nodes = {item.meta.namespace for item in engine.stored}
    assert all(not engine.list(ListRequest(filter=MetaFilter(reach=Reach.exact(node)))).items for node in nodes)
    assert Namespace.ROOT in nodes
