"""HTML to markdown with selectolax: content without navigation, links absolute, tables as tables.

A page from the web has what stands around its content left out (`html_furniture`); one whose media type has the
parameter `profile=article` gives its article alone (`html_article`).
"""

import contextlib
import re
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser, LexborNode

from corebrain.documents.convert.html_article import article
from corebrain.documents.convert.html_bounds import check_bounds
from corebrain.documents.convert.html_charset import decode_html
from corebrain.documents.convert.html_furniture import furniture
from corebrain.documents.convert.html_inline import InlineWriter, one_line
from corebrain.documents.convert.html_walk import HtmlWalk
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import Damaged, Empty

NAME = "html"
VERSION = 2

ARTICLE = "article"
"""Value of the media type's parameter `profile` that asks for the article alone."""
LEAST_ARTICLE = 100
"""Characters of markdown below which an article is not believed, and the page is given."""

_HIDDEN = (
    '[hidden], [style*="display:none"], [style*="display: none"], [role="navigation"], [role="search"], '
    '[role="banner"] nav'
)
_BOILERPLATE = (
    'nav, footer, aside, [role="contentinfo"], [role="complementary"], [role="alertdialog"], '
    '[id*="cookie-"], [id*="cookie_"], [class*="cookie-banner"], [class*="cookie-consent"], [class*="cookie-notice"], '
    '[class*="skip-link"], [class*="breadcrumb"], '
    '[class~="logo"] img, [class$="-logo"] img, [class$="_logo"] img, img[class~="logo"], img[class$="-logo"]'
)
_KEPT_IN = "blockquote footer"  # a quotation's source
_LANGUAGE_TAG = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*$")
_DESCRIPTIONS = {"description": "description", "author": "author", "og:site_name": "site", "keywords": "keywords"}


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Markdown of a web page or an HTML file.

    Raises:
        Empty: Nothing in it is text.
        Damaged: It cannot be parsed at all.
    """
    data = raw.data.read_bytes() if isinstance(raw.data, Path) else raw.data
    page = html_document(decode_html(data, raw.mime), raw.origin, article_only=_profile(raw.mime) == ARTICLE)
    return ConvertedDocument(
        markdown=page[0],
        title=page[1],
        format=format,
        language=page[2],
        converter=f"{NAME}:selectolax",
        pages=None,
        size=len(data),
        metadata=page[3],
    )


def html_document(
    text: str, origin: str | None, *, article_only: bool = False
) -> tuple[str, str | None, str | None, dict[str, Json]]:
    """Markdown, title, language and metadata of decoded HTML.

    Args:
        text: The page.
        origin: The URL it came from, when known; links become absolute against it or the page's `<base>`.
        article_only: Give the article alone; a page in which none stands out is given as without it.

    Raises:
        Empty: Nothing in it is text.
        Damaged: It cannot be parsed at all.
        TooLarge: Its markup is over the limits of `html_bounds`.
    """
    check_bounds(text)
    try:
        tree = LexborHTMLParser(text)
    except (ValueError, RuntimeError) as error:
        raise Damaged("the html cannot be parsed") from error
    body = tree.body or tree.root
    base = _base(tree, origin)
    markdown = ""
    views = _views(tree, body, is_web=_is_web(origin), article_only=article_only) if body is not None else ()
    for root, left_out, least in views:
        markdown = "\n\n".join(HtmlWalk(InlineWriter(base, left_out)).blocks(root))
        if len(markdown) >= least:
            break
    if not markdown:
        raise Empty("the page holds no text")
    return markdown, _title(tree), _language(tree), _metadata(tree, origin)


def _views(
    tree: LexborHTMLParser, body: LexborNode, *, is_web: bool, article_only: bool
) -> Iterator[tuple[LexborNode, frozenset[int], int]]:
    """Yield what to write, what to leave out of it and how many characters it must give, the best view first.

    A page that is nothing but navigation is still better kept than refused.
    """
    skipped = _matches(tree, _HIDDEN)
    found = article(body, skipped) if article_only else None
    if found is not None:
        yield found.root, skipped | found.left_out, LEAST_ARTICLE
    boilerplate = (skipped | _matches(tree, _BOILERPLATE)) - _matches(tree, _KEPT_IN)
    if is_web:
        yield body, boilerplate | furniture(body, skipped), 1
    yield body, boilerplate, 1
    yield body, skipped, 1
    yield body, frozenset(), 1


def _is_web(origin: str | None) -> bool:
    return origin is not None and origin.startswith(("http://", "https://"))


def _profile(mime: str | None) -> str | None:
    if not mime or ";" not in mime:
        return None
    message = Message()
    message["content-type"] = mime
    value = message.get_param("profile")
    return value.strip().lower() if isinstance(value, str) else None


def _matches(tree: LexborHTMLParser, selector: str) -> frozenset[int]:
    return frozenset(node.mem_id for node in tree.css(selector))


def _base(tree: LexborHTMLParser, origin: str | None) -> str | None:
    node = tree.css_first("base[href]")
    href = node.attributes.get("href") if node is not None else None
    if not href:
        return origin
    try:
        joined = urljoin(origin, href) if origin else href
    except ValueError:
        return origin
    return joined if joined.startswith(("http://", "https://")) else origin


def _meta(tree: LexborHTMLParser) -> dict[str, str]:
    found: dict[str, str] = {}
    for node in tree.css("meta[content]"):
        attributes = node.attributes
        name = attributes.get("name") or attributes.get("property") or attributes.get("http-equiv")
        value = one_line(attributes.get("content") or "")
        if name and value:
            found.setdefault(name.lower(), value)
    return found


def _title(tree: LexborHTMLParser) -> str | None:
    node = tree.css_first("head > title") or tree.css_first("title")
    title = one_line(node.text()) if node is not None else ""
    return title or _meta(tree).get("og:title") or None


def _language(tree: LexborHTMLParser) -> str | None:
    root = tree.root
    declared = root.attributes.get("lang") or root.attributes.get("xml:lang") if root is not None else None
    language = (declared or _meta(tree).get("content-language") or "").strip().replace("_", "-")
    return language if _LANGUAGE_TAG.match(language) else None


def _metadata(tree: LexborHTMLParser, origin: str | None) -> dict[str, Json]:
    meta = _meta(tree)
    found: dict[str, Json] = {key: meta[name][:1000] for name, key in _DESCRIPTIONS.items() if name in meta}
    node = tree.css_first('link[rel="canonical"]')
    href = node.attributes.get("href") if node is not None else None
    if href:
        with contextlib.suppress(ValueError):
            found["canonical"] = urljoin(origin, href) if origin else href
    return found
