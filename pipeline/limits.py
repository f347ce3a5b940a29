"""How much a source may hold: more is not even begun to be fetched."""

from pipeline.options import SyncOptions
from pipeline.state.contract import Ledger
from pipeline.state.values import Verdict


def over_size(ledger: Ledger, options: SyncOptions) -> str | None:
    """Return why the source would grow beyond what it may hold, with the plan; `None` when it would not."""
    if not options.limits_size:
        return None
    counts = ledger.counts()
    documents = ledger.held() + counts[Verdict.NEW] - counts[Verdict.GONE]
    for would_hold, limit, what, key in (
        (documents, options.max_documents, "documents", "max_documents"),
        (ledger.planned_bytes(beside_held=True), options.max_total_bytes, "bytes", "max_total_bytes"),
    ):
        if limit is not None and would_hold > limit:
            return (
                f"it would hold {would_hold:,} {what}, {key} allows {limit:,}: planned were"
                f" {counts[Verdict.NEW]:,} new, {counts[Verdict.CHANGED]:,} changed and {counts[Verdict.GONE]:,} gone,"
                f" {ledger.planned_bytes():,} bytes to fetch; exclude more, or raise {key}"
            )
    return None
