"""Pages that show nothing without their scripts, drawn by Playwright's Chromium: the extra `[browser]`, off by default.

The browser reaches no network. Every request of a page is answered by the client of its source, so that the guard, the
pace, robots.txt and the limits hold for it as for any other; what Chromium might ask for beside that (its resolver, a
proxy, WebRTC) leads nowhere. Images, media and fonts are not fetched, only GET is sent, and every page has a context of
its own: no cookie and no worker outlives it.
"""

import os
import tempfile
import weakref
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from connectors.errors import ConfigError, ConnectorError, DocumentError
from connectors.http import Response, Stopped, shown

Ask = Callable[[str], Response]
"""Fetches what a page needs, guarded; raises a `ConnectorError` for what it may not have."""

PAGE_S = 20.0
"""Seconds a page may take to be drawn, by default."""
QUIET_SHARE = 0.25
"""Share of them that is waited, once it is loaded, for a page to stop asking."""
MOST_REQUESTS = 200
"""Requests of one page."""
MOST_BYTES = 32 * 2**20
"""Bytes of all answers to one page, and of the page drawn."""

_NOT_NEEDED = frozenset({"image", "media", "font", "manifest", "eventsource", "websocket", "ping", "texttrack"})
_OWN_TO_A_CONNECTION = frozenset({
    "connection", "content-encoding", "content-length", "keep-alive", "set-cookie", "strict-transport-security",
    "transfer-encoding",
})  # fmt: skip
_FLAGS = (
    "--proxy-server=127.0.0.1:9",  # the port of "discard": nothing answers there
    "--proxy-bypass-list=<-loopback>",
    "--host-resolver-rules=MAP * ~NOTFOUND",
    "--force-webrtc-ip-handling-policy=disable_non_proxied_udp",
    "--disable-quic",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@dataclass
class _Visit:
    """One page being drawn, and what it has asked for so far; without slots, for Playwright marks it."""

    url: str
    answer: Response
    ask: Ask
    stopped: list[Stopped] = field(default_factory=list)
    requests: int = 0
    size: int = 0

    def route(self, route: Any) -> None:
        """Answer one request of the page, or none."""
        request = route.request
        if request.url == self.url and request.is_navigation_request() and not self.requests:
            self.requests = 1
            route.fulfill(status=200, headers=_headers(self.answer.headers), body=self.answer.content)
        elif request.method != "GET" or request.resource_type in _NOT_NEEDED or self._is_over():
            route.abort()
        elif request.is_navigation_request():
            route.abort()  # another page: the crawl looks at it by itself
        else:
            self.requests += 1
            self._fetch(route, request.url)

    def _fetch(self, route: Any, url: str) -> None:
        try:
            found = self.ask(url)
        except Stopped as error:
            self.stopped.append(error)
            route.abort()
        except ConnectorError:
            route.abort()
        else:
            self.size += len(found.content)
            route.fulfill(status=found.status, headers=_headers(found.headers), body=found.content)

    def _is_over(self) -> bool:
        return bool(self.stopped) or self.requests >= MOST_REQUESTS or self.size > MOST_BYTES


class Renderer:
    """Draws pages, one at a time, in a browser that starts with the first. Safe to use from several threads.

    Args:
        executable: Chromium's path; empty is the one that `playwright install chromium` put where Playwright looks.
        page_s: Seconds a page may take to be drawn; then it is taken as it is, if it answers at all.
    """

    def __init__(self, executable: str = "", *, page_s: float = PAGE_S) -> None:
        self._executable = executable
        self._page_ms = page_s * 1000
        self._browser: list[Any] = []  # Playwright and its browser, once started
        # Playwright's objects belong to the thread that made them.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="browser")
        self._finalizer = weakref.finalize(self, _end, self._thread, self._browser)
        self._finalizer.atexit = False  # by then threads are gone; the browser ends with its pipe

    def drawn(self, url: str, answer: Response, ask: Ask) -> bytes:
        """Return a page as its scripts make it, in UTF-8.

        Args:
            url: Where it answered.
            answer: Its reply; it is not asked for again.
            ask: Fetches what its scripts want.

        Raises:
            ConfigError: Playwright or Chromium is missing or does not start.
            DocumentError: The browser failed at this page.
            Stopped: The source is to end.
        """
        return self._thread.submit(self._drawn, _Visit(url, answer, ask)).result()

    def close(self) -> None:
        """End the browser; the next page starts a new one."""
        if self._browser:
            self._thread.submit(_stop, self._browser).result()

    def _drawn(self, visit: _Visit) -> bytes:
        if not self._browser:
            self._browser.extend(_started(self._executable))
        from playwright.sync_api import Error  # noqa: PLC0415 - an extra; its import takes long

        try:
            content = self._content(visit)
        except Error as error:
            raise DocumentError(f"{shown(visit.url)} cannot be drawn: {error.message[:200]}", "exclude it") from error
        if visit.stopped:
            raise visit.stopped[0]
        if len(content) > MOST_BYTES:
            raise DocumentError(f"{shown(visit.url)} grows without end when it is drawn", "exclude it")
        return content

    def _content(self, visit: _Visit) -> bytes:
        from playwright.sync_api import TimeoutError as TooSlow  # noqa: PLC0415 - as above

        context = self._browser[1].new_context(service_workers="block", accept_downloads=False)
        try:
            context.route("**/*", visit.route)
            context.route_web_socket("**/*", lambda socket: socket.close())
            page = context.new_page()
            with suppress(TooSlow):  # what stands there by then is taken
                page.goto(visit.url, wait_until="load", timeout=self._page_ms)
                page.wait_for_load_state("networkidle", timeout=self._page_ms * QUIET_SHARE)
            page.wait_for_function("true", timeout=self._page_ms * QUIET_SHARE)  # a script without end never says so
            return str(page.content()).encode()
        finally:
            context.close()


def _headers(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() not in _OWN_TO_A_CONNECTION}


def _started(executable: str) -> tuple[Any, Any, Any]:
    """Start Playwright and Chromium, which sees nothing of our environment but a folder of its own."""
    try:
        from playwright.sync_api import Error, sync_playwright  # noqa: PLC0415 - an extra; its import takes long
    except ImportError as error:
        raise ConfigError('render needs the extra "browser": pip install "corebrain[browser]"') from error
    folder = tempfile.TemporaryDirectory(prefix="corebrain-browser-", ignore_cleanup_errors=True)
    playwright = sync_playwright().start()
    is_root = hasattr(os, "geteuid") and os.geteuid() == 0  # Chromium's own sandbox refuses to run for it
    try:
        browser = playwright.chromium.launch(
            executable_path=executable or None,
            args=list(_FLAGS),
            chromium_sandbox=not is_root,
            env={"HOME": folder.name, "TMPDIR": folder.name, "PATH": "/usr/local/bin:/usr/bin:/bin"},
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
    except Error as error:
        playwright.stop()
        folder.cleanup()
        advice = "name it with browser, or run: playwright install chromium"
        raise ConfigError(
            f"chromium does not start ({error.message.strip().splitlines()[0][:200]}); {advice}"
        ) from error
    return playwright, browser, folder


def _stop(browser: list[Any]) -> None:
    """Stop what was started; runs in the thread it belongs to."""
    if browser:
        playwright, chromium, folder = browser
        browser.clear()
        chromium.close()
        playwright.stop()
        folder.cleanup()


def _end(thread: ThreadPoolExecutor, browser: list[Any]) -> None:
    thread.submit(_stop, browser)
    thread.shutdown()
