"""Proving a store: the file's integrity, counters against a recount, and the word index against the items.

Every check reads one commit, so a store may be verified while others write. Nothing is changed.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import apsw

from corebrain.engines.local import indexing, neighbours, rows, vector_verification
from corebrain.engines.local.connection import Database
from corebrain.engines.local.nodes import Registry
from corebrain.engines.local.passages import Passage, split
from corebrain.engines.local.schema import KIND_CODES, TOKENIZE
from corebrain.engines.local.select import select
from corebrain.errors import EngineError, InvalidRequest
from corebrain.model.item import Conversation, Document, Learning, read_item
from corebrain.model.namespace import Namespace

_COLUMNS = {
    **{facet: facet for facet in ("source", "source_id", "workspace", "folder", "language", "repo")},
    "agent": "agent_id",
    "tool_call": "tool",
}
"""Column of `items` by the facet that is counted of it."""

_UNREADABLE = (ValueError, LookupError, TypeError, InvalidRequest)
"""What reading raises for a row that is no item: no JSON, no kind, no name of a node."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is not as it should be.

    Attributes:
        what: The part of the store: `file`, `counters`, `passages`, `index`, `vectors`, `leftovers` or `items`.
        detail: What was found, with numbers; never text of an item.
    """

    what: str
    detail: str


def verify(database: Database, *, deep: bool) -> list[Finding]:
    """Return everything found wrong; an empty list proves the store.

    Args:
        database: The store.
        deep: Also read every item again, compare it with its id, index it into temporary tables, and compare their
            words with the index. Takes about as long as storing everything did.
    """
    database.ensure_usable()
    try:
        with database.apart() as connection:
            found = [Finding("file", line) for line in _integrity(connection)]
            if found:
                return found  # the rest would only stumble over it
            checks = (_counters, _passages, _index, _vectors, _leftovers, *((_items, _words) if deep else ()))
            return [finding for check in checks for finding in check(connection)]
    except EngineError as error:
        return [Finding("file", error.message)]


def _integrity(connection: apsw.Connection) -> list[str]:
    lines = [str(row[0]) for row in connection.execute("PRAGMA integrity_check")]
    return [] if lines == ["ok"] else lines


def _counters(connection: apsw.Connection) -> Iterator[Finding]:
    kinds = " ".join(f"WHEN {code} THEN '{kind.value}'" for kind, code in KIND_CODES.items())
    counts = [f"SELECT 'kind', node, kind, CASE kind {kinds} END, count(*) FROM items GROUP BY 2, 3"]  # noqa: S608  # our own names
    for facet, column in _COLUMNS.items():
        counts.append(
            f"SELECT '{facet}', node, kind, {column}, count(*) FROM items WHERE {column} IS NOT NULL GROUP BY 2, 3, 4"  # noqa: S608  # our own names
        )
    counts.append("SELECT 'tagged', node, kind, '', count(*) FROM items WHERE tags IS NOT NULL GROUP BY 2, 3")
    counts.append("SELECT 'tag', node, kind, t.value, count(*) FROM items, json_each(tags) t GROUP BY 2, 3, 4")
    differ = _differing(connection, "SELECT facet, node, kind, value, items FROM facets", " UNION ALL ".join(counts))
    if any(differ):
        yield Finding(
            "counters", f"{differ[0]} facet counters stand that a recount does not give, {differ[1]} are missing"
        )


def _vectors(connection: apsw.Connection) -> Iterator[Finding]:
    yield from (Finding("vectors", told) for told in vector_verification.findings(connection))


def _passages(connection: apsw.Connection) -> Iterator[Finding]:
    """Compare the passages with what the items say of theirs, and with what the tables of the index count."""
    wrong = _count(
        connection,
        "SELECT i.item FROM items i LEFT JOIN passages p ON p.item = i.item AND p.passage >= i.passage "
        "AND p.passage < i.passage + i.passages GROUP BY i.item HAVING count(p.passage) <> max(i.passages)",
    )
    if wrong:
        yield Finding("passages", f"{wrong} items have not the passages they name")
    differ = _differing(connection, "SELECT shard, passages FROM shards WHERE passages <> 0", _COUNTED)
    if any(differ):
        yield Finding("passages", f"{max(differ)} tables of the index count their passages wrongly")


_PLACED = (
    "SELECT p.shard, i.item, i.passage, i.passages FROM items i JOIN nodes n USING (node) "
    "JOIN placements p ON p.branch = n.branch AND p.kind = i.kind"
)
_COUNTED = f"SELECT shard, sum(passages) FROM ({_PLACED}) GROUP BY shard"  # noqa: S608  # our own statement
_ROWS = f"SELECT p.passage FROM ({_PLACED}) i JOIN passages p ON p.item = i.item WHERE i.shard = {{}}"  # noqa: S608  # our own statement


def _index(connection: apsw.Connection) -> Iterator[Finding]:
    for table, should in _tables(connection):
        lacking, strange = _differing(connection, should, f"SELECT rowid FROM {table}")  # noqa: S608  # a name of ours
        if lacking or strange:
            yield Finding("index", f"{table} lacks {lacking} rows and has {strange} that belong to nothing")
    unplaced, _ = _differing(connection, "SELECT item FROM items", f"SELECT item FROM ({_PLACED})")  # noqa: S608  # our own statement
    if unplaced:
        yield Finding("index", f"{unplaced} items belong to no table of the index")


def _tables(connection: apsw.Connection) -> list[tuple[str, str]]:
    """Return every table of the word index with a statement for the rows it should have."""
    shards = [row[0] for row in select(connection, "SELECT shard FROM shards ORDER BY shard")]
    tables = [(f"text_{shard}", _ROWS.format(shard)) for shard in shards]
    return [*tables, ("text_beliefs", "SELECT belief FROM beliefs")]


def _leftovers(connection: apsw.Connection) -> Iterator[Finding]:
    for table in ("passages", "tags", "beliefs", "distilled"):
        count = _count(connection, f"SELECT 1 FROM {table} WHERE item NOT IN (SELECT item FROM items)")  # noqa: S608  # a name of ours
        if count:
            yield Finding("leftovers", f"{count} rows of {table} belong to no item")
    listed = "SELECT tag, item FROM tags"
    differ = _differing(connection, listed, "SELECT DISTINCT t.value, i.item FROM items i, json_each(i.tags) t")
    if any(differ):
        yield Finding("leftovers", f"{sum(differ)} tags are listed otherwise than their items say")
    strays = _count(connection, "SELECT 1 FROM items WHERE node NOT IN (SELECT node FROM nodes)")
    if strays:
        yield Finding("leftovers", f"{strays} items lie at no node")


def _items(connection: apsw.Connection) -> Iterator[Finding]:
    """Read every item as an export would, and compare its fingerprint with the id it is held under."""
    torn = 0
    statement = f"SELECT {rows.READ} FROM items i JOIN nodes n USING (node)"  # noqa: S608  # our own columns
    for row in connection.execute(statement):
        try:
            torn += rows.read_item(row).fingerprint() != rows.read_id(row)
        except _UNREADABLE:
            torn += 1
    if torn:
        yield Finding("items", f"{torn} items are not what was stored under their ids")


def _words(connection: apsw.Connection) -> Iterator[Finding]:
    registry = Registry(connection)
    for table, _ in _tables(connection):
        connection.execute(f"CREATE VIRTUAL TABLE temp.again USING fts5(head, body, ctx, tag, content='', {TOKENIZE})")
        try:
            entries = (
                _belief_rows(connection, registry) if table == "text_beliefs" else _rows(connection, registry, table)
            )
            connection.executemany(
                "INSERT INTO temp.again(rowid, head, body, ctx, tag) VALUES (?, ?, ?, ?, ?)", entries
            )
            differ = _difference(connection, table)
        except _UNREADABLE:
            yield Finding("index", f"{table} cannot be compared: items of it cannot be read")
        else:
            if differ:
                yield Finding("index", f"{differ} words of {table} stand otherwise than in the items")
        finally:
            connection.execute("DROP TABLE temp.again")


def _difference(connection: apsw.Connection, table: str) -> int:
    """Return how many words, with the passages and times they occur, differ between a table and the one made again."""
    connection.execute("CREATE VIRTUAL TABLE temp.words_again USING fts5vocab('temp', 'again', 'row')")
    connection.execute(f"CREATE VIRTUAL TABLE temp.words_held USING fts5vocab('main', '{table}', 'row')")
    again, held = (f"SELECT term, doc, cnt FROM temp.words_{name}" for name in ("again", "held"))  # noqa: S608  # our own names
    try:
        return sum(_differing(connection, held, again))
    finally:
        connection.execute("DROP TABLE temp.words_again")
        connection.execute("DROP TABLE temp.words_held")


_IndexRow = tuple[int, str, str, str, str]


def _rows(connection: apsw.Connection, registry: Registry, table: str) -> Iterator[_IndexRow]:
    """Yield the rows of the index that the items of one table come to."""
    statement = (
        f"SELECT p.item, p.passage, i.spoken, {rows.READ} FROM ({_PLACED}) p JOIN items i USING (item) "  # noqa: S608  # our own columns
        "JOIN nodes n USING (node) WHERE p.shard = ?"
    )
    for number, first, spoken, *row in connection.execute(statement, (int(table.removeprefix("text_")),)):
        item = rows.read_item(row)
        tags = registry.node(item.meta.namespace).tags
        if isinstance(item, Conversation):
            body, context = neighbours.words(connection, number)
            yield (first, "", body, context, tags)
        else:
            pieces = split(item.text) if isinstance(item, Document) else [Passage("")]
            for offset, (head, body) in enumerate(indexing.words(item, pieces, spoken)):
                yield (first + offset, head, body, "", tags)


def _belief_rows(connection: apsw.Connection, registry: Registry) -> Iterator[_IndexRow]:
    statement = "SELECT b.belief, b.learning, n.path FROM beliefs b JOIN nodes n USING (node)"
    for belief, learning, path in connection.execute(statement):
        held = read_item(learning)
        if isinstance(held, Learning):
            yield (belief, "", indexing.belief_words(held.text), "", registry.node(Namespace.parse(path)).tags)


def _count(connection: apsw.Connection, statement: str) -> int:
    return int(connection.execute(f"SELECT count(*) FROM ({statement})").get)  # noqa: S608  # our own statements


def _differing(connection: apsw.Connection, one: str, other: str) -> tuple[int, int]:
    """Return how many rows only *one* gives, and how many only the *other*."""
    one, other = f"SELECT * FROM ({one})", f"SELECT * FROM ({other})"  # noqa: S608  # our own statements
    return _count(connection, f"{one} EXCEPT {other}"), _count(connection, f"{other} EXCEPT {one}")
