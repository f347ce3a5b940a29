"""Storing: what is held is not sent again, and what was sent can be read on return (spec 04 section 7)."""

from collections.abc import Sequence

from corebrain.contract import Item, Receipts
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.events import Event, encode_item
from corebrain.engines.cortexdb.looking_up import look_up
from corebrain.engines.cortexdb.ranking import recall_body
from corebrain.engines.cortexdb.replies import event_id
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.engines.cortexdb.timing import Timing
from corebrain.errors import CorebrainError, Unavailable
from corebrain.model.item import Conversation
from corebrain.model.requests import StoreReceipt

_QUERY_CHARACTERS = 256
Parts = set[int | None]
Last = tuple[Event, str]
"""An event and the id the server gave it."""


class Storing:
    """The one path of every store.

    Args:
        wire: Whom to send to.
        layout: Where items lie.
        timing: How long to wait until they are read.
    """

    def __init__(self, wire: DirectWire, layout: ScopeLayout, timing: Timing) -> None:
        self._wire = wire
        self._layout = layout
        self._timing = timing

    def store(self, items: Sequence[Item], *, visible: bool) -> Receipts:
        """Store valid items in order; *visible* waits until all are listed and, at best, the last is ranked."""
        ids = [item.fingerprint() for item in items]
        scopes = [self._layout.scope(item.meta.namespace, item.kind) for item in items]
        events = [encode_item(*each) for each in zip(items, ids, (scope.path for scope in scopes), strict=True)]
        held = {} if not visible and not self._wire.hosted and _is_live_turn(items) else self._held(ids, scopes)
        receipts: Receipts = []
        last: dict[KindScope, Last] = {}
        handled: set[str] = set()
        for item_id, scope, written in zip(ids, scopes, events, strict=True):
            there = held.get(item_id, set())
            missing = [] if None in there else [event for event in written if event.part not in there]
            if item_id in handled or not missing:
                receipts.append(StoreReceipt(id=item_id, replayed=True))
                continue
            handled.add(item_id)
            answered = self._wire.append(scope.path, missing, visible=visible)
            last.pop(scope, None)
            last[scope] = (missing[-1], answered.event_id)
            receipts.append(StoreReceipt(id=item_id, replayed=answered.replayed))
        if visible:
            self._wait(last)
        return receipts

    def _held(self, ids: Sequence[str], scopes: Sequence[KindScope]) -> dict[str, Parts]:
        wanted: dict[KindScope, list[str]] = {}
        for item_id, scope in zip(ids, scopes, strict=True):
            wanted.setdefault(scope, []).append(item_id)
        return {
            item_id: {part.envelope.part for part in parts}
            for scope, group in wanted.items()
            for item_id, parts in look_up(self._wire, scope, group).items()
        }

    def _wait(self, last: dict[KindScope, Last]) -> None:
        for scope, (event, sent_id) in last.items():
            self._wait_listed(scope, event, sent_id)
        if last:
            scope, (event, sent_id) = list(last.items())[-1]
            self._wait_ranked(scope, event, sent_id)

    def _wait_listed(self, scope: KindScope, event: Event, sent_id: str) -> None:
        deadline = self._timing.now() + self._timing.listed_s
        gap = self._timing.poll_s
        while not self._is_listed(scope, event, sent_id):
            if self._timing.now() >= deadline:
                raise Unavailable("the item is written and not listed yet; store it again later, it will be a replay")
            self._timing.sleep(gap)
            gap = min(gap * 2, self._timing.slow_poll_s) if self._wire.hosted else gap

    def _is_listed(self, scope: KindScope, event: Event, sent_id: str) -> bool:
        try:
            return any(event_id(raw) == sent_id for raw in self._wire.pages(scope.path, event.labels[:1]))
        except Unavailable:
            if self._wire.hosted:  # its rate limit is met while waiting: not yet
                return False
            raise

    def _wait_ranked(self, scope: KindScope, event: Event, sent_id: str) -> None:
        """Best effort: the item is stored whatever comes of it."""
        deadline = self._timing.now() + self._timing.ranked_s
        body = recall_body(scope.path, event.text[:_QUERY_CHARACTERS], {"events": 10}, event.labels[:1])
        try:
            while self._timing.now() < deadline:
                raws = self._wire.recall(body)["layers"].get("events") or []
                if any(isinstance(raw, dict) and event_id(raw) == sent_id for raw in raws):
                    return
                self._timing.sleep(self._timing.poll_s)
        except CorebrainError:
            return


def _is_live_turn(items: Sequence[Item]) -> bool:
    """A retried turn is a replay by its body's key alone, so nothing is asked before it."""
    return len(items) == 1 and isinstance(items[0], Conversation) and len(items[0].turns) == 1
