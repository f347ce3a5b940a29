"""Pages that are held and were not met by a crawl: each is asked for, and only its own answer makes it gone."""

from collections.abc import Iterable, Iterator

from connectors.contract import Failed, Gone, Ref, Seen
from connectors.errors import AuthError, DocumentError, DocumentRefused, Unavailable
from connectors.http import Response, shown
from connectors.web.addresses import Address, address
from connectors.web.crawl import MOST_FAILURES, Crawl
from connectors.web.site import Site
from connectors.web.way import canonical, refresh


class Confirming:
    """Looks at held pages one by one.

    Args:
        site: What is asked.
        crawl: The crawl that did not meet them.
    """

    def __init__(self, site: Site, crawl: Crawl) -> None:
        self._site = site
        self._crawl = crawl

    def answers(self, refs: Iterable[Ref]) -> Iterator[Seen | Gone | Failed]:
        """Yield what became of each; none for those that come after the site stopped answering."""
        in_a_row = 0
        for ref in refs:
            answer = self._answer(ref)
            is_down = isinstance(answer, Failed) and isinstance(answer.error, Unavailable)
            in_a_row = in_a_row + 1 if is_down else 0
            yield answer
            if in_a_row >= MOST_FAILURES:
                return

    def _answer(self, ref: Ref) -> Seen | Gone | Failed:
        page = address(ref.locator or ref.url, None, self._site.scope.query)
        if page is None or page.key != ref.key or not self._site.scope.takes(page):
            return Gone(ref.key)  # the source was told otherwise since
        if not self._site.robots.allows(page.origin, page.url):
            error = DocumentRefused(f"robots.txt forbids to look at {shown(page.url)}, so it is kept", "")
            return Failed(ref.key, self._site.robots.rules(page.origin).error or error)
        try:
            return self._judged(ref, page, self._site.get(page))
        except (DocumentError, Unavailable, AuthError) as error:
            return Failed(ref.key, error)

    def _judged(self, ref: Ref, page: Address, answer: Response) -> Seen | Gone | Failed:
        if answer.status in {404, 410}:
            return Gone(ref.key)
        location = answer.headers.get("location", "")
        if answer.status in {301, 302, 303, 307, 308} and location:
            return self._moved(ref, page, answer.status, location)
        if not answer.ok:
            return Failed(ref.key, answer.error())
        read = self._site.read(page, answer)
        if self._crawl.soft.says_missing(read) or self._site.wants(read):
            return Gone(ref.key)
        for target in (canonical(self._site.scope, read), refresh(self._site.scope, read)):
            if target is not None and self._crawl.visited.get(target.key):
                return Gone(ref.key)
        return Seen(self._site.ref(page, self._site.note(read)), self._site.blob(read))

    def _moved(self, ref: Ref, page: Address, status: int, location: str) -> Seen | Gone | Failed:
        target = address(location, page.url, self._site.scope.query)
        if target is not None and target.key == page.key and target.url != page.url:
            return self._judged(ref, target, self._site.get(target))
        if target is not None and status in {301, 308}:
            return Gone(ref.key)
        return Failed(ref.key, DocumentError(f"{shown(page.url)} redirects for now, so it is kept"))
