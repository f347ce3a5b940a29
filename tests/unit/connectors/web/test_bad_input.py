"""What a person or a site gets wrong: each is typed, told with what to do, and costs nothing else."""

import gzip
import resource
from collections.abc import Callable

import pytest

from connectors.contract import Failed
from connectors.document import SetAside
from connectors.errors import ConfigError, ConnectorError, DocumentError, DocumentRefused, Unavailable
from connectors.http import BodyRefused
from connectors.pull import pull
from connectors.registry import make
from connectors.testing.harness import Listing
from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import StandInPage, page, redirect
from connectors.web.connector import WebConnector
from corebrain.errors import Damaged, TooLarge
from corebrain.layout import BrainDocument

Connect = Callable[..., WebConnector]
Crawl = Callable[..., Listing]


def failures(listing: Listing) -> dict[str, ConnectorError]:
    return {event.scope: event.error for event in listing.events if isinstance(event, Failed)}


def pulled(connector: WebConnector) -> tuple[dict[str, str], dict[str, SetAside]]:
    found = list(pull(connector))
    texts = {str(each.meta.url): each.text for each in found if isinstance(each, BrainDocument)}
    return texts, {each.key: each for each in found if isinstance(each, SetAside)}


@pytest.mark.parametrize(
    "url", ["docs.acme.example", "htps://docs.acme.example/", "https://", "http://exa mple/", "/docs"]
)
def test_wrong_url_is_a_config_error_that_shows_a_right_one(url: str) -> None:
    with pytest.raises(ConfigError, match="write such as https://"):
        make("web", "docs", {"start": [url]})


def test_host_that_is_not_there_leaves_all_as_it_was(connect: Connect, crawl: Crawl) -> None:
    def nowhere(_host: str, _port: int) -> list[str]:
        raise OSError("Name or service not known")

    listing = crawl(connect("https://dcos.acme.example/", resolve=nowhere))
    (error,) = failures(listing).values()
    assert isinstance(error, Unavailable)
    assert "check the spelling" in error.message
    assert listing.completed == []


@pytest.mark.parametrize(
    "url",
    ["http://127.0.0.1:1/", "http://10.0.0.1/", "http://wiki/", "http://[::1]/", "http://169.254.169.254/latest/"],
)
def test_private_url_is_a_config_error_that_says_how_to_allow_it(url: str, connect: Connect, crawl: Crawl) -> None:
    with pytest.raises(ConfigError, match="allow_private"):
        crawl(connect(url, private=[]))


def test_public_page_that_leads_inside_costs_nothing_else(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    with WebStandIn({"/s": StandInPage(b"SECRET")}) as inner:
        site.pages["/"] = page("Front", "front", links=("/hop", "/ok", f"{inner.url}/s"))
        site.pages.update({"/hop": redirect(f"{inner.url}/s"), "/ok": page("Ok", "ok")})
        listing = crawl(connect(reach="host"))
        assert [key.removeprefix(site.place) for key in listing.refs] == ["", "/ok"]
        assert inner.log == []


def test_tls_failure_is_told_and_leaves_all_as_it_was(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    listing = crawl(connect(site.url.replace("http://", "https://")))
    (error,) = failures(listing).values()
    assert isinstance(error, Unavailable)
    assert "cannot connect" in error.message
    assert listing.completed == []


@pytest.mark.parametrize("status", [301, 302, 307])
def test_endless_redirect_ends(site: WebStandIn, connect: Connect, crawl: Crawl, status: int) -> None:
    site.pages["/"] = page("Front", "front", links=("/loop/a", "/next/0", "/ok"))
    site.pages.update({"/loop/a": redirect("/loop/b", status), "/loop/b": redirect("/loop/a", status)})
    site.pages["/ok"] = page("Ok", "ok")
    site.scripts["/next/"] = lambda path: redirect(f"/next/{int(path.rpartition('/')[2]) + 1}", status)
    listing = crawl(connect())
    assert [key.removeprefix(site.place) for key in listing.refs] == ["", "/ok"]
    assert listing.completed == [""]
    assert len(site.log) < 20


def test_start_that_redirects_without_end_is_told(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages.update({"/": redirect("/?a"), "/?a": redirect("/?b"), "/?b": redirect("/?a")})
    listing = crawl(connect())
    (error,) = failures(listing).values()
    assert isinstance(error, DocumentError)
    assert "redirects" in error.message
    assert listing.completed == []
    assert len(site.log) < 20


def test_gigabyte_of_gzip_is_refused_in_little_memory(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    mebibyte = gzip.compress(bytes(2**20), 9)
    site.pages["/"] = page("Front", "front", links=("/bomb.html", "/ok"))
    site.pages["/bomb.html"] = StandInPage(mebibyte * 1024, headers={"Content-Encoding": "gzip"}, etag=False)
    site.pages["/ok"] = page("Ok", "ok")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    listing = crawl(connect())
    (error,) = failures(listing).values()
    assert isinstance(error, BodyRefused)
    assert "max_bytes" in error.advice
    assert f"{site.place}/ok" in listing.refs
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 128 * 1024  # kilobytes


def test_binary_that_calls_itself_html_is_set_aside(site: WebStandIn, connect: Connect) -> None:
    site.pages["/"] = page("Front", "front", links=("/binary.html", "/ok"))
    site.pages.update({"/binary.html": StandInPage(bytes(range(256)) * 40), "/ok": page("Ok", "ok")})
    texts, aside = pulled(connect())
    assert set(texts) == {f"{site.url}/", f"{site.url}/ok"}
    assert [type(each.error) for each in aside.values()] == [Damaged]
    assert all(each.advice for each in aside.values())


def test_fifty_thousand_links_on_a_page_are_bounded(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages["/"] = page("Front", "front", links=tuple(f"/p{'x' * (n % 7)}/{n:x}q.html" for n in range(60_000)))
    connector, said = connect(max_pages=100), list[str]()
    connector.say = said.append
    site.missing = page("Page", "one of very many")
    listing = crawl(connector)
    assert len(listing.refs) <= 100
    assert listing.completed == []
    assert any("stopped at 100 addresses" in line for line in said)


def test_deep_page_is_converted(site: WebStandIn, connect: Connect) -> None:
    site.pages["/"] = page("Deep", f"{'<div>' * 300}<p>the deepest text</p>{'</div>' * 300}<p>and the end</p>")
    texts, aside = pulled(connect())
    assert aside == {}
    assert "the deepest text" in texts[f"{site.url}/"]
    assert "and the end" in texts[f"{site.url}/"]


def test_markup_that_nests_without_end_is_set_aside(site: WebStandIn, connect: Connect) -> None:
    site.pages["/"] = page("Front", "front", links=("/deep.html",))
    site.pages["/deep.html"] = page("Deep", f"{'<div>' * 100_000}deep")
    texts, aside = pulled(connect())
    assert set(texts) == {f"{site.url}/"}
    assert [type(each.error) for each in aside.values()] == [TooLarge]


def test_robots_txt_that_forbids_all_is_told_with_advice(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages["/"] = page("Front", "front")
    site.pages["/robots.txt"] = StandInPage(b"User-agent: *\nDisallow: /\n", "text/plain")
    listing = crawl(connect())
    (error,) = failures(listing).values()
    assert isinstance(error, DocumentRefused)
    assert "robots = false" in error.advice
    assert listing.refs == {}
    assert "/" not in site.paths
