"""What a stand-in site holds: pages under a test's control, and a generator of documentation sites."""

import gzip
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TypeAlias

Script: TypeAlias = "Callable[[str], StandInPage | None]"
"""Makes pages as they are asked for: path below the prefix → page."""

_WORDS = (
    "brain", "source", "page", "token", "cursor", "memory", "index", "query", "scope", "agent", "folder", "crawl",
    "robot", "queue", "lease", "batch", "store", "record", "answer", "passage", "filter", "section", "anchor",
    "header", "release", "config", "default", "value", "sync", "schedule", "worker", "engine",
)  # fmt: skip
_TOPICS = ("guide", "reference", "howto", "api", "blog")


@dataclass(frozen=True, slots=True)
class StandInPage:
    """One answer of the stand-in.

    Attributes:
        body: Bytes, before any coding.
        media_type: `Content-Type`.
        status: Status code.
        headers: Further headers.
        etag: Whether a validator is sent and heeded.
        modified: `Last-Modified`, when there is one.
        gzipped: Whether it travels compressed.
        raw: Bytes to send instead of a reply, as they are; the connection ends after them.
        delay_s: Seconds before the answer.
        drip_s: Seconds between two bytes of the answer's body; 0 sends it at once.
    """

    body: bytes = b""
    media_type: str = "text/html; charset=utf-8"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    etag: bool = True
    modified: str = ""
    gzipped: bool = False
    raw: bytes | None = None
    delay_s: float = 0.0
    drip_s: float = 0.0

    @property
    def validator(self) -> str:
        """Its `ETag`."""
        return f'"{sha256(self.body).hexdigest()[:16]}"'


def page(title: str, body: str, *, links: tuple[str, ...] = (), head: str = "", language: str = "en") -> StandInPage:
    """Return an HTML page with a navigation of *links*."""
    anchors = "".join(f'<li><a href="{link}">{link}</a></li>' for link in links)
    text = (
        f'<!doctype html><html lang="{language}"><head><meta charset="utf-8"><title>{title} | Stand-in</title>{head}'
        f"</head><body><nav><ul>{anchors}</ul></nav><main><h1>{title}</h1>{body}</main>"
        "<footer>Made by the stand-in</footer></body></html>"
    )
    return StandInPage(text.encode())


def redirect(target: str, status: int = 302) -> StandInPage:
    """Return a redirect."""
    return StandInPage(status=status, headers={"Location": target}, etag=False)


def documentation(pages: int, seed: int = 1) -> dict[str, StandInPage]:
    """Return a documentation site of *pages* pages (1 or more): the front page, sections, articles, and a sitemap."""
    chance = random.Random(seed)  # noqa: S311 - not for secrets
    paths = ["/"]
    for number in range(1, pages):
        topic = _TOPICS[number % len(_TOPICS)]
        paths.append(f"/{topic}/" if number < len(_TOPICS) + 1 and number else f"/{topic}/page-{number}.html")
    site: dict[str, StandInPage] = {}
    for number, path in enumerate(paths):
        following = paths[number * 4 + 1 : number * 4 + 5]
        others = tuple(chance.choice(paths) for _ in range(6))
        body = "".join(f"<h2>{_title(chance)}</h2><p>{_prose(chance)}</p>" for _ in range(4))
        table = "<table><tr><th>Key</th><th>Meaning</th></tr><tr><td>page</td><td>" + f"{number}</td></tr></table>"
        code = f"<pre><code class='language-python'>page = open({number})\nprint(page)</code></pre>"
        site[path] = page(f"Page {number}: {_title(chance)}", body + table + code, links=(*following, *others))
    site["/sitemap.xml"] = sitemap(paths)
    site["/robots.txt"] = StandInPage(b"User-agent: *\nDisallow: /private/\n", "text/plain")
    return site


def sitemap(paths: list[str], changed: str = "2026-01-01") -> StandInPage:
    """Return a sitemap of *paths*; `{origin}` becomes the server's own address when it is sent."""
    urls = "".join(f"<url><loc>{{origin}}{path}</loc><lastmod>{changed}</lastmod></url>" for path in paths)
    text = f'<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">{urls}</urlset>'
    return StandInPage(text.encode(), "application/xml")


def hostile() -> dict[str, StandInPage]:
    """Return what no site should have: loops, bombs, lies, odd charsets. Each path says what it is."""
    russian = "<html><head><title>Память</title></head><body><p>Память компании.</p></body></html>"
    bomb = gzip.compress(bytes(100 * 2**20), 9)
    inside = "http://169.254.169.254/latest/meta-data/"
    return {
        "/loop/a": redirect("/loop/b"),
        "/loop/b": redirect("/loop/a"),
        "/inside": redirect(inside),
        "/bomb.html": StandInPage(bomb, headers={"Content-Encoding": "gzip"}, etag=False),
        "/binary.html": StandInPage(bytes(range(256)) * 40),
        "/koi8.html": StandInPage(russian.encode("koi8-r"), "text/html; charset=koi8-r"),
        "/utf16.html": StandInPage(russian.encode("utf-16"), "text/html"),
        "/deep.html": page("Deep", "<div>" * 300 + "deep text" + "</div>" * 300),
        "/links.html": page("Links", "many", links=tuple(f"/calendar/{number}/" for number in range(50_000))),
        "/short.html": StandInPage(
            raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 900\r\n\r\n<html>"
        ),
        "/slow.html": StandInPage(page("Slow", "a byte now and then").body, drip_s=5.0),
        "/asleep.html": StandInPage(page("Asleep", "after an hour").body, delay_s=3600.0),
        "/longer.html": StandInPage(
            raw=b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html> and more"
        ),
        "/headers.html": StandInPage(raw=b"HTTP/1.1 200 OK\r\n" + b"X-More: and more\r\n" * 20_000 + b"\r\n<html>"),
        "/no-http.html": StandInPage(raw=b"SSH-2.0-OpenSSH_9.2\r\n"),
        "/hidden.html": page("Hidden", "not to be kept", head='<meta name="robots" content="noindex">'),
        "/private/secret.html": page("Secret", "robots.txt forbids this"),
        "/broken.html": StandInPage(b"down", status=500, etag=False),
        "/print/": page("Print", "the front page again", head='<link rel="canonical" href="/guide/">'),
    }


def calendar(path: str) -> StandInPage:
    """Return one month of a calendar without end: every month leads to the next and to itself in other words."""
    number = int("".join(filter(str.isdigit, path))[:9] or "0")
    links = (f"/calendar/{number + 1}/", f"/calendar/?month={number + 1}", "again/again/again/")
    return page(f"Month {number}", f"Nothing happens in month {number}.", links=links)


def _title(chance: random.Random) -> str:
    return " ".join(chance.choice(_WORDS) for _ in range(3)).capitalize()


def _prose(chance: random.Random) -> str:
    return ". ".join(" ".join(chance.choice(_WORDS) for _ in range(14)).capitalize() for _ in range(5)) + "."
