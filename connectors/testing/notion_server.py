"""The stand-in of Notion's API as a real HTTP server on loopback, with a log and faults on demand."""

import json
import uuid
from dataclasses import dataclass
from email.utils import format_datetime
from typing import Any
from urllib.parse import unquote

from connectors.testing import notion_shapes as shapes
from connectors.testing.loopback import ArmedFaults, LoopbackServer, Reply, Request
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


class NotionServer(LoopbackServer):
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
        self.faults: ArmedFaults[Fault] = ArmedFaults()
        self.tokens: set[str] | None = None
        super().__init__(self._reply, port)
        self.api = Api(workspace, limits, self.url)

    def fail(self, match: str, status: int, times: int = 1, **more: Any) -> None:
        """Arm a fault."""
        self.faults.arm(Fault(match, status, times, **more))

    def _reply(self, asked: Request) -> Reply | None:
        if asked.path.startswith("/_"):
            return _side_door(self, asked)
        line = f"{asked.method} {asked.path}"
        self.log.append(line)
        fault = self.faults.take(line)
        if fault is not None and fault.status == 0:
            return None
        reply = _faulty(fault) if fault is not None else self._answer(asked)
        reply.headers["Date"] = format_datetime(self.workspace.clock(), usegmt=True)
        return reply

    def _answer(self, asked: Request) -> Reply:
        kind, token = asked.credential()
        if kind != "Bearer" or not token or (self.tokens is not None and token not in self.tokens):
            return _error(ApiError(401, "unauthorized", "API token is invalid."))
        if not asked.headers.get("Notion-Version"):
            return _error(ApiError(400, "missing_version", "Notion-Version header should be defined."))
        try:
            body = json.loads(asked.body) if asked.body else {}
            answer = self.api.answer(Asked(asked.method, asked.path.removeprefix("/v1/"), asked.query, body))
        except ApiError as error:
            return _error(error)
        return Reply.json({**answer, "request_id": str(uuid.uuid4())})


def _error(error: ApiError, **more: Any) -> Reply:
    said = shapes.error(error.status, error.code, error.message, str(uuid.uuid4()), **more)
    return Reply.json(said, error.status)


def _faulty(fault: Fault) -> Reply:
    code = _CODES.get(fault.status, "internal_server_error")
    more: Obj = {"additional_data": {"rate_limit_reason": fault.reason}} if fault.reason else {}
    reply = _error(ApiError(fault.status, code, f"Stand-in was told to answer {fault.status}."), **more)
    if fault.retry_after is not None:
        reply.headers["Retry-After"] = fault.retry_after
    return reply


def _side_door(server: NotionServer, asked: Request) -> Reply:
    """Answer outside the API: the log, the files, and what people play with."""
    if asked.path == "/_log":
        return Reply.json(list(server.log))
    if asked.path.startswith("/_files/"):
        return _file(server, unquote(asked.path.removeprefix("/_files/")), asked.query)
    if asked.method != "POST":
        return Reply.json({"error": f"{asked.path} wants POST"}, 404)
    try:
        return Reply.json(_play(server, asked.path, json.loads(asked.body) if asked.body else {}))
    except (KeyError, ValueError, TypeError, StopIteration) as error:
        return Reply.json({"error": f"{asked.path}: {error!r}"}, 400)


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


def _file(server: NotionServer, name: str, query: dict[str, str]) -> Reply:
    end = float(query.get("X-Amz-Expires") or 0)
    if name not in server.workspace.files or server.workspace.clock().timestamp() > end:
        return Reply(403, b"<Error><Code>AccessDenied</Code></Error>", {"Content-Type": "application/xml"})
    return Reply(200, server.workspace.files[name], {"Content-Type": "application/octet-stream"})
