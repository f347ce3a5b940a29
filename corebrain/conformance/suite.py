"""The checks in their order, and how they are run (spec 05)."""

import contextlib
from collections.abc import Callable
from typing import NamedTuple

from corebrain.conformance.checks.batches import store_many, store_with
from corebrain.conformance.checks.consolidate import consolidate
from corebrain.conformance.checks.erase import erase
from corebrain.conformance.checks.explore import explore
from corebrain.conformance.checks.export import export
from corebrain.conformance.checks.fetch import fetch_filters, unsupported_modes
from corebrain.conformance.checks.forget import empty_forget, forget_by_filter, forget_by_id
from corebrain.conformance.checks.get import get
from corebrain.conformance.checks.health import health
from corebrain.conformance.checks.namespaces import namespaces
from corebrain.conformance.checks.recall import recall
from corebrain.conformance.checks.round_trip import replay, round_trip
from corebrain.conformance.cleanup import cleanup
from corebrain.conformance.errors import CheckFailed, ConformanceError, EngineFailed
from corebrain.conformance.report import Outcome, Report, State
from corebrain.conformance.trial import Trial
from corebrain.contract import MemoryEngine


class Check(NamedTuple):
    """One check: its name, and what raises when an engine does not pass it."""

    body: Callable[[Trial], None]

    @property
    def name(self) -> str:
        """The name that errors and reports give."""
        return self.body.__name__

    @property
    def passes_when(self) -> str:
        """What an engine does that passes, in one sentence."""
        return (self.body.__doc__ or "").strip()


CHECKS = tuple(
    Check(body)
    for body in (
        *(health, round_trip, export, erase, replay, explore, get, store_many, store_with, fetch_filters),
        *(unsupported_modes, namespaces, empty_forget, forget_by_id, forget_by_filter, recall, consolidate),
    )
)
"""The seventeen checks in the order of spec 05."""

CLEANUP = Check(cleanup)
"""What ends every run: it must leave nothing behind."""


def perform(check: Check, trial: Trial) -> None:
    """Run one check.

    Raises:
        CheckFailed: the engine answered wrongly, or the check asserted nothing: that proves nothing.
        EngineFailed: the engine raised from a call it must serve.
    """
    trial.begin(check.name)
    try:
        check.body(trial)
    except ConformanceError:
        raise
    except Exception as error:  # the border to an engine: whatever comes out of a call it must serve is its failure
        raise EngineFailed(check.name, error, engine=trial.engine_id) from error
    if trial.asserted == 0:
        raise CheckFailed(check.name, "the check asserted nothing", engine=trial.engine_id)


def run(engine: MemoryEngine, *, nonce: str | None = None) -> None:
    """Hold the engine to all seventeen checks, in order, in one workspace; stop at the first failure.

    Afterwards the engine holds what it held before: the items of the run are forgotten whatever happens, and items of
    others are never touched. Run it only on a memory that may be lost: an engine that breaks the contract may do
    anything to it.

    Args:
        engine: The engine under test; it stays open.
        nonce: Letters and digits that make the names of the run its own; fresh ones by default.

    Raises:
        CheckFailed: the engine answered wrongly.
        EngineFailed: the engine raised from a call it must serve.
        When a check fails and the cleanup after it too, the check's failure is raised.
    """
    trial = Trial(engine, nonce)
    try:
        for check in CHECKS:
            perform(check, trial)
    except BaseException:
        with contextlib.suppress(ConformanceError):
            perform(CLEANUP, trial)
        raise
    perform(CLEANUP, trial)


def run_one(check: Check, engine: MemoryEngine) -> Outcome:
    """Run one check in a workspace of its own and clean up; return what it found, never raising for its failures.

    When the check passes and the cleanup does not, the cleanup's outcome is returned.
    """
    found, tidied = _alone(check, engine)
    return tidied if found.ok and not tidied.ok else found


def run_all(engine: MemoryEngine) -> Report:
    """Hold the engine to every check, each in a workspace of its own, whatever the others found.

    The report ends with `cleanup`, which failed when any workspace could not be emptied.
    """
    pairs = [_alone(check, engine) for check in CHECKS]
    tidied = [after for _, after in pairs]
    untidy = next((each for each in tidied if not each.ok), tidied[-1])
    cleaned = untidy.model_copy(update={"assertions": sum(each.assertions for each in tidied)})
    return Report(engine=Trial(engine).engine_id, outcomes=(*(found for found, _ in pairs), cleaned))


def _alone(check: Check, engine: MemoryEngine) -> tuple[Outcome, Outcome]:
    trial = Trial(engine)
    try:
        found = _outcome(check, trial)
    finally:
        tidied = _outcome(CLEANUP, trial)
    return found, tidied


def _outcome(check: Check, trial: Trial) -> Outcome:
    state = State.PASSED
    detail: str | None = None
    try:
        perform(check, trial)
    except ConformanceError as error:
        state = State.RAISED if isinstance(error, EngineFailed) else State.FAILED
        detail = error.detail
    if detail is None and trial.not_offered:
        state = State.NOT_OFFERED
    return Outcome(
        check=check.name,
        passes_when=check.passes_when,
        state=state,
        assertions=trial.asserted,
        detail=detail,
    )
