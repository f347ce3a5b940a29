"""How a long document becomes pieces that put together are its text again (spec 04 section 6)."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from corebrain.model.fingerprint import quoted
from corebrain.model.text import is_blank, trim

PAGE_BREAK = "\f"
_LINE = re.compile(r"[^\n\f]*\n|[^\n\f]+|\f")
_HEADING = re.compile(r" {0,3}#{1,6} (.*)", re.DOTALL)
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
    title = trim(trim(match[1]).rstrip("#")) if match else ""
    return title[:_TITLE_CHARACTERS] or None


def split(text: str, pack: int) -> list[Piece]:
    """Cut *text* before pages and headings into pieces of at most *pack* bytes of JSON each.

    One unit over *pack* is cut after blank lines, what is still over it after lines, then between characters, and the
    cuts of each step are put together again as far as they fit. A piece is over *pack* only when a single character is.
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
        title = heading_title(_line_at(text, match.start())) if "#" in line[:4] else None
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


def _line_at(text: str, start: int) -> str:
    """Return the line that begins at *start*, a page break within it included."""
    end = text.find("\n", start)
    return text[start:] if end < 0 else text[start:end]


def _cut(text: str, unit: _Unit, pack: int) -> Iterator[_Unit]:
    start = unit.start
    for part in _parts(text[unit.start : unit.end], pack, ("\n\n", "\n")):
        yield _Unit(start, start + len(part), unit.page, unit.heading)
        start += len(part)


def _parts(text: str, pack: int, marks: Sequence[str]) -> list[str]:
    if json_size(text) <= pack:
        return [text]
    if not marks:
        return _packed(text, pack)
    cuts = _after(text, marks[0])
    if len(cuts) == 1:
        return _parts(text, pack, marks[1:])
    return _packed((part for cut in cuts for part in _parts(cut, pack, marks[1:])), pack)


def _packed(atoms: Iterable[str], pack: int) -> list[str]:
    """Put neighbours together as far as they fit."""
    packed: list[list[str]] = []
    size = 0
    for atom in atoms:
        more = json_size(atom)
        if packed and size + more <= pack:
            packed[-1].append(atom)
            size += more
        else:
            packed.append([atom])
            size = more
    return ["".join(atoms) for atoms in packed]


def _after(text: str, mark: str) -> list[str]:
    """Cut *text* after each *mark*."""
    cuts: list[str] = []
    start = 0
    while (at := text.find(mark, start)) >= 0:
        cuts.append(text[start : at + len(mark)])
        start = at + len(mark)
    return [*cuts, text[start:]] if start < len(text) else cuts
