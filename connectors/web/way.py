"""Where a crawl goes next: which links are taken up, each once, without ever entering what has no end."""

from collections import Counter

from connectors.web.addresses import Address, address
from connectors.web.frontier import Entry, Frontier, Kind
from connectors.web.pages import Page
from connectors.web.scope import Scope
from connectors.web.site import Site
from connectors.web.traps import Traps

_INDEXES = frozenset({"index.html", "index.htm", "index.php"})

MOST_LISTS_DEEP = 3
"""Indexes of sitemaps within each other."""


class Way:
    """The frontier, and the rules by which it grows.

    Args:
        site: Whose pages.
        frontier: The queue, new or of a crawl that goes on.

    Attributes:
        frontier: The queue.
        skipped: Why how many addresses were left out.
        truncated: Whether the most addresses of one crawl were reached.
    """

    def __init__(self, site: Site, frontier: Frontier) -> None:
        self._site = site
        self._traps = Traps()
        self.frontier = frontier
        self.skipped: Counter[str] = Counter()
        self.truncated = frontier.length >= site.habits.max_pages

    def meet(self, key: str, entry: Entry) -> None:
        """Take up an address unless it was met before."""
        if self.frontier.meet(key):
            self.push(entry)

    def push(self, entry: Entry) -> None:
        """Take up an address whatever was met before."""
        if self.frontier.length >= self._site.habits.max_pages:
            self.truncated = True
        else:
            self.frontier.add(entry)

    def follow(self, links: tuple[str, ...], entry: Entry) -> None:
        """Take up the links of a page."""
        if entry.depth >= self._site.habits.max_depth:
            return
        for link in links:
            page = address(link, None, self._site.scope.query)
            if page is None or not self.frontier.meet(page.key):
                continue
            if self._traps.holds(page):
                self.skipped["they look endless (calendars, filters, circular paths)"] += 1
            else:
                self.push(Entry(page.url, depth=entry.depth + 1))

    def add_list(self, url: str, base: str, kind: Kind, depth: int = 0) -> None:
        """Take up a sitemap of the site."""
        target = address(url, base)
        if target is not None and depth <= MOST_LISTS_DEEP and self._site.scope.same_site(target):
            self.meet(target.url, Entry(target.url, kind, depth))

    def links(self, page: Page) -> tuple[str, ...]:
        """Return the addresses of this source that a page leads to, each once, in its order."""
        if not page.asks.follow or not self._site.habits.follow:
            return ()
        base = address(page.head.base, page.address.url) if page.head.base else None
        start = base.url if base is not None else page.address.url
        found: dict[str, None] = {}
        for link in page.head.links:
            if link.nofollow or not self._site.wants_language("" if link.language == "x-default" else link.language):
                continue
            target = self._site.scope.address(link.href, start)
            if target is not None and target.url != page.address.url:
                found[target.url] = None
        return tuple(found)


def canonical(scope: Scope, page: Page) -> Address | None:
    """Return the address a page calls its own, when it is another one of the source that may stand for it."""
    target = scope.address(page.head.canonical, page.address.url) if page.head.canonical else None
    if target is None or target.key == page.address.key:
        return None
    is_front = target.path == "/" and not target.query  # every page calling the front page its own is a mistake
    return None if is_front and page.address.path.count("/") > 1 else target


def folder_of_index(scope: Scope, page: Page) -> Address | None:
    """Return the folder whose `index.html` (or `.htm`, `.php`) a page is, when it is of the source: often its twin."""
    folder, _, last = page.address.path.rpartition("/")
    return scope.address(f"{page.address.origin}{folder}/") if last in _INDEXES and not page.address.query else None


def refresh(scope: Scope, page: Page) -> Address | None:
    """Return where a page sends its reader at once, when that is another page of the source."""
    target = scope.address(page.head.refresh, page.address.url) if page.head.refresh else None
    return None if target is None or target.key == page.address.key else target
