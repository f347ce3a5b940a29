"""What a sync did: the values, and the JSON that scripts rely on (design section 8)."""

from typing import Any, ClassVar

from pydantic import Field

from corebrain.jobs import BackgroundJob
from corebrain.model.value import Value


class AsideReport(Value):
    """One document that is set aside now."""

    key: str
    error: str
    advice: str
    attempts: int
    next_try: str


class Estimate(Value):
    """What a planned sync would cost."""

    requests: int = 0
    bytes: int = 0
    seconds: float = 0.0


class SourceReport(Value):
    """One source's part. `listed` = new + changed + moved + unchanged + set aside.

    `retry_after_s` is how long the source asked to be left alone, when it failed and said so. `touched` is whether a
    belief build is owed: something was stored or forgotten, now or by a run that ended before it could say so.
    `redactions` is what the scrub took out of the documents stored; `outdated` counts those that another version of a
    converter, or another scrub, would convert otherwise today.
    """

    omitted: ClassVar[frozenset[str]] = frozenset({"estimate", "outdated", "redactions", "retry_after_s"})
    name: str
    source: str
    listed: int = 0
    new: int = 0
    changed: int = 0
    moved: int = 0
    unchanged: int = 0
    gone: int = 0
    stored: int = 0
    replayed: int = 0
    forgotten: int = 0
    set_aside: tuple[AsideReport, ...] = ()
    requests: int = 0
    bytes_fetched: int = 0
    redactions: int = 0
    outdated: int = 0
    seconds: float = 0.0
    error: str | None = None
    retry_after_s: float | None = None
    estimate: Estimate | None = None
    touched: bool = Field(default=False, exclude=True)


def summed(report: SourceReport) -> SourceReport:
    """Fill in how many documents were listed."""
    listed = report.new + report.changed + report.moved + report.unchanged + len(report.set_aside)
    return report.model_copy(update={"listed": listed})


class SyncReport(Value):
    """A whole sync: one report a source, and one belief build a source touched."""

    omitted: ClassVar[frozenset[str]] = frozenset({"dry_run", "interrupted"})
    ok: bool = True
    dry_run: bool = False
    interrupted: bool = False
    sources: tuple[SourceReport, ...] = ()
    jobs: tuple[BackgroundJob, ...] = Field(default=())

    def to_dict(self) -> dict[str, Any]:
        """Return the one object that `brain sync --json` prints."""
        return super().to_dict()


def line(report: SourceReport) -> str:
    """Say in one line what happened to a source; the failure last."""
    counted = [
        (report.new, "new"),
        (report.changed, "changed"),
        (report.moved, "moved"),
        (report.unchanged, "unchanged"),
        (report.gone, "gone"),
        (len(report.set_aside), "set aside"),
        (report.redactions, "redacted"),
    ]
    told = ", ".join(f"{count:,} {what}" for count, what in counted if count) or "nothing there"
    tail = f"; stopped: {report.error}" if report.error else ""
    return f"{report.name}: {told} ({report.seconds:.1f} s){tail}"
