"""The walk listings, exports and forgets by filter share, and the cursor it goes on from (spec 04 section 7)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from corebrain.engines.cortexdb.cursors import ListCursor
from corebrain.engines.cortexdb.direct_wire import MAX_PAGES, DirectWire
from corebrain.engines.cortexdb.labels import narrowing_labels
from corebrain.engines.cortexdb.looking_up import look_up
from corebrain.engines.cortexdb.replies import Held, Json, event_id, read_event
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.errors import EngineError, InvalidRequest
from corebrain.model.filter import MetaFilter


@dataclass(slots=True)
class Walked:
    """A page of items by their events, in the order met, and where to go on."""

    items: list[tuple[str, list[Held]]] = field(default_factory=list)
    next_cursor: str | None = None


def resume(layout: ScopeLayout, scopes: list[KindScope], text: str | None) -> tuple[list[KindScope], ListCursor]:
    """Return the scopes still to read and where in the first; a scope that vanished resumes at the next in order."""
    if text is None:
        return scopes, ListCursor(offset=0)
    cursor = ListCursor.read(text)
    at = layout.parse(cursor.scope or "")
    if at is None:
        raise InvalidRequest(f"unknown cursor {text[:40]!r}")
    left = [scope for scope in scopes if scope.order >= at.order]
    return left, cursor if left and left[0].path == at.path else ListCursor(offset=0)


class Walk:
    """Reads scopes event by event, newest first.

    Args:
        wire: Whom to ask.
        scopes: What to read, in order.
        wanted: The full filter.
    """

    def __init__(self, wire: DirectWire, scopes: list[KindScope], wanted: MetaFilter) -> None:
        self._wire = wire
        self._scopes = scopes
        self._wanted = wanted
        self._labels = narrowing_labels(wanted)
        self._pages = 0

    def page(self, start: ListCursor, limit: int) -> Walked:
        """Return up to *limit* items from *start* on, each with all its events."""
        walked = Walked()
        met: dict[str, tuple[KindScope, Held]] = {}
        place = start
        for number, scope in enumerate(self._scopes):
            if number:
                place = ListCursor(scope=scope.path, offset=0)
            for held, after in self._first_parts(scope, place):
                if len(met) == limit:
                    walked.next_cursor = place.write()
                    break
                met.setdefault(held.envelope.id, (scope, held))
                place = after
            if walked.next_cursor is not None:
                break
        walked.items = self._assembled(met)
        return walked

    def _first_parts(self, scope: KindScope, start: ListCursor) -> Iterator[tuple[Held, ListCursor]]:
        """Return each admitted item at its part 0, with the place right after it."""
        place = start
        for raw, after in self._raws(scope, start):
            found = event_id(raw)
            if found and found == place.last:
                place = after
                continue
            place = after
            held = read_event(raw, scope.path, scope.kind)
            if held is not None and held.envelope.part in {None, 0} and held.envelope.matches(self._wanted):
                yield held, after

    def _raws(self, scope: KindScope, start: ListCursor) -> Iterator[tuple[Json, ListCursor]]:
        cursor, offset = start.engine, start.offset
        for _ in range(MAX_PAGES):
            page = self._wire.page(scope.path, self._labels, cursor)
            self._pages += bool(page.raws)
            if self._pages > MAX_PAGES:
                break
            for number, raw in enumerate(page.raws[offset:], offset + 1):
                last = event_id(raw) or None
                yield raw, ListCursor(scope=scope.path, engine=cursor, offset=number, last=last)
            cursor, offset = page.next_cursor, 0
            if cursor is None:
                return
        raise EngineError(f"a listing reads more than {MAX_PAGES} pages; narrow the filter")

    def _assembled(self, met: dict[str, tuple[KindScope, Held]]) -> list[tuple[str, list[Held]]]:
        partial: dict[KindScope, list[str]] = {}
        for item_id, (scope, held) in met.items():
            if not held.whole:
                partial.setdefault(scope, []).append(item_id)
        parts = {scope: look_up(self._wire, scope, ids) for scope, ids in partial.items()}
        return [
            (item_id, [held] if held.whole else parts[scope].get(item_id, [held]))
            for item_id, (scope, held) in met.items()
        ]
