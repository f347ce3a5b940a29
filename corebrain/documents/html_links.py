"""What a web page says about itself and where it leads: its head, its links, its breadcrumb.

For crawling only; the text of a page is a converter's matter. Bounded like the HTML converter: at most `MAX_BYTES`, and
markup within `html_bounds`. Links are given as written, to be resolved against `PageHead.base` or the page's URL.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from selectolax.lexbor import LexborHTMLParser, LexborNode

from corebrain.documents.convert.html_bounds import check_bounds
from corebrain.documents.convert.html_charset import decode_html
from corebrain.errors import TooLarge

MAX_BYTES = 10 * 2**20
"""Largest page that is looked into."""
MAX_LINKS = 50_000
"""Links of one page that are looked at, in the order of the page."""

BARE_CHARS = 200
"""Characters of text below which a page with scripts and hardly a link shows nothing without them."""
BARE_LINKS = 3
"""Links of such a page."""

_LINKED_DATA = 10
_LINKED_DATA_LENGTH = 256 * 2**10
_CRUMBS = 12
_CRUMB_LENGTH = 100
_SPACES = re.compile(r"\s+")
_DATES = ("article:modified_time", "og:updated_time", "last-modified", "dcterms.modified", "dc.date.modified")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of a page.

    Attributes:
        href: As written.
        nofollow: Whether the page asks not to follow it.
        language: Its `hreflang`; empty when it has none.
    """

    href: str
    nofollow: bool = False
    language: str = ""


@dataclass(frozen=True, slots=True)
class PageHead:
    """What a page says about itself.

    Attributes:
        title: Its `<title>`, one line; empty when it has none.
        heading: Its first `<h1>`, one line.
        name: Its `og:title`.
        language: Its declared language as written.
        base: Its `<base href>` as written; empty when links start at its URL.
        canonical: Its `rel=canonical` as written.
        robots: The directives of its `<meta name=robots>` by the robot they are for, lower case.
        links: Of anchors, areas, frames and language alternates.
        crumbs: Names from the outermost page down to its parent, by JSON-LD's `BreadcrumbList`.
        modified: When it last changed, as its metadata says, in UTC.
        refresh: Where a `<meta http-equiv=refresh>` without delay leads, as written.
        generator: The program that made it, as it says.
        is_bare: Whether it has scripts and, without them, hardly anything to show.
    """

    title: str = ""
    heading: str = ""
    name: str = ""
    language: str = ""
    base: str = ""
    canonical: str = ""
    robots: tuple[tuple[str, str], ...] = ()
    links: tuple[Link, ...] = ()
    crumbs: tuple[str, ...] = ()
    modified: datetime | None = None
    refresh: str = ""
    generator: str = ""
    is_bare: bool = False


def read_head(data: bytes, mime: str | None) -> PageHead:
    """Read the head and the links of an HTML page.

    Args:
        data: The page as received.
        mime: Its media type with parameters, for the charset.

    Raises:
        TooLarge: The page is over `MAX_BYTES`, or its markup over the limits of `html_bounds`.
        Damaged: The bytes are not text.
    """
    tree = _parsed(data, mime)
    if tree is None:
        return PageHead()
    meta = _meta(tree)
    records = list(_linked_data(tree))
    links = tuple(_links(tree))
    root = tree.root
    language = (root.attributes.get("lang") or root.attributes.get("xml:lang") or "") if root is not None else ""
    return PageHead(
        title=_text(tree.css_first("head > title") or tree.css_first("title")),
        heading=_text(tree.css_first("h1")),
        name=_one_line(meta.get("og:title", "")),
        language=language or meta.get("content-language", ""),
        base=_href(tree.css_first("base[href]")),
        canonical=_href(tree.css_first('link[rel~="canonical" i]')),
        robots=tuple(_robots(tree)),
        links=links,
        crumbs=_crumbs(records),
        modified=_modified(meta, records),
        refresh=_refresh(meta.get("refresh", "")),
        generator=_one_line(meta.get("generator", "")),
        is_bare=len(links) <= BARE_LINKS and b"<script" in data and len(_shown(tree)) < BARE_CHARS,  # takes scripts out
    )


def visible_text(data: bytes, mime: str | None) -> str:
    """Return the text of a page as one line, scripts and styles left out, to tell whether two pages say the same.

    Raises:
        TooLarge, Damaged: As `read_head`.
    """
    tree = _parsed(data, mime)
    return _shown(tree) if tree is not None else ""


def _shown(tree: LexborHTMLParser) -> str:
    """Return the text of a tree as one line; its scripts are taken out for good."""
    tree.strip_tags(["script", "style", "noscript", "template"])
    return _one_line(tree.body.text(separator=" ")) if tree.body is not None else ""


def _parsed(data: bytes, mime: str | None) -> LexborHTMLParser | None:
    if len(data) > MAX_BYTES:
        raise TooLarge(f"the page has {len(data):,} bytes, more than the {MAX_BYTES:,} that are looked into")
    text = decode_html(data, mime)
    check_bounds(text)
    try:
        return LexborHTMLParser(text)
    except (ValueError, RuntimeError):  # nothing the parser can read: the converter says so
        return None


def _links(tree: LexborHTMLParser) -> Iterator[Link]:
    found = 0
    for node in tree.css('a[href], area[href], iframe[src], frame[src], link[rel~="alternate" i][hreflang][href]'):
        attributes = node.attributes
        href = (attributes.get("href") or attributes.get("src") or "").strip()
        if not href or href.startswith("#"):
            continue
        found += 1
        if found > MAX_LINKS:
            return
        rel = (attributes.get("rel") or "").lower().split()
        yield Link(href, "nofollow" in rel, (attributes.get("hreflang") or "").strip().lower())


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
        if name:
            found.setdefault(name.strip().lower(), attributes.get("content") or "")
    return found


def _robots(tree: LexborHTMLParser) -> Iterator[tuple[str, str]]:
    for node in tree.css("meta[name][content]"):
        name = (node.attributes.get("name") or "").strip().lower()
        if name == "robots" or name.endswith("bot"):
            yield name, (node.attributes.get("content") or "").lower()


def _refresh(content: str) -> str:
    delay, _, rest = content.partition(";")
    name, equals, target = rest.strip().partition("=")
    if delay.strip() not in {"", "0"} or not equals or name.strip().lower() != "url":
        return ""
    return target.strip().strip("'\"")


def _linked_data(tree: LexborHTMLParser) -> Iterator[dict[str, Any]]:
    """Yield the JSON-LD records of a page, those of `@graph` too."""
    for node in tree.css('script[type="application/ld+json"]')[:_LINKED_DATA]:
        text = node.text()
        if len(text) > _LINKED_DATA_LENGTH:
            continue
        try:
            value = json.loads(text)
        except (ValueError, RecursionError):
            continue
        for each in value if isinstance(value, list) else [value]:
            if isinstance(each, dict):
                graph = each.get("@graph")
                yield from (
                    (record for record in graph if isinstance(record, dict)) if isinstance(graph, list) else [each]
                )


def _crumbs(records: list[dict[str, Any]]) -> tuple[str, ...]:
    for record in records:
        items = record.get("itemListElement")
        if record.get("@type") == "BreadcrumbList" and isinstance(items, list):
            placed = [item for item in items if isinstance(item, dict) and isinstance(item.get("position"), int)]
            names = [_crumb(item) for item in sorted(placed, key=lambda item: int(item["position"]))]
            return tuple(name for name in names[:-1] if name)[:_CRUMBS]
    return ()


def _crumb(item: dict[str, Any]) -> str:
    inner = item.get("item")
    name = item.get("name") or (inner.get("name") if isinstance(inner, dict) else None)
    return _one_line(name)[:_CRUMB_LENGTH] if isinstance(name, str) else ""


def _modified(meta: dict[str, str], records: list[dict[str, Any]]) -> datetime | None:
    stated = [record.get("dateModified") for record in records] + [meta.get(name) for name in _DATES]
    return next((moment for text in stated if isinstance(text, str) and (moment := _moment(text))), None)


def _moment(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return aware.astimezone(UTC)
    except OverflowError:
        return None


def _href(node: LexborNode | None) -> str:
    return (node.attributes.get("href") or "").strip() if node is not None else ""


def _text(node: LexborNode | None) -> str:
    return _one_line(node.text()) if node is not None else ""


def _one_line(text: str) -> str:
    return _SPACES.sub(" ", text).strip()
