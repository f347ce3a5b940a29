"""The vectors of a node and kind in memory, kept between reads while they are current and there is room."""

import threading
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import apsw
import numpy as np

from corebrain.engines.local import nodes, vector_codes
from corebrain.engines.local.schema import KIND_CODES
from corebrain.engines.local.select import select
from corebrain.engines.local.vector_mixture import Mixture, Place
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import WHOLE_TREE

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOM = 512 << 20
"""Bytes of vectors kept in memory; a read of more goes through, without keeping."""

_TURN = KIND_CODES[ItemKind.CONVERSATION]
_WHICH = "FROM vectors v JOIN passages p USING (passage) {}WHERE v.grp = ? AND v.number > ? ORDER BY v.number"
_ROWS = f"SELECT v.passage, p.item, v.code {_WHICH.format('')}"
_THREADED = f"SELECT v.passage, p.item, v.code, i.thread_id, i.first_turn {_WHICH.format('JOIN items i USING (item) ')}"


@dataclass(frozen=True, slots=True)
class Stamp:
    """A group as the file has it at a moment."""

    grp: int
    kind: int
    held: int
    last: int
    removed: int


@dataclass(slots=True)
class Group:
    """The rows of a group, in the order they were embedded; `order` tells a turn's place in its thread."""

    stamp: Stamp
    passages: "NDArray[np.int64]"
    items: "NDArray[np.int64]"
    scales: "NDArray[np.float32]"
    codes: "NDArray[np.int8]"
    order: list[Place] = field(default_factory=list)
    mixture: Mixture | None = None

    @property
    def size(self) -> int:
        """Bytes it takes, about."""
        return self.codes.nbytes + 20 * len(self.passages) + 120 * len(self.order)

    def likeness(self, query: "NDArray[np.float32]") -> "NDArray[np.float32]":
        """Return how near each row is to *query*: its cosine, a turn's with its neighbours in the thread mixed in."""
        own = vector_codes.cosines(self.scales, self.codes, query)
        return own if self.mixture is None else self.mixture.of(own)


class VectorGroups:
    """Groups by number, the least read dropped first when there is no room."""

    def __init__(self, room: int = ROOM) -> None:
        self._room = room
        self._lock = threading.Lock()
        self._held: OrderedDict[int, Group] = OrderedDict()
        self._size = 0
        self._schema = -1

    def load(self, connection: apsw.Connection, wanted: MetaFilter, dimension: int) -> list[Group]:
        """Return the groups that *wanted*'s reach and kinds come to, as the connection's commit has them."""
        schema = int(connection.pragma("schema_version"))  # moves when a backup is put in the file's place
        return [self._current(connection, stamp, dimension, schema) for stamp in stamps(connection, wanted)]

    def _current(self, connection: apsw.Connection, stamp: Stamp, dimension: int, schema: int) -> Group:
        with self._lock:
            if schema != self._schema:
                self._held.clear()
                self._size, self._schema = 0, schema
            held = self._held.get(stamp.grp)
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

    def drop(self) -> None:
        """Forget all of them."""
        with self._lock:
            self._held.clear()
            self._size = 0


def stamps(connection: apsw.Connection, wanted: MetaFilter) -> list[Stamp]:
    """Return the groups with vectors in reach."""
    condition, values = nodes.reach_sql(wanted.reach or WHOLE_TREE)
    codes = ", ".join(str(KIND_CODES[kind]) for kind in dict.fromkeys(wanted.kinds or KIND_CODES))
    found = select(
        connection,
        "SELECT g.grp, g.kind, g.held, g.last, g.removed FROM nodes n CROSS JOIN vector_groups g USING (node) "  # noqa: S608  # values are bound
        f"WHERE ({condition}) AND g.kind IN ({codes}) AND g.held ORDER BY g.grp",
        values,
    )
    return [Stamp(*row) for row in found]


def _only_grew(before: Stamp, now: Stamp) -> bool:
    return before.removed == now.removed and before.last <= now.last


def _read(connection: apsw.Connection, stamp: Stamp, dimension: int, held: Group | None) -> Group:
    after = held.stamp.last if held else 0
    rows = select(connection, _THREADED if stamp.kind == _TURN else _ROWS, (stamp.grp, after))
    passages, items = (np.array([row[place] for row in rows], np.int64) for place in (0, 1))
    scales, codes = vector_codes.decoded([row[2] for row in rows], dimension)
    order = [(row[3], row[4], row[1]) for row in rows] if stamp.kind == _TURN else []
    if held is not None:
        passages, items = np.concatenate((held.passages, passages)), np.concatenate((held.items, items))
        scales, codes = np.concatenate((held.scales, scales)), np.concatenate((held.codes, codes))
        order = held.order + order
    mixture = Mixture.made(order, scales, codes) if order else None
    return Group(stamp, passages, items, scales, codes, order, mixture)
