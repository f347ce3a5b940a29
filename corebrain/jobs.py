"""Background work as plain values a host can queue, persist, compare and run later (spec 02 section 6)."""

from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, TypeAdapter, ValidationError

from corebrain.errors import InvalidRequest
from corebrain.layout import BrainDocument
from corebrain.model.requests import ConsolidateReceipt, ConsolidateRequest
from corebrain.model.value import Value, told


class BuildBeliefs(Value):
    """Ask the engine for a belief build."""

    job: Literal["build_beliefs"] = "build_beliefs"
    request: ConsolidateRequest

    @property
    def name(self) -> str:
        """The job's name in reports and queues."""
        return self.job


class IngestBrain(Value):
    """Store documents in the brain."""

    job: Literal["ingest_brain"] = "ingest_brain"
    documents: tuple[BrainDocument, ...]

    @property
    def name(self) -> str:
        """The job's name in reports and queues."""
        return self.job


BackgroundJob = Annotated[BuildBeliefs | IngestBrain, Field(discriminator="job")]
_JOBS: TypeAdapter[BuildBeliefs | IngestBrain] = TypeAdapter(BackgroundJob)


def read_job(data: Any) -> BuildBeliefs | IngestBrain:
    """Read a job from its JSON form: text, bytes or a dict.

    Raises:
        InvalidRequest: bad JSON, an unknown job or a field of the wrong shape.
    """
    try:
        if isinstance(data, str | bytes):
            return _JOBS.validate_json(data)
        return _JOBS.validate_python(data)
    except ValidationError as error:
        raise InvalidRequest(f"job: {told(error)}") from None


class Outcome(StrEnum):
    """How a job ended."""

    DONE = "done"
    STARTED = "started"
    SCHEDULED = "scheduled"
    SKIPPED = "skipped"


class JobOutcome(Value):
    """How a job ended, and why when it was skipped."""

    omitted: ClassVar[frozenset[str]] = frozenset({"reason"})
    outcome: Outcome
    reason: str | None = None


class JobReport(Value):
    """What running a job did."""

    omitted: ClassVar[frozenset[str]] = frozenset({"consolidation", "stored", "follow_ups"})
    job: str
    outcome: JobOutcome
    consolidation: ConsolidateReceipt | None = None
    stored: int = 0
    follow_ups: tuple[BackgroundJob, ...] = ()
