"""Places where a site has no end of pages: calendars, filters, paths that lead into themselves. They are bounded."""

import re
from collections import Counter

from connectors.web.addresses import Address

MOST_SEGMENTS = 20
"""Segments of a path."""
MOST_REPEATS = 3
"""Times one segment may stand in a path, or a run of segments follow itself."""
MOST_ALIKE = 1_000
"""Pages followed whose addresses differ in digits only."""
MOST_QUERIES = 200
"""Pages followed whose addresses differ in the values of their parameters only."""

_DIGITS = re.compile(r"\d+")
_RUN = re.compile(r"(/[^/]+(?:/[^/]+)?)\1{2,}(?=/|$)")


class Traps:
    """Counts what a crawl follows, and says when a kind of address has been followed often enough."""

    def __init__(self) -> None:
        self._alike: Counter[str] = Counter()

    def holds(self, page: Address) -> bool:
        """Whether an address leads into a trap; asking counts it."""
        segments = page.path.split("/")[1:]
        if len(segments) > MOST_SEGMENTS or _RUN.search(page.path):
            return True
        if segments and max(Counter(segments).values()) > MOST_REPEATS:
            return True
        if page.query:
            names = "&".join(pair.partition("=")[0] for pair in page.query.split("&"))
            return self._over(f"{page.host}{_DIGITS.sub('#', page.path)}?{names}", MOST_QUERIES)
        shape = _DIGITS.sub("#", page.path)
        return shape != page.path and self._over(page.host + shape, MOST_ALIKE)

    def _over(self, shape: str, most: int) -> bool:
        self._alike[shape] += 1
        return self._alike[shape] > most
