"""What a crawl still has to look at, and what it has looked at: a queue in the connector's notes.

Entries are appended in small notes and never moved; a position says how many are done. So both sides survive a kill,
and memory holds one piece at each end and eight bytes for every address met.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Any, Literal, TypeAlias

from connectors.contract import Json, Notes

PIECE = 30
"""Entries a note; with addresses of at most 2,000 characters below the 64 KiB a note may have."""

Kind: TypeAlias = Literal["start", "list", "guess", "page"]
"""A start may be a page or a list; a guessed list need not exist."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One address to look at.

    Attributes:
        url: In its one spelling.
        kind: What it is expected to be.
        depth: Links between a start and it.
        hops: Redirects that led here, one after the other.
        changed: What the list that named it says of its last change.
    """

    url: str
    kind: Kind = "page"
    depth: int = 0
    hops: int = 0
    changed: str = ""

    def to_json(self) -> Json:
        return [self.url, self.kind, self.depth, self.hops, self.changed[:64]]


class Frontier:
    """The queue of one crawl.

    Args:
        notes: Where it is kept; `None` keeps it in memory only (a scan of a scope must not disturb it).
        cursor: Of the last checkpoint of the crawl to go on with; anything else begins a new one.

    Attributes:
        done: Entries taken and finished.
    """

    def __init__(self, notes: Notes | None, cursor: Json) -> None:
        self._notes = notes
        self._memory: dict[int, list[Json]] = {}
        self._met: set[bytes] = set()
        self._tail: list[Json] = []
        self._head: tuple[int, list[Json]] = (-1, [])
        self.length = 0
        self.done = 0
        self.taken = 0
        self._resume(cursor)

    @property
    def resumed(self) -> bool:
        """Whether an earlier crawl goes on."""
        return self.length > 0 and self.done > 0

    def meet(self, key: str) -> bool:
        """Remember an address by its key; returns whether it is new."""
        mark = _mark(key)
        if mark in self._met:
            return False
        self._met.add(mark)
        return True

    def add(self, entry: Entry) -> None:
        """Append an entry."""
        self._tail.append(entry.to_json())
        self.length += 1
        if len(self._tail) == PIECE:
            self._write(self.length // PIECE - 1, self._tail)
            self._tail = []

    def take(self) -> Entry | None:
        """Return the next entry, `None` when none is left."""
        if self.taken >= self.length:
            return None
        entry = self.entry(self.taken)
        self.taken += 1
        return entry

    def checkpoint(self) -> Json:
        """Write what is not written yet and return the cursor to go on from."""
        if self._tail:
            self._write(self.length // PIECE, self._tail)
        return {"crawl": 1, "done": self.done, "length": self.length}

    def clear(self) -> None:
        """Forget the queue: the crawl is over."""
        if self._notes is not None:
            for number in range(self.length // PIECE + 1):
                self._notes.put(f"queue:{number}", None)

    def entry(self, number: int) -> Entry:
        """Return an entry by its number, the first is 0."""
        piece, place = divmod(number, PIECE)
        if piece == self.length // PIECE:
            return _entry(self._tail[place])
        if self._head[0] != piece:
            self._head = piece, self._read(piece)
        return _entry(self._head[1][place])

    def _read(self, piece: int) -> list[Json]:
        if self._notes is None:
            return self._memory[piece]
        value = self._notes.get(f"queue:{piece}")
        return value if isinstance(value, list) else []

    def _write(self, piece: int, entries: list[Json]) -> None:
        if self._notes is None:
            self._memory[piece] = list(entries)
        else:
            self._notes.put(f"queue:{piece}", list(entries))

    def _resume(self, cursor: Json) -> None:
        """Take up the queue of *cursor* if all of it is there."""
        if self._notes is None or not isinstance(cursor, dict) or cursor.get("crawl") != 1:
            return
        done, length = cursor.get("done"), cursor.get("length")
        if not isinstance(done, int) or not isinstance(length, int) or not 0 < done <= length:
            return
        pieces = [self._read(piece) for piece in range(-(-length // PIECE))]
        kept = [entry for piece in pieces for entry in piece][:length]
        if len(kept) < length or not all(map(_is_entry, kept)):
            return
        self.length, self.done, self.taken = length, done, done
        self._tail = kept[length // PIECE * PIECE :]


def _is_entry(value: Json) -> bool:
    return isinstance(value, list) and len(value) == 5 and isinstance(value[0], str)


def _entry(value: Any) -> Entry:
    return Entry(*value)


def _mark(key: str) -> bytes:
    return blake2b(key.encode(), digest_size=8).digest()
