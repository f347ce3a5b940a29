"""The HTTP client for GitHub's API: how fast it may be asked and what is tried again."""

from collections.abc import Iterable
from pathlib import Path
from urllib.parse import urlsplit

from connectors.errors import ConfigError
from connectors.github.budget import asked
from connectors.http import Client, Limits, Pace, RetryPolicy, Timing
from connectors.http.addresses import is_loopback, literal

BASE_URL = "https://api.github.com"
REQUESTS_PER_MINUTE = 800
"""GitHub allows 900 points a minute, one for each read (docs.github.com, "About secondary rate limits")."""

_BURST = 100  # as many may be open at once
_JSON_BYTES = 64 * 2**20  # a tree of 100,000 entries takes up to 7 MB compressed


def github_http(
    base_url: str = BASE_URL,
    *,
    requests_per_minute: int | None = None,
    allow_private: Iterable[str] = (),
    ca: str | Path | None = None,
    proxy: str | None = None,
    timing: Timing | None = None,
) -> Client:
    """Return the client for one source. All sources that ask the same host keep one pace.

    Args:
        base_url: Where the API is; plain http only on this machine.
        requests_per_minute: On average; 0 is as fast as it goes. 800 at GitHub itself, 0 elsewhere.
        allow_private: `host:port` pairs that may lie on a private network.
        ca: File of certificates to trust beside the usual ones.
        proxy: Address of a proxy.
        timing: Clock, chance and sleep.

    Raises:
        ConfigError: The address cannot be used.
    """
    parts = urlsplit(base_url)
    if parts.scheme == "http" and not _is_here(parts.hostname or ""):
        raise ConfigError("base_url is plain http, which would show the token to everybody on the way; write https")
    per_minute = requests_per_minute
    if per_minute is None:
        per_minute = REQUESTS_PER_MINUTE if base_url.rstrip("/") == BASE_URL else 0
    return Client(
        base_url=base_url,
        allow_private=allow_private,
        ca=ca,
        proxy=proxy,
        limits=Limits(wire=_JSON_BYTES, decoded=2 * _JSON_BYTES, deadline_s=120.0, read_s=60.0),
        pace=Pace(60 / per_minute, _BURST) if per_minute else Pace(),
        retry=RetryPolicy(asked=asked),
        timing=timing,
    )


def pages_url(base_url: str) -> str:
    """Return where people see the repositories of an API: `https://github.com`, or the Enterprise server itself."""
    parts = urlsplit(base_url)
    if parts.path.rstrip("/").endswith("/api/v3"):
        return f"{parts.scheme}://{parts.netloc}"
    if (parts.hostname or "").startswith("api."):
        return f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"
    return "https://github.com"


def _is_here(host: str) -> bool:
    address = literal(host)
    return host == "localhost" or (address is not None and is_loopback(address))
