"""How the suite runs: what it raises, that it always cleans up, and that it cannot pass without having looked."""

import pickle

import pytest

from corebrain import conformance
from corebrain.conformance.errors import ConformanceError
from corebrain.conformance.faults.removing import KeepsWorkspaces
from corebrain.conformance.suite import Check, perform, run_one
from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import Cursors
from corebrain.conformance.wrappers import BareEngine
from corebrain.contract import EngineDescriptor, EngineHealth, Item, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError, InvalidRequest
from corebrain.model.requests import ForgetReport, ForgetTarget, RecallAnswer, RecallRequest, StoreReceipt


class RecallRaises(BareEngine):
    def recall(self, request: RecallRequest) -> RecallAnswer:
        del request
        raise EngineError("the answerer is gone")


class RecallCrashes(BareEngine):
    def recall(self, request: RecallRequest) -> RecallAnswer:
        raise KeyError(request.question)


class RecallStopped(BareEngine):
    def recall(self, request: RecallRequest) -> RecallAnswer:
        del request
        raise KeyboardInterrupt


class NeverCleans(RecallRaises, KeepsWorkspaces):
    """Breaks a check and the cleanup."""


class CleanupRaises(RecallRaises):
    def forget(self, target: ForgetTarget) -> ForgetReport:
        if target.filter is not None and target.filter.reach is not None and target.filter.reach.descendants:
            raise EngineError("the disk is gone")
        return super().forget(target)


class Undescribed(BareEngine):
    @property
    def descriptor(self) -> EngineDescriptor:
        raise EngineError("no descriptor")


@pytest.mark.parametrize("broken", [RecallRaises, RecallCrashes])
def test_an_engine_that_raises_is_told_with_what_it_raised(broken: type[BareEngine]) -> None:
    inner = ReferenceEngine()
    with pytest.raises(conformance.EngineFailed) as caught:
        conformance.run(broken(inner))
    assert caught.value.check == "recall"
    assert isinstance(caught.value.source, EngineError | KeyError)
    assert caught.value.__cause__ is caught.value.source
    assert str(caught.value).startswith(f"reference raised in recall: {type(caught.value.source).__name__}: ")
    assert len(inner) == 0


def test_an_interrupt_goes_through_after_the_cleanup() -> None:
    inner = ReferenceEngine()
    with pytest.raises(KeyboardInterrupt):
        conformance.run(RecallStopped(inner))
    assert len(inner) == 0
    with pytest.raises(KeyboardInterrupt):
        conformance.run_all(RecallStopped(inner))
    assert len(inner) == 0


@pytest.mark.parametrize("broken", [NeverCleans, CleanupRaises])
def test_the_failure_of_a_check_wins_over_that_of_the_cleanup(broken: type[BareEngine]) -> None:
    with pytest.raises(conformance.EngineFailed, match="the answerer is gone") as caught:
        conformance.run(broken(ReferenceEngine()))
    assert caught.value.check == "recall"


def test_the_failure_of_the_cleanup_is_told_when_all_checks_pass() -> None:
    with pytest.raises(conformance.CheckFailed, match="still list after they were forgotten by workspace") as caught:
        conformance.run(KeepsWorkspaces(ReferenceEngine()))
    assert caught.value.check == "cleanup"


def test_a_failure_names_engine_check_and_detail() -> None:
    class Down(BareEngine):
        def health(self) -> EngineHealth:
            return EngineHealth.down("no disk")

    with pytest.raises(conformance.CheckFailed) as caught:
        conformance.run(Down(ReferenceEngine()))
    assert str(caught.value) == "reference failed health: the engine reports itself down: no disk"
    assert (caught.value.engine, caught.value.check) == ("reference", "health")


def test_an_engine_without_a_descriptor_is_told_so() -> None:
    with pytest.raises(conformance.EngineFailed, match="the engine raised in descriptor: EngineError"):
        conformance.run(Undescribed(ReferenceEngine()))


def silent(trial: Trial) -> None:
    """Nothing at all."""
    trial.engine.health()


def listing_only(trial: Trial) -> None:
    """What every listing keeps to, and nothing of its own."""
    Cursors(trial, "list").next("a")


@pytest.mark.parametrize("body", [silent, listing_only])
def test_a_check_that_asserts_nothing_fails(body: object) -> None:
    check = Check(body)  # type: ignore[arg-type]  # either is a check's body
    with pytest.raises(conformance.CheckFailed, match="the check asserted nothing"):
        perform(check, Trial(ReferenceEngine()))
    outcome = run_one(check, ReferenceEngine())
    assert (outcome.state, outcome.assertions) == (conformance.State.FAILED, 0)


def test_a_walk_that_does_not_end_is_given_up() -> None:
    trial = Trial(ReferenceEngine())
    trial.begin("round_trip")
    cursors = Cursors(trial, "list")
    assert [cursors.next(str(number)) for number in range(9_999)][-1] == "9998"
    with pytest.raises(conformance.CheckFailed, match="has not ended after 10000 pages"):
        cursors.next("one more")


def test_what_must_be_refused_may_not_be_refused_otherwise() -> None:
    trial = Trial(ReferenceEngine())

    def other() -> None:
        raise EngineError("something else")

    def fitting() -> None:
        raise InvalidRequest("as it should be")

    with pytest.raises(conformance.CheckFailed, match="must be InvalidRequest, it raised EngineError"):
        trial.refused("a call", other, InvalidRequest)
    with pytest.raises(conformance.CheckFailed, match="must be InvalidRequest, it was served"):
        trial.refused("a call", lambda: None, InvalidRequest)
    assert trial.asserted == 0
    trial.refused("a call", fitting, InvalidRequest)
    assert trial.asserted == 1


def test_an_optional_operation_may_be_refused_and_is_told() -> None:
    report = conformance.run_all(BareEngine(ReferenceEngine()))
    not_offered = [each.check for each in report.outcomes if each.state is conformance.State.NOT_OFFERED]
    assert not_offered == ["export", "erase"]
    assert report.ok


def test_a_check_alone_tells_a_cleanup_that_failed() -> None:
    [replay] = [check for check in conformance.CHECKS if check.name == "replay"]
    outcome = run_one(replay, KeepsWorkspaces(ReferenceEngine()))
    assert (outcome.check, outcome.ok) == ("cleanup", False)
    assert run_one(replay, ReferenceEngine()).ok


class FirstStoreRaises(BareEngine):
    """Fails once, as an engine does that was just started."""

    def __init__(self, inner: MemoryEngine) -> None:
        super().__init__(inner)
        self.failed = False

    def store(self, item: Item) -> StoreReceipt:
        if not self.failed:
            self.failed = True
            raise EngineError("not yet")
        return super().store(item)


def test_one_failure_does_not_spoil_the_checks_after_it() -> None:
    report = conformance.run_all(FirstStoreRaises(ReferenceEngine()))
    assert report.failed == ("round_trip",)
    [outcome] = [each for each in report.outcomes if not each.ok]
    assert (outcome.state, outcome.detail) == (conformance.State.RAISED, "EngineError: engine error: not yet")


@pytest.mark.parametrize(
    "error",
    [
        conformance.CheckFailed("get", "wrong order", engine="mine"),
        conformance.EngineFailed("get", EngineError("gone"), engine="mine"),
    ],
)
def test_failures_survive_a_process_border(error: ConformanceError) -> None:
    again = pickle.loads(pickle.dumps(error))  # noqa: S301  # our own bytes
    assert type(again) is type(error)
    assert (again.check, again.detail, again.engine, str(again)) == (
        error.check,
        error.detail,
        error.engine,
        str(error),
    )
