"""Forgets what is gone or superseded: under a ceiling, after the new is stored, and only what nobody references."""

from collections.abc import Callable, Iterable, Iterator
from itertools import islice

from corebrain.contract import MemoryEngine
from corebrain.model.requests import ForgetTarget
from pipeline import events
from pipeline.options import SyncOptions
from pipeline.state.contract import Ledger
from pipeline.state.values import Verdict

FREE_DELETES = 20
"""Documents a run may always delete."""

_PAGE = 100


def over_ceiling(gone: int, held: int, options: SyncOptions) -> str | None:
    """Return why *gone* of *held* documents may not be deleted in one run; `None` when they may."""
    if options.allow_deletes or gone <= FREE_DELETES or gone <= options.max_delete * held:
        return None
    return (
        f"{gone:,} of {held:,} documents are gone, more than max_delete ({options.max_delete:.0%}) allows: nothing was"
        " deleted; check the source, then run `brain sync --allow-deletes` once"
    )


def end_gone(ledger: Ledger) -> int:
    """End the records of planned gone keys that no new key took over; returns how many."""
    gone = 0
    for page in _pages(step.ref.key for step in ledger.planned(Verdict.GONE)):
        ledger.end(page)
        for key in page:
            events.item(ledger.name, key, "gone")
        gone += len(page)
    return gone


def forget_doomed(ledger: Ledger, engine: MemoryEngine, told: Callable[[int], None]) -> int:
    """Let the engine forget doomed ids that no record references; returns how many items it removed."""
    forgotten = 0
    while ids := ledger.doomed(_PAGE):
        forgotten += engine.forget(ForgetTarget.of_ids(*ids)).forgotten
        ledger.forgotten(ids)
        told(forgotten)
    return forgotten


def _pages(keys: Iterable[str]) -> Iterator[list[str]]:
    source = iter(keys)
    while page := list(islice(source, _PAGE)):
        yield page
