"""Runs background jobs, one at a time, in the caller's thread (spec 02 section 6)."""

from corebrain.brain import Brain
from corebrain.contract import MemoryEngine
from corebrain.errors import Unsupported
from corebrain.jobs import BuildBeliefs, IngestBrain, JobOutcome, JobReport, Outcome
from corebrain.layout import MemoryLayout
from corebrain.model.requests import ConsolidateStatus

_OUTCOMES = {
    ConsolidateStatus.COMPLETED: Outcome.DONE,
    ConsolidateStatus.STARTED: Outcome.STARTED,
    ConsolidateStatus.SCHEDULED: Outcome.SCHEDULED,
}


class BackgroundRunner:
    """Runs jobs against one engine and layout; the same host code works on any engine."""

    def __init__(self, engine: MemoryEngine, layout: MemoryLayout | None = None) -> None:
        self._engine = engine
        self._brain = Brain(engine, layout)

    def run(self, job: BuildBeliefs | IngestBrain) -> JobReport:
        """Run *job* to its end.

        A build the engine does not offer is skipped, with the engine's words as the reason; any other error is
        raised, and the job may be run again.
        """
        if isinstance(job, IngestBrain):
            batch = self._brain.ingest_many(job.documents)
            done = JobOutcome(outcome=Outcome.DONE)
            return JobReport(job=job.name, outcome=done, stored=len(batch.receipts), follow_ups=batch.jobs)
        return self._build(job)

    def _build(self, job: BuildBeliefs) -> JobReport:
        try:
            receipt = self._engine.consolidate(job.request)
        except Unsupported as error:
            return JobReport(job=job.name, outcome=JobOutcome(outcome=Outcome.SKIPPED, reason=error.message))
        return JobReport(job=job.name, outcome=JobOutcome(outcome=_OUTCOMES[receipt.status]), consolidation=receipt)
