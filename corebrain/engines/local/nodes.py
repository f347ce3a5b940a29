"""Nodes of the tree as numbers, and which word-index tables and tag tokens a reach comes to.

Every row of the word index carries tokens in its `tag` column:

- `e<node>`: the item lives exactly at this node;
- `s<node>`, for the node and each ancestor from which a subtree read may come down to it, that is with no service
  segment strictly below that ancestor.

So any reach is one OR of tokens: ancestors and the node by `e`, a subtree by `s`. A private-use character in front
keeps tokens apart from words: queries never hold it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import apsw

from corebrain.engines.local import placing, schema
from corebrain.engines.local.select import select
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach, SegmentKind

MARK = "\ue000"
_ADD = "INSERT INTO nodes(path, depth, service, branch, area) VALUES"
_OWNERS = {SegmentKind.AGENT, SegmentKind.SOURCE, SegmentKind.SERVICE}


@dataclass(frozen=True, slots=True)
class Node:
    """A node with its number, its area's, its branch, its index tokens, and whether it lies in a sandbox."""

    number: int
    area: int
    branch: int
    tags: str
    is_sandboxed: bool


@dataclass(frozen=True, slots=True)
class Table:
    """One word-index table a read walks, and the tag expression that narrows it (`None`: all rows are admitted)."""

    name: str
    shard: int
    passages: int
    tags: str | None


def branch_of(node: Namespace) -> Namespace:
    """Return the part of the path that owns its memory.

    That is down to the first agent or service, or to the segment below the first source, a collection of it; else all.
    """
    for depth, segment in enumerate(node.segments, start=1):
        if segment.kind in _OWNERS:
            return Namespace(node.segments[: depth + (segment.kind is SegmentKind.SOURCE)])
    return node


def area_of(node: Namespace) -> Namespace:
    """Return the first segment of the path, the root for the root."""
    return Namespace(node.segments[:1])


def service_depth(node: Namespace) -> int:
    """Return the depth of the last service segment, 0 without one; a subtree read from that deep reaches the node."""
    services = (depth for depth, part in enumerate(node.segments, start=1) if part.kind is SegmentKind.SERVICE)
    return max(services, default=0)


class Registry:
    """Numbers for the nodes that are written to; a node seen for the first time is added.

    A node keeps its number and its place for good, so what is known stays true until a transaction is undone: then
    the registry is to be dropped.
    """

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        self._known: dict[Namespace, Node] = {}
        self._shards: dict[tuple[int, ItemKind], int] = {}

    def node(self, namespace: Namespace) -> Node:
        """Return the node of *namespace*, made with its ancestors when new."""
        known = self._known.get(namespace)
        if known is None:
            known = self._known[namespace] = self._load(namespace)
        return known

    def _load(self, namespace: Namespace) -> Node:
        numbers = [self._number(ancestor) for ancestor in namespace.ancestors_and_self()]
        reachable = numbers[service_depth(namespace) :]
        tags = " ".join([f"{MARK}e{numbers[-1]}", *(f"{MARK}s{number}" for number in reachable)])
        area = numbers[area_of(namespace).depth]
        return Node(numbers[-1], area, self.branch(namespace), tags, is_sandboxed=len(reachable) < len(numbers))

    def _number(self, namespace: Namespace) -> int:
        number = number_of(self._connection, namespace)
        return self._added(namespace) if number is None else number

    def _added(self, namespace: Namespace) -> int:
        row = (str(namespace), namespace.depth, service_depth(namespace), self.branch(namespace))
        if namespace.depth > 1:
            area = self._number(area_of(namespace))
            return int(self._connection.execute(f"{_ADD} (?, ?, ?, ?, ?) RETURNING node", (*row, area)).get)
        number = int(self._connection.execute(f"{_ADD} (?, ?, ?, ?, 0) RETURNING node", row).get)
        self._connection.execute("UPDATE nodes SET area = node WHERE node = ?", (number,))
        return number

    def branch(self, namespace: Namespace) -> int:
        """Return the number of the node's branch, made when new."""
        path = str(branch_of(namespace))
        number = self._connection.execute("SELECT branch FROM branches WHERE path = ?", (path,)).get
        if number is None:
            row = (path, str(area_of(namespace)))
            number = self._connection.execute(
                "INSERT INTO branches(path, area) VALUES (?, ?) RETURNING branch", row
            ).get
        return int(number)

    def shard(self, node: Node, kind: ItemKind) -> int:
        """Return the word-index table of the node's branch and *kind*, found for it when it has none."""
        known = self._shards.get((node.number, kind))
        if known is None:
            known = placing.table_of(self._connection, node.branch, kind)
            if node.is_sandboxed:
                self._connection.execute("UPDATE shards SET mixed = 1 WHERE shard = ? AND NOT mixed", (known,))
            self._shards[node.number, kind] = known
        return known


def below(path: str) -> tuple[str, str]:
    """Return the bounds `lower <= path < upper` of all paths strictly below *path*, which is not the root."""
    return f"{path}/", f"{path}0"  # "0" follows "/" in ASCII


def reach_sql(reach: Reach) -> tuple[str, list[str | int]]:
    """Return a condition on `nodes` that holds for exactly the admitted ones, with its values."""
    exact = [str(node) for node in reach.nodes()]
    parts = [f"path IN ({', '.join('?' * len(exact))})"]
    values: list[str | int] = [*exact]
    if reach.descendants and reach.at.is_root:
        parts.append("service = 0")
    elif reach.descendants:
        parts.append("path >= ? AND path < ? AND service <= ?")
        values += [*below(str(reach.at)), reach.at.depth]
    return " OR ".join(f"({part})" for part in parts), values


def number_of(connection: apsw.Connection, namespace: Namespace) -> int | None:
    """Return the node's number, `None` when nothing was ever stored at or below it."""
    number: int | None = connection.execute("SELECT node FROM nodes WHERE path = ?", (str(namespace),)).get
    return number


def admitted(connection: apsw.Connection, reach: Reach, most: int) -> list[int] | None:
    """Return the numbers of the admitted nodes, `None` when there are more than *most*."""
    condition, values = reach_sql(reach)
    rows = select(connection, f"SELECT node FROM nodes WHERE {condition} LIMIT ?", (*values, most + 1))  # noqa: S608  # values are bound
    return None if len(rows) > most else [row[0] for row in rows]


def tag_expression(connection: apsw.Connection, reach: Reach) -> str | None:
    """Return the MATCH expression of tag tokens for *reach*; `None` when none of its nodes is known."""
    tokens = []
    for node in reach.nodes():
        number = number_of(connection, node)
        if number is not None:
            letter = "s" if reach.descendants and node == reach.at else "e"
            tokens.append(f'"{MARK}{letter}{number}"')
    return " OR ".join(tokens) or None


def tables(connection: apsw.Connection, reach: Reach, kinds: Sequence[ItemKind]) -> list[Table]:
    """Return the word-index tables that can hold admitted items of *kinds* (none named: all)."""
    expression = tag_expression(connection, reach)
    if expression is None:
        return []
    codes = ", ".join(str(schema.KIND_CODES[kind]) for kind in dict.fromkeys(kinds or schema.KINDS))
    inside, values = _branches_within(reach)
    rows = select(
        connection,
        "SELECT s.shard, s.passages, s.mixed, count(*), sum(within) FROM (SELECT p.shard, "  # noqa: S608  # values are bound
        f"{inside} AS within FROM placements p JOIN branches b USING (branch) WHERE p.kind IN ({codes})) p "
        "JOIN shards s USING (shard) GROUP BY s.shard HAVING sum(within > 0) ORDER BY s.shard",
        values,
    )
    whole = 2  # marks a branch all of whose unsandboxed nodes are admitted
    return [
        Table(f"text_{shard}", shard, passages, None if total == whole * held and not mixed else expression)
        for shard, passages, mixed, held, total in rows
    ]


def _branches_within(reach: Reach) -> tuple[str, list[str]]:
    """Return an expression over `b.path`: 2 when the whole branch is in reach, 1 when part may be, else 0."""
    if reach.descendants and reach.at.is_root:
        return "2", []
    nodes = [str(branch_of(node)) for node in reach.nodes()]
    part = f"b.path IN ({', '.join('?' * len(nodes))})"
    if not reach.descendants:
        return part, nodes
    at = str(reach.at)
    lower, upper = below(at)
    return f"max({part}, 2 * (b.path = ? OR (b.path >= ? AND b.path < ?)))", [*nodes, at, lower, upper]
