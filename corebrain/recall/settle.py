"""Decides what each section shows (spec 03 sections 1.2 to 1.4). Pure: reads in, lines out."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest

from corebrain.errors import CorebrainError
from corebrain.model.meta import ItemKind
from corebrain.model.requests import Citation, Hit
from corebrain.model.text import WHITESPACE, collapse, is_blank, trim
from corebrain.recall.reads import Answered, Found, Read
from corebrain.recall.types import HolisticRecall, ScopeSection, SectionHits, SkippedSection

EMPTY = "empty"
"""Why a section without an error is skipped."""

MAX_BULLET = 600
"""Characters of a bullet before it is shortened."""

_TITLED = re.compile(r"# ([^\n]*)\n\n(.*)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Settled:
    """The filled sections with their bullets (none for an answer), and the skipped ones, each in section order."""

    filled: tuple[tuple[SectionHits, tuple[str, ...]], ...]
    skipped: tuple[SkippedSection, ...]


def settle(recall: HolisticRecall, reads: Sequence[Read]) -> Settled:
    """Fold beliefs in, drop what may not or need not show, cut to the limits, write the bullets.

    An item is listed once, in its first section; an answer that cites an item does not hide it.
    """
    filled: list[tuple[SectionHits, tuple[str, ...]]] = []
    skipped: list[SkippedSection] = []
    shown: set[str] = set()
    for section, read in zip(recall.sections, fold_beliefs(recall.sections, reads), strict=True):
        if isinstance(read, CorebrainError):
            skipped.append(SkippedSection(heading=section.heading, reason=str(read)))
        elif isinstance(read, Answered):
            hits = tuple(map(_cited, read.answer.citations))
            filled.append((SectionHits(heading=section.heading, answer=read.answer.answer, hits=hits), ()))
        elif kept := _kept(recall, section, read.hits, shown):
            shown.update(hit.id for hit in kept)
            filled.append((SectionHits(heading=section.heading, hits=kept), tuple(map(bullet, kept))))
        else:
            skipped.append(SkippedSection(heading=section.heading, reason=EMPTY))
    return Settled(tuple(filled), tuple(skipped))


def fold_beliefs(sections: Sequence[ScopeSection], reads: Sequence[Read]) -> list[Read]:
    """Give every learnings section the beliefs of all reads, stored learnings first at each rank."""
    lists = [read.beliefs for read in reads if isinstance(read, Found)]
    merged: dict[str, Hit] = {}
    for belief in _by_rank(*lists):
        merged.setdefault(belief.id, belief)
    if not merged:
        return list(reads)
    beliefs = tuple(merged.values())
    return [_folded(section, read, beliefs) for section, read in zip(sections, reads, strict=True)]


def _folded(section: ScopeSection, read: Read, beliefs: Sequence[Hit]) -> Read:
    if not isinstance(read, Found) or not section.shows_learnings:
        return read
    admitted = [belief for belief in beliefs if section.filter.matches(ItemKind.LEARNING, belief.meta)]
    return Found(tuple(_by_rank(read.hits, admitted)))


def _by_rank(*lists: Sequence[Hit]) -> Iterator[Hit]:
    """Yield every list's first, then every list's second, and so on."""
    for rank in zip_longest(*lists):
        yield from (hit for hit in rank if hit is not None)


def _kept(recall: HolisticRecall, section: ScopeSection, hits: Sequence[Hit], shown: set[str]) -> tuple[Hit, ...]:
    fresh: dict[str, Hit] = {}
    for hit in hits:
        if section.filter.admits_kind(hit.kind) and hit.id not in shown and not recall.excludes(hit):
            fresh.setdefault(hit.id, hit)
            if len(fresh) == section.limit:
                break
    return tuple(fresh.values())


def _cited(citation: Citation) -> Hit:
    return Hit(
        id=citation.id,
        kind=citation.kind,
        text=citation.snippet,
        meta=citation.meta,
        score=citation.score if citation.score is not None else 0.0,
    )


def bullet(hit: Hit) -> str:
    """Return the one line that shows *hit*: led by its time or title, whitespace collapsed, at most 601 characters."""
    return _one_line(_text(hit))


def _text(hit: Hit) -> str:
    seen = hit.meta.observed_at
    if hit.kind is ItemKind.CONVERSATION and seen is not None:
        return f"[{str(seen)[:16].replace('T', ' ')}] {hit.text}"
    if hit.kind is ItemKind.DOCUMENT:
        return _titled(hit.text)
    return hit.text


def _titled(text: str) -> str:
    """Turn `# T`, an empty line and a body into `T: body`, without the title that the body may repeat."""
    match = _TITLED.fullmatch(text)
    if match is None or is_blank(match[1]):
        return text
    title = trim(match[1])
    body = match[2].lstrip(WHITESPACE)
    repeated = f"# {title}"
    if body == repeated or body.startswith(f"{repeated}\n"):
        body = body[len(repeated) :].lstrip(WHITESPACE)
    return f"{title}: {body}"


def _one_line(text: str) -> str:
    """Collapse and shorten; of a long text only as much is read as the bullet can hold."""
    size = 2 * MAX_BULLET
    line = collapse(text[:size])
    while len(line) <= MAX_BULLET and size < len(text):
        size *= 4
        line = collapse(text[:size])
    return shorten(line, MAX_BULLET) if len(line) > MAX_BULLET else line


def shorten(text: str, keep: int) -> str:
    """Return at most the first *keep* characters and `…`, cut at a space unless that loses half or more."""
    cut = text[:keep]
    end = max(map(cut.rfind, WHITESPACE))
    if end >= 0 and 2 * _size(cut[:end]) > _size(cut):
        cut = cut[:end]
    return cut.rstrip(WHITESPACE) + "…"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
