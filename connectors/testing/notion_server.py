"""The stand-in of Notion's API as a real HTTP server on loopback, with a log and faults on demand."""

import json
import re
import socket
import threading
import uuid
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self
from urllib.parse import parse_qsl, unquote, urlsplit

from connectors.testing import notion_shapes as shapes
from connectors.testing.notion_api import Api, ApiError, Asked, Limits
from connectors.testing.notion_shapes import Obj
from connectors.testing.notion_workspace import Workspace

TOKEN = "ntn_stand_in"  # noqa: S105 - the token of a server that lives as long as a test
"""A token; every other is taken too unless `NotionServer.tokens` says otherwise."""

_CODES = {
    400: "validation_error",
    401: "unauthorized",
    403: "restricted_resource",
    404: "object_not_found",
    409: "conflict_error",
    429: "rate_limited",
    500: "internal_server_error",
    502: "bad_gateway",
    503: "service_unavailable",
    504: "gateway_timeout",
    529: "service_overload",
}


@dataclass(slots=True)
class Fault:
    """What goes wrong, for requests that match.

    Attributes:
        match: Searched in `METHOD /v1/path`.
        status: Sent instead of the answer; 0 closes the connection without one.
        times: Requests that get it.
        retry_after: Value of the header, when it is sent.
        reason: `additional_data.rate_limit_reason`.
    """

    match: str
    status: int
    times: int = 1
    retry_after: str | None = None
    reason: str | None = None


class _Listener(ThreadingHTTPServer):
    """Closes the connections that clients keep open, so that nothing is left when a test ends."""

    daemon_threads = True

    def __init__(self, address: tuple[str, int], owner: "NotionServer") -> None:
        super().__init__(address, _Handler)
        self.owner = owner
        self._open: set[socket.socket] = set()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._open.discard(request)
        super().shutdown_request(request)

    def close_all(self) -> None:
        for request in tuple(self._open):
            with suppress(OSError):
                request.shutdown(socket.SHUT_RDWR)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that went away."""


class NotionServer:
    """A Notion to talk to; use it as a context manager.

    Args:
        workspace: What it serves.
        limits: What it allows.
        port: 0 takes a free one.

    Attributes:
        log: `METHOD /v1/path` of every request so far.
        faults: Armed faults, taken from the front.
        tokens: The tokens that are good; `None` takes any.
    """

    def __init__(self, workspace: Workspace, limits: Limits | None = None, port: int = 0) -> None:
        self.workspace = workspace
        self.log: list[str] = []
        self.faults: deque[Fault] = deque()
        self.tokens: set[str] | None = None
        self._lock = threading.Lock()
        self._http = _Listener(("127.0.0.1", port), self)
        self.url = f"http://127.0.0.1:{self._http.server_address[1]}"
        self.api = Api(workspace, limits, self.url)
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._http.shutdown()
        self._http.close_all()
        self._http.server_close()
        self._thread.join()

    def serve(self) -> None:
        """Serve in this thread until interrupted."""
        self._http.serve_forever()

    def fail(self, match: str, status: int, times: int = 1, **more: Any) -> None:
        """Arm a fault."""
        self.faults.append(Fault(match, status, times, **more))

    def take_fault(self, line: str) -> Fault | None:
        """Note a request and return the fault that hits it."""
        with self._lock:
            self.log.append(line)
            for fault in self.faults:
                if fault.times > 0 and re.search(fault.match, line):
                    fault.times -= 1
                    return fault
            return None


@dataclass(slots=True)
class _Reply:
    status: int
    body: bytes
    headers: dict[str, str] = field(default_factory=dict)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # head and body in one piece: two would wait for each other's acknowledgement, 40 ms a reply
    disable_nagle_algorithm = True
    server: _Listener

    def do_GET(self) -> None:
        self._serve()

    def do_POST(self) -> None:
        self._serve()

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the standard library's name
        """Say nothing: tests read `log`."""

    def _serve(self) -> None:
        server = self.server.owner
        length = int(self.headers.get("Content-Length") or 0)
        raw = self.rfile.read(length) if length else b""
        parts = urlsplit(self.path)
        if parts.path.startswith("/_"):
            self._send(_side_door(server, self.command, parts.path, parts.query, raw))
            return
        fault = server.take_fault(f"{self.command} {parts.path}")
        if fault is not None and fault.status == 0:
            self.close_connection = True
            return
        reply = _faulty(fault) if fault is not None else self._answer(server, parts.path, parts.query, raw)
        reply.headers["Date"] = format_datetime(server.workspace.clock(), usegmt=True)
        self._send(reply)

    def _answer(self, server: NotionServer, path: str, query: str, raw: bytes) -> _Reply:
        kind, _, token = (self.headers.get("Authorization") or "").partition(" ")
        if kind != "Bearer" or not token or (server.tokens is not None and token not in server.tokens):
            return _error(ApiError(401, "unauthorized", "API token is invalid."))
        if not self.headers.get("Notion-Version"):
            return _error(ApiError(400, "missing_version", "Notion-Version header should be defined."))
        try:
            body = json.loads(raw) if raw else {}
            asked = Asked(self.command, path.removeprefix("/v1/"), dict(parse_qsl(query)), body)
            answer = server.api.answer(asked)
        except ApiError as error:
            return _error(error)
        return _json(200, {**answer, "request_id": str(uuid.uuid4())})

    def _send(self, reply: _Reply) -> None:
        self.send_response_only(reply.status)
        for name, value in {"Content-Type": "application/json; charset=utf-8", **reply.headers}.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        self.wfile.write(reply.body)


def _json(status: int, value: Any) -> _Reply:
    return _Reply(status, json.dumps(value).encode())


def _error(error: ApiError, **more: Any) -> _Reply:
    return _json(error.status, shapes.error(error.status, error.code, error.message, str(uuid.uuid4()), **more))


def _faulty(fault: Fault) -> _Reply:
    code = _CODES.get(fault.status, "internal_server_error")
    more: Obj = {"additional_data": {"rate_limit_reason": fault.reason}} if fault.reason else {}
    reply = _error(ApiError(fault.status, code, f"Stand-in was told to answer {fault.status}."), **more)
    if fault.retry_after is not None:
        reply.headers["Retry-After"] = fault.retry_after
    return reply


def _side_door(server: NotionServer, method: str, path: str, query: str, raw: bytes) -> _Reply:
    """Answer outside the API: the log, the files, and what people play with."""
    if path == "/_log":
        return _json(200, list(server.log))
    if path.startswith("/_files/"):
        return _file(server, unquote(path.removeprefix("/_files/")), dict(parse_qsl(query)))
    if method != "POST":
        return _json(404, {"error": f"{path} wants POST"})
    try:
        return _json(200, _play(server, path, json.loads(raw) if raw else {}))
    except (KeyError, ValueError, TypeError, StopIteration) as error:
        return _json(400, {"error": f"{path}: {error!r}"})


def _play(server: NotionServer, path: str, given: Obj) -> Obj:
    """Change the workspace; without an `id` the first page is meant."""
    workspace = server.workspace
    if path == "/_fail":
        server.fail(**given)
        return {"armed": given}
    pages = (key for key, thing in workspace.things.items() if thing["object"] == "page" and not thing["in_trash"])
    key = str(given.get("id") or next(pages))
    if path == "/_edit":
        if "title" in given:
            workspace.rename(key, str(given["title"]))
        if "text" in given or "title" not in given:
            workspace.write(key, [str(given.get("text") or "edited by hand")])
    elif path == "/_trash":
        workspace.trash(key)
    elif path == "/_unshare":
        workspace.unshare(key)
    else:
        raise ValueError("there is /_log, /_edit, /_trash, /_unshare and /_fail")
    return {"id": key}


def _file(server: NotionServer, name: str, query: dict[str, str]) -> _Reply:
    end = float(query.get("X-Amz-Expires") or 0)
    if name not in server.workspace.files or server.workspace.clock().timestamp() > end:
        return _Reply(403, b"<Error><Code>AccessDenied</Code></Error>", {"Content-Type": "application/xml"})
    return _Reply(200, server.workspace.files[name], {"Content-Type": "application/octet-stream"})
