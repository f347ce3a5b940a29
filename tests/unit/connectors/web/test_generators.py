"""The rules that `docs/web.md` gives for the usual generators, each run against a site of its kind."""

import re
import tomllib
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from connectors.contract import Seen
from connectors.notes import MemoryNotes
from connectors.pull import pull
from connectors.registry import make
from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import StandInPage, page, redirect, sitemap
from connectors.web.connector import WebConnector
from corebrain.documents.convert.html import html_document
from corebrain.layout import BrainDocument

ROOT = Path(__file__).parents[4]
RECORDED = ROOT / "tests" / "recorded" / "web"
PAGE = (ROOT / "docs" / "web.md").read_text(encoding="utf-8")
RULES = dict(re.findall(r"^\| ([^|]+) \| (`.*`) \|$", PAGE.partition("usual generators")[2], re.MULTILINE))
HOSTS = re.compile(rb"https://(?:docs\.acme|your-docusaurus-site)\.example(?:\.com)?(?=/|$)")
TYPES = {".html": "text/html", ".xml": "application/xml", ".json": "application/json", ".txt": "text/plain"}


def unpacked(name: str, below: str = "/") -> dict[str, StandInPage]:
    """The files of a recorded site at their paths; folders have their `index.html`."""
    found: dict[str, StandInPage] = {}
    with zipfile.ZipFile(RECORDED / name) as archive:
        for member in archive.namelist():
            body = HOSTS.sub(b"{origin}", archive.read(member))
            made = StandInPage(body, TYPES.get(Path(member).suffix, "application/octet-stream"))
            found[f"{below}{member}"] = made
            if member.endswith("index.html"):
                found[f"{below}{member.removesuffix('index.html')}"] = made
    return found


def linked(path: str, *links: str, text: str = "") -> StandInPage:
    return page(path, f"<p>{text or f'What {path} says.'}</p>", links=links)


def docusaurus() -> dict[str, StandInPage]:
    site = unpacked("docusaurus-classic.zip")
    return {**site, **{path.rstrip("/"): made for path, made in site.items() if path.endswith("/") and path != "/"}}


def gitbook() -> dict[str, StandInPage]:
    docs = ("/readme", "/getting-started/quickstart", "/reference/limits")
    asks = ("?q=limits", "?ask=what+is+this", "?fallback=true")
    rest = ("/~gitbook/pdf?page=1", "/~gitbook/image?url=x", "/readme.md", "/llms-full.txt.md")
    everywhere = (*docs, *rest, *(f"{path}{ask}" for path in docs for ask in asks))
    return {
        **{path: linked(path.partition("?")[0], *everywhere) for path in ("/", *everywhere)},
        "/sitemap.xml": StandInPage(
            b"<sitemapindex><sitemap><loc>{origin}/sitemap-pages.xml</loc></sitemap></sitemapindex>"
        ),
        "/sitemap-pages.xml": sitemap(["/", *docs]),
    }


def cloud() -> dict[str, StandInPage]:
    space = "/wiki/spaces/DOCS"
    docs = (f"{space}/overview", f"{space}/pages/11/Leases", f"{space}/pages/12/Cursors")
    rest = (
        f"{space}/pages/11/Leases?focusedCommentId=99", f"{space}/pages/viewpreviousversions.action?pageId=11",
        f"{space}/history/11", f"{space}/blog/2026/01/01/13/News", "/wiki/spaces/OTHER/overview", "/wiki/login.action",
    )  # fmt: skip
    return {
        **{path: linked(path.partition("?")[0], *docs, *rest, f"{space}/pages/12") for path in (*docs, *rest)},
        f"{space}/": redirect(f"{space}/overview"),
        f"{space}/pages/12": redirect(f"{space}/pages/12/Cursors"),
    }


def server() -> dict[str, StandInPage]:
    view = "/pages/viewpage.action?pageId="
    docs = ("/display/DOCS", "/display/DOCS/Leases", f"{view}12")
    rest = (
        "/display/OTHER/Home", "/login.action?os_destination=x", "/pages/diffpages.action?pageId=12",
        f"{view}12&focusedCommentId=7", "/exportword?pageId=12",
    )  # fmt: skip
    return {path: linked(path.partition("&")[0], *docs, *rest) for path in (*docs, *rest)}


TUTORIAL = (
    "intro", "category/tutorial---basics", "category/tutorial---extras", "tutorial-basics/congratulations",
    "tutorial-basics/create-a-blog-post", "tutorial-basics/create-a-document", "tutorial-basics/create-a-page",
    "tutorial-basics/deploy-your-site", "tutorial-basics/markdown-features",
)  # fmt: skip
HANDBOOK = ("", "web/", "http/", "connectors/", "configuration/", "command-line/")
SPHINX = ("", "changes", "concepts", "encoding", "exceptions", "license", "serializer", "signer", "timed", "url_safe")
SITES: dict[str, tuple[Callable[[], dict[str, StandInPage]], str, list[str]]] = {
    "Docusaurus": (docusaurus, "/", ["/", "/markdown-page", *(f"/docs/{path}" for path in TUTORIAL)]),
    "MkDocs (Material), versions by mike": (
        lambda: {
            "/": redirect("/latest/"),
            **unpacked("handbook-mkdocs.zip", "/latest/"),
            **unpacked("handbook-mkdocs.zip", "/1.0/"),
            "/sitemap.xml": unpacked("handbook-mkdocs.zip")["/sitemap.xml"],
        },
        "/",
        [f"/latest/{path}" for path in HANDBOOK],
    ),
    "Sphinx": (
        lambda: {
            **(found := unpacked("itsdangerous.zip")),
            "/sitemap.xml": sitemap([path for path in found if path.endswith((".html", ".txt"))]),
        },
        "/",
        ["/", "/LICENSE.txt", *(f"/{name}.html" for name in SPHINX if name)],
    ),
    "Read the Docs": (
        lambda: {
            "/": redirect("/en/stable/"),
            **unpacked("itsdangerous.zip", "/en/stable/"),
            **unpacked("itsdangerous.zip", "/en/latest/"),
            "/sitemap.xml": sitemap(["/en/stable/", "/en/latest/"]),
        },
        "/",
        ["/en/stable/", *(f"/en/stable/{name}.html" for name in SPHINX[1:])],
    ),
    "GitBook": (gitbook, "/", ["/", "/getting-started/quickstart", "/readme", "/reference/limits"]),
    "Confluence Cloud, public space": (
        cloud,
        "",
        [f"/wiki/spaces/DOCS/{path}" for path in ("overview", "pages/11/Leases", "pages/12/Cursors")],
    ),
    "Confluence, own server": (
        server, "", ["/display/DOCS", "/display/DOCS/Leases", "/pages/viewpage.action?pageId=12"],
    ),
}  # fmt: skip


@pytest.fixture
def source(site: WebStandIn) -> Iterator[Callable[[str], WebConnector]]:
    """A source with the rules of a row, its start on the stand-in."""
    made: list[WebConnector] = []

    def run(row: str) -> WebConnector:
        pages, start, _ = SITES[row]
        site.pages.update(pages())
        rules: dict[str, Any] = tomllib.loads("\n".join(re.findall(r"`([^`]+)`", RULES[row])))
        told = [re.sub(r"^https://[^/]+", site.url, each) for each in rules.pop("start", [f"{site.url}{start}"])]
        config = {**rules, "start": told, "allow_private": [site.place], "interval_s": 0.0}
        connector = make("web", "docs", config)
        assert isinstance(connector, WebConnector)
        made.append(connector)
        return connector

    yield run
    for connector in made:
        connector.close()


def test_every_row_of_the_page_has_a_site_here() -> None:
    assert set(RULES) == set(SITES)


@pytest.mark.parametrize("row", SITES)
def test_rules_take_the_documentation_and_nothing_else(
    row: str, site: WebStandIn, source: Callable[[str], WebConnector]
) -> None:
    keys = [event.ref.key for event in source(row).scan(None, MemoryNotes()) if isinstance(event, Seen)]
    assert sorted(keys) == sorted(f"{site.place}{path}".rstrip("/") for path in SITES[row][2])


def texts(connector: WebConnector) -> dict[str, BrainDocument]:
    return {str(found.meta.url): found for found in pull(connector) if isinstance(found, BrainDocument)}


def test_sphinx_pages_are_their_content_alone(site: WebStandIn, source: Callable[[str], WebConnector]) -> None:
    found = texts(source("Sphinx"))[f"{site.url}/serializer.html"]
    assert found.title == "Serialization Interface"
    assert "Quick search" not in found.text
    assert "Navigation" not in found.text
    assert "¶" not in found.text
    assert "The Serialization Interface" not in found.text.partition("\n")[0]
    assert f"]({site.url}/signer.html" in found.text
    assert "```" in found.text


def test_mkdocs_pages_are_their_content_alone(site: WebStandIn, source: Callable[[str], WebConnector]) -> None:
    found = texts(source("MkDocs (Material), versions by mike"))[f"{site.url}/latest/http/"]
    assert (found.title or "").startswith("HTTP")
    assert found.text.startswith("# The HTTP client of the connectors")
    for furniture in ("Skip to content", "Table of contents", "Made with", "Back to top", "Command line"):
        assert furniture not in found.text
    assert "| Stopping |" in found.text.replace("  ", " ")


def test_docusaurus_pages_are_their_content_alone(site: WebStandIn, source: Callable[[str], WebConnector]) -> None:
    found = texts(source("Docusaurus"))[f"{site.url}/docs/tutorial-basics/markdown-features"]
    assert found.title == "Markdown Features"
    for furniture in (
        "Skip to main content",
        "Built with Docusaurus",
        "Edit this page",
        "Copyright",
        "Translate your site",
    ):
        assert furniture not in found.text
    assert "```jsx\n" in found.text
    assert "Front Matter" in found.text


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("itsdangerous.zip", 'div.body[role="main"]'),
        ("handbook-mkdocs.zip", "article.md-content__inner"),
        ("docusaurus-classic.zip", "div.theme-doc-markdown"),
    ],
)
def test_no_heading_and_no_paragraph_of_the_content_is_lost(name: str, content: str) -> None:
    looked_at = 0
    for path, found in unpacked(name).items():
        node = LexborHTMLParser(found.body).css_first(content) if path.endswith(".html") else None
        if node is None or "search" in path:
            continue
        text = bare(html_document(found.body.decode(), f"https://docs.example{path}")[0])
        for part in node.css("h1, h2, h3, h4, p"):
            looked_at += 1
            assert bare(part.text())[:30] in text, (path, part.html)
    assert looked_at > 30


def bare(text: str) -> str:
    """Letters and digits alone, links without their targets."""
    return re.sub(r"[\W_]+", "", re.sub(r"\]\([^)]*\)", "", text))
