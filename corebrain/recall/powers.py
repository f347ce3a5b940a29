"""What an engine may offer a recall beside the contract: an end to its reads, the newest items, a word on threads.

Engines need not import these: having the attribute is enough.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from corebrain.contract import MemoryEngine
from corebrain.model.requests import Hit, ListRequest


@runtime_checkable
class TakesDeadline(Protocol):
    """An engine whose reads can be given an end."""

    def within(self, seconds: float) -> MemoryEngine:
        """Return a view of this engine whose reads all end within *seconds* from now.

        Making it is cheap and reads nothing. A read that does not make it stops its own work (an interrupted
        statement, a request's total timeout), so that nothing of it is left running, and raises `Unavailable`;
        several reads of one view share the one end. Writes are not bounded.
        """


@runtime_checkable
class ListsNewest(Protocol):
    """An engine that picks the newest items itself, so that a section need not list thousands to show eight."""

    def newest(self, request: ListRequest, window: int) -> Sequence[Hit]:
        """Return the newest `request.limit` of the first *window* items that listing by the request's filter gives.

        Newest is by `observed_at`, then the most confident, then the latest turn; what has none of it comes last, and
        equals stay as listed (spec 03 section 1.1). The request's cursor is not looked at.
        """


@runtime_checkable
class WorksInProcess(Protocol):
    """An engine whose calls are short work of this very process, such as an embedded database.

    Threads would only take turns at the interpreter, each waiting for the other: with `works_in_process` true, the
    reads of a recall and the log of a turn run one after the other in the caller's thread.
    """

    works_in_process: bool


def bounded(engine: MemoryEngine, seconds: float | None) -> MemoryEngine:
    """Return *engine* bounded to *seconds*, or itself: without a deadline, or when it takes none and is waited for."""
    if seconds is not None and isinstance(engine, TakesDeadline):
        return engine.within(seconds)
    return engine


def gains_by_threads(engine: MemoryEngine) -> bool:
    """Tell whether calls of *engine* overlap; so does every engine that does not say otherwise."""
    return not (isinstance(engine, WorksInProcess) and engine.works_in_process)
