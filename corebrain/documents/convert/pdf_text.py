"""Lines of a PDF to markdown blocks: headings by size and weight, re-joined paragraphs, lists, code."""

import re
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise

from corebrain.documents.convert.pdf_chars import BULLETS, join_hyphens
from corebrain.documents.convert.pdf_lines import Line
from corebrain.documents.escape import escape_start, escape_tags

MAX_HEADING_CHARS = 180
MAX_HEADING_LINES = 4
LARGER = 1.06
"""A heading's size over the body's."""
CLEARLY_LARGER = 1.2
"""From here on size alone makes a heading; below it the line must also look like one."""

_BULLET = re.compile(rf"^(?:[{re.escape(BULLETS)}]|[-*\u2013\u2014](?=\s))\s*")
_NUMBERED = re.compile(r"^(?:\d{1,3}[.)]|\(?[a-z][.)]|\([0-9ivx]{1,4}\))\s+\S")
_SECTION = re.compile(r"^(?:\d+(?:\.\d+)*\.?|[A-Z]\.|[IVX]+\.|Chapter|Section|Appendix|Annex)\s+\S")
_WORD = re.compile(r"[^\W\d_]")
_SENTENCE_END = (".", ":", "?", "!", "。", "؟", ";")
_LEADER = re.compile(r"\s*(?:[.\u2026\u00b7]\s?){4,}\s*")
_CONTENTS = re.compile(r"\s\d+$")
_CJK = re.compile("[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
_CJK_TIGHT = re.compile("[\u3040-\u30ff\u3400-\u9fff\u3000-\u303f\uff00-\uffef]")  # written without spaces


@dataclass(slots=True)
class Table:
    """A block made elsewhere (a table), standing in the lines at its place."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Shape:
    """What the whole document tells about its lines.

    Attributes:
        body: Size most of the text is set in.
        levels: Heading level, from 1, of each larger size.
        bold_marks: Whether bold is rare enough to mark headings.
        mono_marks: Whether fixed pitch is rare enough to mark code.
        outline: Level of each title in the document's outline, by `title_key`.
        hyphenated: Words the document writes with a hyphen.
    """

    body: float
    levels: dict[float, int]
    bold_marks: bool
    mono_marks: bool
    outline: dict[str, int] = field(default_factory=dict)
    hyphenated: frozenset[str] = frozenset()


def title_key(text: str) -> str:
    """A heading's words alone, for comparing it with the outline."""
    return "".join(character for character in text.lower() if character.isalnum())


def document_shape(pages: list[list[Line]], outline: dict[str, int], hyphenated: frozenset[str] = frozenset()) -> Shape:
    """Measure a document's lines."""
    sizes: Counter[float] = Counter()
    bold = mono = total = 0
    for line in (line for page in pages for line in page):
        count = len(line.text)
        total += count
        bold += count * line.bold
        mono += count * line.mono
        if not line.turned:
            sizes[line.size] += count
    body = max(sizes.items(), key=lambda item: (item[1], item[0]))[0] if sizes else 0.0
    larger = sorted((size for size in sizes if size >= body * LARGER and size >= body + 0.5), reverse=True)
    levels = _levels(larger, sizes, total)
    return Shape(body, levels, bold < 0.35 * total, mono < 0.6 * total, outline, hyphenated)


def _levels(larger: list[float], sizes: Counter[float], total: int) -> dict[float, int]:
    """Levels for the sizes above the body's; close sizes share one. A size that sets much of the text is no heading."""
    levels: dict[float, int] = {}
    level, previous = 0, 0.0
    for size in larger:
        if sizes[size] > 0.25 * total:
            continue
        if not previous or size < previous * 0.94:
            level, previous = min(level + 1, 5), size
        levels[size] = level
    return levels


class PageWriter:
    """Writes the blocks of one page.

    Args:
        shape: The document's shape.
    """

    def __init__(self, shape: Shape) -> None:
        self._shape = shape
        self._blocks: list[str] = []
        self._run: list[Line] = []
        self._heading: list[Line] = []
        self._level = 0
        self._right = 0.0

    def write(self, lines: list[Line | Table]) -> str:
        """The page as markdown; empty for a page without lines."""
        self._blocks, self._run, self._heading = [], [], []
        for index, line in enumerate(lines):
            if isinstance(line, Table):
                self._flush()
                self._blocks.append(line.markdown)
                continue
            level = self._heading_level(line, lines[index + 1] if index + 1 < len(lines) else None)
            if level:
                self._add_heading(line, level)
            else:
                self._add_text(line)
        self._flush()
        return "\n\n".join(block for block in self._blocks if block)

    def _heading_level(self, line: Line, after: Line | Table | None) -> int:
        """Level of a heading line, 0 for text."""
        text, shape = line.text, self._shape
        if line.turned or len(text) > MAX_HEADING_CHARS or not _WORD.search(text) or _has_leader(text):
            return 0
        if shape.outline and (level := shape.outline.get(title_key(text), 0)) and not _CONTENTS.search(text):
            return level
        larger = shape.levels.get(line.size, 0)
        if larger and line.size >= shape.body * CLEARLY_LARGER and not _BULLET.match(text):
            return larger
        bold = shape.bold_marks and line.bold and line.size >= shape.body * 0.95
        if not (bold or larger) or len(text) >= 110 or _BULLET.match(text):
            return 0
        if text.endswith((".", ",", ";")) or (line.mono and shape.mono_marks) or not self._stands_alone(line, after):
            return 0
        if larger:
            return larger
        starts_well = _SECTION.match(text) or text[0].isupper() or not text[0].isascii()
        return max(shape.levels.values(), default=0) + 1 if starts_well else 0

    def _stands_alone(self, line: Line, after: Line | Table | None) -> bool:
        """Whether a bold line is not the start of a sentence, nor one of several on its row."""
        before = self._run[-1] if self._run else None
        if before is not None and abs(before.last_top - line.top) < 0.5 * line.size:
            return False
        if before is not None and not before.bold and _goes_on(before, line):
            return False
        return not (isinstance(after, Line) and abs(after.top - line.top) < 0.5 * line.size)

    def _add_heading(self, line: Line, level: int) -> None:
        previous = self._heading[-1] if self._heading else None
        follows = (
            previous is not None
            and self._level == level
            and (previous.bold == line.bold or previous.size == line.size > self._shape.body)
            and -0.5 * line.size < line.top - previous.last_top < 2.0 * line.size
            and not _SECTION.match(line.text)
        )
        if not follows:
            self._flush()
        self._heading.append(line)
        self._level = level

    def _add_text(self, line: Line) -> None:
        self._flush_heading()
        previous = self._run[-1] if self._run else None
        if previous is not None and not self._continues(previous, line):
            self._flush_run()
        self._run.append(line)
        self._right = max(self._right, line.right)

    def _continues(self, previous: Line, line: Line) -> bool:
        """Whether `line` belongs to the paragraph, item or code block being collected."""
        size = max(previous.size, line.size, 1.0)
        step = line.top - previous.last_top
        if _has_leader(previous.text) or _has_leader(line.text):  # a table of contents keeps its lines
            return _has_leader(previous.text) and -0.5 * size < step < 3.0 * size
        if line.turned != previous.turned:
            return False
        if self._is_code(line) or self._is_code(self._run[0]):
            return self._is_code(line) and self._is_code(self._run[0]) and -0.5 * size < step < 3.0 * size
        if _same_row(previous, line):
            return True
        if _NUMBERED.match(line.text) or (_BULLET.match(line.text) and not _is_dot_between(previous, line)):
            return False
        if step > 1.75 * size or step < -0.5 * size:
            return False
        if abs(line.size - previous.size) > 0.12 * size and len(line.text) > 3 and len(previous.text) > 3:
            return False
        return not self._ended(previous, line)

    def _ended(self, previous: Line, line: Line) -> bool:
        """Whether the paragraph ended at `previous`: a short last line, or the next one is indented."""
        first = self._run[0]
        if _BULLET.match(first.text) or _NUMBERED.match(first.text):
            return line.left < first.left - 0.5 * line.size
        if not previous.text.endswith(_SENTENCE_END):
            return False
        short = previous.right < self._right - 4.0 * line.size
        indented = line.left > previous.left + 0.9 * line.size and len(self._run) > 1
        return short or indented

    def _is_code(self, line: Line) -> bool:
        return line.mono and self._shape.mono_marks

    def _flush(self) -> None:
        self._flush_heading()
        self._flush_run()

    def _flush_heading(self) -> None:
        lines, self._heading = self._heading, []
        if not lines:
            return
        text = self._joined(lines)
        if len(lines) > MAX_HEADING_LINES or len(text) > MAX_HEADING_CHARS:
            self._blocks.append(escape_start(text))
        else:
            self._blocks.append(f"{'#' * min(self._level, 6)} {text}")

    def _flush_run(self) -> None:
        lines, self._run, self._right = self._run, [], 0.0
        if not lines:
            return
        if len(lines) > 1 and self._is_code(lines[0]):
            left = min(line.left for line in lines)
            pads = (" " * round((line.left - left) / max(0.6 * line.size, 1.0)) for line in lines)
            code = "\n".join(pad[:60] + line.text.replace("\ufffe", "-") for pad, line in zip(pads, lines, strict=True))
            self._blocks.append(f"```\n{code}\n```")
            return
        text = self._joined(lines)
        bullet = _BULLET.match(text)
        if bullet:
            item = f"- {text[bullet.end() :]}" if text[bullet.end() :] else ""
            self._append_item(item)
        elif _NUMBERED.match(text) and text[0].isdigit():
            self._append_item(text)
        else:
            self._blocks.append("\n".join(map(escape_start, text.split("\n"))))

    def _append_item(self, item: str) -> None:
        """Items that follow each other make one list."""
        last = self._blocks[-1] if self._blocks else ""
        if item and last.startswith("- ") == item.startswith("- ") and (_is_item(last)):
            self._blocks[-1] = f"{last}\n{item}"
        elif item:
            self._blocks.append(item)

    def _joined(self, lines: list[Line]) -> str:
        """The lines as one text; a line that ended before it was full keeps its break."""
        right = max(line.right for line in lines)
        out = lines[0].text
        for previous, line in pairwise(lines):
            entry = _has_leader(previous.text)
            stops = not _same_row(previous, line) and not self._heading_like(lines) and _stopped(previous, line, right)
            short = entry or stops
            tight = _CJK_TIGHT.match(out[-1:]) and _CJK_TIGHT.match(line.text)
            if out.endswith("\ufffe") or (tight and not short):
                out += line.text
            else:
                out += ("\n" if short else " ") + line.text
        return escape_tags(join_hyphens(_LEADER.sub(" \u2026 ", out).strip(), self._shape.hyphenated))

    def _heading_like(self, lines: list[Line]) -> bool:
        return lines[0].size in self._shape.levels or bool(_BULLET.match(lines[0].text))


def _is_item(block: str) -> bool:
    return block.startswith("- ") or bool(_NUMBERED.match(block))


def _has_leader(text: str) -> bool:
    """Whether dots lead from a title to its page number; the plain look first, as nearly no line has any."""
    return ("..." in text or ". ." in text or "\u2026" in text or "\u00b7" in text) and bool(_LEADER.search(text))


def _is_dot_between(previous: Line, line: Line) -> bool:
    """Whether a middle dot at a line's start only parts words, and opens no item."""
    return line.text[0] == "\u00b7" and previous.text[0] != "\u00b7" and not previous.text.endswith(_SENTENCE_END)


def _same_row(previous: Line, line: Line) -> bool:
    """Whether two lines stand on one printed row, a raised or lowered sign included."""
    step = abs(line.top - previous.last_top) / max(line.size, previous.size, 1.0)
    return (step < 0.45 and line.left >= previous.left) or (step < 0.7 and line.left >= previous.right - 2.0)


def _stopped(previous: Line, line: Line, right: float) -> bool:
    """Whether the first word of `line` would have fitted behind `previous`: then the break was meant."""
    word = line.text.split(" ", 1)[0]
    return previous.right + (0.6 * len(word) + 0.8) * line.size < right


def _goes_on(before: Line, line: Line) -> bool:
    """Whether `before` runs on into `line` as one sentence."""
    near = 0 < line.top - before.last_top < 1.5 * line.size
    return near and not before.text.endswith(_SENTENCE_END) and before.size == line.size
