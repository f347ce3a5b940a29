"""The three things memory stores: documents, conversations and learnings (spec 01 section 3)."""

import json
from enum import StrEnum
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import (
    AfterValidator,
    Field,
    SerializerFunctionWrapHandler,
    TypeAdapter,
    ValidationError,
    model_serializer,
)

from corebrain.errors import InvalidRequest
from corebrain.model.fingerprint import confidence_text, digest, joined, meta_json, optional, quoted, tool_call_json
from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind, MemoryMeta, ToolCallRef
from corebrain.model.text import is_blank
from corebrain.model.value import Value, told


class Role(StrEnum):
    """Who speaks a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    SYSTEM = "system"
    TOOL = "tool"


class LearningKind(StrEnum):
    """What sort of statement a learning is."""

    PREFERENCE = "preference"
    FACT = "fact"
    PROCEDURE = "procedure"
    CORRECTION = "correction"
    OTHER = "other"


class Turn(Value):
    """One utterance of a conversation; its own `at` counts for the item's id."""

    omitted: ClassVar[frozenset[str]] = frozenset({"at", "tool_calls"})
    role: Role
    text: str
    at: Instant | None = None
    tool_calls: tuple[ToolCallRef, ...] = ()

    def canonical(self) -> str:
        """Return the canonical JSON of the turn."""
        calls = ",".join(map(tool_call_json, self.tool_calls))
        return joined(
            (
                ("role", f'"{self.role.value}"'),
                ("text", quoted(self.text)),
                ("at", None if self.at is None else f'"{self.at}"'),
                ("tool_calls", f"[{calls}]" if self.tool_calls else None),
            )
        )

    def render(self) -> str:
        """Return `role: text`, followed by ` [tools: a (id), b]` when tools were called."""
        line = f"{self.role.value}: {self.text}"
        if not self.tool_calls:
            return line
        calls = ", ".join(f"{call.name} ({call.id})" if call.id is not None else call.name for call in self.tool_calls)
        return f"{line} [tools: {calls}]"


class Body(Value):
    """A document's text, or a URI that must be resolved before it is stored."""

    omitted: ClassVar[frozenset[str]] = frozenset({"text", "uri"})
    text: str | None = None
    uri: str | None = None


class StoreItem(Value):
    """What an engine stores. Its id is its fingerprint."""

    meta: MemoryMeta = MemoryMeta()

    def model_post_init(self, _context: Any) -> None:
        """Refuse an item that is none of the three kinds; `StoreItem.read` reads any of them."""
        if type(self) is StoreItem:
            raise InvalidRequest("an item is a document, a conversation or a learning; read one with StoreItem.read")

    @model_serializer(mode="wrap")
    def _omit(self, handler: SerializerFunctionWrapHandler) -> dict[str, Any]:
        del handler  # the canonical form alone says which keys stand where
        written: dict[str, Any] = json.loads(self.canonical(hashed=False))
        return written

    @staticmethod
    def document(text: str, meta: MemoryMeta | None = None) -> "Document":
        """Make a document without title and media type."""
        return Document(body=Body(text=text), meta=meta or MemoryMeta())

    @staticmethod
    def learning(text: str, kind: LearningKind, confidence: float, meta: MemoryMeta | None = None) -> "Learning":
        """Make a learning without evidence."""
        return Learning(text=text, kind=kind, confidence=confidence, meta=meta or MemoryMeta())

    @staticmethod
    def read(data: Any) -> "Document | Conversation | Learning":
        """Read an item from its JSON form: text, bytes or a dict.

        Raises:
            InvalidRequest: bad JSON, an unknown `type` or a field of the wrong shape.
        """
        return read_item(data)

    @property
    def kind(self) -> ItemKind:
        """Which of the three kinds this is."""
        raise NotImplementedError

    @property
    def confidence_or_none(self) -> float | None:
        """A learning's confidence; `None` for the other kinds."""
        return None

    def render_text(self) -> str:
        """Return the text that is shown, scored and quoted."""
        raise NotImplementedError

    def validate(self) -> None:  # type: ignore[override]  # pydantic's deprecated classmethod gives way to the spec's name
        """Raise `InvalidRequest` when the item may not be stored; nothing beyond spec 01 is checked."""
        raise NotImplementedError

    def canonical(self, *, hashed: bool) -> str:
        """Return the canonical JSON; *hashed* leaves out what does not count for the id."""
        raise NotImplementedError

    def fingerprint(self) -> str:
        """Return the item's id: 40 hex digits over everything but `observed_at`."""
        return digest(self.canonical(hashed=True))

    def to_json(self) -> str:
        """Return the canonical JSON, `observed_at` included."""
        return self.canonical(hashed=False)

    def with_meta(self, meta: MemoryMeta) -> Self:
        """Return a copy with other metadata."""
        return self.model_copy(update={"meta": meta})


class Document(StoreItem):
    """A text with an optional title and media type."""

    type: Literal["document"] = "document"
    title: str | None = None
    body: Body
    mime: str | None = None

    @property
    def kind(self) -> ItemKind:
        return ItemKind.DOCUMENT

    @property
    def text(self) -> str:
        """The body's text; empty while it is only a URI."""
        return self.body.text or ""

    def render_text(self) -> str:
        if self.title is None or is_blank(self.title):
            return self.text
        return f"# {self.title}\n\n{self.text}"

    def canonical(self, *, hashed: bool) -> str:
        body = joined((("text", optional(self.body.text)), ("uri", optional(self.body.uri))))
        return joined(
            (
                ("type", '"document"'),
                ("title", optional(self.title)),
                ("body", body),
                ("mime", optional(self.mime)),
                ("meta", meta_json(self.meta, hashed=hashed)),
            )
        )

    def validate(self) -> None:  # type: ignore[override]  # see StoreItem
        if self.body.uri is not None or self.body.text is None:
            raise InvalidRequest("a document's uri must be resolved to text before it is stored")
        if is_blank(self.body.text):
            raise InvalidRequest("a document's text is blank")


class Conversation(StoreItem):
    """Ordered turns."""

    type: Literal["conversation"] = "conversation"
    turns: tuple[Turn, ...] = ()

    @property
    def kind(self) -> ItemKind:
        return ItemKind.CONVERSATION

    def render_text(self) -> str:
        return "\n".join(turn.render() for turn in self.turns)

    def canonical(self, *, hashed: bool) -> str:
        turns = ",".join(turn.canonical() for turn in self.turns)
        return f'{{"type":"conversation","turns":[{turns}],"meta":{meta_json(self.meta, hashed=hashed)}}}'

    def validate(self) -> None:  # type: ignore[override]  # see StoreItem
        if not self.turns:
            raise InvalidRequest("a conversation has no turns")
        if any(is_blank(turn.text) for turn in self.turns):
            raise InvalidRequest("a conversation has a blank turn")


def _as_single(value: float) -> float:
    """Keep the number that the canonical form reads back to, so that what is stored equals what is read."""
    return float(confidence_text(value)) if 0.0 <= value <= 1.0 else value


class Learning(StoreItem):
    """One statement with a kind and a confidence from 0 to 1."""

    type: Literal["learning"] = "learning"
    text: str
    learning_kind: LearningKind = Field(alias="kind")
    confidence: Annotated[float, AfterValidator(_as_single)]
    evidence: str | None = None

    @property
    def kind(self) -> ItemKind:
        return ItemKind.LEARNING

    @property
    def confidence_or_none(self) -> float | None:
        return self.confidence

    def render_text(self) -> str:
        return self.text

    def canonical(self, *, hashed: bool) -> str:
        return joined(
            (
                ("type", '"learning"'),
                ("text", quoted(self.text)),
                ("kind", f'"{self.learning_kind.value}"'),
                ("confidence", confidence_text(self.confidence)),
                ("evidence", optional(self.evidence)),
                ("meta", meta_json(self.meta, hashed=hashed)),
            )
        )

    def validate(self) -> None:  # type: ignore[override]  # see StoreItem
        if is_blank(self.text):
            raise InvalidRequest("a learning's text is blank")
        if not 0.0 <= self.confidence <= 1.0:
            raise InvalidRequest("a learning's confidence is outside 0.0 to 1.0")


AnyItem = Annotated[Document | Conversation | Learning, Field(discriminator="type")]
_ITEMS: TypeAdapter[Document | Conversation | Learning] = TypeAdapter(AnyItem)


def read_item(data: Any) -> Document | Conversation | Learning:
    """Read an item from its JSON form: text, bytes or a dict.

    Raises:
        InvalidRequest: bad JSON, an unknown `type` or a field of the wrong shape.
    """
    try:
        if isinstance(data, str | bytes):
            return _ITEMS.validate_json(data)
        return _ITEMS.validate_python(data)
    except ValidationError as error:
        raise InvalidRequest(f"item: {told(error)}") from None
