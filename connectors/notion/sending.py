"""Sends one call of notion-client and says in our own errors what went wrong.

Pacing, waiting, trying again, deadlines and the proxy are those of the HTTP client underneath (`connectors.http`);
notion-client's own retry is off, for it gives up on 502, 504, 529, 409, timeouts and failed connections, tries no POST
again, and waits no longer than a minute (measured with notion-client 3.1).
"""

import json
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any

from connectors.errors import AuthError, ConnectorError, DocumentError, Unavailable
from connectors.notion.errors import CapabilityMissing, NotShared, Rejected
from connectors.notion.ids import Obj

if TYPE_CHECKING:
    from connectors.http.client import Client

_SILENT = logging.getLogger("connectors.notion.client")
_PAUSING = frozenset({429, 502, 503, 529})
"""What concerns the whole source; any other failure of the service is one document's."""


class Sender:
    """Sends calls through one notion-client, made at the first.

    Args:
        token: Of the integration; `""` is refused at the first call.
        base_url: Where the API is.
        http: Carries the requests, on behalf of the API's own library too.
        version: Of the API.
        now: This machine's clock; the service's own is told from its replies.
    """

    def __init__(self, token: str, base_url: str, http: "Client", version: str, now: Callable[[], datetime]) -> None:
        self._token = token
        self._base_url = base_url
        self._http = http
        self._version = version
        self._local_now = now
        self._skew = timedelta()
        self._client: Any = None
        self._lock = threading.Lock()

    @property
    def requests(self) -> int:
        """Requests sent so far, repeated ones included."""
        return self._http.requests

    def now(self) -> datetime:
        """Return the time by the service's clock, as its last reply told it."""
        return self._local_now() + self._skew

    def send(self, what: str, call: Callable[[Any], Any]) -> Any:
        """Make a call and return its reply.

        Args:
            what: What is asked for, for the message of an error.
            call: Gets the notion-client.

        Raises:
            AuthError: The token is refused.
            CapabilityMissing: The integration may not do this at all.
            NotShared: Notion does not know it.
            Rejected: The request cannot be answered as it stands.
            DocumentError: This one thing fails, also when tried again.
            Unavailable: The service is out of reach, overloaded or wants a pause.
        """
        from notion_client.errors import HTTPResponseError  # noqa: PLC0415 - heavy: pulls in httpx

        from connectors.http.errors import TooSlow  # noqa: PLC0415 - with the library that may raise it

        try:
            return call(self._opened())
        except HTTPResponseError as error:
            raise _typed(what, error) from None  # its request would show the token in a traceback's locals
        except TooSlow:
            if not self._answers():
                raise
            raise DocumentError(f"{what} took too long to come; it is tried again at the next sync") from None
        except json.JSONDecodeError as error:
            raise Unavailable(f"what answers for Notion at {self._base_url} is not its API; check base_url") from error

    def _answers(self) -> bool:
        """Whether the service answers at all, so that what was too slow is one thing and not the whole of it."""
        from notion_client.errors import HTTPResponseError  # noqa: PLC0415 - heavy: pulls in httpx

        try:
            self._opened().users.me()
        except HTTPResponseError as error:
            return int(error.status) not in _PAUSING
        except (ConnectorError, json.JSONDecodeError):
            return False
        return True

    def _opened(self) -> Any:
        with self._lock:
            if self._client is None:
                self._client = self._made()
            return self._client

    def _made(self) -> Any:
        from notion_client import Client as Library  # noqa: PLC0415 - heavy: pulls in httpx

        from connectors.http.library import httpx_client  # noqa: PLC0415 - heavy: httpx

        if not self._token.strip():
            raise AuthError("there is no Notion token; create an integration and set NOTION_TOKEN to its secret")
        carrier = httpx_client(self._http)
        carrier.event_hooks = {"response": [self._note_time]}
        return Library(
            auth=self._token,
            base_url=self._base_url.rstrip("/"),
            notion_version=self._version,
            retry=False,
            logger=_SILENT,
            log_level=logging.CRITICAL + 1,  # what failed is said by our errors, once
            client=carrier,
        )

    def _note_time(self, response: Any) -> None:
        try:
            told = parsedate_to_datetime(response.headers.get("date", ""))
        except ValueError:
            return
        aware = told if told.tzinfo else told.replace(tzinfo=UTC)
        self._skew = aware - self._local_now()


def _typed(what: str, error: Any) -> Exception:
    """Return our error for a reply that is one; the token is in none of its texts."""
    status, code = int(error.status), str(getattr(error.code, "value", error.code))
    said = _said(error)
    if status not in _PAUSING and status != 401 and _body(error).get("object") != "error":
        return Unavailable(f"what answered for Notion (status {status}) is not its API; check base_url and the network")
    if status == 401:
        return AuthError(
            "notion refuses the token: it is wrong or was revoked; put the integration's secret in its place"
        )
    if status == 403:
        return CapabilityMissing(
            f"the integration may not read {what}: {said}; give it the capability in its settings at notion.so"
        )
    if status == 404:
        return NotShared(f"{what} is not there: deleted, or not shared with the integration")
    if status in _PAUSING:
        return Unavailable(_busy(status, error), retry_after_s=_retry_after(error.headers))
    if 400 <= status < 500 and status not in {408, 409}:
        return Rejected(f"notion cannot give {what}: {said}", code)
    return DocumentError(f"notion failed on {what} with status {status}: {said}; it is tried again at the next sync")


def _busy(status: int, error: Any) -> str:
    if status == 429:
        reason = _reason(error)
        return f"notion asks for a pause: too many requests{f' ({reason})' if reason else ''}; the next sync goes on"
    if status == 529:
        return "notion is overloaded and asks for a pause; the next sync goes on"
    return f"notion cannot be reached (status {status}); the next sync goes on"


def _reason(error: Any) -> str:
    body = _body(error)
    more = body.get("additional_data")
    return str(more.get("rate_limit_reason") or "") if isinstance(more, dict) else ""


def _said(error: Any) -> str:
    message = str(_body(error).get("message") or "no reason given")
    return f"{message[:1].lower()}{message[1:]}".rstrip(".")[:300]


def _body(error: Any) -> Obj:
    try:
        found = json.loads(error.body)
    except (ValueError, TypeError):
        return {}
    return found if isinstance(found, dict) else {}


def _retry_after(headers: Any) -> float | None:
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None
