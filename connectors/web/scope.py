"""Which pages belong to a source: the hosts and folders of its starts, its patterns, and what is never a page.

Patterns: `*` is anything within one path segment, `**` anything at all, a last `/` everything below, a last `/**` that
and the folder itself. A pattern that starts with `/` or `**` is held against the path, any other against `host/path`. A
query belongs to neither.
"""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Literal, TypeAlias

from connectors.errors import ConfigError
from connectors.web.addresses import Address, QueryRule, address

Reach: TypeAlias = Literal["folder", "host"]
"""How far a start reaches: what lies below its folder, or its whole host."""

_NO_PAGES = frozenset({
    "7z", "apk", "asc", "avi", "avif", "bin", "bmp", "bz2", "cab", "css", "cur", "dat", "deb", "dmg", "dtd", "eot",
    "exe", "flac", "flv", "gif", "gz", "ico", "img", "inv", "iso", "jar", "jpeg", "jpg", "js", "json", "less",
    "m3u8", "m4a", "m4v", "map", "mjs", "mkv", "mov", "mp3", "mp4", "mpeg", "mpg", "msi", "ogg", "ogv", "otf",
    "pkg", "png", "ps1", "rar", "rpm", "rss", "scss", "sha256", "sig", "so", "svg", "svgz", "swf", "tar", "tgz",
    "tif", "tiff", "torrent", "ttf", "wasm", "wav", "webm", "webmanifest", "webp", "whl", "wmv", "woff", "woff2",
    "xml", "xz", "zip", "zst",
})  # fmt: skip
_LISTS = re.compile(r"(?:\.(?:xml|gz|rss|atom|rdf|txt)|/(?:feed|rss|atom|sitemap)/?)$", re.IGNORECASE)


class Scope:
    """What a source takes.

    Args:
        start: Addresses of pages, sitemaps or feeds.
        include: Patterns, one of which a page must match; none are needed for all.
        exclude: Patterns of pages that are not wanted.
        reach: How far a start reaches. A host and its `www.` twin are one.
        query: Which parameters name a page.

    Attributes:
        starts: The starts in their one spelling.
        rules_mark: Fingerprint of the rules: links chosen by other rules are chosen anew.

    Raises:
        ConfigError: A start is no web address, or there is none.
    """

    def __init__(
        self,
        start: Iterable[str],
        *,
        include: Iterable[str] = (),
        exclude: Iterable[str] = (),
        reach: Reach = "folder",
        query: QueryRule = "keep",
    ) -> None:
        include, exclude = tuple(include), tuple(exclude)
        self.query = query
        self.starts = tuple(_start(url, query) for url in start)
        if not self.starts:
            raise ConfigError("a web source needs a start; name the address it begins at")
        self._places = sorted({(_bare(each.host), _folder(each, reach)) for each in self.starts})
        self._include = tuple(_pattern(text) for text in include)
        self._exclude = tuple(_pattern(text) for text in exclude)
        self._start_keys = frozenset(each.key for each in self.starts)
        told = repr(
            (2, self._places, sorted(include), sorted(exclude), query if isinstance(query, str) else sorted(query))
        )
        self.rules_mark = sha256(told.encode()).hexdigest()[:12]

    def address(self, href: str, base: str | None = None) -> Address | None:
        """Return the address a link leads to, when it is one of this source's pages."""
        found = address(href, base, self.query)
        return found if found is not None and self.takes(found) else None

    def takes(self, page: Address) -> bool:
        """Whether a page belongs to the source."""
        if page.key in self._start_keys:
            return True
        if not self.reaches(page):
            return False
        last = page.path.rpartition("/")[2]
        if "." in last and last.rpartition(".")[2].lower() in _NO_PAGES:
            return False
        if self._include and not any(_matches(pattern, page) for pattern in self._include):
            return False
        return not any(_matches(pattern, page) for pattern in self._exclude)

    def reaches(self, page: Address) -> bool:
        """Whether a page lies on a host, and below a folder, of a start."""
        host = _bare(page.host)
        return any(host == own and f"{page.path}/".startswith(folder) for own, folder in self._places)

    def same_site(self, page: Address) -> bool:
        """Whether a page lies on the host of a start, whatever the folder."""
        return any(_bare(page.host) == own for own, _ in self._places)


def _start(url: str, query: QueryRule) -> Address:
    found = address(url.strip(), None, query)
    if found is None:
        raise ConfigError(f"the start {url!r} is no http or https address; write such as https://docs.acme.example/")
    return found


def _folder(start: Address, reach: Reach) -> str:
    if reach == "host" or _LISTS.search(start.path):
        return "/"
    head, _, last = start.path.rpartition("/")
    return f"{start.path.rstrip('/')}/" if "." not in last else f"{head}/"


def _bare(host: str) -> str:
    return host.removeprefix("www.")


def _pattern(text: str) -> tuple[bool, re.Pattern[str]]:
    """Return whether a pattern is held against the path alone, and its expression."""
    body = text.strip().removeprefix("https://").removeprefix("http://")
    if not body:
        raise ConfigError("a pattern of a web source is blank; write such as /docs/** or leave it out")
    body += "**" if body.endswith("/") else ""
    parts = re.split(r"(/\*\*$|\*\*|\*)", body)
    expression = "".join({"/**": "(?:/.*)?", "**": ".*", "*": "[^/]*"}.get(part, re.escape(part)) for part in parts)
    return body.startswith(("/", "**")), re.compile(expression)


def _matches(pattern: tuple[bool, re.Pattern[str]], page: Address) -> bool:
    of_path, expression = pattern
    return expression.fullmatch(page.path if of_path else f"{_bare(page.host)}{page.path}") is not None
