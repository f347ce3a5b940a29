"""The text of an OpenDocument as markdown blocks: headings, paragraphs, lists, tables, notes (ODF 1.3 part 3)."""

from collections.abc import Iterator
from textwrap import dedent

from corebrain.documents.convert.odf_styles import DRAW, OFFICE, SVG, TABLE, TEXT, XLINK, OdfStyles, whole
from corebrain.documents.convert.ooxml import Element
from corebrain.documents.escape import escape_start, escape_tags
from corebrain.documents.tables import markdown_table, spread

MAX_DEPTH = 60
"""Nesting of lists, tables and boxes that is followed."""
MAX_REPEATED = 200
"""Copies of a repeated cell or row that are written, when it holds text."""

_BULLETS = frozenset("•‣◦▪●○■")
_THROUGH = frozenset({
    TEXT + "section", TEXT + "index-body", TEXT + "list-header", TEXT + "alphabetical-index", TEXT + "bibliography",
    TABLE + "table-header-rows", TABLE + "table-rows", TABLE + "table-row-group", DRAW + "g", DRAW + "text-box",
    DRAW + "custom-shape", DRAW + "rect", DRAW + "ellipse",
})  # fmt: skip
_LEFT_OUT = frozenset({
    OFFICE + "annotation", OFFICE + "annotation-end", TEXT + "tracked-changes", TEXT + "table-of-content",
    TEXT + "sequence-decls", OFFICE + "forms",
})  # fmt: skip


class OdfReader:
    """Writes the blocks below an element.

    Args:
        styles: The document's styles.
    """

    def __init__(self, styles: OdfStyles) -> None:
        self._styles = styles
        self._depth = 0
        self._boxes: list[Element] = []
        self.notes: list[str] = []

    def blocks(self, node: Element) -> list[str]:
        """The blocks in their order, none blank; a box stands behind the paragraph that holds it."""
        out: list[str] = []
        if self._depth >= MAX_DEPTH:
            return out
        self._depth += 1
        code: list[str] = []
        listed = False  # whether a list ended just now: slides have one list for each of their items
        for child in node:
            if child.tag == TEXT + "p" and self._styles.is_code(child.get(TEXT + "style-name")):
                code.append(self._line(child, plain=True))
                continue
            out.extend(_fenced(code))
            found = self._list(child, 0, child.get(TEXT + "style-name")) if child.tag == TEXT + "list" else []
            if found and listed and _goes_on(out[-1], found[0]):
                out[-1] += "\n" + "\n".join(found)
            elif found:
                out.append(dedent("\n".join(found)))
            else:
                out.extend(self._block(child))
            listed = bool(found)
        out.extend(_fenced(code))
        self._depth -= 1
        return out

    def _block(self, node: Element) -> list[str]:
        tag = node.tag
        if tag in {TEXT + "p", TEXT + "h"}:
            return self._paragraph(node)
        if tag == TABLE + "table":
            return [table] if (table := self._table(node)) else []
        if tag == DRAW + "frame":
            return self.blocks(node) or ([text] if (text := _alternative(node)) else [])
        return self.blocks(node) if tag in _THROUGH else []

    def _paragraph(self, node: Element) -> list[str]:
        outer, self._boxes = self._boxes, []
        style = node.get(TEXT + "style-name")
        title = self._styles.is_title(style)
        heading = node.tag == TEXT + "h" or title
        text = self._line(node, plain=heading).strip()
        boxes, self._boxes = self._boxes, outer
        found: list[str] = []
        if text and heading:
            level = 1 if title else whole(node.get(TEXT + "outline-level"), 1)
            found = [f"{'#' * max(1, min(level, 6))} {' '.join(text.split())}"]
        elif text[:1] in _BULLETS:
            found = [f"- {said}"] if (said := text[1:].strip()) else []
        elif text:
            quote = "> " * self._styles.is_quote(style)
            found = [
                quote + f"  \n{quote}".join(escape_start(line.strip()) for line in text.split("\n") if line.strip())
            ]
        return [*found, *(block for box in boxes for block in self._block(box))]

    def _list(self, node: Element, level: int, style: str | None) -> list[str]:
        numbered = self._styles.is_numbered(style, level + 1)
        number = 1
        lines: list[str] = []
        for item in node:
            if item.tag not in {TEXT + "list-item", TEXT + "list-header"} or level >= MAX_DEPTH:
                continue
            number = whole(item.get(TEXT + "start-value"), number)
            marker = f"{number}. " if numbered else "- "
            own = [
                " ".join(block.split("\n"))
                for child in item
                if child.tag != TEXT + "list"
                for block in self._block(child)
            ]
            pad = " " * (4 * level)
            if own:
                lines.append(pad + marker + f"  \n{pad}{' ' * len(marker)}".join(own))
                number += 1
            for inner in item.iterchildren(TEXT + "list"):
                lines += self._list(inner, level + 1, inner.get(TEXT + "style-name") or style)
        return lines

    def _table(self, node: Element) -> str:
        rows = [row for each in _rows(node, 0) for row in self._row(each)]
        return markdown_table(spread(rows))

    def _row(self, node: Element) -> Iterator[list[tuple[str, int, int]]]:
        cells: list[tuple[str, int, int]] = []
        for cell in node:
            if cell.tag != TABLE + "table-cell":  # a covered one is written by what covers it
                continue
            text = "\n".join(self.blocks(cell))
            columns = whole(cell.get(TABLE + "number-columns-spanned"), 1)
            height = whole(cell.get(TABLE + "number-rows-spanned"), 1)
            repeated = whole(cell.get(TABLE + "number-columns-repeated"), 1)
            cells += [(text, columns, height)] * max(1, min(repeated, MAX_REPEATED))
        filled = any(text for text, _, _ in cells)
        copies = whole(node.get(TABLE + "number-rows-repeated"), 1) if filled else 1
        yield from [cells] * max(1, min(copies, MAX_REPEATED))

    def _line(self, node: Element, *, plain: bool) -> str:
        """The text of a paragraph, its line breaks as newlines."""
        parts: list[str] = []
        self._inline(node, parts, plain, 0)
        return "".join(parts)

    def _inline(self, node: Element, parts: list[str], plain: bool, depth: int) -> None:
        parts.append(_spaced(node.text))
        for child in node:
            if isinstance(child.tag, str) and depth < MAX_DEPTH:
                self._sign(child, parts, plain, depth)
            parts.append(_spaced(child.tail))

    def _sign(self, node: Element, parts: list[str], plain: bool, depth: int) -> None:
        tag = node.tag
        if tag == TEXT + "s":
            parts.append(" " * min(whole(node.get(TEXT + "c"), 1), 100))
        elif tag == TEXT + "tab":
            parts.append("\t")
        elif tag == TEXT + "line-break":
            parts.append("\n")
        elif tag == TEXT + "note":
            parts.append(self._note(node))
        elif tag.startswith(DRAW):
            self._boxes.append(node)
        elif tag in {TEXT + "span", TEXT + "a"}:
            inner: list[str] = []
            self._inline(node, inner, plain, depth + 1)
            text = "".join(inner)
            mark = "" if plain else self._styles.mark(node.get(TEXT + "style-name"))
            parts.append(_linked(text, node.get(XLINK + "href")) if tag == TEXT + "a" else _marked(text, mark))
        elif tag not in _LEFT_OUT:
            self._inline(node, parts, plain, depth + 1)

    def _note(self, node: Element) -> str:
        body = node.find(TEXT + "note-body")
        text = " ".join(" ".join(self.blocks(body)).split()) if body is not None else ""
        if not text:
            return ""
        self.notes.append(text)
        return f"[^{len(self.notes)}]"


def _goes_on(above: str, first: str) -> bool:
    """Whether a list is the same one as the list above it, by its first item."""
    return first[0] == " " or first[0].isdigit() == above[0].isdigit()


def _fenced(lines: list[str]) -> list[str]:
    """The code block that ends here, when one does; its lines are taken away."""
    text = "\n".join(lines)
    lines.clear()
    return [f"```\n{text}\n```"] if text.strip() else []


def _rows(node: Element, depth: int) -> Iterator[Element]:
    for child in node:
        if child.tag == TABLE + "table-row":
            yield child
        elif child.tag in _THROUGH and depth < MAX_DEPTH:
            yield from _rows(child, depth + 1)


def _alternative(frame: Element) -> str:
    """What a picture is said to show."""
    nodes = (frame.find(SVG + name) for name in ("desc", "title"))
    text = next((words for node in nodes if node is not None and (words := " ".join((node.text or "").split()))), "")
    return f"![{text}]()" if text else ""


def _spaced(text: str | None) -> str:
    """Text as ODF means it: runs of white space are one space."""
    if not text:
        return ""
    words = " ".join(text.split())
    return escape_tags(" " * text[0].isspace() + words + " " * (text[-1].isspace() and bool(words)))


def _marked(text: str, mark: str) -> str:
    inner = text.strip()
    return text.replace(inner, f"{mark}{inner}{mark[::-1]}", 1) if inner and mark and "\n" not in inner else text


def _linked(text: str, target: str | None) -> str:
    shown = " ".join(text.split())
    outside = target and target.startswith(("http://", "https://", "mailto:"))
    return f"[{shown}]({str(target).replace(' ', '%20')})" if outside and shown else text
