"""What one asks an engine and what it answers (spec 01 section 5).

Every request's `validate` raises `InvalidRequest` for what the table of the spec refuses; engines call it first.
"""

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field

from corebrain.errors import InvalidRequest
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import AnyItem, Conversation, Document, Learning
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Reach
from corebrain.model.text import is_blank
from corebrain.model.value import Value

MAX_STORE_MANY = 100
MAX_GET_IDS = 200
MAX_BUCKETS = 500
DEFAULT_SCAN_LIMIT = 5_000
MAX_SCAN_LIMIT = 50_000
BELIEF_TAG = "belief"
"""The tag of every belief an engine hands out."""


class FetchMode(StrEnum):
    """How a fetch ranks."""

    KEYWORD = "keyword"
    VECTOR = "vector"
    HYBRID = "hybrid"


class WaitFor(StrEnum):
    """When a write returns."""

    ACCEPTED = "accepted"
    VISIBLE = "visible"


class Consolidation(StrEnum):
    """How an engine builds beliefs."""

    NONE = "none"
    ON_DEMAND = "on_demand"
    SCHEDULED = "scheduled"
    AUTOMATIC = "automatic"


class ConsolidateStatus(StrEnum):
    """How far a belief build got when its request returned."""

    STARTED = "started"
    SCHEDULED = "scheduled"
    COMPLETED = "completed"


class Request(Value):
    """A call's arguments."""

    def validate(self) -> None:  # type: ignore[override]  # pydantic's deprecated classmethod gives way to the spec's name
        """Raise `InvalidRequest` when no engine may serve this."""


def _positive(limit: int, what: str = "limit") -> None:
    if limit <= 0:
        raise InvalidRequest(f"{what} is {limit}, at least 1 is needed")


class RecallRequest(Request):
    """A question to be answered from memory."""

    omitted: ClassVar[frozenset[str]] = frozenset({"instructions"})
    question: str
    filter: MetaFilter = MetaFilter()
    limit: int = 10
    instructions: str | None = None

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if is_blank(self.question):
            raise InvalidRequest("the question is blank")
        _positive(self.limit)


class Citation(Value):
    """An item an answer rests on."""

    omitted: ClassVar[frozenset[str]] = frozenset({"score"})
    id: str
    kind: ItemKind
    snippet: str
    meta: MemoryMeta
    score: float | None = None


class RecallAnswer(Value):
    """A synthesised answer and what it rests on."""

    omitted: ClassVar[frozenset[str]] = frozenset({"model"})
    answer: str
    citations: tuple[Citation, ...] = ()
    model: str | None = None


class FetchRequest(Request):
    """A ranked read, best first, without synthesis."""

    omitted: ClassVar[frozenset[str]] = frozenset({"cursor", "beliefs", "max_scopes"})
    query: str
    mode: FetchMode = FetchMode.HYBRID
    filter: MetaFilter = MetaFilter()
    limit: int = 10
    cursor: str | None = None
    beliefs: int = Field(default=0, ge=0)
    max_scopes: int | None = None

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if is_blank(self.query):
            raise InvalidRequest("the query is blank")
        _positive(self.limit)
        if self.max_scopes is not None:
            _positive(self.max_scopes, "max_scopes")


class Hit(Value):
    """One item found; `text` is its rendered text, `confidence` a learning's."""

    omitted: ClassVar[frozenset[str]] = frozenset({"confidence"})
    id: str
    kind: ItemKind
    text: str
    meta: MemoryMeta
    score: float = 0.0
    confidence: float | None = None


class FetchPage(Value):
    """Hits best first; beliefs only on the first page."""

    omitted: ClassVar[frozenset[str]] = frozenset({"next_cursor", "beliefs"})
    hits: tuple[Hit, ...] = ()
    next_cursor: str | None = None
    beliefs: tuple[Hit, ...] = ()


class ListRequest(Request):
    """Query-free paging."""

    omitted: ClassVar[frozenset[str]] = frozenset({"cursor"})
    filter: MetaFilter = MetaFilter()
    limit: int = 50
    cursor: str | None = None

    def validate(self) -> None:  # type: ignore[override]  # see Request
        _positive(self.limit)


class ListPage(Value):
    """Items in no promised order, every score 0.0."""

    omitted: ClassVar[frozenset[str]] = frozenset({"next_cursor"})
    items: tuple[Hit, ...] = ()
    next_cursor: str | None = None


class Exported(Value):
    """An item exactly as stored, under its id."""

    id: str
    item: AnyItem

    @classmethod
    def of(cls, item: Document | Conversation | Learning) -> Self:
        """Pair *item* with its fingerprint."""
        return cls(id=item.fingerprint(), item=item)


class ExportPage(Value):
    """Whole items; those held only in part are named in `incomplete`."""

    omitted: ClassVar[frozenset[str]] = frozenset({"incomplete", "next_cursor"})
    items: tuple[Exported, ...] = ()
    incomplete: tuple[str, ...] = ()
    next_cursor: str | None = None


class ForgetTarget(Request):
    """What to forget: ids, wherever they live, or everything a non-empty filter admits."""

    omitted: ClassVar[frozenset[str]] = frozenset({"ids", "filter"})
    ids: tuple[str, ...] | None = None
    filter: MetaFilter | None = None

    @classmethod
    def of_ids(cls, *ids: str) -> Self:
        """Name items by id."""
        return cls(ids=ids)

    @classmethod
    def of_filter(cls, wanted: MetaFilter) -> Self:
        """Name items by filter."""
        return cls(filter=wanted)

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if (self.ids is None) == (self.filter is None):
            raise InvalidRequest("a forget names either ids or a filter")
        if self.ids is not None and not self.ids:
            raise InvalidRequest("a forget names no ids")
        if self.filter is not None and self.filter.is_empty:
            raise InvalidRequest("a forget by an empty filter would remove everything")


class ForgetReport(Value):
    """How many items were removed."""

    forgotten: int


class EraseRequest(Request):
    """Delete nodes for good; `inherit` of the reach is ignored."""

    reach: Reach
    kinds: tuple[ItemKind, ...] = ()
    whole_tree: bool = False

    def validate(self) -> None:  # type: ignore[override]  # see Request
        everything = self.reach.at.is_root and self.reach.descendants and not self.kinds
        if everything and not self.whole_tree:
            raise InvalidRequest("erasing the whole tree needs whole_tree")


class EraseReport(Value):
    """How many engine-side scopes were emptied, and the engine's receipts."""

    omitted: ClassVar[frozenset[str]] = frozenset({"receipts"})
    erased_scopes: int
    receipts: tuple[str, ...] = ()


class ExploreRequest(Request):
    """Counts per value of one facet."""

    facet: Facet
    filter: MetaFilter = MetaFilter()
    limit: int = 50
    scan_limit: int = DEFAULT_SCAN_LIMIT

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if not 1 <= self.limit <= MAX_BUCKETS:
            raise InvalidRequest(f"limit is {self.limit}, from 1 to {MAX_BUCKETS} is allowed")
        if not 1 <= self.scan_limit <= MAX_SCAN_LIMIT:
            raise InvalidRequest(f"scan_limit is {self.scan_limit}, from 1 to {MAX_SCAN_LIMIT} is allowed")


class Bucket(Value):
    """One value and how often it occurs."""

    value: str
    count: int


class ExplorePage(Value):
    """Buckets, largest first; `truncated` makes every count a lower bound."""

    facet: Facet
    buckets: tuple[Bucket, ...] = ()
    total: int = 0
    missing: int = 0
    more_buckets: int = 0
    truncated: bool = False


class GetRequest(Request):
    """Whole items by id, optionally only those within a reach."""

    omitted: ClassVar[frozenset[str]] = frozenset({"reach"})
    ids: tuple[str, ...]
    reach: Reach | None = None

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if not 1 <= len(self.ids) <= MAX_GET_IDS:
            raise InvalidRequest(f"a get names {len(self.ids)} ids, from 1 to {MAX_GET_IDS} are allowed")
        if any(is_blank(item_id) for item_id in self.ids):
            raise InvalidRequest("a get names a blank id")


class StoreReceipt(Value):
    """The stored item's id, and whether it was there already."""

    id: str
    replayed: bool


class WriteOptions(Value):
    """When a write may return."""

    wait: WaitFor = WaitFor.VISIBLE

    @classmethod
    def accepted(cls) -> Self:
        """Return once the engine has durably accepted the item."""
        return cls(wait=WaitFor.ACCEPTED)

    @classmethod
    def visible(cls) -> Self:
        """Return once the item can be read."""
        return cls(wait=WaitFor.VISIBLE)


class ConsolidateRequest(Request):
    """Ask for a belief build over a reach; no kinds means all."""

    omitted: ClassVar[frozenset[str]] = frozenset({"kinds"})
    reach: Reach
    kinds: tuple[ItemKind, ...] = ()

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if len(set(self.kinds)) != len(self.kinds):
            raise InvalidRequest("a belief build names a kind twice")


class ConsolidateReceipt(Value):
    """What became of a belief build."""

    omitted: ClassVar[frozenset[str]] = frozenset({"jobs", "built"})
    status: ConsolidateStatus
    jobs: tuple[str, ...] = ()
    scopes: int = 0
    built: int | None = None

    @classmethod
    def scheduled(cls) -> Self:
        """The engine builds on its own schedule; nothing was started."""
        return cls(status=ConsolidateStatus.SCHEDULED)


class BeliefsRequest(Request):
    """Read built beliefs; with a query ranked for it, else most confident first, then newest."""

    omitted: ClassVar[frozenset[str]] = frozenset({"query"})
    reach: Reach = Reach()
    query: str | None = None
    limit: int = 10

    def validate(self) -> None:  # type: ignore[override]  # see Request
        _positive(self.limit)
        if self.query is not None and is_blank(self.query):
            raise InvalidRequest("the query is blank")
