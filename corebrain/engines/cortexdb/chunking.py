"""How a long document becomes pieces that put together are its text again (spec 04 section 6)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from corebrain.model.fingerprint import quoted
from corebrain.model.text import is_blank

PAGE_BREAK = "\f"
_LINE = re.compile(r"[^\n\f]*\n|[^\n\f]+|\f")
_HEADING = re.compile(r" {0,3}#{1,6} (.*)")
_TITLE_CHARACTERS = 120


@dataclass(frozen=True, slots=True)
class Piece:
    """Consecutive text of a document.

    Attributes:
        text: The text, nothing added or left out.
        first_page: Page of its first text, from 1.
        last_page: Page of its last unit.
        section: Heading in force at its start.
    """

    text: str
    first_page: int
    last_page: int
    section: str | None


@dataclass(slots=True)
class _Unit:
    start: int
    end: int
    page: int
    heading: str | None


def json_size(text: str) -> int:
    """Return the UTF-8 bytes of *text* inside a JSON string."""
    return len(quoted(text).encode("utf-8")) - 2


def heading_title(line: str) -> str | None:
    """Return the title of a markdown heading line, at most 120 characters; `None` when it is none."""
    match = _HEADING.fullmatch(line.rstrip("\n"))
    title = match[1].strip().rstrip("# ").strip() if match else ""
    return title[:_TITLE_CHARACTERS] or None


def split(text: str, pack: int) -> list[Piece]:
    """Cut *text* before pages and headings into pieces of at most *pack* bytes of JSON each.

    One unit over *pack* is cut after blank lines, else after lines, else between characters.
    A piece is over *pack* only when a single character is.
    """
    packed: list[tuple[_Unit, int]] = []  # what a piece covers, and the page of its last unit
    size = 0
    for part in (part for unit in _units(text) for part in _cut(text, unit, pack)):
        more = json_size(text[part.start : part.end])
        if packed and size + more <= pack:
            packed[-1][0].end = part.end
            packed[-1] = (packed[-1][0], part.page)
            size += more
        else:
            packed.append((part, part.page))
            size = more
    return [Piece(text[unit.start : unit.end], unit.page, last, unit.heading) for unit, last in packed]


def _units(text: str) -> list[_Unit]:
    """Blank text joins the unit after it, at the end the one before."""
    units: list[_Unit] = []
    start = 0  # of the unit to come
    page = 1
    heading: str | None = None
    fresh = True  # the next text begins a unit
    for match in _LINE.finditer(text):
        line = match[0]
        title = heading_title(line)
        heading = title or heading
        page += line == PAGE_BREAK
        if not fresh and (line == PAGE_BREAK or title is not None):
            fresh, start = True, match.start()
        if is_blank(line) and fresh:
            continue
        if fresh:
            units.append(_Unit(start, match.end(), page, heading))
            fresh = False
        units[-1].end = match.end()
    if not units:
        return [_Unit(0, len(text), 1, None)]
    units[-1].end = len(text)
    return units


def _cut(text: str, unit: _Unit, pack: int) -> Iterator[_Unit]:
    if json_size(text[unit.start : unit.end]) <= pack:
        yield unit
        return
    start = end = unit.start
    size = 0
    for atom in _atoms(text[unit.start : unit.end], pack):
        more = json_size(atom)
        if end > start and size + more > pack:
            yield _Unit(start, end, unit.page, unit.heading)
            start, size = end, 0
        end += len(atom)
        size += more
    yield _Unit(start, end, unit.page, unit.heading)


def _atoms(text: str, pack: int) -> Iterator[str]:
    for paragraph in _after(text, "\n\n"):
        if json_size(paragraph) <= pack:
            yield paragraph
            continue
        for line in _after(paragraph, "\n"):
            if json_size(line) <= pack:
                yield line
            else:
                yield from line


def _after(text: str, mark: str) -> Iterator[str]:
    """Cut *text* after each *mark*."""
    start = 0
    while (at := text.find(mark, start)) >= 0:
        yield text[start : at + len(mark)]
        start = at + len(mark)
    if start < len(text):
        yield text[start:]
