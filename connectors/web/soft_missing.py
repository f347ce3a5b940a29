"""Pages that say "not found" with a status that says "here it is".

Each host is asked once for a page that cannot exist. One that answers 404 is honest and never doubted again; any other
page that reads like the answer to that question is then taken for missing.
"""

from collections import Counter
from hashlib import sha256

from connectors.contract import Json, Notes
from connectors.errors import ConnectorError
from connectors.web.addresses import Address, address
from connectors.web.pages import Page, is_html
from connectors.web.site import Site
from corebrain.documents.html_links import visible_text
from corebrain.errors import CorebrainError

_WORDS = 400
"""Words of the page that are compared."""
_ALIKE = 0.9
"""Share of words two pages must have in common to read alike."""


class SoftMissing:
    """Knows how each host says that a page is missing.

    Args:
        site: Asks.
        notes: Keeps the answers, so that a host is asked once and not at every crawl; `None` asks again.
    """

    def __init__(self, site: Site, notes: Notes | None) -> None:
        self._site = site
        self._notes = notes
        self._known: dict[str, Json] = {}

    def says_missing(self, page: Page) -> bool:
        """Whether a page that was given is the host's way to say that there is none."""
        if page.address.path == "/" or not is_html(page.answer):
            return False
        answer = self._answer(page.address)
        if not isinstance(answer, dict) or page.head.title != answer.get("title"):
            return False
        return _alike(_words(page), str(answer.get("words", "")).split())

    def _answer(self, page: Address) -> Json:
        origin = page.origin
        if origin not in self._known:
            kept = self._notes.get(f"missing:{origin}") if self._notes is not None else None
            self._known[origin] = self._asked(origin) if kept is None else kept
            if kept is None and self._notes is not None:
                self._notes.put(f"missing:{origin}", self._known[origin])
        return self._known[origin]

    def _asked(self, origin: str) -> Json:
        """Return how a host says "missing": its words, or `honest`."""
        probe = address(f"{origin}/no-such-page-{sha256(origin.encode()).hexdigest()[:12]}")
        if probe is None or not self._site.robots.allows(origin, probe.url):
            return "honest"
        try:
            answer = self._site.get(probe)
            if not answer.ok or not is_html(answer):
                return "honest"
            page = self._site.read(probe, answer)
        except ConnectorError:
            return "honest"
        return {"title": page.head.title, "words": " ".join(_words(page))}


def _words(page: Page) -> list[str]:
    try:
        text = visible_text(page.answer.content, page.answer.headers.get("content-type"))
    except CorebrainError:
        return []
    return [word[:60] for word in text.replace(page.address.path, " ").split()[:_WORDS]]


def _alike(first: list[str], second: list[str]) -> bool:
    if not first or not second:
        return False  # nothing without scripts: both may be anything
    common = sum((Counter(first) & Counter(second)).values())
    return common >= _ALIKE * max(len(first), len(second))
