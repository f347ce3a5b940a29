"""Items as the request bodies CortexDB keeps as events, byte for byte (spec 04 sections 4 and 6)."""

import hashlib
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from corebrain.contract import Item
from corebrain.engines.cortexdb.chunking import PAGE_BREAK, json_size, split
from corebrain.engines.cortexdb.envelope import FULL_WIDTH, ChunkPart, Envelope, Frame, TurnPart, envelope_labels
from corebrain.engines.cortexdb.labels import lookup_labels, readable_labels
from corebrain.engines.cortexdb.sent_meta import SentMeta, as_sent
from corebrain.errors import InvalidRequest
from corebrain.model.instant import Instant
from corebrain.model.item import Conversation, Document, Learning, Role
from corebrain.model.meta import ItemKind

EVENT_BYTES = 786_432
"""Most bytes of one event's v2 encoding (768 KiB; CortexDB refuses more than 1 MiB of text)."""
WHOLE_BYTES = 262_144
"""Most bytes of a document's encoding that is kept as one event (256 KiB)."""
_COMPACT = json.JSONEncoder(sort_keys=True, ensure_ascii=False, separators=(",", ":"))
_SECTION_RESERVE = 120 * 6 + 32
MAX_LABELS = 64
_MODALITIES = {
    ItemKind.DOCUMENT: "document",
    ItemKind.CONVERSATION: "conversation",
    ItemKind.LEARNING: "observation",
}


@dataclass(frozen=True, slots=True)
class Event:
    """One request body and which part of its item it is.

    Attributes:
        part: Index of the turn or piece, `None` when the item is one event.
        body: The body to append, its idempotency key included.
    """

    part: int | None
    body: dict[str, Any]

    @property
    def text(self) -> str:
        """The text that is ranked."""
        return str(self.body["content"]["text"])

    @property
    def labels(self) -> list[str]:
        """All labels; the item's own is the first."""
        labels: list[str] = self.body["context"]["labels"]
        return labels


def compact(value: object) -> str:
    """Write JSON without whitespace, keys sorted at every level, raw UTF-8."""
    return _COMPACT.encode(value)


def body_key(body: dict[str, Any]) -> str:
    """Return the idempotency key of a body that has none yet: 60 characters, the server takes 64."""
    return f"tm3:{hashlib.sha256(compact(body).encode('utf-8')).hexdigest()[:56]}"


def encode_item(item: Item, item_id: str, scope: str) -> list[Event]:
    """Return the events of a valid item whose fingerprint is *item_id*, in order.

    Raises:
        InvalidRequest: an event is over 768 KiB, which CortexDB would refuse.
    """
    sent = as_sent(item.meta)
    return [_event(*part, scope) for part in _parts(item, item_id, sent)]


_Part = tuple[Envelope, Frame, str, Role, Instant | None]


def _parts(item: Item, item_id: str, sent: SentMeta) -> Iterator[_Part]:
    seen = item.meta.observed_at
    if isinstance(item, Conversation):
        for index, turn in enumerate(item.turns):
            part = TurnPart.of(turn, index, len(item.turns))
            envelope = Envelope.of(item, item_id, sent, turn=part)
            yield envelope, envelope.frame(), turn.text, turn.role, turn.at or seen
    elif isinstance(item, Learning):
        envelope = Envelope.of(item, item_id, sent)
        yield envelope, envelope.frame(), item.text, Role.USER, seen
    else:
        for piece in _document_parts(item, Envelope.of(item, item_id, sent)):
            yield *piece, Role.USER, seen


def _document_parts(item: Document, whole: Envelope) -> Iterator[tuple[Envelope, Frame, str]]:
    text = item.text
    paged = PAGE_BREAK in text
    widest = ChunkPart(index=FULL_WIDTH, count=FULL_WIDTH, pages=(FULL_WIDTH, FULL_WIDTH) if paged else None)
    frame = whole.frame()
    size = len(f'{frame.canonical(2, "")},"chunk":{widest.canonical()}'.encode())
    pack = WHOLE_BYTES - size - _SECTION_RESERVE
    if json_size(text) <= pack or pack < 1:  # a section's reserve counts here too, as the other implementation does it
        yield whole, frame, text
        return
    pieces = split(text, pack)
    for index, piece in enumerate(pieces):
        pages = (piece.first_page, piece.last_page) if paged else None
        chunk = ChunkPart(index=index, count=len(pieces), pages=pages, section=piece.section)
        envelope = whole.model_copy(update={"chunk": chunk})
        yield envelope, envelope.frame(), piece.text


def _event(envelope: Envelope, frame: Frame, text: str, role: Role, at: Instant | None, scope: str) -> Event:
    v2 = frame.canonical(2, text)
    size = len(v2.encode("utf-8"))
    if size > EVENT_BYTES:
        raise InvalidRequest(f"item {envelope.id} needs an event of {size} bytes, CortexDB refuses events over 1 MiB")
    lookup = lookup_labels(envelope)
    labels = [*lookup, *readable_labels(envelope), *envelope_labels(frame.canonical(3, ""))]
    sent = text
    if not text or len(labels) > MAX_LABELS:
        labels, sent = lookup, v2
    context: dict[str, Any] = {"labels": labels}
    if at is not None:
        context["observed_at"] = f"{str(at).removesuffix('Z')}+00:00"
    body: dict[str, Any] = {
        "scope": scope,
        "modality": _MODALITIES[envelope.kind],
        "content": {"kind": "message", "role": role.value, "text": sent},
        "context": context,
    }
    if envelope.meta.derive is False or role is Role.TOOL:
        body["directives"] = {"extract": []}
    body["idempotency_key"] = body_key(body)
    return Event(envelope.part, body)
