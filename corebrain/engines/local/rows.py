"""An item as a row of `items`, and back, exactly: export equals what was stored."""

import json
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, TypeVar

from pydantic import BaseModel, TypeAdapter

from corebrain.contract import Item
from corebrain.engines.local.schema import KIND_CODES, KINDS
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import Namespace
from corebrain.model.requests import Hit
from corebrain.model.text import is_blank

_Model = TypeVar("_Model", bound=BaseModel)
_SECOND = 1_000_000_000
_TURNS: TypeAdapter[tuple[Turn, ...]] = TypeAdapter(tuple[Turn, ...])
_LEARNING_KINDS = {kind.value: kind for kind in LearningKind}
NO_TURN = -1
"""`first_turn` of an item without a turn range."""

_META = (
    *("workspace", "folder", "file_path", "language", "repo", "revision", "url", "thread_id", "first_turn"),
    *("last_turn", "agent_id", "tool", "tool_id", "source", "source_id", "tags", "observed_s", "observed_ns", "derive"),
)
_BODY = ("title", "mime", "learning_kind", "confidence", "evidence", "text")
WRITTEN = ("id", "kind", "node", "area", "passage", "passages", "spoken", *_META, *_BODY)
READ = ", ".join(f"i.{name}" for name in ("id", "kind", *_META, *_BODY)) + ", n.path"
"""Columns of a row to be read, of `items i JOIN nodes n`."""

TITLE = 2 + len(_META)
"""Where the title stands in a row read."""

READ_WITHOUT_LONG_TEXT = READ.replace("i.text", "CASE WHEN i.passages > 1 THEN '' ELSE i.text END")
"""The same, the text left empty for an item of several passages."""

Row = Sequence[Any]
"""A row of SQLite values, as `READ` names them."""


def instant_columns(moment: Instant | None) -> tuple[int | None, int | None]:
    """Return seconds and nanoseconds: the years 1 to 9999 in nanoseconds exceed SQLite's integers."""
    return (None, None) if moment is None else divmod(moment.ns, _SECOND)


def write(
    item: Item, item_id: str, *, node: tuple[int, int], passages: tuple[int, int], spoken: str | None
) -> tuple[Any, ...]:
    """Return the values of `WRITTEN`; *node* with its area, *passages* as the first one's number and how many."""
    meta = item.meta
    turns = (NO_TURN, None) if meta.turns is None else (meta.turns.first, meta.turns.last)
    tool = (None, None) if meta.tool_call is None else (meta.tool_call.name, meta.tool_call.id)
    return (
        *(bytes.fromhex(item_id), KIND_CODES[item.kind], *node, *passages, spoken),
        *(meta.workspace, meta.folder, meta.file_path, meta.language, meta.repo, meta.commit, meta.url),
        *(meta.thread_id, *turns, meta.agent_id, *tool, meta.source.kind.value, meta.source.id),
        json.dumps(meta.tags, ensure_ascii=False, separators=(",", ":")) if meta.tags else None,
        *instant_columns(meta.observed_at),
        meta.derive,
        *_body(item),
    )


def _body(item: Item) -> tuple[Any, ...]:
    match item:
        case Document():
            return (item.title, item.mime, None, None, None, item.text)
        case Learning():
            return (None, None, item.learning_kind.value, item.confidence, item.evidence, item.text)
        case Conversation():
            return (None, None, None, None, None, turns_json(item))


def turns_json(item: Conversation) -> str:
    """Return the turns as canonical JSON."""
    return f"[{','.join(turn.canonical() for turn in item.turns)}]"


def turns_of(text: str) -> tuple[Turn, ...]:
    """Read the turns back."""
    return _TURNS.validate_json(text)


_FIELDS: dict[type[BaseModel], set[str]] = {
    model: set(model.model_fields)
    for model in (Hit, MemoryMeta, SourceRef, TurnRange, ToolCallRef, Document, Body, Conversation, Learning)
}
_namespace = lru_cache(maxsize=20_000)(Namespace.parse)


@lru_cache(maxsize=20_000)
def _source(kind: str, source_id: str | None) -> SourceRef:
    return SourceRef(kind=SourceKind(kind), id=source_id)


def built(model: type[_Model], **fields: Any) -> _Model:
    """Return a model of already valid values, every field given.

    What `model_construct` does, without its walk over defaults and aliases: that walk took most of the time of a
    listing (12 to 20 microseconds an item against 4 to 7).
    """
    made = model.__new__(model)
    object.__setattr__(made, "__dict__", fields)
    object.__setattr__(made, "__pydantic_fields_set__", _FIELDS[model])
    object.__setattr__(made, "__pydantic_extra__", None)
    object.__setattr__(made, "__pydantic_private__", None)
    return made


def read_id(row: Row) -> str:
    """Return the item's id."""
    return str(row[0].hex())


def read_meta(row: Row) -> MemoryMeta:
    """Return the metadata."""
    (workspace, folder, file_path, language, repo, revision, url, thread_id, first_turn) = row[2:11]
    (last_turn, agent_id, tool, tool_id, source, source_id, tags, observed_s, observed_ns, derive) = row[11:21]
    return built(
        MemoryMeta,
        namespace=_namespace(row[-1]),
        workspace=workspace,
        folder=folder,
        file_path=file_path,
        language=language,
        repo=repo,
        commit=revision,
        url=url,
        thread_id=thread_id,
        turns=None if last_turn is None else built(TurnRange, first=first_turn, last=last_turn),
        agent_id=agent_id,
        tool_call=None if tool is None else built(ToolCallRef, name=tool, id=tool_id),
        source=_source(source, source_id),
        tags=tuple(json.loads(tags)) if tags else (),
        observed_at=None if observed_s is None else Instant(observed_s * _SECOND + observed_ns),
        derive=None if derive is None else bool(derive),
    )


def read_item(row: Row) -> Item:
    """Return the item exactly as it was stored."""
    meta = read_meta(row)
    title, mime, learning_kind, confidence, evidence, text = row[21:27]
    match KINDS[row[1]]:
        case ItemKind.DOCUMENT:
            return built(
                Document, type="document", meta=meta, title=title, body=built(Body, text=text, uri=None), mime=mime
            )
        case ItemKind.CONVERSATION:
            return built(Conversation, type="conversation", meta=meta, turns=turns_of(text))
        case ItemKind.LEARNING:
            return built(
                Learning,
                type="learning",
                meta=meta,
                text=text,
                learning_kind=_LEARNING_KINDS[learning_kind],
                confidence=confidence,
                evidence=evidence,
            )


def hit(row: Row, score: float = 0.0) -> Hit:
    """Return the item as a hit with its whole text."""
    kind = KINDS[row[1]]
    title, confidence, text = row[TITLE], row[-4], row[-2]
    if kind is ItemKind.CONVERSATION:
        text = "\n".join(turn.render() for turn in turns_of(text))
    elif kind is ItemKind.DOCUMENT:
        text = titled(title, text)
    return built(Hit, id=read_id(row), kind=kind, text=text, meta=read_meta(row), score=score, confidence=confidence)


def titled(title: str | None, text: str) -> str:
    """Return *text* under its title, as a document renders it."""
    return text if title is None or is_blank(title) else f"# {title}\n\n{text}"
