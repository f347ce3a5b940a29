"""Which scopes a fetch with `max_scopes` reads: those the query names, then the newest written (spec 04 section 7)."""

import re
import threading
import time
from collections.abc import Callable, Sequence

from corebrain.engines.cortexdb.concurrent_reads import each
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.replies import Json
from corebrain.engines.cortexdb.scopes import KindScope
from corebrain.errors import InvalidRequest
from corebrain.model.instant import Instant

_REMEMBERED_S = 600
_SAMPLE = 20
_LISTINGS_AT_ONCE = 8
_UNKNOWN = -(1 << 63)
_WORD = re.compile(r"[^\W_]{3,}")
_PARTS = re.compile(r"[-_]")


class Recency:
    """Remembers for ten minutes when each scope was last written.

    Args:
        wire: Whom to ask.
        now: Monotonic seconds.
        clock: Nanoseconds since the epoch.
    """

    def __init__(
        self, wire: DirectWire, now: Callable[[], float] = time.monotonic, clock: Callable[[], int] = time.time_ns
    ) -> None:
        self._wire = wire
        self._now = now
        self._clock = clock
        self._lock = threading.Lock()
        self._known: dict[str, tuple[float, int]] = {}

    def written(self, path: str) -> None:
        """Note that a scope was written just now."""
        with self._lock:
            self._known[path] = (self._now(), self._clock())

    def chosen(self, scopes: Sequence[KindScope], query: str, most: int) -> list[KindScope]:
        """Return at most *most* scopes, in the order given."""
        if len(scopes) <= most:
            return list(scopes)
        words = set(_WORD.findall(query.lower()))
        times = dict(zip(scopes, each(self._newest, scopes, _LISTINGS_AT_ONCE), strict=True))
        best = sorted(scopes, key=lambda scope: (not _named(scope, words), -times[scope]))[:most]
        return [scope for scope in scopes if scope in best]

    def _newest(self, scope: KindScope) -> int:
        with self._lock:
            known = self._known.get(scope.path)
        if known is not None and self._now() - known[0] < _REMEMBERED_S:
            return known[1]
        newest = max(map(_observed, self._wire.page(scope.path, limit=_SAMPLE).raws), default=_UNKNOWN)
        with self._lock:
            self._known[scope.path] = (self._now(), newest)
        return newest


def _named(scope: KindScope, words: set[str]) -> bool:
    ids = [segment.id.lower() for segment in scope.node.segments]
    return any(word in words for name in ids for word in (name, *_PARTS.split(name)))


def _observed(raw: Json) -> int:
    try:
        return Instant.parse(raw["context"]["observed_at"]).ns
    except (KeyError, TypeError, InvalidRequest):
        return _UNKNOWN
