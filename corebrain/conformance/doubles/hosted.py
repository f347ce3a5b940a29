"""The TinyHumans surface as a real server on loopback, for tests (spec 05 section 4)."""

import re
from typing import Any

from corebrain.conformance.doubles.direct import DirectDouble, Query
from corebrain.conformance.doubles.event_log import Json, Refused

_SCOPE = re.compile(r"[a-z]+:[A-Za-z0-9_-]+(?:/[a-z]+:[A-Za-z0-9_-]+){0,30}")
_ANSWER_FIELDS = {
    *("scope", "question", "question_type", "question_date", "temporal", "filters", "answer_max_tokens"),
    *("answer_instructions", "cite_sources", "include_context", "use_pack_id"),
}


class HostedDouble(DirectDouble):
    """A server that speaks the hosted surface over an `EventLog`."""

    def __init__(self) -> None:
        self._claims: set[str] = set()
        super().__init__()

    def reply(self, method: str, route: str, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        try:
            status, answered = self._hosted(method, route, query, body, claim)
        except Refused as refused:
            if refused.code == "RATE_LIMITED":
                return 429, {"error": {"message": "slow down", "type": "rate_limit"}}
            return refused.status, {"success": False, "error": "the double refuses", "errorCode": refused.code}
        return status, answered if route == "memory/v1/erasures" else {"success": True, "data": answered}

    def _hosted(self, method: str, route: str, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        if self.knobs.fail_all is not None:
            raise Refused(*self.knobs.fail_all)
        scope = body.get("scope", query.get("scope"))
        if scope is not None and not _SCOPE.fullmatch(scope):
            raise Refused(400, "INVALID_SCOPE")
        asked = f"{method} {route}"
        if asked == "POST memory/experience":
            return self._claimed(query, body, claim)
        if asked == "POST memory/answer":
            if set(body) - _ANSWER_FIELDS or body.get("answer_instructions", "") is None:
                raise Refused(400, "VALIDATION")
            return self._answer(query, body)
        if asked in {"DELETE memory", "POST memory/v1/erasures"}:
            return self._erased(body.get("scope"))
        served = {
            "GET memory/events": self._events,
            "POST memory/recall": self._recall,
            "POST memory/forget": self._forget,
            "GET memory/scopes": self._scopes,
        }.get(asked)
        if served is None:
            raise Refused(404, "NOT_FOUND")
        return served(query, body)

    def _claimed(self, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        self.knobs.refuse("rate_limit_experience", 429, "RATE_LIMITED")
        if claim is None or claim in self._claims:
            raise Refused(400, "CONFLICT")
        self._claims.add(claim)
        self.knobs.refuse("claim_then_fail", 502, "BAD_GATEWAY")
        return self._experience(query, body)

    def _erased(self, scope: str | None) -> tuple[int, Any]:
        scopes = [scope] if scope is not None else self.log.scopes("", 1000)
        for each in scopes:
            self.log.erase(each)
        return 200, {"erased": True, "scopes": len(scopes), "erasure_ids": [f"era_{each}" for each in scopes]}
