"""Where a model's tools write and read; the host fixes it, the model never chooses (spec 06 section 1)."""

from typing import Self

from corebrain.model.namespace import Namespace, Reach
from corebrain.model.value import Value


class ToolScope(Value):
    """One place for writes, one reach for reads.

    Attributes:
        place: The node every store lands at.
        reach: What reads, and forgetting, cover; none is the whole tree but its sandboxes.
        writes: Whether the write tools exist.
    """

    place: Namespace = Namespace.ROOT
    reach: Reach | None = None
    writes: bool = True

    @classmethod
    def at(cls, place: Namespace) -> Self:
        """Write at *place* and read it with its ancestors."""
        return cls(place=place, reach=Reach.of(place))
