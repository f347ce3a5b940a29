"""The requests of the hosted surface: one event at a time under a claim, no builds (spec 04 sections 1, 3 and 7)."""

import itertools
import secrets
import time
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, TypeVar

from corebrain.engines.cortexdb.direct_wire import DirectWire, Written
from corebrain.engines.cortexdb.events import Event
from corebrain.engines.cortexdb.failures import ERASURE_INCOMPLETE, error_code
from corebrain.engines.cortexdb.replies import Json, event_id, text_of
from corebrain.errors import Conflict, EngineError, NotFound, Unavailable, Unsupported

_ATTEMPTS = 3
_SALT = secrets.token_hex(8)
_COUNTER = itertools.count()
_Out = TypeVar("_Out")


def fresh_claim() -> str:
    """Return a claim no other write has: the process's salt, nanoseconds and a counter."""
    return f"tm-{_SALT}-{time.time_ns()}-{next(_COUNTER)}"


class HostedWire(DirectWire):
    """The TinyHumans surface."""

    EVENTS = "memory/events"
    RECALL = "memory/recall"
    SCOPES = "memory/scopes"
    hosted: ClassVar[bool] = True

    def append(self, scope: str, events: Sequence[Event], *, visible: bool) -> Written:
        """Append events one by one, each under one claim; *visible* changes nothing here.

        Raises:
            Unavailable: also when it cannot be told whether an event was written.
        """
        del visible
        written = [self._written(scope, event) for event in events]
        return Written(written[-1].event_id, all(each.replayed for each in written))

    def _written(self, scope: str, event: Event) -> Written:
        claim = fresh_claim()

        def send() -> Any:
            return self._transport.once("POST", "memory/experience", body=event.body, claim=claim)

        try:
            reply = self._tried(send)
        except _RetriedConflict:
            return Written(self._outcome(scope, event), replayed=False)
        return Written(text_of(reply, "event_id"), reply.get("replayed_from_idempotency") is True)

    def _outcome(self, scope: str, event: Event) -> str:
        """Look for an event whose write was claimed and whose reply was lost."""
        deadline = self._timing.now() + self._timing.listed_s
        gap = self._timing.poll_s
        while True:
            found = self._found(scope, event)
            if found is not None:
                return found
            if self._timing.now() >= deadline:
                raise Unavailable("the outcome of a write is unknown; store the item again later")
            self._timing.sleep(gap)
            gap = min(gap * 2, self._timing.slow_poll_s)

    def _found(self, scope: str, event: Event) -> str | None:
        try:
            raws = self.pages(scope, event.labels[:1])
            return next((event_id(raw) for raw in raws if _is_same(raw, event)), None)
        except Unavailable:
            return None  # its rate limit is met while waiting: not yet

    def _tried(self, send: Callable[[], _Out]) -> _Out:
        gap = self._timing.backoff_s
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return send()
            except Unavailable:
                if attempt == _ATTEMPTS:
                    raise
            except Conflict as error:
                if attempt == 1:
                    raise
                raise _RetriedConflict(error.message) from None
            except NotFound as error:
                if attempt == 1:
                    raise
                raise _RetriedNotFound(error.message) from None
            self._timing.sleep(gap)
            gap *= 2
        raise AssertionError("the last attempt returns or raises")

    def answer(self, body: Json) -> Json:
        reply = self._transport.once("POST", "memory/answer", body=body, claim=fresh_claim())
        text_of(reply, "answer")
        return dict(reply)

    def _forget_once(self, body: Json) -> None:
        def send() -> None:  # each attempt under a claim of its own: removing twice is removing once
            self._transport.once("POST", "memory/forget", body=body, claim=fresh_claim())

        try:
            self._tried(send)
        except _RetriedNotFound:
            return  # an attempt before this one removed them

    def health(self) -> None:
        self._transport.once("GET", "memory/scopes", query={"prefix": "tmh:probe", "limit": 1})

    def erase(self, scope: str) -> list[str]:
        body = {"scope": scope, "audit_note": "tinymemory: erase"}
        scopes, ids = self._erased(lambda: self._erasure("POST", "memory/v1/erasures", body))
        if scopes and not ids:
            raise EngineError("an erasure's reply names no receipts")
        return ids

    def erase_everything(self) -> tuple[int, list[str]]:
        """Delete all of the account's memory; returns how many scopes were emptied, and receipts if there are any."""
        return self._erased(lambda: self._transport.once("DELETE", "memory"))

    def _erasure(self, method: str, route: str, body: Json) -> Any:
        gap = self._timing.backoff_s
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._transport.once(method, route, body=body, claim=fresh_claim(), bare=True)
            except Unavailable as error:
                if error_code(error) != ERASURE_INCOMPLETE or attempt == _ATTEMPTS:
                    raise
            self._timing.sleep(gap)
            gap *= 2
        raise AssertionError("the last attempt returns or raises")

    def _erased(self, ask: Callable[[], Any]) -> tuple[int, list[str]]:
        try:
            reply = ask()
        except NotFound:
            raise Unsupported("this host offers no erasure; forget instead") from None
        scopes = reply.get("scopes") if isinstance(reply, dict) else None
        if not isinstance(scopes, int) or isinstance(scopes, bool) or reply.get("erased") is not True:
            raise EngineError("an erasure's reply does not say what was erased")
        ids = reply.get("erasure_ids")
        return scopes, [str(each) for each in ids] if isinstance(ids, list) else []


class _RetriedConflict(Conflict):
    """A claim was taken by an attempt before this one."""


class _RetriedNotFound(NotFound):
    """What was addressed is gone since an attempt before this one."""


def _is_same(raw: Json, event: Event) -> bool:
    content, context = raw.get("content"), raw.get("context")
    return (
        isinstance(content, dict)
        and isinstance(context, dict)
        and content.get("text") == event.text
        and context.get("labels") == event.labels
    )
