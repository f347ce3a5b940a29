"""What the pipeline remembers between runs, and the law a state store keeps.

State believes; the engine holds. Every document of a source is one *record*: the ref it was last seen as, the token and
raw hash of what was stored, and the ids of its items. A run writes in this order, and a crash between any two steps
loses and doubles nothing:

1. `intend`: the ids about to be stored, before the engine sees them;
2. the engine stores (a repeated store is a replay);
3. `record`: intents become records, what they supersede becomes *doomed*;
4. the engine forgets doomed ids that no record references; `forgotten` drops them.

All methods are safe to call from several threads. Times are seconds since the epoch.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Protocol

from connectors.contract import Json, Ref
from pipeline.state.values import Aside, Binding, Holding, Intent, Known, Record, SourceRow, Verdict, Work


class Ledger(Protocol):
    """The books of one source. Written only under its lease."""

    @property
    def name(self) -> str:
        """The configured source's name."""
        ...

    def row(self) -> SourceRow:
        """Return what is kept of the source beside its documents."""
        ...

    def update(self, row: SourceRow, notes: dict[str, Json] | None = None) -> None:
        """Replace that, and put *notes*, in one transaction; a note of `None` is removed."""
        ...

    def is_touched(self) -> bool:
        """Whether documents came or went since `keep_builds`: set by the first write that leads to it."""
        ...

    def keep_builds(self, bodies: Sequence[str], now: float) -> None:
        """Keep the background jobs that a run owes as their JSON, in one step with saying that no more are owed.

        The source stays touched while intents or doomed ids are left: a store or a forgetting may have come through.
        """
        ...

    def next_run(self) -> float | None:
        """Return when a schedule syncs the source next; `None` without a schedule."""
        ...

    def set_next_run(self, moment: float | None) -> None:
        """Keep when a schedule syncs the source next. Written without its lease, by who keeps the schedule."""
        ...

    def note(self, key: str) -> Json:
        """Return a connector's note, `None` when there is none."""
        ...

    # -- the plan -------------------------------------------------------------------------------------------------

    def begin(self) -> None:
        """Forget the plan of an earlier run."""
        ...

    def known(self, keys: Sequence[str]) -> dict[str, Known]:
        """Return what is recorded under *keys*, one statement for all of them."""
        ...

    def held(self) -> int:
        """Return the number of records."""
        ...

    def newest(self) -> int:
        """Return the highest row of any record; later records get higher ones."""
        ...

    def plan(self, work: Iterable[Work]) -> None:
        """Add steps; a later step for the same key replaces an earlier one."""
        ...

    def unmarked(self, marks: bytearray, newest: int, scope: str = "") -> Iterator[str]:
        """Yield the keys in *scope* of records up to row *newest* whose bit is not set in *marks*, in key order."""
        ...

    def misfiled(self, *, split: bool) -> Iterator[Ref]:
        """Yield the refs of records that are filed elsewhere than *split* says and are not planned otherwise.

        Left out is what is set aside: it waits for its next try, and moves when that succeeds.
        """
        ...

    def versions(self) -> list[str]:
        """Return the distinct versions of the records."""
        ...

    def count_versions(self, versions: Sequence[str]) -> int:
        """Return the number of records of these versions that are not set aside."""
        ...

    def of_versions(self, versions: Sequence[str]) -> Iterator[Ref]:
        """Yield the refs of records of these versions that are not planned otherwise and not set aside."""
        ...

    def counts(self) -> dict[Verdict, int]:
        """Return how many steps of each verdict are planned."""
        ...

    def planned_bytes(self, *, beside_held: bool = False) -> int:
        """Return the bytes the planned fetches would read, as far as sizes are known.

        Args:
            beside_held: Also count the held documents that the plan leaves as they are.
        """
        ...

    def planned(self, *verdicts: Verdict) -> Iterator[Work]:
        """Yield steps in key order, read in pages so that others may write between."""
        ...

    def drop_plan(self, *verdicts: Verdict) -> None:
        """Take back all steps of these verdicts."""
        ...

    def claim_twin(self, *, content: str | None = None, raw: str | None = None, format: str = "") -> Record | None:  # noqa: A002 - the word of the field
        """Take the record of a gone key with the same content id or raw hash and format; each is taken once."""
        ...

    def release_twin(self, key: str) -> None:
        """Give a claimed gone key back."""
        ...

    # -- records --------------------------------------------------------------------------------------------------

    def record_of(self, key: str) -> Record | None:
        """Return the record under *key*."""
        ...

    def records(self) -> Iterator[Record]:
        """Yield every record in key order."""
        ...

    def intents(self) -> dict[str, Intent]:
        """Return the intents an earlier run left open, by key."""
        ...

    def intend(self, intents: Sequence[Intent]) -> None:
        """Write the ids about to be stored, in one transaction."""
        ...

    def record(self, records: Sequence[Record], moved: Sequence[tuple[str, str]] = ()) -> None:
        """Turn intents into records in one transaction.

        Ids that a replaced record or a left intent named and the new record does not become doomed; so do those of
        the first keys of *moved*, whose records end. The keys leave the plan and the list of set-aside items; what was
        refused of a moved key is refused of the key it has now.
        """
        ...

    def touch(self, refs: Sequence[tuple[Ref, str | None, str, str | None]]) -> None:
        """Move ref, token, raw hash and, where one is given, version of records, in one transaction.

        The keys leave plan and set-aside list.
        """
        ...

    def end(self, keys: Sequence[str]) -> None:
        """End the records of gone *keys* in one transaction; their ids become doomed."""
        ...

    def abandon(self, keys: Sequence[str]) -> None:
        """Make the ids of left intents doomed and drop the intents."""
        ...

    def doom(self, ids: Sequence[str]) -> None:
        """Mark ids for forgetting unless a record references them."""
        ...

    def doomed(self, limit: int) -> list[str]:
        """Return up to *limit* doomed ids that no record and no intent references; those referenced are dropped."""
        ...

    def forgotten(self, ids: Sequence[str]) -> None:
        """Drop doomed ids that the engine has forgotten."""
        ...

    def references(self, ids: Sequence[str]) -> set[str]:
        """Return which of *ids* any record references."""
        ...

    # -- set aside ------------------------------------------------------------------------------------------------

    def asides(self) -> list[Aside]:
        """Return what is set aside, in key order."""
        ...

    def set_aside(self, asides: Sequence[Aside]) -> None:
        """Add or replace in one transaction; the keys leave the plan."""
        ...

    def restore(self, keys: Sequence[str]) -> None:
        """Take *keys* off the list: they succeeded or vanished."""
        ...

    def settle(self) -> None:
        """Leave nothing of ended records in the store's files, as far as nobody reads them just now."""
        ...

    def clear(self) -> None:
        """Drop everything about the source: records, notes, plan, set-aside list and itself."""
        ...


class Lease(Protocol):
    """The right to write one source's books."""

    def beat(self, now: float) -> None:
        """Say the owner is alive."""
        ...

    def release(self) -> None:
        """Give the right back; releasing twice is safe."""
        ...


class StateStore(Protocol):
    """Everything the pipeline remembers of one brain."""

    def bind(self, binding: Binding) -> None:
        """Tie a new state to a root and engine.

        Raises:
            StateError: It is tied to another one.
        """
        ...

    def lease(self, name: str, now: float) -> Lease:
        """Take the source's lease.

        Raises:
            AlreadyRunning: A live owner holds it.
        """
        ...

    def ledger(self, name: str) -> Ledger:
        """Open the books of a source, new ones when there are none."""
        ...

    def sources(self) -> list[str]:
        """Return the names of the sources that have books."""
        ...

    def holdings(self, prefix: str, limit: int) -> list[Holding]:
        """Return up to *limit* recorded items whose id begins with *prefix*, in the order of their ids."""
        ...

    def add_job(self, body: str, now: float) -> None:
        """Keep a background job as its JSON. An equal one that waits gives way: the job has a new number then.

        So who ran the earlier one, and drops its number, does not drop what was asked for meanwhile.
        """
        ...

    def jobs(self) -> list[tuple[int, str]]:
        """Return waiting jobs, oldest first, each with its number."""
        ...

    def drop_job(self, number: int) -> None:
        """Take a job that was run off the list."""
        ...

    def log_run(self, name: str, started: float, report: str) -> None:
        """Keep a run's report; the last 100 of a source are kept."""
        ...

    def runs(self, name: str, limit: int) -> list[tuple[float, str]]:
        """Return the last reports of a source with when they began, newest first."""
        ...

    def scratch(self) -> "StateStore":
        """Return a private copy to plan in: what is written to it leaves this store as it is. Close it."""
        ...

    def close(self) -> None:
        """Release files; closing twice is safe."""
        ...
