"""A web site on loopback, as misbehaved as a test wants. By hand: `python -m connectors.testing.web --pages 300`.

It prints its address first. `GET /_log` answers the requests so far as a JSON list (method, path, status, whether they
were conditional); `POST /_edit?path=/a`, with a text as body, puts or replaces a page; `POST /_remove?path=/a` removes
one; `POST /_fail?path=/a&status=503` makes one fail, status 0 heals it. These routes are not in the log.
"""

import argparse
import gzip
import json
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import SimpleQueue
from types import TracebackType
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from connectors.testing import web_pages
from connectors.testing.web_pages import Script, StandInPage

_THREADS = 64
_MISSING = StandInPage(b"<html><title>Not found</title><p>There is no such page.</html>", status=404, etag=False)


class WebStandIn:
    """A server on a free loopback port, from `start` to `close`; also a context.

    Args:
        pages: Its pages by path (with the query, where there is one).
        port: 0 takes a free one.

    Attributes:
        pages: May be changed at any time.
        scripts: Pages made as they are asked for, by prefix of their paths.
        missing: The answer for any other path.
        failing: Paths that answer with a status instead.
        log: The requests so far: method, path, status, conditional.
        closing: Set once it stops; slow answers end then.
    """

    def __init__(self, pages: dict[str, StandInPage] | None = None, *, port: int = 0) -> None:
        self.pages = dict(pages or {})
        self.scripts: dict[str, Script] = {}
        self.missing = _MISSING
        self.failing: dict[str, int] = {}
        self.log: list[dict[str, Any]] = []
        self._server = _Server(("127.0.0.1", port), self)
        self._thread: threading.Thread | None = None
        self.closing = threading.Event()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def place(self) -> str:
        """`host:port`, as `allow_private` takes it."""
        return f"127.0.0.1:{self._server.server_port}"

    @property
    def url(self) -> str:
        """Its address, without a last slash."""
        return f"http://{self.place}"

    @property
    def paths(self) -> list[str]:
        """The paths asked for so far."""
        return [entry["path"] for entry in self.log]

    def start(self) -> None:
        """Answer in a thread of its own."""
        self._thread = threading.Thread(target=lambda: self._server.serve_forever(0.02), name="stand-in", daemon=True)
        self._thread.start()

    def serve(self) -> None:
        """Answer until interrupted."""
        self._server.serve_forever()

    def close(self) -> None:
        """Stop; open connections are cut."""
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        if self._thread is not None:
            self._thread.join()

    def answer(self, path: str) -> StandInPage:
        """Return what a path answers now."""
        if path in self.failing:
            return StandInPage(b"failing", "text/plain", self.failing[path], etag=False)
        found = self.pages.get(path)
        if found is None:
            made = (script(path) for prefix, script in self.scripts.items() if path.startswith(prefix))
            found = next((each for each in made if each is not None), self.missing)
        if b"{origin}" in found.body[:100_000]:
            found = replace(found, body=found.body.replace(b"{origin}", self.url.encode()))
        return found

    def command(self, path: str, arguments: dict[str, list[str]], body: bytes) -> bytes | None:
        """Do what an underscore route says; `None` when there is no such."""
        target = (arguments.get("path") or ["/"])[0]
        if path == "/_log":
            return json.dumps(self.log).encode()
        if path == "/_edit":
            self.pages[target] = web_pages.page(target, body.decode("utf-8", "replace"))
        elif path == "/_remove":
            self.pages.pop(target, None)
        elif path == "/_fail":
            status = int((arguments.get("status") or ["503"])[0])
            if status:
                self.failing[target] = status
            else:
                self.failing.pop(target, None)
        else:
            return None
        return b"{}"


class _Server(HTTPServer):
    """Answers in threads that are all there from the start, so that a test may count those of others."""

    request_queue_size = 64

    def __init__(self, address: tuple[str, int], site: WebStandIn) -> None:
        super().__init__(address, _Handler)
        self.site = site
        self._accepted: SimpleQueue[Any] = SimpleQueue()
        for _ in range(_THREADS):
            threading.Thread(target=self._work, name="stand-in connection", daemon=True).start()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._accepted.put((request, client_address))

    def server_close(self) -> None:
        super().server_close()
        for _ in range(_THREADS):
            self._accepted.put(None)

    def _work(self) -> None:
        while (accepted := self._accepted.get()) is not None:
            with suppress(OSError):  # the client went away
                self.finish_request(*accepted)
            self.shutdown_request(accepted[0])

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that goes away is no error."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server
    wbufsize = -1  # head and body in one segment: otherwise each reply waits for the client's delayed acknowledgement
    timeout = 30

    def do_GET(self) -> None:
        site = self.server.site
        route = urlsplit(self.path)
        if route.path.startswith("/_"):
            self._command(route.path, parse_qs(route.query))
            return
        found = site.answer(self.path)
        asked = self.headers.get("If-None-Match"), self.headers.get("If-Modified-Since")
        same = (found.etag and asked[0] == found.validator) or (found.modified and asked[1] == found.modified)
        unchanged = found.status == 200 and bool(same)
        status = 304 if unchanged else found.status
        site.log.append({"method": self.command, "path": self.path, "status": status, "conditional": any(asked)})
        if found.delay_s and site.closing.wait(found.delay_s):
            return
        if found.raw is not None:
            self.wfile.write(found.raw)
            self.close_connection = True
            return
        self._send(found, status, b"" if unchanged else found.body)

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_POST(self) -> None:
        route = urlsplit(self.path)
        self._command(route.path, parse_qs(route.query))

    def _command(self, path: str, arguments: dict[str, list[str]]) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        said = self.server.site.command(path, arguments, body)
        found = StandInPage(said or b"{}", "application/json", 404 if said is None else 200, etag=False)
        self._send(found, found.status, found.body)

    def _send(self, found: StandInPage, status: int, body: bytes) -> None:
        self.send_response_only(status)
        if found.gzipped and body:
            body = gzip.compress(body)
            self.send_header("Content-Encoding", "gzip")
        if found.etag and found.status == 200:
            self.send_header("ETag", found.validator)
        if found.modified:
            self.send_header("Last-Modified", found.modified)
        for name, value in found.headers.items():
            self.send_header(name, value.encode().decode("latin-1"))  # as UTF-8 on the wire
        if status != 304:
            self.send_header("Content-Type", found.media_type)
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command == "HEAD":
            return
        for place in range(len(body) if found.drip_s else 0):
            self.wfile.write(body[place : place + 1])
            self.wfile.flush()
            if self.server.site.closing.wait(found.drip_s):
                return
        self.wfile.write(b"" if found.drip_s else body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the library's name
        """Keep quiet: the log is a route."""


def main(arguments: list[str] | None = None, tell: Callable[[str], object] = sys.stdout.write) -> None:
    """Serve a generated site until interrupted."""
    parser = argparse.ArgumentParser(prog="python -m connectors.testing.web", description=__doc__.partition("\n")[0])
    parser.add_argument("--pages", type=int, default=300, help="pages of the documentation site")
    parser.add_argument("--seed", type=int, default=1, help="of its texts")
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--hostile", action="store_true", help="add loops, bombs, lies and a calendar without end")
    options = parser.parse_args(arguments)
    pages = web_pages.documentation(max(1, options.pages), options.seed)
    stand_in = WebStandIn(pages, port=options.port)
    if options.hostile:
        spoil(stand_in)
    tell(f"{stand_in.url}\n")
    sys.stdout.flush()
    try:
        stand_in.serve()
    except KeyboardInterrupt:
        return


def spoil(site: WebStandIn) -> None:
    """Add the hostile pages, and links to all of them on a page of their own that the front page names."""
    wild = web_pages.hostile()
    site.pages.update(wild)
    site.scripts["/calendar"] = web_pages.calendar
    site.pages["/wild.html"] = web_pages.page(
        "Wild", "What no site should have.", links=(*wild, "/calendar/1/", "/gone")
    )
    front = site.pages.get("/", web_pages.page("Front", "Here."))
    site.pages["/"] = replace(front, body=front.body.replace(b"<nav>", b'<nav><a href="/wild.html">wild</a>'))


if __name__ == "__main__":
    main()
