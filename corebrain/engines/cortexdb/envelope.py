"""The envelope that makes an event an item again: written as labels (v3) or as text (v2) (spec 04 section 4)."""

import contextlib
import re
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

from pydantic import Field

from corebrain.engines.cortexdb.digests import path_digest
from corebrain.engines.cortexdb.sent_meta import SentMeta
from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.fingerprint import confidence_text, joined, meta_json, optional, quoted, tool_call_json
from corebrain.model.instant import Instant
from corebrain.model.item import Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, ToolCallRef
from corebrain.model.value import Value

PART = "tm:e:"
SLICE_BYTES = 240
_PART = re.compile(r"tm:e:([0-9]{1,9}):(.*)", re.DOTALL)
_ROLE = re.compile(r"\[[a-z]+\] ")
FULL_WIDTH = 0xFFFFFFFF
"""The widest number of a chunk, for sizes that must hold whatever the numbers become."""


class TurnPart(Value):
    """Which turn of a conversation an event is; the text stands beside it."""

    index: int = Field(ge=0)
    count: int = Field(ge=1)
    role: Role
    at: Instant | None = None
    tool_calls: tuple[ToolCallRef, ...] = ()

    @classmethod
    def of(cls, turn: Turn, index: int, count: int) -> Self:
        """Describe *turn*, the *index*-th (from 0) of *count*."""
        return cls.model_construct(index=index, count=count, role=turn.role, at=turn.at, tool_calls=turn.tool_calls)

    def turn(self, text: str) -> Turn:
        """Return the turn again."""
        return Turn(role=self.role, text=text, at=self.at, tool_calls=self.tool_calls)

    def canonical(self) -> str:
        """Return the canonical JSON."""
        calls = ",".join(map(tool_call_json, self.tool_calls))
        return joined(
            (
                ("index", str(self.index)),
                ("count", str(self.count)),
                ("role", f'"{self.role.value}"'),
                ("at", None if self.at is None else f'"{self.at}"'),
                ("tool_calls", f"[{calls}]" if self.tool_calls else None),
            )
        )


class ChunkPart(Value):
    """Which piece of a long document an event is: its place, the pages it covers and the heading it begins under."""

    index: int = Field(ge=0)
    count: int = Field(ge=1)
    pages: tuple[int, int] | None = None
    section: str | None = None

    def canonical(self) -> str:
        """Return the canonical JSON."""
        pages = None if self.pages is None else f"[{self.pages[0]},{self.pages[1]}]"
        return joined(
            (
                ("index", str(self.index)),
                ("count", str(self.count)),
                ("pages", pages),
                ("section", optional(self.section)),
            )
        )

    @property
    def page_tag(self) -> str | None:
        """`page:3` or `page:3-5`."""
        if self.pages is None:
            return None
        first, last = self.pages
        return f"page:{first}" if first == last else f"page:{first}-{last}"

    @property
    def section_tag(self) -> str | None:
        """`section:<title>`."""
        return None if self.section is None else f"section:{self.section}"


class Frame(NamedTuple):
    """The canonical JSON of an envelope around its version and its text."""

    before: str
    after: str

    def canonical(self, version: int, text: str) -> str:
        """Return the canonical JSON of *version*, holding *text*."""
        return f'{{"v":{version},{self.before},"text":{quoted(text)},{self.after}'


class Envelope(Value):
    """Everything of an item that one event carries. `v` is 3 in labels and 2 in text."""

    v: int = 3
    id: str
    kind: ItemKind
    text: str = ""
    meta: MemoryMeta = MemoryMeta()
    ws: str | None = None
    fp: tuple[str, ...] = ()
    fd: tuple[str, ...] = ()
    title: str | None = None
    mime: str | None = None
    learning_kind: LearningKind | None = None
    confidence: float | None = None
    evidence: str | None = None
    turn: TurnPart | None = None
    chunk: ChunkPart | None = None

    @classmethod
    def of(cls, item: Any, item_id: str, sent: SentMeta, **part: object) -> Self:
        """Wrap *item* without its text; *part* is `turn` or `chunk`."""
        fields: dict[str, Any] = dict(part)
        if isinstance(item, Document):
            fields |= {"title": item.title, "mime": item.mime}
        elif isinstance(item, Learning):
            fields |= {
                "learning_kind": item.learning_kind,
                "confidence": item.confidence,
                "evidence": item.evidence,
            }
        return cls.model_construct(  # of values that were checked when the item was made
            id=item_id,
            kind=item.kind,
            meta=sent.meta,
            ws=sent.workspace,
            fp=sent.file_path,
            fd=sent.folder,
            **fields,
        )

    def frame(self) -> "Frame":
        """Write everything but the version and the text."""
        kind = self.learning_kind
        after = joined(
            (
                ("meta", meta_json(self.meta, hashed=False)),
                ("ws", optional(self.ws)),
                ("fp", _strings(self.fp)),
                ("fd", _strings(self.fd)),
                ("title", optional(self.title)),
                ("mime", optional(self.mime)),
                ("learning_kind", None if kind is None else f'"{kind.value}"'),
                ("confidence", None if self.confidence is None else confidence_text(self.confidence)),
                ("evidence", optional(self.evidence)),
                ("turn", None if self.turn is None else self.turn.canonical()),
                ("chunk", None if self.chunk is None else self.chunk.canonical()),
            )
        )
        return Frame(f'"id":{quoted(self.id)},"kind":"{self.kind.value}"', after[1:])

    @property
    def part(self) -> int | None:
        """Which turn or piece this is, from 0; `None` for an item of one event."""
        if self.turn is not None:
            return self.turn.index
        return None if self.chunk is None else self.chunk.index

    @property
    def count(self) -> int | None:
        """How many events its item is; `None` for an item of one event."""
        if self.turn is not None:
            return self.turn.count
        return None if self.chunk is None else self.chunk.count

    def matches(self, wanted: MetaFilter) -> bool:
        """Apply the full filter, local paths by their digests."""
        settled: dict[str, None] = {}
        if wanted.workspace is not None and self.ws is not None:
            if path_digest(wanted.workspace) != self.ws:
                return False
            settled["workspace"] = None
        if wanted.file_path is not None and _held(wanted.file_path, self.fp):
            settled["file_path"] = None
        if wanted.folder is not None and _held(wanted.folder, self.fd):
            settled["folder"] = None
        left = wanted.model_copy(update=settled) if settled else wanted
        return left.matches(self.kind, self.meta)


def _strings(values: Sequence[str]) -> str | None:
    return f"[{','.join(map(quoted, values))}]" if values else None


def _held(path: str, digests: Sequence[str]) -> bool:
    return path_digest(path) in digests or path_digest(path.rstrip("/")) in digests


def envelope_labels(canonical: str) -> list[str]:
    """Cut a v3 envelope at character boundaries into labels `tm:e:NN:<at most 240 bytes>`."""
    data = canonical.encode("utf-8")
    labels: list[str] = []
    start = 0
    while start < len(data):
        end = min(start + SLICE_BYTES, len(data))
        while end < len(data) and data[end] & 0xC0 == 0x80:  # inside a character
            end -= 1
        labels.append(f"{PART}{len(labels):02d}:{data[start:end].decode('utf-8')}")
        start = end
    return labels


def read_envelope(text: str, labels: Sequence[str]) -> Envelope | None:
    """Return the envelope of an event with its text in place; `None` when the event is not ours."""
    return _from_labels(text, labels) or _from_text(text)


def _from_labels(text: str, labels: Sequence[str]) -> Envelope | None:
    found = [(int(match[1]), match[2]) for label in labels if (match := _PART.fullmatch(label))]
    found.sort(key=lambda part: part[0])
    if not found or [number for number, _ in found] != list(range(len(found))):
        return None
    envelope = _parsed("".join(part for _, part in found))
    return envelope.model_copy(update={"text": text}) if envelope is not None and envelope.v == 3 else None


def _from_text(text: str) -> Envelope | None:
    envelope = _parsed(text)
    if envelope is None and (role := _ROLE.match(text)):
        envelope = _parsed(text[role.end() :])
    return envelope if envelope is not None and envelope.v == 2 else None


def _parsed(text: str) -> Envelope | None:
    if not text.startswith("{"):
        return None
    with contextlib.suppress(InvalidRequest):
        return Envelope.from_json(text)
    return None
