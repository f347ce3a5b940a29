"""Which table of the word index a branch lives in.

A read's cost grows with the tables it walks: with their rows, and with their number. Most reads stay within one area,
a tenant's or a team's, so branches of an area keep together until a table is full; a new area gets a table of its own
while there are few, and then the emptiest.
"""

import apsw

from corebrain.engines.local import schema
from corebrain.engines.local.select import select
from corebrain.model.meta import ItemKind

FULL = 20_000
"""Passages from which a table takes no further branch while another may."""

_OF_AREA = 500  # passages an area is reckoned to bring, and
_OF_BRANCH = {  # a branch of one, so that those that begin together spread: agents talk on side by side
    ItemKind.DOCUMENT: 100,
    ItemKind.CONVERSATION: 1_000,
    ItemKind.LEARNING: 100,
}
_FREELY = 16  # tables of a kind that are made without need

_FILLING = (
    f"SELECT s.shard, max(s.passages, ? * count(p.branch), {_OF_AREA} * count(DISTINCT b.area)) AS filled, "  # noqa: S608  # a number of ours
    "total(b.area = (SELECT area FROM branches WHERE branch = ?)) > 0 AS ours FROM shards s "
    "LEFT JOIN placements p ON p.shard = s.shard LEFT JOIN branches b USING (branch) WHERE s.kind = ? "
    "GROUP BY s.shard ORDER BY filled, s.shard"
)


def table_of(connection: apsw.Connection, branch: int, kind: ItemKind) -> int:
    """Return the number of the table that *branch* has for *kind*; a branch without one is given one."""
    code = schema.KIND_CODES[kind]
    shard = connection.execute("SELECT shard FROM placements WHERE branch = ? AND kind = ?", (branch, code)).get
    if shard is None:
        shard = _chosen(connection, branch, kind)
        connection.execute("INSERT INTO placements VALUES (?, ?, ?)", (branch, code, shard))
    return int(shard)


def _chosen(connection: apsw.Connection, branch: int, kind: ItemKind) -> int:
    tables = select(connection, _FILLING, (_OF_BRANCH[kind], branch, schema.KIND_CODES[kind]))
    with_room = [(shard, ours) for shard, filled, ours in tables if filled < FULL]
    of_ours = [shard for shard, ours in with_room if ours]
    if of_ours:
        return int(of_ours[0])
    is_new_area = not any(ours for _, _, ours in tables)
    if len(tables) < (_FREELY if is_new_area and with_room else schema.MAX_SHARDS[kind]):
        return _made(connection, kind)
    return int(with_room[0][0] if with_room else tables[0][0])


def _made(connection: apsw.Connection, kind: ItemKind) -> int:
    code = schema.KIND_CODES[kind]
    made = int(connection.execute("INSERT INTO shards(kind) VALUES (?) RETURNING shard", (code,)).get)
    for statement in schema.shard(made):
        connection.execute(statement)
    return made
