"""What a listing found, kept on disk until all of it was fetched; a few bytes a thing stay in memory."""

import json
import tempfile
import threading
import weakref
from collections.abc import Iterator
from typing import IO

from connectors.notion.ids import Obj


class Spool:
    """Things by id in a file that vanishes when this is closed or let go.

    About a hundred bytes a thing stay in memory: a number made of its id, and where it lies.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._closed = False
        self._places: dict[int, int] = {}
        self._end = 0
        self._lock = threading.Lock()

    def close(self) -> None:
        """Drop everything; twice is safe."""
        with self._lock:
            self._closed = True
            self._places.clear()
            if self._file is not None:
                self._file.close()

    @property
    def closed(self) -> bool:
        """Whether it is over; nothing can be got from it any more."""
        return self._closed

    def __contains__(self, key: str) -> bool:
        return _number(key) in self._places

    def __len__(self) -> int:
        return len(self._places)

    def add(self, thing: Obj) -> bool:
        """Keep a thing unless it is here already; returns whether it was new."""
        if str(thing["id"]) in self:
            return False
        self.renew(thing)
        return True

    def renew(self, thing: Obj) -> None:
        """Keep a thing, in place of what was kept of it; nothing once this is closed."""
        raw = json.dumps(thing, separators=(",", ":")).encode() + b"\n"
        with self._lock:
            if self._closed:
                return
            if self._file is None:
                self._file = tempfile.TemporaryFile("w+b")  # noqa: SIM115 - closed by `close`, or when this is let go
                weakref.finalize(self, self._file.close)
            self._places[_number(str(thing["id"]))] = self._end
            self._file.seek(self._end)
            self._file.write(raw)
            self._end += len(raw)

    def get(self, key: str) -> Obj | None:
        """Return a thing; `None` when it is not here. May be called from any thread."""
        place = self._places.get(_number(key))
        return None if place is None else self._read(place) or None

    def __iter__(self) -> Iterator[Obj]:
        """Yield everything in the order it came; others may be read meanwhile."""
        for place in list(self._places.values()):
            yield self._read(place)

    def _read(self, place: int) -> Obj:
        with self._lock:
            if self._closed or self._file is None:
                return {}
            self._file.seek(place)
            line = self._file.readline()
        found = json.loads(line)
        return found if isinstance(found, dict) else {}


def _number(key: str) -> int:
    """The first 64 bits of an id: random in Notion's, so that a million things meet with a chance of 1 in 10^7."""
    return int(key.replace("-", "")[:16], 16)
