"""What a fault is: an engine around an engine, and the check that must see it."""

from collections.abc import Callable
from typing import NamedTuple

from corebrain.contract import MemoryEngine


class Fault(NamedTuple):
    """One way to break the contract.

    Attributes:
        name: What the engine does wrong, in words.
        trips: The check at which `run` must stop.
        build: Puts the fault around a sound engine.
        also: The other checks that see it when all are run, each for itself.
    """

    name: str
    trips: str
    build: Callable[[MemoryEngine], MemoryEngine]
    also: tuple[str, ...] = ()
