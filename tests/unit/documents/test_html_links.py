"""What a page says of itself."""

from datetime import UTC, datetime

import pytest

from corebrain.documents.html_links import MAX_BYTES, Link, read_head, visible_text
from corebrain.errors import TooLarge


def test_links_are_given_as_written_with_what_is_said_of_them() -> None:
    page = b"""<a href=" one ">1</a><a href="#here">2</a><a>3</a><a href="two" rel="external NoFollow">4</a>
    <area href="three"><iframe src="four"></iframe><link rel="alternate" hreflang="DE" href="five">
    <link href="style">"""
    assert read_head(page, None).links == (
        Link("one"), Link("two", nofollow=True), Link("three"), Link("four"), Link("five", language="de"),
    )  # fmt: skip


def test_head_says_title_canonical_base_robots_and_generator() -> None:
    page = b"""<html lang="en-GB"><head><title> A\n page </title><base href="/b/"><link rel="canonical" href="/c">
    <meta name="ROBOTS" content="NoIndex"><meta name="otherbot" content="none"><meta property="og:title" content="Own">
    <meta name="generator" content="Sphinx"></head><h1>Head <b>ing</b></h1></html>"""
    head = read_head(page, None)
    assert (head.title, head.heading, head.name, head.language) == ("A page", "Head ing", "Own", "en-GB")
    assert (head.base, head.canonical, head.generator) == ("/b/", "/c", "Sphinx")
    assert head.robots == (("robots", "noindex"), ("otherbot", "none"))


@pytest.mark.parametrize(
    ("content", "target"),
    [("0; url=/x", "/x"), ("0;URL='/x'", "/x"), ("; url=/x", "/x"), ("5; url=/x", ""), ("30", ""), ("0", "")],
)
def test_only_a_refresh_without_delay_leads_on(content: str, target: str) -> None:
    assert read_head(f'<meta http-equiv="Refresh" content="{content}">'.encode(), None).refresh == target


def test_dates_are_read_from_linked_data_before_meta() -> None:
    meta = '<meta property="article:modified_time" content="2026-01-01T00:00:00+01:00">'
    data = '<script type="application/ld+json">[{"dateModified": "2025-05-05"}]</script>'
    assert read_head(meta.encode(), None).modified == datetime(2025, 12, 31, 23, tzinfo=UTC)
    assert read_head((meta + data).encode(), None).modified == datetime(2025, 5, 5, tzinfo=UTC)
    assert read_head(b'<meta name="last-modified" content="yesterday">', None).modified is None


def test_breadcrumbs_are_in_order_and_without_the_page() -> None:
    data = b"""<script type="application/ld+json">{"@type": "BreadcrumbList", "itemListElement":
    [{"position": 2, "name": "B"}, {"position": 1, "item": {"name": "A"}}, {"position": 3, "name": "Page"}, 7]}
    </script>"""
    assert read_head(data, None).crumbs == ("A", "B")


@pytest.mark.parametrize(
    "data", [b"{", b"[[[", b'{"@graph": 1}', b'{"@type": "BreadcrumbList", "itemListElement": {}}']
)
def test_broken_linked_data_says_nothing(data: bytes) -> None:
    head = read_head(b'<script type="application/ld+json">' + data + b"</script>", None)
    assert head.crumbs == ()
    assert head.modified is None


def test_charset_of_the_header_counts() -> None:
    assert read_head("<title>Память</title>".encode("koi8-r"), "text/html; charset=koi8-r").title == "Память"


def test_too_large_a_page_is_not_looked_into() -> None:
    with pytest.raises(TooLarge):
        read_head(b" " * (MAX_BYTES + 1), None)
    with pytest.raises(TooLarge):
        read_head(b"<div>" * 200_000, None)


def test_visible_text_leaves_programs_out() -> None:
    page = b"<head><title>t</title></head><p>one <b>two</b></p><script>three</script><style>four</style>"
    assert visible_text(page, None) == "one two"
    assert visible_text(b"", None) == ""
