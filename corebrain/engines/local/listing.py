"""Reading without a query: which items a filter admits, newest first, in pages that cost the same at any depth.

The order is the item number, downwards. A page is merged from *streams*, each an index range in that order: one per
(node, kind) while the reach has few nodes, else one per kind of its area (the first segment; of the whole tree for the
root) with each item's node looked at; one per thread when the filter names a thread, one per tag when it names tags.
Each stream gives at most a page, so depth costs nothing.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import apsw

from corebrain.engines.local import filters, nodes, rows
from corebrain.engines.local.filters import Bound, Where
from corebrain.engines.local.select import select
from corebrain.model.filter import MetaFilter, redacted_id
from corebrain.model.namespace import WHOLE_TREE, Namespace

_FEW_NODES = 24
_NEWEST_COLUMNS = ", i.observed_s, i.observed_ns, i.confidence, i.last_turn"
ALL = 1 << 40
"""A limit no store reaches."""

_BATCH = 400  # items read by one statement


@dataclass(frozen=True, slots=True)
class _Stream:
    source: str
    where: Where
    key: str = "i.item"

    def sql(self, before: int | None, limit: int, columns: str = "") -> str:
        edge = "" if before is None else f" AND {self.key} < {before}"
        return (
            f"SELECT * FROM (SELECT {self.key} AS item{columns} FROM {self.source}{edge}{self.where.sql} "  # noqa: S608  # our own names and numbers; values are bound
            f"ORDER BY {self.key} DESC LIMIT {limit})"
        )


def numbers(connection: apsw.Connection, wanted: MetaFilter, limit: int, before: int | None) -> tuple[list[int], bool]:
    """Return up to *limit* numbers of admitted items below *before*, newest first, and whether there are more."""
    limit = min(limit, ALL)
    streams = _streams(connection, wanted)
    if not streams:
        return [], False
    union = " UNION ".join(stream.sql(before, limit + 1) for stream in streams)
    values = [value for stream in streams for value in stream.where.values]
    found = select(connection, f"{union} ORDER BY 1 DESC LIMIT {limit + 1}", values)
    return [row[0] for row in found[:limit]], len(found) > limit


_NEWEST = (
    "observed_s DESC NULLS LAST, observed_ns DESC, coalesce(confidence, 0.0) DESC, last_turn DESC NULLS LAST, item DESC"
)


def newest(connection: apsw.Connection, wanted: MetaFilter, limit: int, window: int) -> list[int]:
    """Return the numbers of the newest *limit* among the first *window* admitted items, by the columns of `_NEWEST`."""
    streams = _streams(connection, wanted)
    if not streams:
        return []
    window = min(window, ALL)
    union = " UNION ".join(stream.sql(None, window, _NEWEST_COLUMNS) for stream in streams)
    values = [value for stream in streams for value in stream.where.values]
    found = select(
        connection,
        f"SELECT item FROM ({union} ORDER BY 1 DESC LIMIT {window}) ORDER BY {_NEWEST} LIMIT {min(limit, ALL)}",  # noqa: S608  # our own names and numbers; values are bound
        values,
    )
    return [row[0] for row in found]


def _streams(connection: apsw.Connection, wanted: MetaFilter) -> list[_Stream]:
    if wanted.thread_id is not None:
        by_thread = "items i INDEXED BY items_by_thread WHERE i.thread_id = ?"
        ids = (filters.bound(wanted.thread_id), redacted_id(wanted.thread_id))
        return [_Stream(by_thread, _led(thread, filters.row_by_row(wanted))) for thread in ids]
    tags = dict.fromkeys(wanted.tags_any)
    if 0 < len(tags) <= _FEW_NODES:
        by_tag = "tags t CROSS JOIN items i ON i.item = t.item WHERE t.tag = ?"
        return [_Stream(by_tag, _led(filters.bound(tag), filters.row_by_row(wanted)), "t.item") for tag in tags]
    few = nodes.admitted(connection, wanted.reach or WHOLE_TREE, _FEW_NODES)
    if few is not None:
        return _by_node(wanted, few)
    return _by_area(connection, wanted)


def _by_node(wanted: MetaFilter, numbers: Sequence[int]) -> list[_Stream]:
    place = "items i INDEXED BY items_by_node WHERE i.node = {} AND i.kind = {}"
    fields, codes = filters.fields(wanted), filters.kinds(wanted)
    return [_Stream(place.format(node, code), fields) for node in numbers for code in codes]


def _by_area(connection: apsw.Connection, wanted: MetaFilter) -> list[_Stream]:
    """Walk the one area a subtree lies in, and the root beside it when it is inherited; without an area, everything."""
    reach, codes = wanted.reach or WHOLE_TREE, filters.kinds(wanted)
    where = filters.row_by_row(wanted.model_copy(update={"kinds": ()}))
    area, root = (nodes.number_of(connection, node) for node in (nodes.area_of(reach.at), Namespace.ROOT))
    if area is None or area == root:
        return [_Stream(f"items i INDEXED BY items_by_kind WHERE i.kind = {code}", where) for code in codes]
    place = f"items i INDEXED BY items_by_area WHERE i.area = {area} AND i.kind = {{}}"
    above = _by_node(wanted, [root]) if reach.inherit and root is not None else []
    return [*(_Stream(place.format(code), where) for code in codes), *above]


def _led(value: Bound, where: Where) -> Where:
    return Where(where.conditions, [value, *where.values])


def read(connection: apsw.Connection, items: Sequence[int], columns: str) -> list[tuple[Any, ...]]:
    """Return *columns* (of `items i JOIN nodes n`) of the numbered items, in the order given."""
    found: list[tuple[Any, ...]] = []
    for start in range(0, len(items), _BATCH):
        part = items[start : start + _BATCH]
        marks = ", ".join("?" * len(part))
        held = select(
            connection,
            f"SELECT i.item, {columns} FROM items i JOIN nodes n USING (node) WHERE i.item IN ({marks})",  # noqa: S608  # our own columns; values are bound
            part,
        )
        by_number = {row[0]: row[1:] for row in held}
        found += [by_number[number] for number in part if number in by_number]
    return found


_ONE = f"SELECT {rows.READ} FROM items i JOIN nodes n USING (node) WHERE i.id = ?"  # noqa: S608  # our own columns


def read_one(connection: apsw.Connection, item_id: bytes) -> rows.Row | None:
    """Return the row, as `rows.READ` names it, of the item with this id."""
    row: rows.Row | None = connection.execute(_ONE, (item_id,)).fetchone()
    return row
