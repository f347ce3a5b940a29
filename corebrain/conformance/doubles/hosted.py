"""The TinyHumans surface as a real server on loopback, for tests (spec 05 section 4)."""

import re
from collections.abc import Callable
from typing import Any, ClassVar

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.event_log import Json, Refused
from corebrain.conformance.doubles.served import Query

Route = Callable[[Query, Json], tuple[int, Any]]
_SCOPE = re.compile(r"[a-z]+:[A-Za-z0-9_-]+(?:/[a-z]+:[A-Za-z0-9_-]+){0,30}")
_ANSWER_FIELDS = {
    *("scope", "question", "question_type", "question_date", "temporal", "filters", "answer_max_tokens"),
    *("answer_instructions", "cite_sources", "include_context", "use_pack_id"),
}


class HostedDouble(DirectDouble):
    """A server that speaks the hosted surface over an `EventLog`."""

    takes_repeated: ClassVar[bool] = False

    def __init__(self, port: int = 0) -> None:
        self._claims: set[str] = set()
        super().__init__(port)

    def refusal(self, refused: Refused) -> tuple[int, Any]:
        if refused.code == "RATE_LIMITED":  # the limiter stands before what writes the envelope
            return 429, {"error": {"message": "slow down", "type": "rate_limit"}}
        return refused.status, {"success": False, "error": "the double refuses", "errorCode": refused.code}

    def reply(self, method: str, route: str, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        try:
            status, answered = self._hosted(method, route, query, body, claim)
        except Refused as refused:
            return self.refusal(refused)
        except (KeyError, TypeError, ValueError):
            return self.refusal(Refused(400, "VALIDATION"))
        return status, answered if route == "memory/v1/erasures" else {"success": True, "data": answered}

    def _hosted(self, method: str, route: str, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        if self.knobs.fail_all is not None:
            raise Refused(*self.knobs.fail_all)
        scope = body.get("scope", query.get("scope"))
        if scope is not None and not _SCOPE.fullmatch(scope):
            raise Refused(400, "INVALID_SCOPE")
        self._check_scope(scope)
        if route in self.knobs.lacks:
            raise Refused(404, "NOT_FOUND")
        reads: dict[str, Route] = {
            "GET memory/events": self._events,
            "POST memory/recall": self._recall,
            "GET memory/scopes": self._scope_paths,
            "DELETE memory": self._erase_all,
        }
        writes: dict[str, Route] = {
            "POST memory/experience": self._experience_once,
            "POST memory/answer": self._answer_strictly,
            "POST memory/forget": self._forget,
            "POST memory/v1/erasures": self._erase_scope,
        }
        asked = f"{method} {route}"
        if asked in reads:
            return reads[asked](query, body)
        if asked not in writes:
            raise Refused(404, "NOT_FOUND")
        self._take(claim, asked)
        return writes[asked](query, body)

    def _take(self, claim: str | None, asked: str) -> None:
        """Refuse a claim that was taken, after the limiter, which stands before the claims."""
        limiter = {"POST memory/experience": "rate_limit_experience", "POST memory/forget": "rate_limit_forget"}
        if asked in limiter:
            self.knobs.refuse(limiter[asked], 429, "RATE_LIMITED")
        if claim is None or claim in self._claims:
            raise Refused(400, "CONFLICT")
        self._claims.add(claim)

    def _experience_once(self, query: Query, body: Json) -> tuple[int, Any]:
        self.knobs.refuse("claim_then_fail", 502, "BAD_GATEWAY")
        return self._experience(query, body)

    def _answer_strictly(self, query: Query, body: Json) -> tuple[int, Any]:
        if set(body) - _ANSWER_FIELDS or body.get("answer_instructions", "") is None:
            raise Refused(400, "VALIDATION")
        return self._answer(query, body)

    def _scope_paths(self, query: Query, body: Json) -> tuple[int, Any]:
        status, listed = self._scopes(query, body)
        return status, {"scopes": [entry["path"] for entry in listed["items"]]}

    def _erase_all(self, _: Query, __: Json) -> tuple[int, Any]:
        if self.knobs.erase_all_missing:
            raise Refused(404, "NOT_FOUND")
        scopes = self.log.scopes("", 1000)
        for scope in scopes:
            self.log.erase(scope)
        return 200, {"erased": True, "scopes": len(scopes)}  # without receipts

    def _erase_scope(self, _: Query, body: Json) -> tuple[int, Any]:
        if set(body) - {"scope", "audit_note"}:
            return 400, {"error_code": "UNKNOWN_FIELD"}
        if self.knobs.take("erasure_incomplete"):  # outside the envelope, as its success
            return 502, {"erased": False, "error_code": "ERASURE_INCOMPLETE", "retriable": True}
        held = self.log.scopes(body["scope"], 1000)
        for scope in held:
            self.log.erase(scope)
        ids = [f"era_{scope}" for scope in held]
        return 200, {"erased": True, "scope": body["scope"], "scopes": len(held), "erasure_ids": ids}
