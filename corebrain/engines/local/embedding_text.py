"""What of an item is embedded, passage by passage: the words of it, with title and heading in front."""

import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import apsw

from corebrain.contract import Item
from corebrain.engines.local import rows
from corebrain.engines.local.neighbours import words_of
from corebrain.engines.local.passages import Passage
from corebrain.engines.local.schema import KINDS
from corebrain.engines.local.select import select
from corebrain.model.item import Conversation, Document
from corebrain.model.meta import ItemKind


@dataclass(frozen=True, slots=True)
class Text:
    """The text of one passage, and where its item lies; `kind` is a code of the schema."""

    passage: int
    node: int
    kind: int
    text: str

    @property
    def digest(self) -> bytes:
        """What equal texts share."""
        return digest(self.text)


def digest(text: str) -> bytes:
    """Return 16 bytes that tell texts apart."""
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def of_item(item: Item, pieces: Iterable[Passage]) -> list[str]:
    """Return the texts of an item that is cut into *pieces*."""
    if isinstance(item, Document):
        return [_headed(item.title, piece.section, piece.text) for piece in pieces]
    return [words_of(item.turns) if isinstance(item, Conversation) else item.text]


def read(connection: apsw.Connection, passages: Sequence[int]) -> list[Text]:
    """Return the texts of the numbered passages that are held, in no certain order."""
    marks = ", ".join("?" * len(passages))
    held = select(
        connection,
        "SELECT p.passage, i.node, i.kind, i.title, p.section, CASE WHEN p.size IS NULL THEN i.text "  # noqa: S608  # values are bound
        "ELSE substr(CAST(i.text AS BLOB), p.start + 1, p.size) END "
        f"FROM passages p JOIN items i USING (item) WHERE p.passage IN ({marks})",
        passages,
    )
    return [Text(passage, node, kind, _words(KINDS[kind], *rest)) for passage, node, kind, *rest in held]


def _words(kind: ItemKind, title: str | None, section: str | None, raw: str | bytes) -> str:
    text = raw.decode() if isinstance(raw, bytes) else raw
    if kind is ItemKind.DOCUMENT:
        return _headed(title, section, text)
    return words_of(rows.turns_of(text)) if kind is ItemKind.CONVERSATION else text


def _headed(title: str | None, section: str | None, text: str) -> str:
    return "\n".join(part for part in (title, section, text) if part)
