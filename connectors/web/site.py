"""A configured site: its rules, its pace, the client it is asked with, and the ref of one of its pages."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

from connectors.contract import Blob, Ref
from connectors.errors import DocumentRefused
from connectors.http import Client, Pace, Response, shown
from connectors.web import addresses
from connectors.web.addresses import Address
from connectors.web.page_notes import PageNote, Was
from connectors.web.pages import Page, is_document, read_page
from connectors.web.rendering import Renderer
from connectors.web.robots import Robots
from connectors.web.scope import Scope


@dataclass(frozen=True, slots=True)
class Habits:
    """How a site is crawled.

    Attributes:
        follow: Whether links and sitemaps are followed; otherwise the starts are all there is.
        sitemaps: Whether sitemaps named by robots.txt, or guessed at `/sitemap.xml`, are read.
        trust_lastmod: Whether a page is taken for unchanged, unasked, while its sitemap gives the same `lastmod`.
        robots: Whether robots.txt is heeded.
        max_pages: Most addresses looked at in one crawl.
        max_depth: Most links between a start and a page.
        interval_s: Seconds between two requests to a host; robots.txt may ask for more.
        concurrency: Requests under way at once.
        languages: Primary tags (`en`) of the languages wanted; empty for all.
        collection_depth: Folders of the path that make a collection of their own below the host.
        max_bytes: Largest page read.
        content: What of a web page is kept: `page` (all but what is surely furniture) or its `article` alone.
    """

    follow: bool = True
    sitemaps: bool = True
    trust_lastmod: bool = False
    robots: bool = True
    max_pages: int = 10_000
    max_depth: int = 20
    interval_s: float = 0.2
    concurrency: int = 4
    languages: frozenset[str] = frozenset()
    collection_depth: int = 0
    max_bytes: int = 32 * 2**20
    content: Literal["page", "article"] = "page"


@dataclass(frozen=True, slots=True)
class Site:
    """Everything that asking a site needs.

    Attributes:
        scope: Which pages belong to it.
        habits: How it is crawled.
        client: Asks.
        agent: The name robots rules are looked up by.
        robots: The rules of its origins, read once a scan.
        say: Told what a person should know once.
        renderer: Draws pages that show nothing without their scripts; `None` leaves them as they are.
    """

    scope: Scope
    habits: Habits
    client: Client
    agent: str
    robots: Robots
    say: Callable[[str], None] = field(repr=False)
    renderer: Renderer | None = None

    def get(self, address: Address, note: PageNote | None = None, *, max_bytes: int | None = None) -> Response:
        """Ask for a page without following a redirect; with its validators when *note* holds some."""
        headers = {"Accept": "text/html,application/xhtml+xml,application/pdf;q=0.9,*/*;q=0.8"}
        if note is not None and note.etag:
            headers["If-None-Match"] = note.etag
        if note is not None and note.date:
            headers["If-Modified-Since"] = note.date
        pace = self.pace(address.origin)
        most = self.habits.max_bytes if max_bytes is None else max_bytes
        return self.client.get(address.url, headers=headers, follow=False, pace=pace, max_bytes=most)

    def read(self, address: Address, answer: Response) -> Page:
        """Read a reply; a page that shows nothing without its scripts is drawn first, where that is wanted.

        Raises:
            ConfigError: The browser is missing.
            DocumentError: It failed at this page.
        """
        page = read_page(address, answer, self.agent)
        if self.renderer is None or not page.head.is_bare:
            return page
        content = self.renderer.drawn(address.url, answer, self._asset)
        headers = {**answer.headers, "content-type": "text/html; charset=utf-8"}
        drawn = replace(answer, content=content, headers=headers, size=len(content))
        return replace(read_page(address, drawn, self.agent), is_drawn=True)

    def _asset(self, url: str) -> Response:
        """Ask for what a page's script wants, by the same rules."""
        found = addresses.address(url)
        if found is None or not self.robots.allows(found.origin, url):
            raise DocumentRefused(f"{shown(url)} may not be asked for", "")
        return self.client.get(url, pace=self.pace(found.origin), max_bytes=self.habits.max_bytes)

    def pace(self, origin: str) -> Pace:
        """Return how fast an origin may be asked: as configured, or slower where its robots.txt says so."""
        delay = self.robots.rules(origin).delay_s if self.habits.robots else 0.0
        return Pace(max(self.habits.interval_s, delay))

    def blob(self, page: Page) -> Blob:
        """Return the document of a page that was read."""
        return page.blob("article" if self.habits.content == "article" else "")

    def ref(self, address: Address, note: PageNote) -> Ref:
        """Return the ref of a page as it was last read."""
        return Ref(
            key=address.key,
            token=note.token or None,
            collection=self.collection(address),
            locator=address.url,
            url=address.url,
            media_type=note.media_type,
            size=note.size,
            modified=note.modified_at,
        )

    def note(
        self, page: Page, *, was: Was = "document", links: tuple[str, ...] = (), alias: str = "", changed: str = ""
    ) -> PageNote:
        """Return what is to be remembered of a page that was read."""
        answer = page.answer
        return PageNote(
            url=page.address.url,
            was=was,
            rules=self.scope.rules_mark,
            etag="" if page.is_drawn else answer.headers.get("etag", "")[:500],  # its scripts may say something new
            date="" if page.is_drawn else answer.headers.get("last-modified", "")[:100],
            token=page.token,
            media_type=answer.media_type[:100],
            modified=page.modified.isoformat() if page.modified else "",
            size=len(answer.content),
            links=links,
            alias=alias,
            changed=changed[:64],
        )

    def collection(self, address: Address) -> str:
        """Return the collection of a page: its host, or its host and first folders."""
        folders = address.path.split("/")[1:-1][: self.habits.collection_depth]
        return "/".join((address.host, *folders))

    def wants(self, page: Page) -> str:
        """Return why a page that was read is not wanted; empty when it is."""
        if not page.asks.index:
            return "they ask not to be kept (noindex)"
        if not is_document(page.address, page.answer):
            return "no kind of document"
        return "" if self.wants_language(page.head.language) else "other languages"

    def wants_language(self, declared: str) -> bool:
        """Whether a page in a declared language (`de-AT`, `en_US`; empty when none is) is wanted."""
        wanted = self.habits.languages
        primary = declared.replace("_", "-").partition("-")[0].strip().lower()
        return not wanted or not primary or primary == "x" or primary in wanted
