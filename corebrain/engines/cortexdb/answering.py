"""Recall: a pack a scope, one answer over the best of them (spec 04 section 7)."""

from collections.abc import Sequence
from typing import Any, NamedTuple

from corebrain.engines.cortexdb.concurrent_reads import each
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.fetching import piece_meta
from corebrain.engines.cortexdb.labels import narrowing_labels
from corebrain.engines.cortexdb.ranking import interleaved, recall_body
from corebrain.engines.cortexdb.replies import Held, Json, admitted, objects, text_of
from corebrain.engines.cortexdb.scopes import KindScope
from corebrain.errors import NotFound
from corebrain.model.requests import Citation, RecallAnswer, RecallRequest

_DERIVED = ("facts", "beliefs", "episodes", "understanding")
_ANSWERS = 3


class _Pack(NamedTuple):
    scope: KindScope
    pack_id: str
    held: list[Held]


def recall(wire: DirectWire, scopes: Sequence[KindScope], request: RecallRequest) -> RecallAnswer:
    """Return an answer and what it rests on; empty without scopes.

    Raises:
        NotFound: the packs were gone three times in a row: something forgets all the time.
    """
    nearest = sorted(scopes, key=lambda scope: -scope.node.depth)
    if not nearest:
        return RecallAnswer(answer="")
    for attempt in range(1, _ANSWERS + 1):
        packs = each(lambda scope: _pack(wire, scope, request), nearest)
        best = max(packs, key=lambda pack: len(pack.held))
        try:
            reply = wire.answer(_question(best, request))
        except NotFound:
            if attempt == _ANSWERS:
                raise
            continue
        return _answer(reply, packs, request.limit)
    raise AssertionError("the last attempt returns or raises")


def _pack(wire: DirectWire, scope: KindScope, request: RecallRequest) -> _Pack:
    share, rest = divmod(request.limit, len(_DERIVED))
    limits = {"events": 2 * request.limit}
    limits |= {layer: share + (number < rest) for number, layer in enumerate(_DERIVED)}
    reply = wire.recall(recall_body(scope.path, request.question, limits, narrowing_labels(request.filter)))
    events = objects(reply["layers"], "events")
    return _Pack(scope, text_of(reply, "pack_id"), admitted(events, scope.path, scope.kind, request.filter))


def _question(pack: _Pack, request: RecallRequest) -> Json:
    body: dict[str, Any] = {
        "scope": pack.scope.path,
        "question": request.question,
        "use_pack_id": pack.pack_id,
        "cite_sources": True,
        "include_context": True,
    }
    if request.instructions is not None:
        body["answer_instructions"] = request.instructions
    return body


def _answer(reply: Json, packs: Sequence[_Pack], limit: int) -> RecallAnswer:
    cited = interleaved([pack.held for pack in packs], key=lambda held: held.envelope.id)[:limit]
    diagnostics = reply.get("diagnostics")
    model = diagnostics.get("answer_model") if isinstance(diagnostics, dict) else None
    return RecallAnswer(
        answer=text_of(reply, "answer"),
        citations=tuple(
            Citation(id=held.envelope.id, kind=held.envelope.kind, snippet=held.envelope.text, meta=piece_meta(held))
            for held in cited
        ),
        model=model if isinstance(model, str) else None,
    )
