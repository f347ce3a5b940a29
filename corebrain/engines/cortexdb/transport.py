"""Requests to CortexDB: credential, actor, limits, retries of reads, the pause a host asks for (spec 04 section 3)."""

import json
import socket
import ssl
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import httpcore
import httpx

from corebrain.engines.cortexdb import deadline
from corebrain.engines.cortexdb.connections import Connections
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.endpoint import Endpoint, Query, checked_headers, is_header_value
from corebrain.engines.cortexdb.events import compact
from corebrain.engines.cortexdb.failures import STATE_CHANGED, error_code, failure
from corebrain.engines.cortexdb.timing import Timing
from corebrain.errors import CorebrainError, EngineError, Unavailable

BODY_BYTES = 64 * 1024 * 1024
_ERROR_BYTES = 64 * 1024
_ATTEMPTS = 3
_STATE_ATTEMPTS = 6
_PAUSE_S = 10
_WHOAMI = "v1/auth/whoami"


class Transport:
    """One connection pool with one credential; safe from several threads. Redirects are never followed.

    Args:
        endpoint: Where.
        credential: Who.
        timing: How long.
        hosted: Whether replies come in the hosted surface's success envelope; no actor is ever sent there.
        headers: Sent with every request besides the engine's own.

    Raises:
        ConfigError: a header is the engine's own, or malformed.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        credential: Credential,
        timing: Timing,
        *,
        hosted: bool = False,
        headers: Mapping[str, str] = MappingProxyType({}),
    ) -> None:
        self._endpoint = endpoint
        self._credential = credential
        self._timing = timing
        self._lock = threading.Lock()
        self._actor: str | None = None  # the caller, once known; `None` when the server knows of none
        self._known = False
        self._hosted = hosted
        self._held_until = 0.0
        self._headers = httpx.Headers(
            {"User-Agent": "corebrain", "Accept": "application/json", "Accept-Encoding": "identity"}
        )
        self._headers.update(checked_headers(headers))
        self._connections = Connections(timing, secure=endpoint.origin[0] == "https")

    def close(self) -> None:
        """Close the connections."""
        self._connections.close()

    def read(self, method: str, route: str, *, query: Query | None = None, body: object = None) -> Any:
        """Ask for something; tried again when the host is unavailable, 3 attempts at most, 6 while its state changes.

        Raises:
            CorebrainError: as spec 04's failure table says.
        """
        gap = self._timing.backoff_s
        attempt = 1
        while True:
            try:
                return self.once(method, route, query=query, body=body)
            except Unavailable as error:
                most = _STATE_ATTEMPTS if error_code(error) == STATE_CHANGED else _ATTEMPTS
                if attempt >= most:
                    raise
            deadline.check(self._timing.now(), gap)
            self._timing.sleep(gap)
            gap, attempt = gap * 2, attempt + 1

    def once(
        self,
        method: str,
        route: str,
        *,
        query: Query | None = None,
        body: object = None,
        claim: str | None = None,
        bare: bool = False,
    ) -> Any:
        """Ask once; returns the reply's JSON, `None` for an empty reply.

        Args:
            method: Upper case.
            route: Below the endpoint.
            query: Its parameters.
            body: Sent as JSON.
            claim: `Idempotency-Key` of a hosted write.
            bare: A hosted reply without the success envelope.
        """
        if not self._hosted:
            self._learn_actor()
        reply = self._exchange(method, route, query, body, claim=claim)
        if reply.status in {401, 403}:
            self._known = False
        answered = self._judged(method, route, reply)
        if not self._hosted or bare:
            return answered
        if isinstance(answered, dict) and answered.get("success") is True and "data" in answered:
            return answered["data"]
        where = f"{method} {route} at {self._endpoint.host}"
        if isinstance(answered, dict) and answered.get("success") is False:
            raise failure(where, reply.status, reply.said(), hosted=True)
        raise EngineError(f"{where} answered without the success envelope")

    def _judged(self, method: str, route: str, reply: "_Reply") -> Any:
        where = f"{method} {route} at {self._endpoint.host}"
        if not 200 <= reply.status < 300:
            raise failure(where, reply.status, reply.said(), hosted=self._hosted)
        if not reply.content.strip():
            return None
        try:
            return json.loads(reply.content)
        except (ValueError, RecursionError):
            raise EngineError(f"{where} answered no JSON") from None

    def _learn_actor(self) -> None:
        if self._known:
            return
        try:
            reply = self._exchange("GET", _WHOAMI, None, None, lookup=True)
            absent = reply.status in {404, 405}
            answered = {} if absent else self._judged("GET", _WHOAMI, reply)
        except CorebrainError:
            return  # not cached: this request goes without, the next one asks again
        caller = answered.get("caller") if isinstance(answered, dict) else None
        with self._lock:
            self._actor = caller if isinstance(caller, str) and is_header_value(caller) and caller else None
            self._known = self._actor is not None or absent

    def _exchange(
        self,
        method: str,
        route: str,
        query: Query | None,
        body: object,
        *,
        lookup: bool = False,
        claim: str | None = None,
    ) -> "_Reply":
        where = f"{method} {route} at {self._endpoint.host}"
        headers = self._headers.copy()
        headers["Authorization"] = authorization = self._credential.header()
        if self._known and self._actor is not None and not lookup:
            headers["X-Cortex-Actor"] = self._actor
        if claim is not None:
            headers["Idempotency-Key"] = claim
        self._wait_for_the_pause()
        try:
            content = None if body is None else compact(body).encode("utf-8")
            if content is not None:
                headers["Content-Type"] = "application/json"
            request = httpx.Request(method, self._endpoint.url(route, query), headers=headers, content=content)
            response = self._connections.handle_request(request)
            try:
                self._note_pause(response)
                return _Reply(response.status_code, self._whole(response, where), authorization)
            finally:
                response.close()
        except httpcore.TimeoutException as error:
            raise Unavailable(f"{where} timed out ({type(error).__name__})") from None
        except (httpcore.NetworkError, httpcore.RemoteProtocolError, ssl.SSLError) as error:
            raise Unavailable(f"{where} {_what_broke(error)} ({type(error).__name__})") from None
        except (httpx.InvalidURL, httpcore.LocalProtocolError, httpcore.UnsupportedProtocol, ValueError):
            # ValueError: text that no line and no UTF-8 can hold
            raise EngineError(f"{where} cannot be asked: the request cannot be built") from None

    def _whole(self, response: httpx.Response, where: str) -> bytes:
        good = response.is_success
        declared = response.headers.get("Content-Length", "")
        if good and declared.isdecimal() and int(declared) > BODY_BYTES:
            raise EngineError(f"{where} answered more than {BODY_BYTES} bytes")
        held = bytearray()
        for chunk in response.iter_raw():
            if good and len(held) + len(chunk) > BODY_BYTES:
                raise EngineError(f"{where} answered more than {BODY_BYTES} bytes")
            held += chunk
            if not good and len(held) >= _ERROR_BYTES:
                return bytes(held[:_ERROR_BYTES])
        return bytes(held)

    def _note_pause(self, response: httpx.Response) -> None:
        if response.status_code != 429:
            return
        given = (response.headers.get(name, "").strip() for name in ("Retry-After", "RateLimit-Reset"))
        asked = next((each for each in given if each.isdecimal() and each.isascii()), None)
        if asked is not None:
            until = self._timing.now() + min(int(asked[:9]), _PAUSE_S)
            with self._lock:
                self._held_until = max(self._held_until, until)

    def _wait_for_the_pause(self) -> None:
        left = self._held_until - self._timing.now()
        deadline.check(self._timing.now(), max(0.0, left))
        if left > 0:
            self._timing.sleep(left)


@dataclass(frozen=True, slots=True, repr=False)
class _Reply:
    """A reply as it came, and what it was asked with."""

    status: int
    content: bytes
    authorization: str

    def said(self) -> str:
        """Return the body to be quoted; a server that repeats the credential is not."""
        token = self.authorization.removeprefix("Bearer ")
        return self.content.decode("utf-8", "replace").replace(token, "<redacted>")


def _what_broke(error: Exception) -> str:
    """Name the class of a fault: finding the host, its certificate, connecting, or the connection."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return "could not be reached: no address is known for the host (DNS)"
        if isinstance(cause, ssl.SSLError):
            return "could not be reached: no safe connection (TLS)"
        cause = cause.__cause__ or cause.__context__
    return "could not be reached" if isinstance(error, httpcore.ConnectError) else "was cut off"
