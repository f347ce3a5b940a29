"""Cutting a document into passages: what is ranked, quoted and given a page (spec 04 section 6, with our own size).

A unit begins at every form feed (a page break) and at every markdown heading. Units are packed, in order, up to
`PACK` characters; a longer unit is cut at paragraphs, else lines, else spaces, else anywhere. Passages follow each
other without gap or overlap, so they concatenate to the text.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corebrain.model.text import is_blank

PACK = 1_500
_TITLE = 120  # characters of a heading that are kept
_BOUNDARY = re.compile(r"\f|(?:^|(?<=\f)) {0,3}#{1,6} [^\n\f]*\S", re.MULTILINE)
_HEADING = re.compile(r" {0,3}#{1,6} +(.*)")
_CLOSING = re.compile(r"(?:^|[ \t])#+[ \t]*$|[ \t]+$")
_CUTS = ("\n\n", "\n", " ")


@dataclass(frozen=True, slots=True)
class Passage:
    """One piece of a text; pages only when the text has page breaks, `section` the heading in force at its start."""

    text: str
    first_page: int | None = None
    last_page: int | None = None
    section: str | None = None


@dataclass(frozen=True, slots=True)
class _Unit:
    text: str
    page: int
    section: str | None


def split(text: str, pack: int = PACK) -> list[Passage]:
    """Return the passages of *text*, at least one; their texts joined are *text*.

    A text that fits whole is one passage, whatever it holds, and has no page and no section.
    """
    if len(text) <= pack:
        return [Passage(text)]
    units = [piece for unit in _units(text) for piece in _cut(unit, pack)]
    has_pages = "\f" in text
    passages: list[Passage] = []
    held: list[_Unit] = []
    size = 0
    for unit in units:
        if size and size + len(unit.text) > pack and not is_blank(unit.text):
            passages.append(_packed(held, has_pages=has_pages))
            held, size = [], 0
        held.append(unit)
        size += len(unit.text) if size or not is_blank(unit.text) else 0  # blanks alone fill no passage
    passages.append(_packed(held, has_pages=has_pages))
    return passages


def _packed(units: list[_Unit], *, has_pages: bool) -> Passage:
    return Passage(
        text="".join(unit.text for unit in units),
        first_page=units[0].page if has_pages else None,
        last_page=units[-1].page if has_pages else None,
        section=units[0].section,
    )


def _units(text: str) -> list[_Unit]:
    """Cut before form feeds and headings; a piece of only whitespace joins the next one, at the end the one before."""
    units: list[_Unit] = []
    waiting = ""
    page = 1
    section: str | None = None
    for piece in _pieces(text):
        page += piece.count("\f")
        section = _heading(piece) or section
        if is_blank(piece):
            waiting += piece
        else:
            units.append(_Unit(waiting + piece, page, section))
            waiting = ""
    if not units:
        return [_Unit(text, page, section)]
    if waiting:
        units[-1] = _Unit(units[-1].text + waiting, units[-1].page, units[-1].section)
    return units


def _pieces(text: str) -> Iterator[str]:
    start = 0
    for match in _BOUNDARY.finditer(text):
        if match.start() > start:
            yield text[start : match.start()]
            start = match.start()
    yield text[start:]


def _heading(piece: str) -> str | None:
    match = _HEADING.match(piece)
    if match is None:
        return None
    title = _CLOSING.sub("", match[1].split("\n", 1)[0].split("\f", 1)[0]).strip()
    return title[:_TITLE] or None


def _cut(unit: _Unit, pack: int) -> Iterator[_Unit]:
    """Yield *unit*, or pieces of it of at most *pack* characters that end at the best cut there is."""
    start = 0
    while len(unit.text) - start > pack:
        end = _best_cut(unit.text, start, start + pack)
        yield _Unit(unit.text[start:end], unit.page, unit.section)
        start = end
    yield _Unit(unit.text[start:], unit.page, unit.section)


def _best_cut(text: str, start: int, end: int) -> int:
    for mark in _CUTS:
        at = text.rfind(mark, start + (end - start) // 3, end)
        if at >= 0:
            return at + len(mark)
    return end
