"""Where CortexDB answers, and whether a credential may travel there (spec 04 section 2)."""

import ipaddress
import re
from collections.abc import Mapping
from urllib.parse import quote, urlsplit

from corebrain.errors import ConfigError

_OURS = frozenset(
    (
        *("authorization", "proxy-authorization", "cookie", "host", "content-length"),
        *("idempotency-key", "x-cortex-actor"),
    )
)
_HOST = re.compile(r"[^\s\x00-\x20<>\"{}|\\^`%]+")
_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
Query = dict[str, str | int | None]


class Endpoint:
    """A checked address that routes are appended to, its own path kept.

    Raises:
        ConfigError: the URL is malformed, holds a user name, or is plain http to another machine.
    """

    def __init__(self, url: str) -> None:
        try:
            parts = urlsplit(url.strip())
            host, port = parts.hostname or "", parts.port
        except ValueError:
            raise ConfigError("the endpoint is no URL; write such as https://api.example.com") from None
        if parts.scheme not in {"http", "https"} or not host or not _HOST.fullmatch(host):
            raise ConfigError("the endpoint is no http or https URL; write such as https://api.example.com")
        if "@" in parts.netloc or parts.query or parts.fragment:
            raise ConfigError(f"the endpoint at {host} holds more than an address; give credentials apart from it")
        if parts.scheme == "http" and not _is_loopback(host):
            raise ConfigError(f"a credential for {host} would travel unencrypted; write https")
        self.host = host
        self.origin = (parts.scheme, host.lower(), port or {"http": 80, "https": 443}[parts.scheme])
        self._base = f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}/"

    def url(self, route: str, query: Query | None = None) -> str:
        """Return the address of a route; unset values of *query* are left out."""
        pairs = [(key, value) for key, value in (query or {}).items() if value is not None]
        tail = "&".join(f"{key}={quote(str(value), safe='')}" for key, value in pairs)
        return f"{self._base}{route}{'?' if tail else ''}{tail}"


def is_header_value(value: str) -> bool:
    """Tell whether a header line carries *value* as it is: printable ASCII, no space around it."""
    return all(" " <= character <= "~" for character in value) and value == value.strip()


def checked_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """Return a host's own headers; `ConfigError` for one that is ours to send, or that no header line can carry."""
    for name, value in headers.items():
        if name.lower() in _OURS:
            raise ConfigError(f"the header {name.lower()} is the engine's own; leave it out")
        if not _TOKEN.fullmatch(name):
            raise ConfigError(f"{name[:60]!r} is no name of a header")
        if not is_header_value(value):
            raise ConfigError(f"the value of the header {name.lower()} holds what a header may not carry")
    return dict(headers)


def _is_loopback(host: str) -> bool:
    try:
        return host.lower() == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
