"""How one section's read ended: what gathering hands to settling."""

from dataclasses import dataclass

from corebrain.errors import CorebrainError
from corebrain.model.requests import Hit, RecallAnswer


@dataclass(frozen=True, slots=True)
class Found:
    """Hits in the order of their worth, and the beliefs the same read brought."""

    hits: tuple[Hit, ...] = ()
    beliefs: tuple[Hit, ...] = ()


@dataclass(frozen=True, slots=True)
class Answered:
    """A synthesised answer that is not blank and cites something."""

    answer: RecallAnswer


Read = Found | Answered | CorebrainError
"""Hits, an answer, or why there is neither."""
