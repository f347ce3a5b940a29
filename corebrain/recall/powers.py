"""What an engine may offer a recall beside the contract: an end to its reads, and a word on whether threads help.

Engines need not import these: having the attribute is enough.
"""

from typing import Protocol, runtime_checkable

from corebrain.contract import MemoryEngine


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
