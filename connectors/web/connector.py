"""The web connector: sites, single pages, sitemaps and feeds."""

import threading
from collections.abc import Callable, Iterable, Iterator

from connectors.contract import Blob, Event, Failed, Gone, Json, Notes, Ref, Seen, Unchanged
from connectors.errors import AuthError, ConnectorError, DocumentError, DocumentGone, DocumentRefused, Unavailable
from connectors.http import Client, Limits, Pace, Pacer, Resolver, RetryPolicy, Timing, shown
from connectors.http.guard import system_resolver
from connectors.notes import MemoryNotes
from connectors.web.addresses import address
from connectors.web.confirming import Confirming
from connectors.web.crawl import Crawl
from connectors.web.pages import is_document
from connectors.web.rendering import Renderer
from connectors.web.robots import Robots
from connectors.web.scope import Scope
from connectors.web.site import Habits, Site
from corebrain.layout import BrainSource

AGENT = "corebrain"
"""The name that robots.txt rules are looked up by, unless told otherwise."""

USER_AGENT = "corebrain/0.1 (documentation mirror; obeys robots.txt)"


class WebConnector:
    """The pages of one or more sites.

    A crawl begins at the starts and follows the site's sitemaps and links, politely (`Habits`), never beyond its scope
    (`connectors.web.scope`) and never to a private address that was not allowed by name (`connectors.http`).

    - A document's key is its host and path (`connectors.web.addresses`), its token a fingerprint of its bytes, its
      collection the host.
    - An unchanged page costs one conditional request; what it leads to is remembered (`connectors.web.page_notes`).
      A validator that changed proves nothing: the bytes decide, and after them the text.
    - A page is gone when it is missing in two crawls in a row, or when a complete crawl did not meet it and its own
      answer says so (`connectors.web.confirming`). A login, an error, an unreachable host keep it.
    - A crawl that was cut off goes on where it was.

    Args:
        scope: Which pages belong to the source.
        habits: How it is crawled.
        name: The source's name.
        allow_private: `host:port` pairs that may lie on a private network.
        authorization: Value of the `Authorization` header, sent to the origins of the starts only.
        ca: File of certificates to trust beside the usual ones.
        proxy: Address of a proxy.
        renderer: Draws pages that show nothing without their scripts; the connector closes it.
        agent: The name robots rules are looked up by; it also leads the `User-Agent`.
        limits, timing, pacer, retry, resolve, stop: As of `connectors.http.Client`.

    Attributes:
        say: Told what a person should know once; set it to listen.

    Raises:
        ConfigError: A start, a pattern or a `host:port` cannot be right.
    """

    source = BrainSource.WEB

    def __init__(
        self,
        scope: Scope,
        habits: Habits | None = None,
        *,
        name: str = "",
        allow_private: Iterable[str] = (),
        authorization: str = "",
        ca: str | None = None,
        proxy: str | None = None,
        renderer: Renderer | None = None,
        agent: str = AGENT,
        limits: Limits | None = None,
        timing: Timing | None = None,
        pacer: Pacer | None = None,
        retry: RetryPolicy | None = None,
        resolve: Resolver = system_resolver,
        stop: threading.Event | None = None,
    ) -> None:
        self.say: Callable[[str], None] = _unheard
        self.name = name or scope.starts[0].host
        self._scope = scope
        self._habits = habits or Habits()
        self._agent = agent
        self._private = tuple(allow_private)
        credentials = (
            {start.origin: {"Authorization": authorization} for start in scope.starts} if authorization else {}
        )
        self._client = Client(
            allow_private=self._private,
            headers={"User-Agent": USER_AGENT if agent == AGENT else f"{agent} ({USER_AGENT})"},
            credentials=credentials,
            ca=ca,
            proxy=proxy,
            limits=limits or Limits(connections=max(4, self._habits.concurrency)),
            pacer=pacer,
            retry=retry or RetryPolicy(attempts=3),
            timing=timing,
            stop=stop,
            resolve=resolve,
        )
        self._renderer = renderer
        self._before = 0
        self._site = self._fresh_site()
        self._crawl: Crawl | None = None

    @property
    def requests(self) -> int:
        """Requests sent since the last scan began, all hosts and retries counted."""
        return self._client.requests - self._before

    @property
    def stop(self) -> threading.Event:
        """Set it to end every wait and request within a second; another event may be put in its place."""
        return self._client.stop

    @stop.setter
    def stop(self, event: threading.Event) -> None:
        self._client.stop = event

    def close(self) -> None:
        """Close the connections, and the browser."""
        self._client.close()
        if self._renderer is not None:
            self._renderer.close()

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        """Crawl; see `connectors.web.crawl`."""
        self._before = self._client.requests
        self._site = self._fresh_site()
        if self._private:
            self.say(f"private addresses are allowed: {', '.join(self._private)}")
        self._crawl = Crawl(self._site, notes, cursor, scope)
        yield from self._crawl.events()

    def confirm(self, refs: Iterable[Ref]) -> Iterator[Seen | Gone | Failed]:
        """Ask for each page that the last scan did not meet."""
        crawl = self._crawl or Crawl(self._site, MemoryNotes(), None, "")
        yield from Confirming(self._site, crawl).answers(refs)

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read one page as it is now, through redirects within the source."""
        page = address(ref.locator or ref.url, None, self._scope.query)
        if page is None:
            raise DocumentRefused(f"{ref.key} has no address that can be asked for", "sync the source in full")
        name = shown(page.url)
        pace = self._site.pace(page.origin)
        answer = self._client.get(page.url, pace=pace, max_bytes=self._habits.max_bytes)
        if not answer.ok:
            raise _own_matter(answer.error(name))
        landed = address(answer.url, None, self._scope.query)
        if landed is None or not (landed.key == page.key or self._scope.takes(landed)):
            raise DocumentError(f"{name} now redirects to {shown(answer.url)}", "sync the source again")
        if landed.key != page.key and answer.permanent:
            raise DocumentGone(f"{name} moved to {shown(answer.url)}")
        read = self._site.read(page, answer)
        if not is_document(page, answer):
            raise DocumentRefused(f"{name} is {answer.media_type or 'of no type'}, no kind of document", "exclude it")
        return Unchanged(known) if known is not None and known == read.token else self._site.blob(read)

    def _fresh_site(self) -> Site:
        pace = Pace(self._habits.interval_s)
        robots = Robots(self._client, self._agent, pace, heed=self._habits.robots)
        return Site(self._scope, self._habits, self._client, self._agent, robots, self.say, self._renderer)


def _own_matter(error: ConnectorError) -> ConnectorError:
    """Keep a page's status the page's matter: a login it wants, or a failure of its own, must not stop the source."""
    if isinstance(error, AuthError):
        return DocumentRefused(error.message, "give authorization, or exclude it")
    if isinstance(error, Unavailable) and error.retry_after_s is None:
        return DocumentError(error.message)
    return error


def _unheard(line: str) -> None:
    """Nobody listens."""
