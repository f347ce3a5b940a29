"""The web connector keeps the law, on the stand-in: once along a sitemap, once along links."""

import contextlib
import html
import unicodedata
from collections.abc import Callable, Iterator
from urllib.parse import quote

import pytest

from connectors.http import Pacer, RetryPolicy, Timing
from connectors.testing.conformance import CHECKS, Check
from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import StandInPage, page, sitemap
from connectors.web.connector import WebConnector
from connectors.web.scope import Scope
from connectors.web.site import Habits

LIST = "/sitemap.xml"


class SiteHarness:
    """Pages by name; a sitemap lists them all, or a contents page that is not to be kept links to them."""

    def __init__(self, site: WebStandIn, *, linked: bool) -> None:
        self.site = site
        self.start = "/contents.html" if linked else LIST
        self.names: dict[str, str] = {}
        self.connectors: list[WebConnector] = []
        self._list()

    def connector(self) -> WebConnector:
        timing = Timing(sleep=lambda _seconds: None)
        made = WebConnector(
            Scope([f"{self.site.url}{self.start}"], reach="host"),
            Habits(interval_s=0),
            allow_private=[self.site.place],
            timing=timing,
            pacer=Pacer(timing.clock),
            retry=RetryPolicy(attempts=1),
        )
        self.connectors.append(made)
        return made

    def put(self, name: str, text: str) -> str:
        path = f"/{quote(unicodedata.normalize('NFC', name))}"
        if name.endswith(".md"):
            self.site.pages[path] = StandInPage(text.encode(), "text/markdown; charset=utf-8")
        else:
            self.site.pages[path] = page(name, html.escape(text))
        self._list()
        return f"{self.site.place}{path}"

    def rename(self, key: str, name: str) -> str:
        moved = self.site.pages.pop(key.removeprefix(self.site.place))
        self.site.pages[f"/{quote(name)}"] = moved
        self._list()
        return f"{self.site.place}/{quote(name)}"

    def remove(self, key: str) -> None:
        del self.site.pages[key.removeprefix(self.site.place)]
        self._list()

    @contextlib.contextmanager
    def unreadable(self, key: str) -> Iterator[None]:
        path = key.removeprefix(self.site.place)
        self.site.failing[path] = 503
        yield
        del self.site.failing[path]

    def _list(self) -> None:
        paths = sorted(set(self.site.pages) - {LIST, "/contents.html"})
        self.site.pages[LIST] = sitemap(paths if self.start == LIST else [])
        noindex = '<meta name="robots" content="noindex">'
        self.site.pages["/contents.html"] = page("Contents", "", links=tuple(paths), head=noindex)
        if self.start == LIST:
            del self.site.pages["/contents.html"]


@pytest.fixture(params=["sitemap", "links"])
def harness(request: pytest.FixtureRequest) -> Iterator[SiteHarness]:
    with WebStandIn() as site:
        made = SiteHarness(site, linked=request.param == "links")
        yield made
        for connector in made.connectors:
            connector.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_web_connector_keeps_the_law(check: Check, harness: SiteHarness) -> None:
    check(harness)


def test_checks_are_not_fooled(harness: SiteHarness) -> None:
    """A harness that forgets to list a page is caught: the checks do look at this source."""
    harness.put("a.md", "text")
    put: Callable[[str, str], str] = harness.put
    key = put("b.md", "text")
    harness.site.failing[key.removeprefix(harness.site.place)] = 503
    with pytest.raises(AssertionError):
        CHECKS[0](harness)
