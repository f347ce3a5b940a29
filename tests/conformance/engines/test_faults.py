"""The suite has teeth: each fault trips its own check, and no other than those it says."""

import pytest

from corebrain import conformance
from corebrain.conformance.faults import FAULTS, Fault
from corebrain.conformance.faults.believing import Believer, Builder
from corebrain.conformance.suite import CHECKS, CLEANUP
from corebrain.conformance.wrappers import WholeEngine
from corebrain.contract import Item, MemoryEngine
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ConsolidateStatus, Consolidation, EraseReport, EraseRequest, StoreReceipt

by_name = pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name)


@by_name
def test_a_fault_trips_its_check(fault: Fault, sound: MemoryEngine) -> None:
    with pytest.raises(conformance.CheckFailed) as caught:
        conformance.run(fault.build(sound))
    assert caught.value.check == fault.trips
    assert caught.value.engine == sound.descriptor.id


@by_name
def test_a_fault_trips_no_other_check(fault: Fault, sound: MemoryEngine) -> None:
    report = conformance.run_all(fault.build(sound))
    assert sorted(report.failed) == sorted((fault.trips, *fault.also))


def test_every_check_is_tripped_by_a_fault() -> None:
    assert {fault.trips for fault in FAULTS} == {check.name for check in (*CHECKS, CLEANUP)}


def test_no_fault_is_named_twice() -> None:
    assert len({fault.name for fault in FAULTS}) == len(FAULTS)


def test_never_reporting_a_replay_is_seen_at_export_by_an_engine_that_exports(sound: MemoryEngine) -> None:
    class Forgetful(WholeEngine):
        def store(self, item: Item) -> StoreReceipt:
            return StoreReceipt(id=self.inner.store(item).id, replayed=False)

    with pytest.raises(conformance.CheckFailed) as caught:
        conformance.run(Forgetful(sound))
    assert caught.value.check == "export"


def test_erasing_too_much_is_seen_at_erase(sound: MemoryEngine) -> None:
    class Eager(WholeEngine):
        def erase(self, request: EraseRequest) -> EraseReport:
            request.validate()
            return self.inner.erase(EraseRequest(reach=Reach.subtree(Namespace.ROOT), whole_tree=True))

    with pytest.raises(conformance.CheckFailed) as caught:
        conformance.run(Eager(sound))
    assert caught.value.check == "erase"


@pytest.mark.parametrize(
    ("declared", "status"),
    [
        (Consolidation.ON_DEMAND, ConsolidateStatus.STARTED),
        (Consolidation.ON_DEMAND, ConsolidateStatus.COMPLETED),
        (Consolidation.AUTOMATIC, ConsolidateStatus.STARTED),
        (Consolidation.SCHEDULED, ConsolidateStatus.SCHEDULED),
    ],
)
def test_every_answer_that_fits_the_declaration_passes(
    declared: Consolidation, status: ConsolidateStatus, sound: MemoryEngine
) -> None:
    conformance.run(Builder(sound, declared, status))


def test_beliefs_as_the_contract_wants_them_pass(sound: MemoryEngine) -> None:
    conformance.run(Believer(sound, count=10))
