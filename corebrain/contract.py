"""The law every memory engine keeps (spec 01 section 7).

All methods are ordinary blocking calls, safe to call from several threads at once. Every method **validates first**
and raises before it touches storage or network. Only `Unavailable` may be retried as it is.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Iterator, Sequence
from enum import StrEnum
from types import TracebackType
from typing import ClassVar, Self

from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Conversation, Document, Learning
from corebrain.model.requests import (
    MAX_STORE_MANY,
    BeliefsRequest,
    Bucket,
    ConsolidateReceipt,
    ConsolidateRequest,
    Consolidation,
    EraseReport,
    EraseRequest,
    ExplorePage,
    ExploreRequest,
    ExportPage,
    FetchMode,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    Hit,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)
from corebrain.model.value import Value

Item = Document | Conversation | Learning
Hits = list[Hit]
Receipts = list[StoreReceipt]
SCAN_PAGE = 200
"""Items a page when a default pages through `list`."""


class HealthState(StrEnum):
    """Whether an engine serves."""

    OK = "ok"
    DEGRADED = "degraded"
    DOWN = "down"


class EngineHealth(Value):
    """An engine's own word on how it is; `reason` unless it is well."""

    omitted: ClassVar[frozenset[str]] = frozenset({"reason"})
    state: HealthState
    reason: str | None = None

    @classmethod
    def ok(cls) -> Self:
        """All well."""
        return cls(state=HealthState.OK)

    @classmethod
    def degraded(cls, reason: str) -> Self:
        """Serving, with something amiss."""
        return cls(state=HealthState.DEGRADED, reason=reason)

    @classmethod
    def down(cls, reason: str) -> Self:
        """Not serving."""
        return cls(state=HealthState.DOWN, reason=reason)

    @property
    def is_serving(self) -> bool:
        """False only when down."""
        return self.state is not HealthState.DOWN


class EngineDescriptor(Value):
    """What an engine is and can do; constant for its life."""

    omitted: ClassVar[frozenset[str]] = frozenset({"default_endpoint"})
    id: str
    label: str
    description: str
    hosted: bool = False
    needs_endpoint: bool = False
    needs_key: bool = False
    default_endpoint: str | None = None
    fetch_modes: tuple[FetchMode, ...] = ()
    consolidation: Consolidation = Consolidation.NONE

    def supports(self, mode: FetchMode) -> bool:
        """Tell whether the engine declares *mode*."""
        return mode in self.fetch_modes

    def ensure_mode(self, mode: FetchMode) -> None:
        """Raise `Unsupported`, naming engine and mode, unless the engine declares *mode*."""
        if not self.supports(mode):
            raise Unsupported(f"{self.id} does not offer {mode.value} fetch")

    @property
    def best_mode(self) -> FetchMode:
        """Hybrid if declared, else the first declared mode; `Unsupported` when there is none."""
        if not self.fetch_modes:
            raise Unsupported(f"{self.id} declares no fetch mode")
        return FetchMode.HYBRID if self.supports(FetchMode.HYBRID) else self.fetch_modes[0]


def validate_batch(items: Sequence[Item]) -> list[str]:
    """Return the ids of a batch's items, in order.

    Raises:
        InvalidRequest: there are not 1 to 100, or one is invalid: `index` names the first.
    """
    if not 1 <= len(items) <= MAX_STORE_MANY:
        raise InvalidRequest(f"a batch holds {len(items)} items, from 1 to {MAX_STORE_MANY} are allowed")
    ids = []
    for index, item in enumerate(items):
        try:
            item.validate()
            ids.append(item.fingerprint())
        except InvalidRequest as error:
            raise InvalidRequest(error.message, index=index) from error
    return ids


class MemoryEngine(ABC):
    """One memory: where items are kept, found and forgotten. Engines are interchangeable."""

    @property
    @abstractmethod
    def descriptor(self) -> EngineDescriptor:
        """What the engine is and can do; the same value for its whole life."""

    @abstractmethod
    def health(self) -> EngineHealth:
        """Tell whether the engine serves; never raises."""

    @abstractmethod
    def store(self, item: Item) -> StoreReceipt:
        """Store one item: listed, gettable, forgettable and ranked on return.

        An identical item answers the same id with `replayed` true, and nothing is written.
        """

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        """Store one item; `ACCEPTED` may return once it is durably accepted, and reads may lag. The id is its own."""
        del options
        return self.store(item)

    def store_many(self, items: Sequence[Item]) -> Receipts:
        """Store 1 to 100 items in order, receipts in order.

        One invalid item refuses the whole batch and nothing is stored. An item repeated in the batch is a replay of
        its first copy. All are listed, gettable and forgettable on return; ranked reads may lag for all but the last.
        When an error comes midway, the earlier items stay.
        """
        validate_batch(items)
        return [self.store(item) for item in items]

    def store_many_with(self, items: Sequence[Item], options: WriteOptions) -> Receipts:
        """Store a batch; `ACCEPTED` may return once every item is durably accepted."""
        del options
        return self.store_many(items)

    @abstractmethod
    def fetch(self, request: FetchRequest) -> FetchPage:
        """Return at most `limit` hits, best first, with scores.

        An undeclared mode raises `Unsupported` before anything else. `beliefs=n` adds, on the first page, up to n
        beliefs from what was read, ranked for the same query, within the filter's reach. `max_scopes` matters only
        to an engine that ranks scopes separately.
        """

    @abstractmethod
    def recall(self, request: RecallRequest) -> RecallAnswer:
        """Return an answer with at most `limit` citations, each of which `list` finds under the same filter."""

    @abstractmethod
    def list(self, request: ListRequest) -> ListPage:
        """Return a page in no promised order; following the cursors visits every match once."""

    def get(self, request: GetRequest) -> Hits:
        """Return the named items in the order named, each id once; unknown and out-of-reach ids are left out."""
        request.validate()
        wanted = dict.fromkeys(request.ids)
        found: dict[str, Hit] = {}
        for hit in self._walk(MetaFilter(reach=request.reach)):
            if hit.id in wanted:
                found[hit.id] = hit
                if len(found) == len(wanted):
                    break
        return [found[item_id] for item_id in wanted if item_id in found]

    def _walk(self, wanted: MetaFilter) -> Iterator[Hit]:
        cursor: str | None = None
        while True:
            page = self.list(ListRequest(filter=wanted, limit=SCAN_PAGE, cursor=cursor))
            yield from page.items
            cursor = page.next_cursor
            if cursor is None:
                return

    def explore(self, request: ExploreRequest) -> ExplorePage:
        """Count the values of a facet: buckets by count, then value, both as the spec orders them."""
        request.validate()
        counts: Counter[str] = Counter()
        total = missing = 0
        cursor: str | None = None
        while True:
            limit = min(SCAN_PAGE, request.scan_limit - total)
            page = self.list(ListRequest(filter=request.filter, limit=limit, cursor=cursor))
            for hit in page.items:
                values = request.facet.values(hit.kind, hit.meta)
                counts.update(values)
                missing += not values
            total += len(page.items)
            cursor = page.next_cursor
            if cursor is None or total >= request.scan_limit:
                break
        return explore_page(request, counts, total=total, missing=missing, truncated=cursor is not None)

    @abstractmethod
    def forget(self, target: ForgetTarget) -> ForgetReport:
        """Remove items: by id wherever they live, sandboxes included, or everything a filter admits."""

    def erase(self, request: EraseRequest) -> EraseReport:
        """Delete for good the items at, and with `descendants` below, `reach.at`; stored again they are new."""
        request.validate()
        raise Unsupported(f"{self.descriptor.id} does not erase")

    def export(self, request: ListRequest) -> ExportPage:
        """Page like `list`, but return each item exactly as stored; storing it back is a replay."""
        request.validate()
        raise Unsupported(f"{self.descriptor.id} does not export")

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        """Ask for a belief build; return as soon as the job is taken."""
        request.validate()
        raise Unsupported(f"{self.descriptor.id} does not build beliefs")

    def beliefs(self, request: BeliefsRequest) -> Hits:
        """Return at most `limit` beliefs kept apart from items: learnings tagged `belief`, within the reach."""
        request.validate()
        return []

    def close(self) -> None:  # noqa: B027  # most engines hold nothing to release
        """Release what the engine holds; closing twice is safe. Nothing to release by default."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def explore_page(
    request: ExploreRequest, counts: Counter[str], *, total: int, missing: int, truncated: bool
) -> ExplorePage:
    """Order and cut *counts* as spec 01 says: count descending, then value by its bytes."""
    ordered = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0].encode("utf-8", "surrogatepass")))
    return ExplorePage(
        facet=request.facet,
        buckets=tuple(Bucket(value=value, count=count) for value, count in ordered[: request.limit]),
        total=total,
        missing=missing,
        more_buckets=max(0, len(ordered) - request.limit),
        truncated=truncated,
    )
