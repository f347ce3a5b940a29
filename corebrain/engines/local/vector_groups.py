"""The vectors of a node and kind in memory, kept between reads while they are current and there is room."""

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, NamedTuple

import apsw
import numpy as np

from corebrain.engines.local import nodes, vector_codes, vector_sketch
from corebrain.engines.local.schema import KIND_CODES
from corebrain.engines.local.select import select
from corebrain.engines.local.vector_mixture import Mixture, Threads
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import WHOLE_TREE

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 512 << 20
"""Bytes of vectors kept in memory; a read of more goes through, without keeping."""

_SAMPLE = 4_096  # rows whose mean is the centre
_TOGETHER = 10_000  # rows of a reach up to which they are also kept side by side
_REACHES = 64  # that are kept side by side, of so many rows at most beside the newest
_SIDE_BY_SIDE = 300_000
_TURN = KIND_CODES[ItemKind.CONVERSATION]
_WHICH = "FROM vectors v JOIN passages p USING (passage) {}WHERE v.grp = ? AND v.number > ? ORDER BY v.number"
_ROWS = f"SELECT v.passage, p.item, v.code {_WHICH.format('')}"
_THREADED = f"SELECT v.passage, p.item, v.code, i.thread_id, i.first_turn {_WHICH.format('JOIN items i USING (item) ')}"


class Stamp(NamedTuple):
    """A group as the file has it at a moment."""

    grp: int
    kind: int
    held: int
    last: int
    removed: int


@dataclass(slots=True)
class Group:
    """The rows of a group, in the order they were embedded; turns with their places in threads."""

    stamp: Stamp
    passages: "NDArray[np.int64]"
    items: "NDArray[np.int64]"
    scales: "NDArray[np.float32]"
    codes: "NDArray[np.int8]"
    order: Threads | None
    mixture: Mixture | None
    signs: "tuple[NDArray[np.float32], NDArray[np.uint64]] | None" = None

    @property
    def size(self) -> int:
        """Bytes it takes, about."""
        a_row = self.codes.shape[1] * 9 // 8 + (20 if self.order is None else 80)
        return len(self.passages) * int(a_row)

    def sketch(self, centre: "NDArray[np.float32]") -> "NDArray[np.uint64]":
        """Return the signs of all rows as seen from *centre*, made when they are first asked for."""
        known = self.signs
        if known is None or known[0] is not centre:
            known = self.signs = (centre, vector_sketch.sketched(self.scales, self.codes, centre))
        elif known[1].shape[1] < len(self.codes):
            fresh = slice(known[1].shape[1], None)
            more = vector_sketch.sketched(self.scales[fresh], self.codes[fresh], centre)
            known = self.signs = (centre, np.concatenate((known[1], more), axis=1))
        return known[1]


class Centre:
    """The middle of the first large reach that was read: from where all signs are seen, so that they compare."""

    def __init__(self) -> None:
        self._held: NDArray[np.float32] | None = None
        self._lock = threading.Lock()

    def of(self, groups: Sequence[Group]) -> "NDArray[np.float32]":
        """Return it; the first time, the mean of some rows of each of *groups*."""
        with self._lock:
            if self._held is None:
                each = max(1, _SAMPLE // len(groups))
                means = [(group.codes[:each] * group.scales[:each, None]).mean(axis=0) for group in groups]
                self._held = np.mean(means, axis=0, dtype=np.float32)
            return self._held


class Scope:
    """The groups that a read reaches, side by side."""

    def __init__(self, groups: Sequence[Group], centres: Centre) -> None:
        self.groups = groups
        self.stamps = [group.stamp for group in groups]
        self._centre = centres
        numbers = [np.empty(0, np.int64)]
        self.passages: NDArray[np.int64] = np.concatenate([group.passages for group in groups] or numbers)
        self.items: NDArray[np.int64] = np.concatenate([group.items for group in groups] or numbers)
        self._sketch: NDArray[np.uint64] | None = None
        self._codes: tuple[NDArray[np.float32], NDArray[np.int8]] | None = None
        self.mixture: Mixture | None = None
        if any(group.mixture is not None for group in groups):
            self.mixture = Mixture.joined([group.mixture or Mixture.none(len(group.passages)) for group in groups])

    def estimates(self, query: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Return about how near each row is to *query*, up to what all have in common; there is at least one row."""
        if self._sketch is None:
            centre = self._centre.of(self.groups)
            self._sketch = np.concatenate([group.sketch(centre) for group in self.groups], axis=1)
        return vector_sketch.estimated(self._sketch, query, self._centre.of(self.groups))

    def cosines(self, query: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Return the cosine of each row with *query*."""
        if not self.groups:
            return np.empty(0, np.float32)
        if len(self.passages) > _TOGETHER:
            return np.concatenate([vector_codes.cosines(group.scales, group.codes, query) for group in self.groups])
        if self._codes is None:
            self._codes = _joined([(group.scales, group.codes) for group in self.groups])
        return vector_codes.cosines(*self._codes, query)

    def cosines_of(self, rows: "NDArray[np.int64]", query: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Return the cosines of some rows, at least one, which ascend."""
        ends = list(accumulate(len(group.passages) for group in self.groups))
        cuts = np.searchsorted(rows, ends).tolist()
        parts = []
        for group, end, low, high in zip(self.groups, ends, (0, *cuts), cuts, strict=False):
            if low < high:
                own = rows[low:high] - (end - len(group.passages))
                parts.append((group.scales[own], group.codes[own]))
        return vector_codes.cosines(*_joined(parts), query)


def _joined(
    parts: "Sequence[tuple[NDArray[np.float32], NDArray[np.int8]]]",
) -> "tuple[NDArray[np.float32], NDArray[np.int8]]":
    if len(parts) == 1:
        return parts[0]
    return np.concatenate([scales for scales, _ in parts]), np.concatenate([codes for _, codes in parts])


class VectorGroups:
    """Groups by number, the least read dropped first when there is no room."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._held: OrderedDict[int, Group] = OrderedDict()
        self._scopes: OrderedDict[tuple[int, ...], Scope] = OrderedDict()
        self._centre = Centre()
        self._size = 0
        self._schema = -1

    def load(self, connection: apsw.Connection, stamps: Sequence[Stamp], dimension: int) -> Scope:
        """Return the rows of the stamped groups, as the connection's commit has them."""
        schema = int(connection.pragma("schema_version"))  # moves when a backup is put in the file's place
        key = tuple(stamp.grp for stamp in stamps)
        with self._lock:
            self._heed(schema)
            known = self._scopes.pop(key, None)
        if known is None or known.stamps != stamps:
            known = Scope([self._current(connection, stamp, dimension, schema) for stamp in stamps], self._centre)
        with self._lock:
            if schema == self._schema:
                self._scopes[key] = known
            self._make_room()
        return known

    def _make_room(self) -> None:
        rows = sum(len(scope.passages) for scope in self._scopes.values())
        while len(self._scopes) > 1 and (rows > _SIDE_BY_SIDE or len(self._scopes) > _REACHES):
            rows -= len(self._scopes.popitem(last=False)[1].passages)

    def _heed(self, schema: int) -> None:
        if schema != self._schema:
            self._held.clear()
            self._scopes.clear()
            self._centre = Centre()
            self._size, self._schema = 0, schema

    def _current(self, connection: apsw.Connection, stamp: Stamp, dimension: int, schema: int) -> Group:
        with self._lock:
            held = self._held.get(stamp.grp) if schema == self._schema else None
            if held is not None:
                self._held.move_to_end(stamp.grp)
        if held is not None and held.stamp == stamp:
            return held
        grown = held if held is not None and _only_grew(held.stamp, stamp) else None
        fresh = _read(connection, stamp, dimension, grown)
        self._keep(fresh, schema)
        return fresh

    def _keep(self, group: Group, schema: int) -> None:
        with self._lock:
            if schema != self._schema or group.size > self._room:
                return
            before = self._held.pop(group.stamp.grp, None)
            self._size += group.size - (before.size if before else 0)
            self._held[group.stamp.grp] = group
            while self._size > self._room:
                self._size -= self._held.popitem(last=False)[1].size


def reached(connection: apsw.Connection, wanted: MetaFilter) -> tuple[list[Stamp], tuple[str, int] | None]:
    """Return the groups with vectors in reach, and name and dimension of their model; `None` without any."""
    condition, values = nodes.reach_sql(wanted.reach or WHOLE_TREE)
    codes = ", ".join(str(KIND_CODES[kind]) for kind in dict.fromkeys(wanted.kinds or KIND_CODES))
    found = select(
        connection,
        "SELECT g.grp, g.kind, g.held, g.last, g.removed, e.model, e.dimension "  # noqa: S608  # values are bound
        "FROM embedding e CROSS JOIN nodes n CROSS JOIN vector_groups g USING (node) "
        f"WHERE ({condition}) AND g.kind IN ({codes}) AND g.held ORDER BY g.grp",
        values,
    )
    return [Stamp(*row[:5]) for row in found], found[0][5:] if found else None


def _only_grew(before: Stamp, now: Stamp) -> bool:
    return before.removed == now.removed and before.last <= now.last


def _read(connection: apsw.Connection, stamp: Stamp, dimension: int, held: Group | None) -> Group:
    is_threaded = stamp.kind == _TURN
    rows = select(connection, _THREADED if is_threaded else _ROWS, (stamp.grp, 0 if held is None else held.stamp.last))
    passages, items = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
    scales, codes = vector_codes.decoded([row[2] for row in rows], dimension)
    order = Threads.of([row[3:] for row in rows], items) if is_threaded else None
    if held is not None:
        passages, items = np.concatenate((held.passages, passages)), np.concatenate((held.items, items))
        scales, codes = np.concatenate((held.scales, scales)), np.concatenate((held.codes, codes))
        order = order if order is None or held.order is None else held.order.joined(order)
    mixture = None if order is None else Mixture.made(order, scales, codes)
    return Group(stamp, passages, items, scales, codes, order, mixture, None if held is None else held.signs)
