"""The part of a text that answers a query, the words that match, and the page and heading they stand at."""

import re
from collections import Counter, deque
from dataclasses import dataclass
from itertools import islice

from corebrain.model.requests import Hit
from pipeline.cli.printable import printable
from pipeline.cli.reading import title_and_text

WIDTH = 240
"""Characters of a snippet."""

_WORD = re.compile(r"\w+")
_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_ENDINGS = ("ing", "es", "ed", "s")  # enough to mark what a stemming engine found; marking is no ranking
_MATCHES = 2_000  # of a long document, looked at for the best place
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


def snippet(hit: Hit, query: str) -> Snippet:
    """Cut the part of a hit that says why it was found."""
    title, text = title_and_text(hit)
    text = text.lstrip().removeprefix(f"# {title}\n") if title else text  # it is shown above the snippet
    stems = sorted({_stem(word) for word in _WORD.findall(query.casefold()) if len(word) > 1}, key=len, reverse=True)
    pattern = _matcher(stems)
    at = _densest(text, pattern, stems) if pattern else 0
    start = 0 if at < WIDTH // 3 else text.rfind(" ", 0, at - WIDTH // 4) + 1
    part = printable(text[start : start + 2 * WIDTH])
    ends = len(part) <= WIDTH and start + 2 * WIDTH >= len(text)
    shown = f"{'…' if start else ''}{part[:WIDTH].rstrip()}{'' if ends else '…'}"
    spans = tuple(match.span() for match in pattern.finditer(shown)) if pattern else ()
    tags = hit.meta.tags
    return Snippet(shown, spans, _tagged(tags, "page:") or _page(hit, text, at), _heading(tags, text, at))


def _matcher(stems: list[str]) -> re.Pattern[str] | None:
    """Return a pattern of words that begin with one of *stems*, which come longest first."""
    return re.compile(rf"\b(?:{'|'.join(map(re.escape, stems))})\w*", re.IGNORECASE) if stems else None


def _densest(text: str, pattern: re.Pattern[str], stems: list[str]) -> int:
    """Return where the snippet begins that holds the most different words of the query, close together."""
    window: deque[tuple[int, str]] = deque()
    held: Counter[str] = Counter()
    best, at = (0, 0), 0
    for match in islice(pattern.finditer(text), _MATCHES):
        word = match[0].casefold()
        stem = next((stem for stem in stems if word.startswith(stem)), word)
        window.append((match.start(), stem))
        held[stem] += 1
        while held[window[0][1]] > 1 or window[0][0] < match.start() - WIDTH // 2:
            held -= Counter([window.popleft()[1]])
        found = len(held), window[0][0] - match.start()  # among equals the closest together
        if found > best:
            best, at = found, window[0][0]
    return at


def _stem(word: str) -> str:
    ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) > 3), "")
    return word.removesuffix(ending)


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
