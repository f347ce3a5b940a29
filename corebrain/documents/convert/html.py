"""HTML to markdown with selectolax: content without navigation, links absolute, tables as tables."""

import contextlib
import re
from pathlib import Path
from urllib.parse import urljoin

from selectolax.lexbor import LexborHTMLParser

from corebrain.documents.convert.html_bounds import check_bounds
from corebrain.documents.convert.html_charset import decode_html
from corebrain.documents.convert.html_inline import InlineWriter, one_line
from corebrain.documents.convert.html_walk import HtmlWalk
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import Damaged, Empty

NAME = "html"
VERSION = 1

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
    page = html_document(decode_html(data, raw.mime), raw.origin)
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


def html_document(text: str, origin: str | None) -> tuple[str, str | None, str | None, dict[str, Json]]:
    """Markdown, title, language and metadata of decoded HTML.

    Args:
        text: The page.
        origin: The URL it came from, when known; links become absolute against it or the page's `<base>`.

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
    markdown = ""
    if body is not None:
        base = _base(tree, origin)
        skipped = _matches(tree, _HIDDEN)
        boilerplate = (skipped | _matches(tree, _BOILERPLATE)) - _matches(tree, _KEPT_IN)
        for left_out in (boilerplate, skipped, frozenset[int]()):
            # A page that is nothing but navigation is still better kept than refused.
            markdown = "\n\n".join(HtmlWalk(InlineWriter(base, left_out)).blocks(body))
            if markdown:
                break
    if not markdown:
        raise Empty("the page holds no text")
    return markdown, _title(tree), _language(tree), _metadata(tree, origin)


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
