"""Sitemaps, feeds and what sites ask of robots."""

import gzip

import pytest

from connectors.errors import DocumentError
from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import StandInPage
from connectors.web import lists
from connectors.web.lists import Entry, entries, kind_of
from connectors.web.robots import directives

NS = 'xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"'
MAP = f"<?xml version='1.0'?><urlset {NS}><url><loc> https://a/1 </loc><lastmod>2026</lastmod></url></urlset>".encode()
INDEX = b"<sitemapindex><sitemap><loc>https://a/s.xml</loc></sitemap></sitemapindex>"
RSS = (
    b'<rss version="2.0"><channel><item><link>https://a/1</link>'
    b"<pubDate>Thu, 01 Jan 2026 00:00:00 GMT</pubDate></item></channel></rss>"
)
ATOM = (
    b'<feed xmlns="http://www.w3.org/2005/Atom"><entry><link href="https://a/2"/>'
    b"<updated>2026-01-02T00:00:00Z</updated></entry></feed>"
)


@pytest.mark.parametrize(
    ("data", "kind", "found"),
    [
        (MAP, "sitemap", [Entry("https://a/1", "2026")]),
        (gzip.compress(MAP), "sitemap", [Entry("https://a/1", "2026")]),
        (b"\xef\xbb\xbf" + MAP, "sitemap", [Entry("https://a/1", "2026")]),
        (INDEX, "index", [Entry("https://a/s.xml", is_list=True)]),
        (RSS, "feed", [Entry("https://a/1", "2026-01-01T00:00:00Z")]),
        (ATOM, "feed", [Entry("https://a/2", "2026-01-02T00:00:00Z")]),
        (b"https://a/1\nhttps://a/2\n", "text", [Entry("https://a/1"), Entry("https://a/2")]),
    ],
)
def test_lists_name_their_pages(data: bytes, kind: str, found: list[Entry]) -> None:
    assert kind_of(data) == kind
    assert entries(data, "it") == found


@pytest.mark.parametrize(
    "data", [b"", b"<html><p>x</html>", b"<!doctype html><html></html>", b"text\nhttps://a/1", b"\0\1"]
)
def test_pages_are_no_lists(data: bytes) -> None:
    assert kind_of(data) is None
    with pytest.raises(DocumentError):
        entries(data, "it")


def test_language_twins_of_a_sitemap_are_pages_too() -> None:
    link = '<xhtml:link rel="alternate" hreflang="de" href="https://a/de"/>'
    data = f'<urlset {NS} xmlns:xhtml="http://www.w3.org/1999/xhtml"><url><loc>https://a/en</loc>{link}</url></urlset>'
    assert entries(data.encode(), "it") == [Entry("https://a/en"), Entry("https://a/de", language="de")]


@pytest.mark.parametrize("kind", ["urlset", "rss", "feed"])
def test_document_types_are_refused(kind: str) -> None:
    bomb = '<!ENTITY a "aaaaaaaaaa">' + "".join(
        f'<!ENTITY {b} "&{a};&{a};&{a};&{a};">' for a, b in zip("abcd", "bcde", strict=True)
    )
    data = f"<!DOCTYPE {kind} [{bomb}]><{kind}><url><loc>https://a/&e;</loc></url></{kind}>".encode()
    with pytest.raises(DocumentError):
        entries(data, "it")


def test_broken_sitemap_gives_what_came_before() -> None:
    assert entries(MAP.replace(b"</urlset>", b"<url><loc>"), "it") == [Entry("https://a/1", "2026")]
    with pytest.raises(DocumentError, match="cannot be read"):
        entries(b"<urlset><url><<", "it")


def test_lists_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists, "MAX_ENTRIES", 3)
    many = b"".join(b"<url><loc>https://a/%d</loc></url>" % number for number in range(9))
    assert len(entries(b"<urlset>" + many + b"</urlset>", "it")) == 3
    monkeypatch.setattr(lists, "MAX_BYTES", 100)
    with pytest.raises(DocumentError):
        entries(gzip.compress(b"<urlset>" + many + b"</urlset>"), "it")


@pytest.mark.parametrize(
    ("header", "metas", "index", "follow"),
    [
        ("", (), True, True),
        ("noindex", (), False, True),
        ("none", (), False, False),
        ("otherbot: noindex", (), True, True),
        ("corebrain: nofollow", (), True, False),
        ("otherbot: noindex, corebrain: nofollow", (), True, False),
        ("unavailable_after: 25 Jun 2010 15:00:00 PST, nofollow", (), True, False),
        ("", (("robots", "noindex, follow"),), False, True),
        ("", (("googlebot", "noindex"),), True, True),
        ("", (("corebrain", "none"),), False, False),
    ],
)
def test_directives_of_header_and_page(
    header: str, metas: tuple[tuple[str, str], ...], index: bool, follow: bool
) -> None:
    asked = directives("corebrain", header, metas)
    assert (asked.index, asked.follow) == (index, follow)


def test_stand_in_tells_its_log_and_takes_orders() -> None:
    import json  # noqa: PLC0415 - only here
    from urllib.request import Request, urlopen  # noqa: PLC0415 - only here

    with WebStandIn({"/a": StandInPage(b"x", "text/plain")}) as site:
        assert urlopen(f"{site.url}/a").read() == b"x"  # noqa: S310 - our own server
        urlopen(Request(f"{site.url}/_edit?path=/b", data=b"new text", method="POST")).close()  # noqa: S310 - our own server
        assert b"new text" in urlopen(f"{site.url}/b").read()  # noqa: S310 - our own server
        log = json.loads(urlopen(f"{site.url}/_log").read())  # noqa: S310 - our own server
    assert [(entry["path"], entry["status"]) for entry in log] == [("/a", 200), ("/b", 200)]
