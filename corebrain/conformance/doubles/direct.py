"""CortexDB's own surface as a real server on loopback, for tests (spec 05 section 4)."""

import contextlib
import json
import threading
import time
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from corebrain.conformance.doubles.event_log import PACK, EventLog, Json, Refused
from corebrain.conformance.doubles.knobs import STATE_CHANGED, Knobs, Seen

_BODY_FIELDS = {"scope", "modality", "content", "context", "directives", "idempotency_key"}
_SCOPE_TYPES = frozenset(
    ("org", "dept", "team", "app", "user", "agent", "service", "ws", "project", "global", "system", "source")
)
Query = dict[str, str]


class DirectDouble:
    """A server that speaks the Direct surface over an `EventLog`; a context manager that stops it.

    Attributes:
        log: What it holds.
        knobs: What goes wrong.
        seen: What it was asked.
    """

    def __init__(self) -> None:
        self.log = EventLog()
        self.knobs = Knobs()
        self.seen = Seen()
        self._writes = 0
        self._lock = threading.Lock()
        double = self

        class Handler(_Handler):
            """Bound to this double."""

            served = double

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})
        self._thread.start()

    @property
    def endpoint(self) -> str:
        """Where it listens."""
        return f"http://127.0.0.1:{self._server.server_port}"

    def close(self) -> None:
        """Stop it; closing twice is safe."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def reply(self, method: str, route: str, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        """Return status and JSON of one request, refusals too."""
        del claim  # this surface has none
        try:
            return self.answer(method, route, query, body)
        except Refused as refused:
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
            "GET v1/admin/health": lambda _, __: (200, {"status": "ok"}),
            "POST v1/beliefs/build": lambda _, body: (200, self.log.build(body["scope"])),
            "GET v1/beliefs": self._beliefs,
            "POST v1/erasures": self._erase,
            "GET v1/auth/whoami": self._whoami,
        }
        if self.knobs.fail_all is not None:
            raise Refused(*self.knobs.fail_all)
        served = routes.get(f"{method} {route}")
        if served is not None:
            return served(query, body)
        if method == "GET" and route.startswith("v1/erasures/"):
            return 200, {"erasure_id": route.rpartition("/")[2], "status": "completed"}
        raise Refused(404, "NO_ROUTE")

    def _experience(self, _: Query, body: Json) -> tuple[int, Any]:
        self.knobs.refuse("rate_limit_experience", 429, "RATE_LIMITED")
        answered = self._written(body)
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
        if any(segment.partition(":")[0] not in _SCOPE_TYPES for segment in body["scope"].split("/")):
            raise Refused(422, "UNREGISTERED_SCOPE_TYPE")
        return self.log.append(body)

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
        return 200, self.log.pack(body)

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


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # status, headers and body in one packet
    served: DirectDouble

    def log_message(self, *_: object) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_DELETE = do_GET  # noqa: N815  # the names http.server looks for

    def _serve(self) -> None:
        double = self.served
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body: Json = json.loads(content) if content else {}
        route = parts.path.lstrip("/")
        with double._lock:  # noqa: SLF001  # the handler is the double's own hand
            seen = double.seen
            seen.lines.append(f"{self.command} {self.path}")
            seen.tokens.append(self.headers.get("Authorization"))
            seen.actors.append(self.headers.get("X-Cortex-Actor"))
            seen.claims.append(self.headers.get("Idempotency-Key"))
            if content:
                seen.bodies.append((f"{self.command} {self.path}", body))
        raw = next((reply for prefix, reply in double.knobs.raw.items() if route.startswith(prefix)), None)
        if raw is not None:
            self.close_connection = True
            with contextlib.suppress(OSError):
                self.wfile.write(raw)
            return
        status, answered = self._answered(route, {key: value[-1] for key, value in parse_qs(parts.query).items()}, body)
        self._send(status, answered)

    def _answered(self, route: str, query: Query, body: Json) -> tuple[int, Any]:
        double = self.served
        if self.headers.get("Authorization") != f"Bearer {double.knobs.accept_token}":
            return 401, {"error_code": "UNAUTHENTICATED", "message": "the double refuses"}
        if route.endswith("events"):
            self._linger()
        with double.log.lock:
            return double.reply(self.command, route, query, body, self.headers.get("Idempotency-Key"))

    def _linger(self) -> None:
        double = self.served
        if not double.knobs.listing_delay_s:
            return
        seen = double.seen
        with double._lock:  # noqa: SLF001  # the handler is the double's own hand
            seen.listings_at_once += 1
            seen.most_listings_at_once = max(seen.most_listings_at_once, seen.listings_at_once)
        time.sleep(double.knobs.listing_delay_s)
        with double._lock:  # noqa: SLF001  # see above
            seen.listings_at_once -= 1

    def _send(self, status: int, answered: Any) -> None:
        data = json.dumps(answered).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        if status == 429:
            self.send_header("Retry-After", "0")
        self.end_headers()
        with contextlib.suppress(OSError):
            self.wfile.write(data)
