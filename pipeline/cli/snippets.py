"""The part of a text that answers a query, the words that match, and the page and heading they stand at."""

import re
from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass

from corebrain.engines.local.matching import Matcher, Span
from corebrain.model.requests import Hit
from pipeline.cli.printable import printable
from pipeline.cli.reading import title_and_text

WIDTH = 240
"""Characters of a snippet."""

_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_PAGED = (".pdf",)


@dataclass(frozen=True, slots=True)
class Snippet:
    """What is shown of a hit.

    Attributes:
        text: One line.
        spans: Where in it the words of the query stand.
        page: `3` or `3-4`; `None` when the document has no pages.
        heading: The heading, slide or sheet it stands below; `None` when there is none.
    """

    text: str
    spans: tuple[tuple[int, int], ...]
    page: str | None
    heading: str | None


def snippet(hit: Hit, query: str, matcher: Matcher | None = None) -> Snippet:
    """Cut the part of a hit that says why it was found."""
    matcher = matcher or Matcher(query)
    _, text = title_and_body(hit)  # the title is shown above the snippet
    at = _densest(matcher.spans(text, hit.meta.language))
    start = 0 if at < WIDTH // 3 else text.rfind(" ", 0, at - WIDTH // 4) + 1
    start = start or max(0, at - WIDTH // 4)  # scripts without spaces
    part = printable(text[start : start + 2 * WIDTH])
    ends = len(part) <= WIDTH and start + 2 * WIDTH >= len(text)
    shown = f"{'…' if start else ''}{part[:WIDTH].rstrip()}{'' if ends else '…'}"
    spans = tuple((span.start, span.end) for span in matcher.spans(shown, hit.meta.language))
    tags = hit.meta.tags
    return Snippet(shown, spans, _tagged(tags, "page:") or _page(hit, text, at), _heading(tags, text, at))


def title_and_body(hit: Hit) -> tuple[str, str]:
    """Return the title, and the text without the heading that repeats it."""
    title, text = title_and_text(hit)
    return title, text.lstrip().removeprefix(f"# {title}\n") if title else text


def _densest(spans: Sequence[Span]) -> int:
    """Return where the snippet begins that holds the most different words of the query, close together."""
    window: deque[Span] = deque()
    held: Counter[str] = Counter()
    best, at = (0, 0), 0
    for span in spans:
        window.append(span)
        held[span.word] += 1
        while held[window[0].word] > 1 or window[0].start < span.start - WIDTH // 2:
            held -= Counter([window.popleft().word])
        found = len(held), window[0].start - span.start  # among equals the closest together
        if found > best:
            best, at = found, window[0].start
    return at


def _tagged(tags: tuple[str, ...], prefix: str) -> str | None:
    """Return what an engine's read-side tag says; it stands after the author's own."""
    return next((tag.removeprefix(prefix) for tag in reversed(tags) if tag.startswith(prefix)), None)


def _page(hit: Hit, text: str, at: int) -> str | None:
    """Count the page marks before the match: a document of one passage carries no tags."""
    paged = "\f" in text or (hit.meta.file_path or "").lower().endswith(_PAGED)
    return str(1 + text.count("\f", 0, at)) if paged else None


def _heading(tags: tuple[str, ...], text: str, at: int) -> str | None:
    above = [match[1] for match in _HEADING.finditer(text) if match.start() <= at]
    return above[-1] if above else _tagged(tags, "section:")
