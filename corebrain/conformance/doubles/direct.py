"""CortexDB's own surface as a real server on loopback, for tests (spec 05 section 4)."""

import time
from collections.abc import Callable
from typing import Any

from corebrain.conformance.doubles.event_log import PACK, Json, Refused
from corebrain.conformance.doubles.knobs import STATE_CHANGED
from corebrain.conformance.doubles.served import Query, ServedDouble

_BODY_FIELDS = {"scope", "modality", "content", "context", "directives", "idempotency_key"}


class DirectDouble(ServedDouble):
    """A server that speaks the Direct surface over an `EventLog`."""

    def __init__(self, port: int = 0) -> None:
        self._writes = 0
        super().__init__(port)

    def reply(self, method: str, route: str, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        del claim  # this surface has none
        try:
            return self.answer(method, route, query, body)
        except Refused as refused:
            return self.refusal(refused)
        except (KeyError, TypeError, ValueError):
            return self.refusal(Refused(422, "INVALID_ENVELOPE"))

    def refusal(self, refused: Refused) -> tuple[int, Any]:
        return refused.status, {"error_code": refused.code, "message": "the double refuses"}

    def answer(self, method: str, route: str, query: Query, body: Json) -> tuple[int, Any]:
        """Return status and JSON of one request.

        Raises:
            Refused: the request is answered with a failure.
        """
        routes: dict[str, Callable[[Query, Json], tuple[int, Any]]] = {
            "POST v1/experience": self._experience,
            "POST v1/experience/bulk": self._bulk,
            "GET v1/events": self._events,
            "POST v1/recall": self._recall,
            "POST v1/answer": self._answer,
            "POST v1/forget": self._forget,
            "GET v1/scopes/list": self._scopes,
            "POST v1/scopes": self._register,
            "GET v1/scopes": self._record,
            "PUT v1/scopes/members": self._members,
            "GET v1/admin/health": lambda _, __: (200, {"status": "ok"}),
            "POST v1/beliefs/build": lambda _, body: (200, self.log.build(body["scope"])),
            "GET v1/beliefs": self._beliefs,
            "POST v1/erasures": self._erase,
            "GET v1/auth/whoami": self._whoami,
        }
        if self.knobs.fail_all is not None:
            raise Refused(*self.knobs.fail_all)
        if route in self.knobs.lacks:
            raise Refused(404, "NO_ROUTE")
        self._check_scope(body.get("scope", query.get("scope")))
        served = routes.get(f"{method} {route}")
        if served is not None:
            return served(query, body)
        if method == "GET" and route.startswith("v1/erasures/"):
            return 200, {"erasure_id": route.rpartition("/")[2], "status": "completed"}
        raise Refused(404, "NO_ROUTE")

    def _check_scope(self, scope: str | None) -> None:
        types = {segment.partition(":")[0] for segment in scope.split("/")} if scope else set()
        if types - self.knobs.scope_types:
            raise Refused(422, "UNREGISTERED_SCOPE_TYPE")

    def _experience(self, query: Query, body: Json) -> tuple[int, Any]:
        self.knobs.refuse("rate_limit_experience", 429, "RATE_LIMITED")
        answered = self._written(body)
        if self.knobs.index_ms and query.get("wait") != "indexed":
            self.log.indexed_at.setdefault(answered["event_id"], time.monotonic() + self.knobs.index_ms / 1000)
        self.knobs.refuse("apply_then_fail", 503, "UNAVAILABLE")
        return 202, answered

    def _bulk(self, _: Query, body: Json) -> tuple[int, Any]:
        self.knobs.refuse("rate_limit_experience", 429, "RATE_LIMITED")
        if body.get("ordering", "strict_temporal") != "strict_temporal":  # the official client names none
            raise Refused(422, "INVALID_ENVELOPE")
        answered = [self._written(item) for item in body["items"]]
        self.knobs.refuse("apply_then_fail", 503, "UNAVAILABLE")
        return 202, {"results": answered}

    def _written(self, body: Json) -> Json:
        self._writes += 1
        if self._writes == self.knobs.fail_nth_experience:
            raise Refused(400, "INVALID_ENVELOPE")
        if set(body) - _BODY_FIELDS:
            raise Refused(422, "INVALID_ENVELOPE")
        self._check_scope(body["scope"])
        answered = self.log.append(body)
        self.knobs.wrote()
        return answered

    def _events(self, query: Query, _: Json) -> tuple[int, Any]:
        self.knobs.refuse("rate_limit_events", 429, "RATE_LIMITED")
        self.knobs.refuse("state_change_events", 503, STATE_CHANGED)
        if self.knobs.take("hide_listing_for"):
            return 200, {"items": [], "has_more": False, "next_cursor": None}
        labels = query["labels"].split(",") if "labels" in query else []
        limit, cursor = int(query.get("limit", "50")), int(query.get("cursor", "0"))
        return 200, self.log.listing(query["scope"], labels, limit, cursor)

    def _recall(self, _: Query, body: Json) -> tuple[int, Any]:
        if self.knobs.recall_down:
            raise Refused(500, "RECALL_DOWN")
        pack = self.log.pack(body)
        events, size = pack["layers"].get("events", []), self.knobs.excerpt_bytes
        if size is not None:
            pack["layers"]["events"] = [_excerpt(event, size) for event in events]
        return 200, pack

    def _answer(self, _: Query, body: Json) -> tuple[int, Any]:
        self.knobs.refuse("expire_packs", 404, "PACK_EXPIRED")
        if body.get("use_pack_id") != PACK:
            raise Refused(400, "MISSING_PACK")
        told = f"An answer to: {body['question']}"
        return 200, {"answer": told, "diagnostics": {"answer_model": "reasoning"}}

    def _forget(self, _: Query, body: Json) -> tuple[int, Any]:
        self.knobs.refuse("rate_limit_forget", 429, "RATE_LIMITED")
        return 200, self.log.forget(body)

    def _scopes(self, query: Query, _: Json) -> tuple[int, Any]:
        limit = min(int(query.get("limit", "50")), 1000)
        return 200, {"items": [{"path": path} for path in self.log.scopes(query.get("prefix", ""), limit)]}

    def _register(self, _: Query, body: Json) -> tuple[int, Any]:
        self.knobs.refuse("fail_registration", 500, "INTERNAL")
        self.log.register(body["path"], body["owner"])
        return 201, {"path": body["path"], "members": [body["owner"]]}

    def _record(self, query: Query, _: Json) -> tuple[int, Any]:
        if query["path"] not in self.log.registered:
            raise Refused(404, "UNKNOWN_SCOPE")
        return 200, {"path": query["path"], "members": self.log.registered[query["path"]]}

    def _members(self, query: Query, body: Json) -> tuple[int, Any]:
        if query["path"] not in self.log.registered:
            raise Refused(404, "UNKNOWN_SCOPE")
        self.log.registered[query["path"]] = body["members"]
        return 200, {"path": query["path"], "members": body["members"]}

    def _beliefs(self, query: Query, _: Json) -> tuple[int, Any]:
        held = [belief for belief in reversed(self.log.beliefs) if belief["scope"] == query["scope"]]
        return 200, {"items": held[: int(query.get("limit", "50"))]}

    def _erase(self, _: Query, body: Json) -> tuple[int, Any]:
        if not body.get("confirm_all") or "selector" in body:
            raise Refused(422, "EMPTY_SELECTOR_WITHOUT_CONFIRMATION")
        self.log.erase(body["scope"])
        self.log.counter += 1
        answered = {"erasure_id": f"era_{self.log.counter}", "status": self.knobs.erasure_status}
        return 202, {key: value for key, value in answered.items() if value is not None}

    def _whoami(self, _: Query, __: Json) -> tuple[int, Any]:
        if self.knobs.whoami_caller is None:
            raise Refused(404, "NO_ROUTE")
        return 200, {"caller": self.knobs.whoami_caller}


def _excerpt(event: Json, size: int) -> Json:
    """Show the beginning of an event's text, marked as a server marks what its budget cut."""
    text = event["content"]["text"]
    if len(text.encode()) <= size:
        return event
    cut = text.encode()[:size].decode("utf-8", "ignore")
    content = {**event["content"], "text": cut, "_partial": True, "_partial_reason": "budget_excerpt"}
    return {**event, "content": content}
