"""The optional power of an engine to end a read in time (issue: a deadline per section, off by default)."""

from typing import Protocol, runtime_checkable

from corebrain.contract import MemoryEngine


@runtime_checkable
class TakesDeadline(Protocol):
    """An engine whose reads can be given an end.

    Engines need not import this: having the method is enough.
    """

    def within(self, seconds: float) -> MemoryEngine:
        """Return a view of this engine whose reads all end within *seconds* from now.

        Making it is cheap and reads nothing. A read that does not make it stops its own work (an interrupted
        statement, a request's total timeout), so that nothing of it is left running, and raises `Unavailable`;
        several reads of one view share the one end. Writes are not bounded.
        """


def bounded(engine: MemoryEngine, seconds: float | None) -> MemoryEngine:
    """Return *engine* bounded to *seconds*, or itself: without a deadline, or when it takes none and is waited for."""
    if seconds is not None and isinstance(engine, TakesDeadline):
        return engine.within(seconds)
    return engine
