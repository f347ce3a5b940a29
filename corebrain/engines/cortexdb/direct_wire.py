"""The requests of the Direct surface, one method a route (spec 04 section 1)."""

import logging
from collections.abc import Iterator, Sequence
from typing import Any, ClassVar, NamedTuple
from urllib.parse import quote

from corebrain.engines.cortexdb.events import Event
from corebrain.engines.cortexdb.replies import Json, objects, text_of
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.transport import Transport
from corebrain.errors import EngineError, NotFound, Unavailable

_LOG = logging.getLogger(__name__)
LISTING_LIMIT = 200
LABELS_A_LISTING = 50
MAX_SCOPES_LISTED = 1000
MAX_PAGES = 500
_FORGET_IDS = 100
_RUNNING = {"running", "pending", "queued", "accepted"}


class Page(NamedTuple):
    """One page of a listing: raw events newest first, each twice, and the cursor of the next page."""

    raws: list[Json]
    next_cursor: str | None


class Written(NamedTuple):
    """What the server said of appended events: the last one's id, and whether all were there already."""

    event_id: str
    replayed: bool


class DirectWire:
    """CortexDB's own surface.

    Args:
        transport: What sends; closed with this.
        timing: Between two looks at an erasure.
    """

    EVENTS = "v1/events"
    RECALL = "v1/recall"
    SCOPES = "v1/scopes/list"
    hosted: ClassVar[bool] = False

    def __init__(self, transport: Transport, timing: Timing) -> None:
        self._transport = transport
        self._timing = timing

    def close(self) -> None:
        """Close the connections."""
        self._transport.close()

    def append(self, scope: str, events: Sequence[Event], *, visible: bool) -> Written:
        """Append events in order, in one request; *visible* waits until they are indexed. Sent once."""
        del scope  # each body names its own
        query: dict[str, str | int | None] = {"wait": "indexed" if visible else None}
        if len(events) == 1:
            answered = [self._transport.once("POST", "v1/experience", query=query, body=events[0].body)]
        else:
            body = {"items": [event.body for event in events], "ordering": "strict_temporal"}
            reply = self._transport.once("POST", "v1/experience/bulk", query=query, body=body)
            answered = list(objects(reply, "results"))
            if len(answered) != len(events):
                raise EngineError(f"{len(events)} events were sent and {len(answered)} are answered for")
        replayed = all(each.get("replayed_from_idempotency") is True for each in answered if isinstance(each, dict))
        return Written(text_of(answered[-1], "event_id"), replayed)

    def page(
        self, scope: str, labels: Sequence[str] = (), cursor: str | None = None, limit: int = LISTING_LIMIT
    ) -> Page:
        """Return one page of a scope; a cursor that repeats is `EngineError`."""
        query: dict[str, str | int | None] = {
            "scope": scope,
            "limit": limit,
            "labels": ",".join(labels) or None,
            "cursor": cursor,
        }
        reply = self._transport.read("GET", self.EVENTS, query=query)
        raws = objects(reply, "items")
        following = reply.get("next_cursor") if reply.get("has_more") is True else None
        if following is not None and (following == cursor or not isinstance(following, str)):
            raise EngineError("a listing's cursor repeats; the rest of the scope cannot be read")
        return Page(raws, following)

    def pages(self, scope: str, labels: Sequence[str] = ()) -> Iterator[Json]:
        """Return every raw event of a scope with one of *labels*, doubles included."""
        cursor: str | None = None
        for _ in range(MAX_PAGES):
            page = self.page(scope, labels, cursor)
            yield from page.raws
            cursor = page.next_cursor
            if cursor is None:
                return
        raise EngineError(f"a scope has more than {MAX_PAGES} pages")

    def recall(self, body: Json) -> Json:
        """Build a pack; returns the reply."""
        reply = self._transport.read("POST", self.RECALL, body=body)
        if not isinstance(reply, dict) or not isinstance(reply.get("layers"), dict):
            raise EngineError("a recall's reply holds no layers")
        return reply

    def answer(self, body: Json) -> Json:
        """Ask for an answer over a pack; `NotFound` when the pack is gone."""
        body = {"answer_instructions": None, **body}
        reply = self._transport.once("POST", "v1/answer", body=body)
        text_of(reply, "answer")
        return dict(reply)

    def forget(self, scope: str, ids: Sequence[str], *, redact: bool = False) -> None:
        """Remove events of a scope by id, a hundred at a time; without ids nothing is sent.

        Args:
            scope: Their scope.
            ids: Theirs.
            redact: Name the cascade that removes events, for a server whose default keeps them.
        """
        for start in range(0, len(ids), _FORGET_IDS):
            body: Json = {
                "scope": scope,
                "layers": ["events"],
                "selector": {"memory_ids": list(ids[start : start + _FORGET_IDS])},
                "audit_note": "tinymemory: forget",
            }
            self._forget_once({**body, "cascade": "redact_events"} if redact else body)

    def _forget_once(self, body: Json) -> None:
        self._transport.once("POST", "v1/forget", body=body)

    def scopes(self, prefix: str, *, complete: bool) -> list[str]:
        """Return the scopes at and below *prefix*; *complete* refuses an answer that may be cut short."""
        query: dict[str, str | int | None] = {"prefix": prefix or None, "limit": MAX_SCOPES_LISTED}
        try:
            reply = self._transport.read("GET", self.SCOPES, query=query)
        except NotFound:
            return []
        entries = reply.get("items", reply.get("scopes")) if isinstance(reply, dict) else None
        if not isinstance(entries, list):
            raise EngineError("the reply holds no list items or scopes")
        if len(entries) >= MAX_SCOPES_LISTED:
            if complete:
                raise EngineError(f"{MAX_SCOPES_LISTED} scopes are listed, there may be more; narrow the reach")
            _LOG.warning("%d scopes are listed, there may be more: a read may miss some", len(entries))
        paths = [entry.get("path") if isinstance(entry, dict) else entry for entry in entries]
        return [path for path in paths if isinstance(path, str)]

    def health(self) -> None:
        """Ask whether the server serves; raises when it does not."""
        self._transport.once("GET", "v1/admin/health")

    def build(self, scope: str) -> Any:
        """Build a scope's beliefs; returns the reply. Sent once."""
        return self._transport.once("POST", "v1/beliefs/build", body={"scope": scope})

    def beliefs(self, scope: str, limit: int) -> list[Json]:
        """Return a scope's beliefs."""
        try:
            reply = self._transport.read("GET", "v1/beliefs", query={"scope": scope, "limit": limit})
        except NotFound:
            return []
        return objects(reply, "items")

    def erase(self, scope: str) -> list[str]:
        """Delete a scope for good and wait for it; returns the server's receipts.

        Raises:
            Unavailable: it has not ended in time; it may still.
            EngineError: it ended otherwise than completed.
        """
        body = {"scope": scope, "confirm_all": True, "audit_note": "tinymemory: erase"}
        reply = self._transport.once("POST", "v1/erasures", body=body)
        receipt = text_of(reply, "erasure_id")
        status = reply.get("status") or "completed"
        deadline = self._timing.now() + self._timing.erased_s
        gap = self._timing.poll_s
        while status in _RUNNING:
            if self._timing.now() >= deadline:
                raise Unavailable(f"erasure {receipt} is still {status}; look again later")
            self._timing.sleep(gap)
            gap = min(gap * 2, self._timing.slow_poll_s)
            status = text_of(self._transport.read("GET", f"v1/erasures/{quote(receipt, safe='')}"), "status")
        if status != "completed":
            raise EngineError(f"erasure {receipt} did not complete")
        return [receipt]
