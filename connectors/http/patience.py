"""The patient transport: paces, retries, counts and bounds every request that passes through it.

Libraries that take an `httpx.Client` get theirs on top of it (`httpx.Client(transport=client.transport)`); bodies are
read whole inside the attempt, so that a body cut short is tried again too. Statuses are never turned into errors here.
"""

import threading
from collections.abc import Callable
from typing import TypeVar

import httpx

from connectors.errors import ConnectorError
from connectors.http.body import looks_cut_short
from connectors.http.deadline import deadline
from connectors.http.errors import AddressRefused, CutShort, Stopped, Unreachable
from connectors.http.guard import plain_host, port_of
from connectors.http.pacing import Pace, Pacer
from connectors.http.redaction import shown
from connectors.http.retry import RetryPolicy
from connectors.http.timing import Timing
from connectors.http.transport import UNMEASURED

PACE = "corebrain.pace"
"""Request extension: a `Pace` for this request instead of the client's."""
DEADLINE = "corebrain.deadline_s"
"""Request extension: seconds for one attempt instead of the client's."""

_Kept = TypeVar("_Kept")


class PatientTransport(httpx.BaseTransport):
    """Sends a request as often as the policy says.

    Args:
        inner: Makes one attempt.
        pacer: Shared by all that ask the same hosts.
        pace: Of requests that bring none.
        policy: What is tried again.
        timing: Clock, chance, sleep.
        stop: Ends every wait, and every request under way, when set.
        deadline_s: Seconds for one attempt.

    Attributes:
        stop: As given; may be replaced.
        requests: Requests sent so far, repeated ones counted each time.
    """

    def __init__(
        self,
        inner: httpx.BaseTransport,
        *,
        pacer: Pacer,
        pace: Pace,
        policy: RetryPolicy,
        timing: Timing,
        stop: threading.Event,
        deadline_s: float,
    ) -> None:
        self._inner = inner
        self._pacer = pacer
        self._pace = pace
        self._policy = policy
        self._timing = timing
        self.stop = stop
        self._deadline_s = deadline_s
        self._lock = threading.Lock()
        self.requests = 0

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self.attempt(request, read_whole)

    def attempt(self, request: httpx.Request, consume: Callable[[httpx.Response], _Kept]) -> _Kept:
        """Send *request* until a reply stands, and return what *consume* makes of it, within the attempt's deadline.

        Raises:
            Unreachable: No reply came in any attempt, or the host asked for a longer pause than the policy's patience.
            CutShort: Every reply ended early.
            Stopped: The client is to end.
            DocumentRefused: The guard or a limit refused.
        """
        number = 1
        while True:
            self._wait_for_turn(request)
            try:
                with deadline(request.extensions.get(DEADLINE, self._deadline_s), self._timing.clock, self.stop):
                    kept = self._once(request, consume, is_last=number >= self._policy.attempts)
            except (Unreachable, CutShort):
                if number >= self._policy.attempts or request.method not in self._policy.methods:
                    raise
                wait = self._policy.backoff(number, self._timing.chance())
            else:
                if not isinstance(kept, _Again):
                    return kept
                wait = kept.wait_s if kept.wait_s is not None else self._policy.backoff(number, self._timing.chance())
            self._sleep(wait, request)
            number += 1

    def close(self) -> None:
        self._inner.close()

    def _once(
        self, request: httpx.Request, consume: Callable[[httpx.Response], _Kept], *, is_last: bool
    ) -> "_Kept | _Again":
        try:
            response = self._inner.handle_request(request)
        except AddressRefused:
            raise  # nothing was sent
        except ConnectorError:
            self._count()
            raise
        self._count()
        try:
            wait = self._policy.asked(response.status_code, response.headers, self._timing.now())
            if wait is not None:
                self._pacer.hold(_host(request), wait)
            repeats = wait is not None or self._policy.repeats(request.method, response.status_code)
            if not repeats or is_last or (wait or 0.0) > self._policy.patience_s:
                return consume(response)
            return _Again(wait)
        finally:
            response.close()

    def _count(self) -> None:
        with self._lock:
            self.requests += 1

    def _wait_for_turn(self, request: httpx.Request) -> None:
        host = _host(request)
        held = self._pacer.held_s(host)
        if held > self._policy.patience_s:
            raise Unreachable(f"{host} asked for a pause of {held:.0f} s more", retry_after_s=held)
        pace: Pace = request.extensions.get(PACE, self._pace)
        self._sleep(self._pacer.reserve(host, pace), request)
        self._sleep(self._pacer.held_s(host), request)  # somebody else may have been told to wait meanwhile

    def _sleep(self, seconds: float, request: httpx.Request) -> None:
        if seconds > 0:
            if self._timing.sleep is not None:
                self._timing.sleep(seconds)
            else:
                self.stop.wait(seconds)
        if self.stop.is_set():
            raise Stopped(f"stopped before asking {shown(request.url)}; the next sync goes on")


class _Again:
    """The reply is to be asked for once more, after the wait it asked for."""

    def __init__(self, wait_s: float | None) -> None:
        self.wait_s = wait_s


def read_whole(response: httpx.Response) -> httpx.Response:
    """Read a reply's body into it.

    Raises:
        CutShort: Nobody gave its length, and its end is missing.
    """
    content = response.read()
    if content and response.extensions.get(UNMEASURED):
        raise_if_cut(content, response)
    return response


def raise_if_cut(content: bytes, response: httpx.Response) -> None:
    """Refuse content whose end is missing, judged by its declared type.

    Raises:
        CutShort: It is.
    """
    if looks_cut_short(content, response.headers.get("content-type", "")):
        what = shown(response.request.url)
        raise CutShort(f"{what} came without its length and without its end; it is read again at the next sync")


def _host(request: httpx.Request) -> str:
    return f"{plain_host(request.url.host)}:{port_of(request.url)}"
