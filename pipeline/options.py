"""How one source is synced; `brain.toml` and the command line fill it."""

from dataclasses import dataclass
from typing import Literal

Split = Literal["auto", "never", "always"]


@dataclass(frozen=True, slots=True)
class SyncOptions:
    """Choices of one source for one run.

    Attributes:
        dry_run: Plan, report what it would cost, change nothing.
        full: List everything, whatever the cursor.
        retry: Try what is set aside now, not when it is due.
        reconvert: Convert anew what another version of a converter, or another scrub, would; and try what is set aside.
        allow_deletes: Let this run delete more than the ceiling.
        max_delete: Share of a source, 0 to 1, that a run may delete; 20 documents are always allowed.
        max_documents: Documents the source may hold; more stop it before anything is fetched.
        max_total_bytes: Bytes that all its documents together may have, as far as the source tells sizes; likewise.
        split: Whether collections get nodes of their own.
        split_over: Documents beyond which `auto` splits.
        threads: Fetches at a time.
        scopes: The parts to look at (`connectors.contract.within`); empty for everything. What lies outside is left as
            it is. Everything is listed all the same while the source was never synced, when its root looks like
            another place, and when more than half of what is held would go: the guards judge whole listings.
    """

    dry_run: bool = False
    full: bool = False
    retry: bool = False
    reconvert: bool = False
    allow_deletes: bool = False
    max_delete: float = 0.3
    max_documents: int | None = None
    max_total_bytes: int | None = None
    split: Split = "auto"
    split_over: int = 2_000
    threads: int = 4
    scopes: tuple[str, ...] = ()

    @property
    def limits_size(self) -> bool:
        """Whether the source may only hold so much: nothing is fetched then before all of it is listed."""
        return self.max_documents is not None or self.max_total_bytes is not None
