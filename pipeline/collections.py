"""Whether a source's collections get nodes of their own (design section 5, "Collections")."""

from corebrain.layout import BrainSource
from pipeline.options import SyncOptions

YES, NO = "yes", "no"
MOVING = "moving"
"""Decided as `YES`, and what was held before has not all been moved yet."""


def decided(kept: str | None, options: SyncOptions, source: BrainSource) -> bool | None:
    """Return whether the source splits; `None` while `auto` has not seen enough.

    Args:
        kept: The decision in state.
        options: `never` and `always` overrule it.
        source: A repository is a collection whatever its size: `auto` splits GitHub.
    """
    if options.split != "auto":
        return options.split == "always"
    if source == BrainSource.GITHUB:
        return True
    return None if kept is None else kept != NO


def decide(listed: int, options: SyncOptions, *, whole: bool) -> bool | None:
    """Return what *listed* documents decide: more than `split_over` split, fewer do not once the listing is *whole*."""
    if listed > options.split_over:
        return True
    return False if whole else None
