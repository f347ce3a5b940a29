"""Pages that show nothing without their scripts: drawn on request, in a browser that reaches nothing by itself."""

import shutil
import sys
import threading
from collections.abc import Callable, Iterator
from importlib.util import find_spec

import pytest

from connectors.contract import Seen
from connectors.errors import ConfigError, DocumentError
from connectors.http import Client, Response, Stopped
from connectors.notes import MemoryNotes
from connectors.testing.harness import Listing
from connectors.testing.web import WebStandIn
from connectors.testing.web_pages import StandInPage, page, redirect
from connectors.web.connector import WebConnector
from connectors.web.rendering import Ask, Renderer

Connect = Callable[..., WebConnector]
Crawl = Callable[..., Listing]
SeenPaths = Callable[[Listing, WebStandIn], list[str]]

CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome") or ""
with_browser = pytest.mark.skipif(
    not CHROMIUM or find_spec("playwright") is None, reason="needs Chromium and the extra browser"
)
SHELL = StandInPage(b"<title>App</title><div id=root></div><script src=/app.js></script>", "text/html")


def script(text: str) -> StandInPage:
    return StandInPage(text.encode(), "text/javascript")


class Pencil(Renderer):
    """Draws without a browser: what it was told for a path, else one line."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[str] = []
        self.pages: dict[str, bytes] = {}

    def drawn(self, url: str, answer: Response, ask: Ask) -> bytes:
        assert answer.ok
        self.asked.append(url)
        path = "/" + url.split("/", 3)[3]
        if path == "/private":
            ask(url.replace("/private", "/forbidden.js"))
        return self.pages.get(path, f"<title>App</title><p>{'drawn ' * 60}{path}</p>".encode())


def test_only_pages_that_show_nothing_are_drawn(
    site: WebStandIn, connect: Connect, crawl: Crawl, seen: SeenPaths
) -> None:
    site.pages.update({"/": page("Front", "front", links=("/app", "/plain", "/dull")), "/app": SHELL})
    site.pages["/plain"] = StandInPage(f"<script>1</script><p>{'plain ' * 60}</p>".encode())
    site.pages["/dull"] = StandInPage(b"<p>short, and without a script</p>")
    pencil = Pencil()
    pencil.pages["/app"] = f"<p>{'drawn ' * 60}</p><a href=/deep>deep</a>".encode()
    site.pages["/deep"] = page("Deep", "found in a page that was drawn")
    assert seen(crawl(connect(renderer=pencil)), site) == ["/", "/app", "/plain", "/dull", "/deep"]
    assert pencil.asked == [f"{site.url}/app"]


def test_without_a_browser_they_are_set_aside_and_told(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.missing = SHELL  # as such sites do
    site.pages.update({"/": page("Front", "front", links=("/app", "/other")), "/app": SHELL, "/other": SHELL})
    connector, said = connect(), list[str]()
    connector.say = said.append
    listing = crawl(connector)
    assert [key.removeprefix(site.place) for key in listing.refs] == ["", "/app", "/other"]
    assert any("2 pages show nothing without their scripts" in line for line in said)


def test_drawn_page_is_told_by_its_text_and_asked_for_anew(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages["/"] = SHELL
    notes, pencil = MemoryNotes(), Pencil()
    text = "one and the same, at every visit, " * 10
    pencil.pages["/"] = f"<p nonce=1>{text}</p>".encode()
    first = crawl(connect(renderer=pencil), notes)
    pencil.pages["/"] = f"<p nonce=2>{text}</p>".encode()
    site.log.clear()
    again = crawl(connect(renderer=pencil), notes)
    assert [ref.token for ref in again.refs.values()] == [ref.token for ref in first.refs.values()]
    assert not any(entry["conditional"] for entry in site.log if entry["path"] == "/")
    pencil.pages["/"] = f"<p>{text} and more</p>".encode()
    assert [ref.token for ref in crawl(connect(renderer=pencil), notes).refs.values()] != [
        ref.token for ref in first.refs.values()
    ]


def test_script_obeys_robots_txt_too(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages.update({"/": page("Front", "front", links=("/private",)), "/private": SHELL})
    site.pages["/robots.txt"] = StandInPage(b"User-agent: *\nDisallow: /forbidden.js\n", "text/plain")
    listing = crawl(connect(renderer=Pencil()))
    assert [scope.removeprefix(site.place) for scope in listing.failed] == ["/private"]
    assert "/forbidden.js" not in site.paths


def test_missing_extra_is_a_config_error_with_advice(
    site: WebStandIn, connect: Connect, crawl: Crawl, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "playwright.sync_api", None)
    site.pages["/"] = SHELL
    with pytest.raises(ConfigError, match=r"pip install \"corebrain\[browser\]\""):
        crawl(connect(renderer=Renderer()))


@pytest.fixture(scope="module")
def chromium() -> Iterator[Renderer]:
    made = Renderer(CHROMIUM, page_s=6)
    yield made
    made.close()


@pytest.fixture
def draw(site: WebStandIn, chromium: Renderer) -> Callable[[str], bytes]:
    client = Client(allow_private=[site.place])

    def run(path: str = "/") -> bytes:
        return chromium.drawn(f"{site.url}{path}", client.get(f"{site.url}{path}"), client.get)

    return run


@with_browser
def test_browser_draws_what_scripts_make(site: WebStandIn, draw: Callable[[str], bytes]) -> None:
    site.pages["/app"] = SHELL
    site.pages["/data.json"] = StandInPage('{"t": "Schlüssel"}'.encode(), "application/json")
    site.pages["/app.js"] = script(
        "fetch('/data.json').then(r => r.json()).then(d => root.innerHTML = `<h1>${d.t}</h1><a href=/b>b</a>`)"
    )
    assert '<h1>Schlüssel</h1><a href="/b">b</a>' in draw("/app").decode()
    assert site.paths == ["/app", "/app.js", "/data.json"]


@with_browser
def test_browser_reaches_nothing_by_itself(site: WebStandIn, draw: Callable[[str], bytes]) -> None:
    with WebStandIn(
        {"/s": StandInPage(b"SECRET", "text/plain", headers={"Access-Control-Allow-Origin": "*"})}
    ) as inner:
        site.pages["/"] = SHELL
        site.pages["/hop"] = redirect(f"{inner.url}/s")
        port = inner.place.partition(":")[2]
        places = [f"{inner.url}/s", f"http://localhost:{port}/s", f"http://[::1]:{port}/s", "/hop", "file:///etc/hosts"]
        site.pages["/app.js"] = script(
            f"const out = (word) => root.append(word + ' ');"
            f"for (const place of {places}) fetch(place).then(r => r.text()).then(out, () => out('refused'));"
            f"fetch('/form', {{method: 'POST'}}).then(() => out('SENT'), () => out('refused'));"
            f"new WebSocket('ws://{inner.place}/s').onopen = () => out('OPENED');"
            f"new Image().src = '{inner.url}/image.png';"
            f"navigator.sendBeacon('{inner.url}/beacon', 'x');"
            f"const frame = document.createElement('iframe'); frame.src = '{inner.url}/frame'; root.append(frame);"
            f"new RTCPeerConnection({{iceServers: [{{urls: 'stun:127.0.0.1:{port}'}}]}}).createDataChannel('x');"
            f"navigator.serviceWorker.register('/worker.js').then(() => out('WORKER'), () => 0);"
        )
        drawn = draw("/").decode()
        assert drawn.count("refused") == len(places) + 1
        assert not {"SECRET", "SENT", "OPENED", "WORKER"} & set(drawn.replace("<", " ").split())
        assert inner.log == []
        assert {entry["method"] for entry in site.log} == {"GET"}


@with_browser
def test_page_that_leads_elsewhere_by_script_stays_where_it_is(site: WebStandIn, draw: Callable[[str], bytes]) -> None:
    site.pages.update({"/": SHELL, "/app.js": script("root.append('here'); location.href = '/other';")})
    site.pages["/other"] = page("Other", "elsewhere")
    assert b"here" in draw("/")
    assert "/other" not in site.paths


@with_browser
def test_script_without_end_costs_its_page_alone(site: WebStandIn, draw: Callable[[str], bytes]) -> None:
    site.pages.update({"/": SHELL, "/app.js": script("while (true) {}")})
    with pytest.raises(DocumentError, match="cannot be drawn"):
        draw("/")
    site.pages["/app.js"] = script("root.append('fine')")
    assert b"fine" in draw("/")


@with_browser
def test_requests_of_a_page_are_bounded(
    site: WebStandIn, draw: Callable[[str], bytes], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("connectors.web.rendering.MOST_REQUESTS", 10)
    site.pages.update({"/": SHELL, "/app.js": script("for (let n = 0; n < 50; n++) fetch('/n?' + n)")})
    draw("/")
    assert len(site.log) == 1 + 10 - 1  # the page itself was there before


@with_browser
def test_stop_ends_the_drawing(site: WebStandIn, chromium: Renderer) -> None:
    site.pages.update({"/": SHELL, "/app.js": script("1")})
    stop = threading.Event()
    with Client(allow_private=[site.place], stop=stop) as client:
        answer = client.get(f"{site.url}/")
        stop.set()
        with pytest.raises(Stopped):
            chromium.drawn(f"{site.url}/", answer, client.get)


@with_browser
def test_source_draws_with_its_own_client(site: WebStandIn, connect: Connect, crawl: Crawl) -> None:
    site.pages["/"] = SHELL
    site.pages["/app.js"] = script("root.innerHTML = '<p>' + 'made by a script '.repeat(30) + '</p>'")
    renderer = Renderer(CHROMIUM)
    connector = connect(renderer=renderer)
    (event,) = (event for event in crawl(connector).events if isinstance(event, Seen))
    assert event.blob is not None
    assert isinstance(event.blob.data, bytes)
    assert b"made by a script" in event.blob.data
    connector.close()
    assert crawl(connector).refs  # opened again
    connector.close()


@with_browser
def test_browser_that_does_not_start_is_a_config_error(site: WebStandIn) -> None:
    renderer = Renderer("/bin/false")
    with Client(allow_private=[site.place]) as client, pytest.raises(ConfigError, match="chromium does not start"):
        renderer.drawn(f"{site.url}/", client.get(f"{site.url}/"), client.get)
