"""The walk listings, exports and forgets by filter share, and the cursor it goes on from (spec 04 section 7)."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from corebrain.engines.cortexdb.cursors import ListCursor
from corebrain.engines.cortexdb.direct_wire import MAX_PAGES, DirectWire
from corebrain.engines.cortexdb.labels import narrowing_labels
from corebrain.engines.cortexdb.looking_up import Parts, look_up
from corebrain.engines.cortexdb.replies import Held, Json, event_id, read_event
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.errors import EngineError, InvalidRequest
from corebrain.model.filter import MetaFilter

_Met = dict[str, tuple[KindScope, Held]]


@dataclass(slots=True)
class Walked:
    """A page of items by their events, in the order met, and where to go on.

    Attributes:
        items: Id and events of each item.
        headless: Ids of items whose first part is lost, only when asked for.
        next_cursor: Where the next page begins.
    """

    items: list[tuple[str, list[Held]]] = field(default_factory=list)
    headless: list[str] = field(default_factory=list)
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
        layout: Which scope took the place of a retired one; what lies in both is met there.
        scopes: What to read, in order.
        wanted: The full filter.
        headless: Whether to look for items whose first part is lost.
    """

    def __init__(
        self,
        wire: DirectWire,
        layout: ScopeLayout,
        scopes: list[KindScope],
        wanted: MetaFilter,
        *,
        headless: bool = False,
    ) -> None:
        self._wire = wire
        self._layout = layout
        self._scopes = scopes
        self._wanted = wanted
        self._headless = headless
        self._labels = narrowing_labels(wanted)
        self._pages = 0

    def page(self, start: ListCursor, limit: int) -> Walked:
        """Return up to *limit* items from *start* on, each with all its events."""
        walked = Walked()
        met: _Met = {}
        later: _Met = {}  # the lowest part met of items, their first left aside
        place = start
        for number, scope in enumerate(self._scopes):
            if number:
                place = ListCursor(scope=scope.path, offset=0)
            for held, after in self._ours(scope, place):
                item_id = held.envelope.id
                if held.envelope.part:
                    later[item_id] = scope, held if item_id not in later else _lower(held, later[item_id][1])
                elif item_id not in met and len(met) == limit:
                    walked.next_cursor = place.write()
                    break
                elif item_id not in met or self._layout.successor(met[item_id][0]) == scope:
                    met[item_id] = scope, held
                place = after
            if walked.next_cursor is not None:
                break
        walked.items = self._assembled(self._without_succeeded(met))
        if self._headless:
            lone = {item_id: found for item_id, found in later.items() if item_id not in met}
            walked.headless = self._without_first(self._without_succeeded(lone))
        return walked

    def _ours(self, scope: KindScope, start: ListCursor) -> Iterator[tuple[Held, ListCursor]]:
        """Return each admitted event once, with the place right after it."""
        place = start
        for raw, after in self._raws(scope, start):
            found = event_id(raw)
            if found and found == place.last:
                place = after
                continue
            place = after
            held = read_event(raw, scope.path, scope.kind)
            if held is not None and held.envelope.matches(self._wanted):
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

    def _without_succeeded(self, met: _Met) -> _Met:
        """Leave out what a retired scope holds and the scope that took its place holds too."""
        twins: dict[KindScope, list[str]] = {}
        for item_id, (scope, _) in met.items():
            successor = self._layout.successor(scope)
            if successor is not None:
                twins.setdefault(successor, []).append(item_id)
        double = {item_id for scope, ids in twins.items() for item_id in look_up(self._wire, scope, ids)}
        return {item_id: found for item_id, found in met.items() if item_id not in double}

    def _without_first(self, later: _Met) -> list[str]:
        """Return the items that hold no first part, each on the page on which its lowest part is met."""
        parts = self._looked_up(later)
        lowest = {
            item_id: min((held.envelope.part or 0 for held in parts[scope].get(item_id, [])), default=0)
            for item_id, (scope, _) in later.items()
        }
        return [item_id for item_id, (_, held) in later.items() if 0 < lowest[item_id] == held.envelope.part]

    def _assembled(self, met: _Met) -> list[tuple[str, list[Held]]]:
        parts = self._looked_up({item_id: found for item_id, found in met.items() if not found[1].whole})
        return [
            (item_id, [held] if held.whole else parts[scope].get(item_id, [held]))
            for item_id, (scope, held) in met.items()
        ]

    def _looked_up(self, items: _Met) -> dict[KindScope, Parts]:
        wanted: dict[KindScope, list[str]] = {}
        for item_id, (scope, _) in items.items():
            wanted.setdefault(scope, []).append(item_id)
        return {scope: look_up(self._wire, scope, ids) for scope, ids in wanted.items()}


def _lower(one: Held, other: Held) -> Held:
    return min(one, other, key=lambda held: held.envelope.part or 0)
