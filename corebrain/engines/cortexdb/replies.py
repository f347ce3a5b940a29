"""What CortexDB answered, checked before it is believed."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from corebrain.engines.cortexdb.envelope import Envelope, read_envelope
from corebrain.errors import EngineError
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind
from corebrain.model.meta import ItemKind
from corebrain.model.requests import Hit

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Held:
    """One event of ours: its id on the server, where it lies and what it carries.

    Attributes:
        event_id: Its id.
        scope: Where it lies.
        envelope: What it carries.
        excerpt: Whether only a part of its text is shown: a pack's budget cut it.
    """

    event_id: str
    scope: str
    envelope: Envelope
    excerpt: bool = False

    @property
    def whole(self) -> bool:
        """Whether the event is all of its item."""
        return not self.excerpt and self.envelope.chunk is None and self.envelope.count in {None, 1}


def objects(reply: Any, *names: str) -> list[Json]:
    """Return the objects of the first list of these names; `EngineError` when there is none."""
    if isinstance(reply, dict):
        for name in names:
            if isinstance(reply.get(name), list):
                return [each for each in reply[name] if isinstance(each, dict)]
    raise EngineError(f"the reply holds no list {' or '.join(names)}")


def text_of(reply: Any, name: str) -> str:
    """Return a non-empty string of a reply; `EngineError` when there is none."""
    value = reply.get(name) if isinstance(reply, dict) else None
    if not isinstance(value, str) or not value:
        raise EngineError(f"the reply holds no {name}")
    return value


def event_id(raw: Json) -> str:
    """Return the id of a raw event, empty when it has none."""
    found = raw.get("event_id", raw.get("id"))
    return found if isinstance(found, str) else ""


def read_event(raw: Json, scope: str, kind: ItemKind) -> Held | None:
    """Return an event of ours; `None` when it is another's or of another kind than its scope."""
    content, context = raw.get("content"), raw.get("context")
    text = content.get("text") if isinstance(content, dict) else None
    labels = context.get("labels") if isinstance(context, dict) else None
    found = event_id(raw)
    if not found or not isinstance(text, str):
        return None
    kept = [label for label in labels if isinstance(label, str)] if isinstance(labels, list) else []
    envelope = read_envelope(text, kept)
    if envelope is None or envelope.kind is not kind:
        return None
    return Held(found, scope, envelope, excerpt=isinstance(content, dict) and content.get("_partial") is True)


def rebuilt(parts: Iterable[Held]) -> Document | Conversation | Learning | None:
    """Put an item together from its events; `None` while a piece of a document is missing."""
    by_part = {held.envelope.part: held.envelope for held in parts}
    whole = by_part.get(None)
    if whole is not None:
        return _single(whole)
    ordered = [by_part[part] for part in sorted(part for part in by_part if part is not None)]
    if not ordered:
        return None
    first = ordered[0]
    if first.kind is ItemKind.CONVERSATION:
        turns = tuple(each.turn.turn(each.text) for each in ordered if each.turn is not None)
        return Conversation(turns=turns, meta=first.meta)
    if {each.count for each in ordered} != {len(ordered)} or [each.part for each in ordered] != list(
        range(len(ordered))
    ):
        return None
    body = Body(text="".join(each.text for each in ordered))
    return Document(title=first.title, body=body, mime=first.mime, meta=first.meta)


def is_complete(parts: Iterable[Held]) -> bool:
    """Tell whether the events are all of their item, every turn or piece."""
    held = [each.envelope for each in parts]
    return any(each.part is None for each in held) or {each.count for each in held} == {len({e.part for e in held})}


def _single(envelope: Envelope) -> Document | Learning | None:
    if envelope.kind is ItemKind.DOCUMENT:
        return Document(title=envelope.title, body=Body(text=envelope.text), mime=envelope.mime, meta=envelope.meta)
    if envelope.confidence is None:
        return None
    return Learning.model_validate(
        {
            "text": envelope.text,
            "kind": envelope.learning_kind or LearningKind.OTHER,  # as the other implementation reads it
            "confidence": envelope.confidence,
            "evidence": envelope.evidence,
            "meta": envelope.meta,
        }
    )


def hit_of(item_id: str, item: Document | Conversation | Learning, score: float = 0.0) -> Hit:
    """Return an item as it is found."""
    return Hit(
        id=item_id,
        kind=item.kind,
        text=item.render_text(),
        meta=item.meta,
        score=score,
        confidence=item.confidence_or_none,
    )


def admitted(raws: Iterable[Json], scope: str, kind: ItemKind, wanted: MetaFilter) -> list[Held]:
    """Return the events of ours that the full filter admits, each item once, at its best place."""
    found: dict[str, Held] = {}
    for raw in raws:
        held = read_event(raw, scope, kind)
        if held is not None and held.envelope.matches(wanted):
            found.setdefault(held.envelope.id, held)
    return list(found.values())
