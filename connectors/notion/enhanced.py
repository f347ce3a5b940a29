"""Notion's enhanced markdown, as `GET /v1/pages/{id}/markdown` gives it, to plain markdown.

Children are indented by tabs, blocks follow each other without an empty line, and what markdown lacks comes as tags
(`https://developers.notion.com/guides/data-apis/enhanced-markdown`). Read as plain markdown, paragraphs would run
together and children become code. A tag nobody knows yet is left out and what it holds is kept.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from connectors.notion.enhanced_inline import Inline, attributes, without_block_attributes
from connectors.notion.ids import block_of
from connectors.notion.signed import Attachment

Fill = Callable[[str, str], str]
"""Returns markdown for an `<unknown>` block: called with its id (`""` when it has none) and what it is said to be."""

_Line = tuple[int, str]
"""Tabs before the text, and the text."""

_FENCE = re.compile(r"(`{3,}|~{3,})")
_OPEN = re.compile(r"<([a-z][\w-]*)((?:\s+[\w-]+(?:=\"[^\"]*\")?)*)\s*>(.*)$", re.DOTALL)
_VOID = re.compile(r"<([a-z][\w-]*)((?:\s+[\w-]+(?:=\"[^\"]*\")?)*)\s*/>$")
_ITEM = re.compile(r"(- \[[ xX]\]|[-*+]|\d+[.)]) (.*)$|([-*+]|\d+[.)])$")
_BREAK = re.compile(r"<br\s*/?>")
_ROW = re.compile(r"<tr(?:\s[^<>]*)?>(.*?)</tr>", re.DOTALL)
_CELL = re.compile(r"<t[dh](?:\s[^<>]*)?>(.*?)</t[dh]>", re.DOTALL)
_UNKNOWN = re.compile(r"<unknown((?:\s+[\w-]+=\"[^\"]*\")*)\s*(?:/>|>\s*</unknown>)")
_INLINE_TAGS = re.compile(
    r"(?:mention-[a-z-]+|page|database|data-source|file|pdf|audio|video|span|bookmark|embed|link-preview|br|emoji)$"
)


@dataclass(frozen=True, slots=True)
class Body:
    """A page's content.

    Attributes:
        markdown: Plain markdown, ending in one line break; `""` when the page is empty.
        files: The files in it that Notion keeps, in order.
    """

    markdown: str
    files: tuple[Attachment, ...] = ()


def plain_markdown(text: str, *, page: str, fill: Fill, titles: Mapping[str, str] | None = None) -> Body:
    """Return plain markdown for enhanced markdown.

    Args:
        text: As the API gave it.
        page: Id of the page.
        fill: Gives the content of blocks that came as `<unknown>`.
        titles: Titles of pages by id, for mentions that carry none.
    """
    files: list[Attachment] = []
    reader = _Reader(Inline(page, {} if titles is None else titles, files), fill)
    lines = reader.blocks(_lines(text))
    body = "\n".join(lines).strip("\n")
    return Body(f"{body}\n" if body.strip() else "", tuple(files))


def unknown_ids(text: str) -> list[str]:
    """Return the ids of the blocks that came as `<unknown>`, in order; those without an id are left out."""
    keys = (block_of(attributes(found).get("url", "")) for found in _UNKNOWN.findall(text))
    return [key for key in keys if key]


def _lines(text: str) -> list[_Line]:
    found = []
    for line in text.replace("\r\n", "\n").split("\n"):
        bare = line.lstrip("\t")
        found.append((len(line) - len(bare), bare.rstrip("\r")))
    return found


class _Reader:
    """Reads lines as blocks."""

    def __init__(self, inline: Inline, fill: Fill) -> None:
        self._inline = inline
        self._fill = fill

    def blocks(self, lines: Sequence[_Line], deep: int = 0) -> list[str]:
        """The markdown lines of sibling blocks."""
        done: list[str] = []
        at, before_item = 0, False
        while at < len(lines):
            own, at, item = self._block(lines, at, deep)
            if not own:
                continue
            done += own if not done or (item and before_item) else ["", *own]
            before_item = item
        return done

    def _block(self, lines: Sequence[_Line], at: int, deep: int) -> tuple[list[str], int, bool]:
        """The lines of the block that starts at *at*, where the next one starts, and whether it is a list item."""
        indent, text = lines[at]
        if not text.strip():
            return [], at + 1, False
        fence = _FENCE.match(text)
        if fence or text.startswith("$$"):
            own, end = _literal(lines, at, fence[1] if fence else "$$")
            return own, end, False
        tagged = self._tagged(lines, at, deep)
        if tagged is not None:
            return *tagged, False
        end = at + 1
        while end < len(lines) and (lines[end][0] > indent or not lines[end][1].strip()):
            end += 1
        below = self.blocks(lines[at + 1 : end], deep + 1) if deep < 200 else _flat(lines[at + 1 : end])
        return *self._text(text, below, end), _ITEM.match(text) is not None

    def _text(self, text: str, below: list[str], end: int) -> tuple[list[str], int]:
        """A block of text and what is nested in it."""
        text = without_block_attributes(text)
        item = _ITEM.match(text)
        if item:
            mark = item[1] or item[3]
            pad = " " * (len(mark) + 1 if mark[0].isdigit() else 2)
            first, *rest = self._broken(item[2] or "")
            own = [f"{mark} {first}".rstrip(), *(f"{pad}{line}" for line in rest)]
            gap = [""] if below and not _ITEM.match(below[0]) else []
            return [*own, *gap, *(f"{pad}{line}" if line else "" for line in below)], end
        if text.startswith(">"):
            own = self._broken(text[1:].strip())
            return _quoted([*own, *_apart(own, below)]), end
        own = [line for line in self._broken(text) if line.strip()]
        return [*own, *_apart(own, below)], end

    def _broken(self, text: str) -> list[str]:
        """Inline text as lines, at the author's line breaks."""
        return [self._inline.convert(part).rstrip() for part in _BREAK.split(text)]

    def _tagged(self, lines: Sequence[_Line], at: int, deep: int) -> tuple[list[str], int] | None:
        """A block written as a tag; `None` when the line is text."""
        text = lines[at][1].strip()
        if not text.startswith("<"):
            return None
        unknown = _UNKNOWN.match(text)
        if unknown:
            return self._unknown(attributes(unknown[1])), at + 1
        void = _VOID.match(text)
        if void:
            return None if _INLINE_TAGS.match(void[1]) else ([], at + 1)
        opened = _OPEN.match(text)
        if opened is None or _INLINE_TAGS.match(opened[1]):
            return None
        name = opened[1]
        inner, end = _inside(lines, at, name, opened[3])
        if name == "table":
            return self._table("\n".join(line for _, line in inner)), end
        content = self.blocks(inner, deep + 1) if deep < 200 else _flat(inner)
        return _dressed(name, attributes(opened[2]), content), end

    def _unknown(self, found: Mapping[str, str]) -> list[str]:
        filled = self._fill(block_of(found.get("url", "")) or "", found.get("alt", ""))
        return filled.strip("\n").split("\n") if filled.strip() else []

    def _table(self, text: str) -> list[str]:
        rows = [[self._cell(cell) for cell in _CELL.findall(row)] for row in _ROW.findall(text)]
        width = max((len(row) for row in rows), default=0)
        if not width:
            return []
        head, *body = ("| " + " | ".join([*row, *[""] * (width - len(row))]) + " |" for row in rows)
        return [head, "|" + " - |" * width, *body]

    def _cell(self, text: str) -> str:
        parts = (self._inline.convert(part.strip()) for part in _BREAK.split(text.replace("\n", "<br>").strip()))
        return "<br>".join(part for part in parts if part).replace("\\|", "|").replace("|", "\\|")


def _dressed(name: str, found: Mapping[str, str], content: list[str]) -> list[str]:
    """What is inside a tag, with what the tag itself says."""
    if name == "callout":
        icon = found.get("icon", "")
        words = [f"{icon} {content[0]}", *content[1:]] if icon and content else content or [icon]
        return _quoted(words) if any(words) else []
    title = found.get("title") or ""
    return [*([f"**{title}**"] if title else []), *_apart([title] if title else [], content)]


def _inside(lines: Sequence[_Line], at: int, name: str, rest: str) -> tuple[list[_Line], int]:
    """The lines between a tag that opens at *at* and its end, and where what follows starts."""
    indent = lines[at][0]
    closing, opening = f"</{name}>", re.compile(rf"<{re.escape(name)}[\s>]")
    if closing in rest:
        head, _, tail = rest.rpartition(closing)
        return [(indent, head), *([(indent, tail)] if tail.strip() else [])], at + 1
    inner: list[_Line] = [(indent, rest)] if rest.strip() else []
    depth, fence = 1, ""
    for where in range(at + 1, len(lines)):
        _, text = lines[where]
        mark = _FENCE.match(text)
        if fence or mark:  # what stands in code is no tag
            fence = "" if fence and text.startswith(fence) else fence or (mark[1] if mark else "")
            inner.append(lines[where])
            continue
        depth += len(opening.findall(text)) - text.count(closing)
        if depth <= 0:
            before = text.rpartition(closing)[0]
            return [*inner, *([(lines[where][0], before)] if before.strip() else [])], where + 1
        inner.append(lines[where])
    return inner, len(lines)


def _literal(lines: Sequence[_Line], at: int, fence: str) -> tuple[list[str], int]:
    """Code or an equation: kept to the letter, but for the tabs that only say where it lies."""
    indent, text = lines[at]
    own = [without_block_attributes(text)]
    if fence == "$$" and text.rstrip().endswith("$$") and len(text.strip()) > 4:
        return own, at + 1
    for where in range(at + 1, len(lines)):
        tabs, line = lines[where]
        if tabs <= indent and line.rstrip() == fence:
            return [*own, fence], where + 1
        own.append("\t" * max(0, tabs - indent) + line)
    return [*own, fence], len(lines)


def _quoted(lines: Sequence[str]) -> list[str]:
    return [f"> {line}".rstrip() for line in lines]


def _apart(own: Sequence[str], below: list[str]) -> list[str]:
    return ["", *below] if own and below else below


def _flat(lines: Sequence[_Line]) -> list[str]:
    """Nesting beyond all reason, as it is."""
    return [text for _, text in lines if text.strip()]
