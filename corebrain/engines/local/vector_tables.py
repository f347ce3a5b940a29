"""Vectors in the memory file: one model's, int8, grouped by node and kind, so that a read loads what it reaches.

A row of `vectors` is numbered upwards within its group, and a group counts what was removed from it: a reader that
holds a group in memory sees by two numbers whether rows came (it reads only those) or went (it reads all again).
"""

from collections.abc import Iterable
from dataclasses import dataclass

import apsw

from corebrain.engines.local.select import select

SCALE_BYTES = 4
"""Of a code, before the numbers: a float32."""

TABLES = """
-- The model that all vectors are of; no row before the first embedder came.
CREATE TABLE embedding(one INTEGER PRIMARY KEY CHECK(one = 1), model TEXT NOT NULL, dimension INTEGER NOT NULL);
CREATE TABLE vector_groups(
  grp INTEGER PRIMARY KEY AUTOINCREMENT, node INTEGER NOT NULL, kind INTEGER NOT NULL,
  held INTEGER NOT NULL DEFAULT 0, last INTEGER NOT NULL DEFAULT 0, removed INTEGER NOT NULL DEFAULT 0,
  UNIQUE(node, kind));

-- code: a float32 scale, little-endian, and the int8 numbers it multiplies. digest: of the text that was embedded.
CREATE TABLE vectors(
  grp INTEGER NOT NULL, number INTEGER NOT NULL, passage INTEGER NOT NULL, digest BLOB NOT NULL, code BLOB NOT NULL,
  PRIMARY KEY(grp, number)) WITHOUT ROWID;
CREATE UNIQUE INDEX vectors_by_passage ON vectors(passage);
CREATE INDEX vectors_by_digest ON vectors(digest);

-- Passages that wait for their vector, and those that the model cannot embed.
CREATE TABLE unembedded(passage INTEGER PRIMARY KEY);
CREATE TABLE unembeddable(passage INTEGER PRIMARY KEY, reason TEXT NOT NULL);
"""


def recorded(connection: apsw.Connection) -> tuple[str, int] | None:
    """Return name and dimension of the model whose vectors the file holds; `None` when it holds none."""
    row: tuple[str, int] | None = connection.execute("SELECT model, dimension FROM embedding").fetchone()
    return row


@dataclass(frozen=True, slots=True)
class Row:
    """A vector with whose it is: a passage, and node and kind of its item."""

    node: int
    kind: int
    passage: int
    digest: bytes
    code: bytes


def add(connection: apsw.Connection, rows: Iterable[Row]) -> None:
    """Add the vectors of passages that have none."""
    groups: dict[tuple[int, int], list[Row]] = {}
    for row in rows:
        groups.setdefault((row.node, row.kind), []).append(row)
    for (node, kind), members in groups.items():
        grp, last = connection.execute(
            "INSERT INTO vector_groups(node, kind, held, last) VALUES (?1, ?2, ?3, ?3) "
            "ON CONFLICT(node, kind) DO UPDATE SET held = held + ?3, last = last + ?3 RETURNING grp, last",
            (node, kind, len(members)),
        ).get
        numbered = enumerate(members, start=last - len(members) + 1)
        connection.executemany(
            "INSERT INTO vectors VALUES (?, ?, ?, ?, ?)",
            [(grp, number, row.passage, row.digest, row.code) for number, row in numbered],
        )


def remove(connection: apsw.Connection, first: int, count: int) -> None:
    """Remove all that is kept of the passages numbered from *first*."""
    span = (first, first + count)
    gone = select(connection, "DELETE FROM vectors WHERE passage >= ? AND passage < ? RETURNING grp", span)
    connection.executemany("UPDATE vector_groups SET held = held - 1, removed = removed + 1 WHERE grp = ?", gone)
    for table in ("unembedded", "unembeddable"):
        connection.execute(f"DELETE FROM {table} WHERE passage >= ? AND passage < ?", span)  # noqa: S608  # our own names


def adopt(connection: apsw.Connection, model: str, dimension: int) -> None:
    """Make *model* the one of the file: the vectors of another go, and every passage waits for its own."""
    for table in ("vectors", "unembedded", "unembeddable", "embedding"):
        connection.execute(f"DELETE FROM {table}")  # noqa: S608  # our own names
    connection.execute("UPDATE vector_groups SET held = 0, removed = removed + 1")
    connection.execute("INSERT INTO embedding VALUES (1, ?, ?)", (model, dimension))
    connection.execute("INSERT INTO unembedded SELECT passage FROM passages")


def count(connection: apsw.Connection, table: str) -> int:
    """Return how many rows one of the tables has."""
    return int(connection.execute(f"SELECT count(*) FROM {table}").get)  # noqa: S608  # our own names
