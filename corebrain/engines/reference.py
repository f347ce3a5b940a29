"""The reference engine: a list in memory, correct by inspection (spec 01 section 8).

It serves every method and every fetch mode, keeps nothing on disk, and is what other engines are compared with.
"""

import math
import re
import threading
from array import array
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, TypeVar

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine, Receipts, validate_batch
from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.first_sentence import belief_of
from corebrain.model.item import Learning
from corebrain.model.namespace import Reach
from corebrain.model.requests import (
    Citation,
    ConsolidateReceipt,
    ConsolidateRequest,
    ConsolidateStatus,
    Consolidation,
    EraseReport,
    EraseRequest,
    Exported,
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
)

DIMENSIONS = 64
_NEAR = 0.2  # the least cosine that counts as a vector hit
_CURSOR = re.compile(r"0|[1-9][0-9]{0,17}")  # as `_page` writes them; longer ones are nobody's
_WORD = re.compile(r"[^\W_]+")
_Row = TypeVar("_Row")
NOTHING_FOUND = "Memory holds nothing on this question."


def words(text: str) -> list[str]:
    """Return the lower-cased maximal runs of alphanumeric characters."""
    return _WORD.findall(text.lower())


def keyword_score(query: str, text: str) -> float:
    """Return the fraction of the query's distinct words that *text* holds, from 0 to 1."""
    return _shared(frozenset(words(query)), frozenset(words(text)))


def _shared(asked: frozenset[str], held: frozenset[str]) -> float:
    return len(asked & held) / len(asked) if asked else 0.0


def embed(text: str) -> "array[float]":
    """Return 64 single-precision dimensions: counts of hashed three-character windows of each word, normalised."""
    counts = [0.0] * DIMENSIONS
    for word in words(text):
        framed = f" {word} "
        for start in range(len(framed) - 2):
            counts[_hash(framed[start : start + 3]) % DIMENSIONS] += 1.0
    length = math.sqrt(sum(value * value for value in counts))
    return array("f", (value / length if length else 0.0 for value in counts))


@lru_cache(maxsize=1 << 16)  # a language has few windows, and each comes again and again
def _hash(window: str) -> int:
    """FNV-1a over code points."""
    value = 0x811C9DC5
    for character in window:
        value = ((value ^ ord(character)) * 0x01000193) & 0xFFFFFFFF
    return value


def vector_score(query: str, text: str) -> float:
    """Return the cosine of the two embeddings."""
    return _cosine(embed(query), embed(text))


def _cosine(one: "array[float]", other: "array[float]") -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


class Features(NamedTuple):
    """What of a text is compared: its distinct words and its embedding."""

    words: frozenset[str]
    vector: "array[float]"


def features(text: str) -> Features:
    """Return what of *text* is compared."""
    return Features(frozenset(words(text)), embed(text))


def score(mode: FetchMode, query: str, text: str) -> float | None:
    """Return the score of a hit, `None` when *text* is none; hybrid is the mean, a hit when either is one."""
    return _score(mode, features(query), features(text))


def _score(mode: FetchMode, query: Features, text: Features) -> float | None:
    keyword = _shared(query.words, text.words) if mode is not FetchMode.VECTOR else 0.0
    vector = _cosine(query.vector, text.vector) if mode is not FetchMode.KEYWORD else 0.0
    if mode is FetchMode.KEYWORD:
        return keyword if keyword > 0 else None
    if mode is FetchMode.VECTOR:
        return vector if vector >= _NEAR else None
    return (keyword + vector) / 2 if keyword > 0 or vector >= _NEAR else None


Rows = list[tuple[str, Item]]
Ranked = list[tuple[str, Item, float]]


class ReferenceEngine(MemoryEngine):
    """Items in insertion order; `len()` counts them. One lock makes every call a step of its own.

    Args:
        consolidation: What the descriptor declares; whatever it says, `consolidate` builds at once.
    """

    def __init__(self, consolidation: Consolidation = Consolidation.ON_DEMAND) -> None:
        self._items: dict[str, Item] = {}
        self._features: dict[str, Features] = {}  # of what was ranked once
        self._lock = threading.RLock()
        self._descriptor = EngineDescriptor(
            id="reference",
            label="Reference (in-memory)",
            description="Keeps everything in memory; for tests, examples and trying things out",
            fetch_modes=(FetchMode.KEYWORD, FetchMode.VECTOR, FetchMode.HYBRID),
            consolidation=consolidation,
        )

    def __len__(self) -> int:
        return len(self._items)

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._descriptor

    def health(self) -> EngineHealth:
        return EngineHealth.ok()

    def store(self, item: Item) -> StoreReceipt:
        item.validate()
        item_id = item.fingerprint()
        with self._lock:
            replayed = item_id in self._items
            self._items.setdefault(item_id, item)
        return StoreReceipt(id=item_id, replayed=replayed)

    def store_many(self, items: Sequence[Item]) -> Receipts:
        validate_batch(items)
        with self._lock:
            return [self.store(item) for item in items]

    def fetch(self, request: FetchRequest) -> FetchPage:
        self._descriptor.ensure_mode(request.mode)
        request.validate()
        ranked = self._ranked(request.query, request.mode, request.filter)
        page, next_cursor = _page(ranked, request.limit, request.cursor)
        return FetchPage(hits=tuple(_hit(*row) for row in page), next_cursor=next_cursor)

    def _ranked(self, query: str, mode: FetchMode, wanted: MetaFilter) -> Ranked:
        asked = features(query)
        scored = ((*row, _score(mode, asked, self._features_of(*row))) for row in self._admitted(wanted))
        hits = [(item_id, item, value) for item_id, item, value in scored if value is not None]
        return sorted(hits, key=lambda hit: -hit[2])

    def _features_of(self, item_id: str, item: Item) -> Features:
        known = self._features.get(item_id)
        if known is None:
            known = features(item.render_text())
            with self._lock:
                if item_id in self._items:  # not forgotten meanwhile
                    self._features[item_id] = known
        return known

    def _admitted(self, wanted: MetaFilter) -> Rows:
        with self._lock:
            return [(item_id, item) for item_id, item in self._items.items() if wanted.matches(item.kind, item.meta)]

    def recall(self, request: RecallRequest) -> RecallAnswer:
        request.validate()
        best = self._ranked(request.question, FetchMode.HYBRID, request.filter)[: request.limit]
        citations = tuple(
            Citation(id=item_id, kind=item.kind, snippet=item.render_text(), meta=item.meta, score=value)
            for item_id, item, value in best
        )
        if not citations:
            return RecallAnswer(answer=NOTHING_FOUND, model="reference")
        quotes = "\n".join(f"- {citation.snippet}" for citation in citations)
        noun = "item" if len(citations) == 1 else "items"
        answer = f"This rests on {len(citations)} {noun} of memory:\n{quotes}"
        return RecallAnswer(answer=answer, citations=citations, model="reference")

    def list(self, request: ListRequest) -> ListPage:
        request.validate()
        page, next_cursor = _page(self._admitted(request.filter), request.limit, request.cursor)
        return ListPage(items=tuple(_hit(item_id, item) for item_id, item in page), next_cursor=next_cursor)

    def get(self, request: GetRequest) -> Hits:
        request.validate()
        with self._lock:
            held = [(item_id, self._items.get(item_id)) for item_id in dict.fromkeys(request.ids)]
        return [
            _hit(item_id, item)
            for item_id, item in held
            if item is not None and Reach.admitted_by(request.reach, item.meta.namespace)
        ]

    def export(self, request: ListRequest) -> ExportPage:
        request.validate()
        page, next_cursor = _page(self._admitted(request.filter), request.limit, request.cursor)
        items = tuple(Exported(id=item_id, item=item) for item_id, item in page)
        return ExportPage(items=items, next_cursor=next_cursor)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        target.validate()
        with self._lock:
            if target.filter is not None:
                doomed = [item_id for item_id, _ in self._admitted(target.filter)]
            else:
                doomed = [item_id for item_id in dict.fromkeys(target.ids or ()) if item_id in self._items]
            self._drop(doomed)
        return ForgetReport(forgotten=len(doomed))

    def _drop(self, doomed: Sequence[str]) -> None:
        for item_id in doomed:
            del self._items[item_id]
            self._features.pop(item_id, None)

    def erase(self, request: EraseRequest) -> EraseReport:
        request.validate()
        reach = request.reach.model_copy(update={"inherit": False})
        with self._lock:
            doomed = self._admitted(MetaFilter(reach=reach, kinds=request.kinds))
            self._drop([item_id for item_id, _ in doomed])
        return EraseReport(erased_scopes=len({(item.meta.namespace, item.kind) for _, item in doomed}))

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        request.validate()
        with self._lock:
            admitted = self._admitted(MetaFilter(reach=request.reach, kinds=request.kinds))
            sources = [item for _, item in admitted if not isinstance(item, Learning)]
            beliefs = [belief for belief in map(belief_of, sources) if belief is not None]
            built = sum(not self.store(belief).replayed for belief in beliefs)
        scopes = len({(item.meta.namespace, item.kind) for item in sources})
        return ConsolidateReceipt(status=ConsolidateStatus.COMPLETED, scopes=scopes, built=built)


def _hit(item_id: str, item: Item, value: float = 0.0) -> Hit:
    return Hit(
        id=item_id,
        kind=item.kind,
        text=item.render_text(),
        meta=item.meta,
        score=value,
        confidence=item.confidence_or_none,
    )


def _page(rows: Sequence[_Row], limit: int, cursor: str | None) -> tuple[Sequence[_Row], str | None]:
    start = 0
    if cursor is not None:
        if not _CURSOR.fullmatch(cursor):
            raise InvalidRequest(f"unknown cursor {cursor[:40]!r}")
        start = int(cursor)
    end = start + limit
    return rows[start:end], str(end) if end < len(rows) else None
