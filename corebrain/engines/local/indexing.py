"""Passages and word index of items: what is added with them, and all of it made again."""

from collections import Counter
from collections.abc import Iterable

import apsw

from corebrain.contract import Item
from corebrain.engines.local import neighbours, rows
from corebrain.engines.local.embedding_intake import Intake
from corebrain.engines.local.languages import STEMMED, language_of
from corebrain.engines.local.nodes import Node, Registry
from corebrain.engines.local.passages import Passage, split
from corebrain.engines.local.schema import BELIEF_WORDS, NO_SHARD
from corebrain.engines.local.select import select
from corebrain.engines.local.wording import indexed
from corebrain.model.item import Conversation, Document, Learning, read_item
from corebrain.model.namespace import Namespace

_PAGE = 400  # items indexed again between two reads


class Indexer:
    """Adds the passages and index rows of items, within a write transaction; `finish` ends it."""

    def __init__(self, connection: apsw.Connection, registry: Registry) -> None:
        self._connection = connection
        self._registry = registry
        self._filled: Counter[int] = Counter()
        self._languages: set[tuple[str, int]] = set()
        self._intake = Intake(connection)
        self._passage = int(connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'passages'").get or 0)

    def cut(self, item: Item) -> tuple[int, list[Passage]]:
        """Return the number of the item's first passage, and its passages; their numbers are taken."""
        pieces = split(item.text) if isinstance(item, Document) else [Passage("")]
        first = self._passage + 1
        self._passage += len(pieces)
        return first, pieces

    def add(self, item: Item, number: int, first: int, pieces: list[Passage], node: Node, language: str | None) -> None:
        """Add the numbered item's passages, and its rows of the index; conversations' rows need their neighbours."""
        shard = self._registry.shard(node, item.kind)
        if language is not None:
            self._languages.add((language, shard))
        self._filled[shard] += len(pieces)
        self._add_passages(number, first, pieces)
        self._intake.add(item, node.number, first, pieces)
        if not isinstance(item, Conversation):
            rows_of = words(item, pieces, language)
            self._connection.executemany(
                f"INSERT INTO text_{shard}(rowid, head, body, ctx, tag) VALUES (?, ?, ?, '', ?)",  # noqa: S608  # a number of ours
                [(first + offset, head, body, node.tags) for offset, (head, body) in enumerate(rows_of)],
            )

    def _add_passages(self, number: int, first: int, pieces: list[Passage]) -> None:
        if len(pieces) == 1:
            self._connection.execute("INSERT INTO passages(passage, item) VALUES (?, ?)", (first, number))
            return
        start = 0
        for offset, piece in enumerate(pieces):
            size = len(piece.text.encode())
            self._connection.execute(
                "INSERT INTO passages VALUES (?, ?, ?, ?, ?, ?, ?)",
                (first + offset, number, start, size, piece.first_page, piece.last_page, piece.section),
            )
            start += size

    def finish(self) -> None:
        """Write how many passages each table of the index has now, and texts of which languages came."""
        for shard, filled in self._filled.items():
            self._connection.execute("UPDATE shards SET passages = passages + ? WHERE shard = ?", (filled, shard))
        self._connection.executemany("INSERT OR IGNORE INTO languages VALUES (?, ?)", sorted(self._languages))


def spoken(item: Item) -> str | None:
    """Return the language that the words of *item* are indexed in; `None` for English and unknown ones."""
    match item:
        case Document():
            language = language_of(item.text, item.meta.language)
        case Conversation():
            language = language_of(neighbours.words_of(item.turns), item.meta.language)
        case Learning():
            language = language_of(item.text, item.meta.language)
    return language if language in STEMMED else None


def words(item: Document | Learning, pieces: Iterable[Passage], language: str | None) -> list[tuple[str, str]]:
    """Return head and body of each row of the word index that *item*, cut into *pieces*, comes to."""
    if isinstance(item, Document):
        return [(indexed(_head(item, piece), language), indexed(piece.text, language)) for piece in pieces]
    return [("", indexed(item.text, language))]


def _head(item: Document, piece: Passage) -> str:
    return "\n".join(part for part in (item.title, piece.section, _file_name(item)) if part)


def _file_name(item: Document) -> str | None:
    """Return the name that a person may ask for the document by, unless its title says it already."""
    name = (item.meta.file_path or "").rpartition("/")[2]
    return None if name.rpartition(".")[0] == item.title or name == item.title else name


def again(connection: apsw.Connection, registry: Registry) -> None:
    """Make all passages and the whole word index from the items; both must be empty."""
    indexer = Indexer(connection, registry)
    page = f"SELECT i.item, {rows.READ} FROM items i JOIN nodes n USING (node) WHERE i.item > ? ORDER BY i.item LIMIT ?"  # noqa: S608  # our own columns
    last = 0
    while held := select(connection, page, (last, _PAGE)):
        turns = []
        for number, *row in held:
            item = rows.read_item(row)
            node = registry.node(item.meta.namespace)
            first, pieces = indexer.cut(item)
            language = spoken(item)
            connection.execute(
                "UPDATE items SET passage = ?, passages = ?, spoken = ? WHERE item = ?",
                (first, len(pieces), language, number),
            )
            indexer.add(item, number, first, pieces, node, language)
            if isinstance(item, Conversation):
                turns.append(number)
        neighbours.index(connection, registry, turns, {})
        last = held[-1][0]
    indexer.finish()
    _beliefs_again(connection, registry)


def _beliefs_again(connection: apsw.Connection, registry: Registry) -> None:
    held = "SELECT b.belief, b.learning, n.path FROM beliefs b JOIN nodes n USING (node)"
    for belief, learning, path in select(connection, held):
        add_belief(connection, belief, read_item(learning).render_text(), registry.node(Namespace.parse(path)))


def add_belief(connection: apsw.Connection, belief: int, text: str, node: Node) -> None:
    """Add the index row of the numbered belief."""
    connection.execute(
        f"INSERT INTO {BELIEF_WORDS}(rowid, head, body, ctx, tag) VALUES (?, '', ?, '', ?)",  # noqa: S608  # a name of ours
        (belief, belief_words(text), node.tags),
    )
    language = language_of(text)
    if language in STEMMED:
        connection.execute("INSERT OR IGNORE INTO languages VALUES (?, ?)", (language, NO_SHARD))


def belief_words(text: str) -> str:
    """Return what a belief is found by."""
    return indexed(text, language_of(text))
