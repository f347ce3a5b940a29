"""What a reply that is no success means (spec 04 section 3)."""

import json
import re
from typing import Any

from corebrain.errors import (
    Conflict,
    CorebrainError,
    EngineError,
    InvalidRequest,
    NotFound,
    Unauthorized,
    Unavailable,
)

WITHHELD = " — "
"""What stands before anything the server said; a status surface keeps the head only."""
SAID_CHARACTERS = 300
STATE_CHANGED = "AUTHORIZATION_STATE_CHANGED"
ERASURE_INCOMPLETE = "ERASURE_INCOMPLETE"
_INSUFFICIENT = "USER_INSUFFICIENT_CREDITS"
_CODE = re.compile(r"\[([A-Z0-9_]{1,64})\] ")
_FOREIGN = re.compile(r"[^A-Za-z0-9_]")
_BY_STATUS: dict[int, type[CorebrainError]] = {
    **dict.fromkeys((401, 403), Unauthorized),
    404: NotFound,
    **dict.fromkeys((400, 413, 422), InvalidRequest),
    409: Conflict,
    **dict.fromkeys((408, 429, 500, 502, 503, 504), Unavailable),
}
_DEFAULT_CODES = {401: "UNAUTHORIZED", 403: "UNAUTHORIZED", 402: _INSUFFICIENT, 429: "RATE_LIMITED"}


def kind_of(status: int) -> type[CorebrainError]:
    """Return the error class of a status that is no success."""
    return _BY_STATUS.get(status, EngineError)


def failure(where: str, status: int, said: str, *, hosted: bool) -> CorebrainError:
    """Return the error of a failed request, to be raised.

    Args:
        where: The route without its query, and the host.
        status: The HTTP status.
        said: The body, decoded; at most 300 characters of it are quoted.
        hosted: Whether the hosted surface answered.
    """
    body = _object(said)
    code = _hosted_code(body, status) if hosted else _direct_code(body)
    kind = Conflict if hosted and status == 400 and code == "CONFLICT" else kind_of(status)
    head = f"[{code}] " if code else ""
    quoted = shortened(_message(body) if hosted and body else said)
    tail = f"{WITHHELD}{quoted}" if quoted else ""
    return kind(f"{head}{where} answered {status}{tail}")


def shortened(said: str) -> str:
    """Return at most 300 characters of what a server said, in one line."""
    line = " ".join(said.split())
    return line if len(line) <= SAID_CHARACTERS else f"{line[:SAID_CHARACTERS]}…"


def error_code(error: CorebrainError) -> str | None:
    """Return the code a failure carries, `RATE_LIMITED` for instance."""
    match = _CODE.match(error.message)
    return match[1] if match else None


def is_insufficient_credits(error: CorebrainError) -> bool:
    """Tell whether the hosted account has run out of credits."""
    return isinstance(error, EngineError) and error_code(error) == _INSUFFICIENT


def message_head(error: CorebrainError) -> str:
    """Return the message without what the server said, noting that something was withheld."""
    head, mark, _ = error.message.partition(WITHHELD)
    return f"{head} (the server's words are withheld)" if mark else head


def _object(said: str) -> dict[str, Any]:
    try:
        body = json.loads(said)
    except (ValueError, RecursionError):
        return {}
    return body if isinstance(body, dict) else {}


def _message(body: dict[str, Any]) -> str:
    error = body.get("error")
    if isinstance(error, dict):
        error = error.get("message")
    return error if isinstance(error, str) else str(body.get("message", ""))


def _hosted_code(body: dict[str, Any], status: int) -> str:
    given = body.get("errorCode", body.get("error_code"))  # an erasure fails outside the envelope, as its reply comes
    code = _FOREIGN.sub("", given)[:64].upper() if isinstance(given, str) else ""
    return code or _DEFAULT_CODES.get(status, f"HTTP_{status}")


def _direct_code(body: dict[str, Any]) -> str:
    return STATE_CHANGED if body.get("error_code") == STATE_CHANGED else ""
