"""The HTTP client for Notion's API: what it may be asked, how fast, and what is tried again."""

from collections.abc import Iterable
from urllib.parse import urlsplit

from connectors.errors import ConfigError
from connectors.http import Client, Limits, Pace, RetryPolicy, Timing
from connectors.http.addresses import is_loopback, literal
from connectors.http.retry import TRANSIENT

REQUESTS_PER_MINUTE = 180
"""Three a second on average, the least that Notion ever promised; bursts within a minute are allowed."""

_RETRY = RetryPolicy(
    attempts=6,
    first_s=1.0,
    patience_s=180.0,  # the limit of a workspace may ask for more than a minute; beyond, the sync is resumed later
    statuses=TRANSIENT | {409},
    methods=frozenset({"GET", "HEAD", "OPTIONS", "POST"}),  # the only POSTs sent are searches and queries
)


def notion_http(
    base_url: str,
    *,
    requests_per_minute: int = REQUESTS_PER_MINUTE,
    allow_private: Iterable[str] = (),
    max_bytes: int = 32 * 2**20,
    timing: Timing | None = None,
) -> Client:
    """Return the client for one source. All sources that ask the same host keep one pace.

    Args:
        base_url: Where the API is; plain http only on this machine, for the token travels along.
        requests_per_minute: On average; so many may be sent at once after a pause. 0 is as fast as it goes.
        allow_private: `host:port` pairs that may lie on a private network.
        max_bytes: Largest reply or file.
        timing: Clock, chance and sleep.

    Raises:
        ConfigError: The address cannot be used.
    """
    parts = urlsplit(base_url)
    if parts.scheme == "http" and not _is_here(parts.hostname or ""):
        raise ConfigError("base_url is plain http, which would show the token to everybody on the way; write https")
    pace = Pace(60 / requests_per_minute, requests_per_minute) if requests_per_minute else Pace()
    return Client(
        base_url=base_url,
        allow_private=allow_private,
        limits=Limits(wire=max_bytes, decoded=max(max_bytes, 64 * 2**20), deadline_s=90.0, read_s=65.0),
        pace=pace,
        retry=_RETRY,
        timing=timing,
    )


def _is_here(host: str) -> bool:
    address = literal(host)
    return host == "localhost" or (address is not None and is_loopback(address))
