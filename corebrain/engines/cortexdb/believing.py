"""Beliefs: asked to be built, read, and made hits (spec 04 section 7)."""

from collections.abc import Sequence
from typing import Any

from corebrain.contract import Hits
from corebrain.engines.cortexdb.concurrent_reads import each
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.ranking import interleaved, recall_body
from corebrain.engines.cortexdb.replies import Json
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.errors import EngineError, InvalidRequest
from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.requests import BELIEF_TAG, ConsolidateReceipt, ConsolidateStatus, Hit

_HELD = {"supported", "contested"}
_UNSURE = 0.5


def build(wire: DirectWire, scopes: Sequence[KindScope]) -> ConsolidateReceipt:
    """Ask for a build of every scope, in order; completed when every answer says what it built."""
    built: list[int] = []
    jobs: list[str] = []
    for scope in scopes:
        reply = wire.build(scope.path)
        answered = reply if isinstance(reply, dict) else {}
        count = answered.get("built")
        if isinstance(count, int) and not isinstance(count, bool):
            built.append(count)
            continue
        job = next((answered[name] for name in ("job_id", "build_id", "id") if name in answered), None)
        if not isinstance(job, str | int):
            raise EngineError("a belief build's reply names neither what it built nor a job")
        jobs.append(str(job))
    if len(built) == len(scopes):
        return ConsolidateReceipt(status=ConsolidateStatus.COMPLETED, scopes=len(scopes), built=sum(built))
    return ConsolidateReceipt(status=ConsolidateStatus.STARTED, jobs=tuple(jobs), scopes=len(scopes))


def ranked(wire: DirectWire, layout: ScopeLayout, scopes: Sequence[KindScope], query: str, limit: int) -> Hits:
    """Return the beliefs of the scopes, best for *query* first."""
    limits = {"events": 0, "facts": 0, "episodes": 0, "understanding": 0, "beliefs": limit}

    def read(scope: KindScope) -> list[Json]:
        return layer(wire.recall(recall_body(scope.path, query, limits, include=("beliefs",))))

    return merged(layout, each(read, scopes), limit)


def newest(wire: DirectWire, layout: ScopeLayout, scopes: Sequence[KindScope], limit: int) -> Hits:
    """Return the beliefs of the scopes, most confident first, then newest."""
    found = merged(layout, each(lambda scope: wire.beliefs(scope.path, limit), scopes), None)
    found.sort(
        key=lambda hit: (hit.confidence or 0.0, hit.meta.observed_at.ns if hit.meta.observed_at else 0), reverse=True
    )
    return _scored(found[:limit])


def layer(pack: Json) -> list[Json]:
    """Return the beliefs of a pack."""
    held = pack["layers"].get("beliefs")
    return [each for each in held if isinstance(each, dict)] if isinstance(held, list) else []


def merged(layout: ScopeLayout, lists: Sequence[Sequence[Json]], limit: int | None) -> Hits:
    """Put the beliefs of several scopes together rank by rank, each sentence once whatever its case."""
    read = [[hit for raw in raws if (hit := _hit(layout, raw)) is not None] for raws in lists]
    return _scored(interleaved(read, key=lambda hit: hit.text.lower())[:limit])


def _scored(hits: Hits) -> Hits:
    return [hit.model_copy(update={"score": 1 / (1 + rank)}) for rank, hit in enumerate(hits)]


def _hit(layout: ScopeLayout, raw: Json) -> Hit | None:
    claim, stance = raw.get("claim"), raw.get("stance", "supported")
    scope = layout.parse(raw["scope"]) if isinstance(raw.get("scope"), str) else None
    belief_id = raw.get("id")
    if scope is None or not isinstance(claim, dict) or stance not in _HELD or not isinstance(belief_id, str):
        return None
    subject, predicate, target = (_word(claim.get(part)) for part in ("subject", "predicate", "object"))
    if not belief_id or not predicate or not target:
        return None
    said = " ".join(word for word in (subject, predicate.replace("_", " "), target) if word)
    return Hit(
        id=belief_id,
        kind=ItemKind.LEARNING,
        text=f"{said} (contested)" if stance == "contested" else said,
        meta=MemoryMeta(namespace=scope.node, tags=(BELIEF_TAG,), observed_at=_when(raw)),
        confidence=_confidence(raw.get("confidence")),
    )


def _word(part: Any) -> str:
    if isinstance(part, dict):
        part = part.get("name") or part.get("value")
    return str(part) if isinstance(part, str | int | float) and not isinstance(part, bool) else ""


def _confidence(value: Any) -> float:
    sure = isinstance(value, int | float) and not isinstance(value, bool) and value == value  # noqa: PLR0124  # no NaN
    return min(1.0, max(0.0, float(value))) if sure else _UNSURE


def _when(raw: Json) -> Instant | None:
    for name in ("valid_from", "updated_at", "created_at"):
        try:
            return Instant.parse(raw[name])
        except (KeyError, TypeError, InvalidRequest):
            continue
    return None
