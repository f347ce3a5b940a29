"""What both CortexDB doubles are: a real server on loopback that can lie at byte level (spec 05 section 4)."""

import contextlib
import json
import sys
import threading
import time
from abc import ABC, abstractmethod
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar, Self
from urllib.parse import parse_qs, urlsplit

from corebrain.conformance.doubles.event_log import EventLog, Json, Refused
from corebrain.conformance.doubles.knobs import Knobs, Seen

Query = dict[str, str]


class ServedDouble(ABC):
    """A server over an `EventLog`; a context manager that stops it.

    Args:
        port: Where it listens on loopback; 0 takes a free one.

    Attributes:
        log: What it holds.
        knobs: What goes wrong.
        seen: What it was asked.
        takes_repeated: Whether a parameter may be named twice in a query.
    """

    takes_repeated: ClassVar[bool] = True

    def __init__(self, port: int = 0) -> None:
        self.log = EventLog()
        self.knobs = Knobs()
        self.seen = Seen()
        double = self

        class Handler(_Handler):
            """Bound to this double."""

            served = double

        self._server = _Server(("127.0.0.1", port), Handler)
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

    @abstractmethod
    def reply(self, method: str, route: str, query: Query, body: Json, claim: str | None) -> tuple[int, Any]:
        """Return status and JSON of one request, refusals too."""

    @abstractmethod
    def refusal(self, refused: Refused) -> tuple[int, Any]:
        """Return status and JSON of a refused request."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that have left."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1  # status, headers and body in one packet
    served: ServedDouble

    def log_message(self, *_: object) -> None:
        """Stay quiet."""

    def do_GET(self) -> None:
        self._serve()

    do_POST = do_PUT = do_DELETE = do_GET  # noqa: N815  # the names http.server looks for

    def _serve(self) -> None:
        double = self.served
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        body: Json = json.loads(content) if content else {}
        route = parts.path.lstrip("/")
        double.seen.note(f"{self.command} {self.path}", self.headers, body if content else None)
        raw = next((reply for prefix, reply in double.knobs.raw.items() if route.startswith(prefix)), None)
        if raw is not None:
            self.close_connection = True
            with contextlib.suppress(OSError):
                for piece in (raw,) if isinstance(raw, bytes) else raw():
                    self.wfile.write(piece)
                    self.wfile.flush()
            return
        given = parse_qs(parts.query)
        repeated = any(len(values) > 1 for values in given.values())
        query = {key: values[-1] for key, values in given.items()}
        self._send(*self._answered(route, query, body, repeated=repeated))

    def _answered(self, route: str, query: Query, body: Json, *, repeated: bool) -> tuple[int, Any]:
        double = self.served
        if self.headers.get("Authorization") != f"Bearer {double.knobs.accept_token}":
            return double.refusal(Refused(401, "UNAUTHENTICATED"))
        if repeated and not double.takes_repeated:
            return double.refusal(Refused(400, "VALIDATION"))
        time.sleep(double.knobs.delay_ms / 1000)
        if route.endswith("events"):
            self._linger()
        with double.log.lock:
            return double.reply(self.command, route, query, body, self.headers.get("Idempotency-Key"))

    def _linger(self) -> None:
        double = self.served
        if not double.knobs.listing_delay_ms:
            return
        with double.seen.listing():
            time.sleep(double.knobs.listing_delay_ms / 1000)

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
