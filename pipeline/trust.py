"""Whether a source's root is the one that was synced before (design section 5.4)."""

from connectors.contract import Connector
from pipeline.errors import SourcePaused
from pipeline.scan import Listing
from pipeline.state.values import SourceRow


def identity_of(connector: Connector) -> str | None:
    """Return what tells a source's root from another in its place; `None` when it has none or is missing."""
    asked = getattr(connector, "root_identity", None)
    identity = asked() if asked is not None else None
    return None if identity is None else str(identity)


def is_replaced(identity: str | None, row: SourceRow) -> bool:
    """Whether another folder or volume lies where the source was last synced; a remount may look so too."""
    return identity is not None and row.identity is not None and identity != row.identity


def check_whole(listing: Listing, identity: str | None, row: SourceRow, held: int) -> None:
    """Look whether a listing of everything can be believed.

    Raises:
        SourcePaused: Its root was replaced or is empty, and fewer than half of the *held* documents were seen.
    """
    if identity is None or listing.error is not None or not held or listing.marks.count * 2 >= held:
        return
    replaced = is_replaced(identity, row)
    if replaced or not listing.listed:
        looks = "another folder or volume lies at its path" if replaced else "its folder is empty"
        raise SourcePaused(
            f"{looks}, and {listing.marks.count:,} of {held:,} documents were seen: nothing was changed;"
            " mount the right one, or run `brain sync --allow-deletes` once if they are gone for good"
        )
