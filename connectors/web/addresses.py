"""Addresses of pages: one spelling for each page, and the key it gives a document.

Parsed as browsers do (the WHATWG's URL standard, by ada): case and default ports of the host, dot segments, escapes.
Then what names no other page is dropped: the fragment, empty path segments, parameters that only track a visitor or
carry a session, and the order of parameters.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypeAlias

import ada_url

MAX_LENGTH = 2_000
"""Longer addresses are not followed: a site that makes such has no end of them."""

QueryRule: TypeAlias = "Literal['keep', 'drop'] | Collection[str]"
"""`keep` all but tracking and sessions, `drop` all, or the names of the parameters to keep."""

_ROOT_DOT = re.compile(r"\.(?=$|:\d+$)")
_SLASHES = re.compile(r"/{2,}")
_PATH_SESSION = re.compile(r";(?:jsessionid|phpsessid|sessionid|sid)=[^/;]*", re.IGNORECASE)
_ESCAPE = re.compile(r"%[0-9A-Fa-f]{2}")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_NOISE = re.compile(
    r"utm_.*|_hs(?:enc|mi)|mc_[ce]id|pk_.*|mtm_.*|matomo_.*|hsa_.*|_g[al]|_ga_.*|gclid|gclsrc|dclid|gbraid|wbraid|fbclid"
    r"|msclkid|yclid|twclid|ttclid|igshid|li_fat_id|vero_(?:conv|id)|wickedid|oly_(?:anon|enc)_id|_openstat|s_cid"
    r"|phpsessid|jsessionid|aspsessionid.*|cfid|cftoken|session_?id|sessid",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Address:
    """A page's address.

    Attributes:
        url: To ask for it; absolute, without fragment.
        origin: Scheme, host and port.
        host: Host, with the port where it is not the scheme's own.
        path: Starts with `/`.
        query: Without `?`; empty when there is none.
    """

    url: str
    origin: str
    host: str
    path: str
    query: str

    @property
    def key(self) -> str:
        """The key of its document: host, path and query; twins by scheme or by a last slash have the same."""
        query = f"?{self.query.replace('/', '%2F')}" if self.query else ""
        return f"{self.host}{self.path.rstrip('/')}{query}"


def address(href: str, base: str | None = None, query: QueryRule = "keep") -> Address | None:
    """Return the address a link leads to, in its one spelling; `None` for what is no page of the web.

    Args:
        href: As written, absolute or relative to *base*.
        base: An absolute URL.
        query: Which parameters name a page.
    """
    if len(href) > MAX_LENGTH * 2:
        return None
    try:
        text = ada_url.join_url(base, href) if base else ada_url.URL(href).href
    except ValueError:
        return None
    return _spelled(text, query if isinstance(query, str) else frozenset(query))


@lru_cache(maxsize=8192)
def _spelled(text: str, query: "Literal['keep', 'drop'] | frozenset[str]") -> Address | None:
    """Return the one spelling of a parsed URL; pages of a site name the same ones again and again."""
    scheme, _, rest = text.partition("://")
    if scheme not in {"http", "https"}:
        return None
    rest, _, search = rest.partition("#")[0].partition("?")
    host, _, tail = rest.partition("/")
    host = _ROOT_DOT.sub("", host)
    if not host or host.endswith(".") or "@" in host:
        return None
    path = _plain(_PATH_SESSION.sub("", _SLASHES.sub("/", f"/{tail}"))) or "/"
    kept = _kept(search, query)
    origin = f"{scheme}://{host}"
    url = f"{origin}{path}{'?' if kept else ''}{kept}"
    return Address(url, origin, host, path, kept) if len(url) <= MAX_LENGTH else None


def _kept(search: str, rule: QueryRule) -> str:
    if not search or rule == "drop":
        return ""
    pairs = [pair for pair in search.split("&") if pair]
    if isinstance(rule, str):
        kept = [pair for pair in pairs if not _NOISE.fullmatch(pair.partition("=")[0])]
    else:
        kept = [pair for pair in pairs if pair.partition("=")[0] in rule]
    kept.sort(key=lambda pair: pair.partition("=")[0])
    return _plain("&".join(kept))


def _plain(text: str) -> str:
    """Undo escapes that need none and write the others in capitals (RFC 3986 §6.2.2)."""
    if "%" not in text:
        return text

    def one(match: re.Match[str]) -> str:
        character = chr(int(match[0][1:], 16))
        return character if character in _UNRESERVED else match[0].upper()

    return _ESCAPE.sub(one, text)
