"""What stands in a paragraph of a DOCX: runs with their emphasis, links, fields, formulas, notes, text boxes."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from corebrain.documents.convert.docx_styles import VAL, W
from corebrain.documents.convert.ooxml import Element, OoxmlPackage, Relation, relation_id
from corebrain.documents.convert.ooxml_chart import chart_blocks
from corebrain.documents.convert.ooxml_math import latex
from corebrain.documents.escape import escape_tags

MAX_DEPTH = 100
"""Nesting of elements inside one paragraph that is followed."""

_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_M = "{http://schemas.openxmlformats.org/officeDocument/2006/math}"
_WP_PROPERTIES = "{http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing}docPr"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_POINT_TEXT = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"
_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}pt"
_THROUGH = frozenset(W + name for name in ("ins", "smartTag", "sdt", "sdtContent", "fldSimple", "customXml", "moveTo",
                                           "dir", "bdo", "ruby", "rubyBase"))  # fmt: skip
_FIELD_LINK = re.compile(r'HYPERLINK\s+(?:\\l\s+)?"([^"]+)"')
_MARKS = {W + name: name for name in ("b", "i", "strike", "vanish")}
_NOTES = frozenset({"footnoteReference", "endnoteReference"})
_OFF = frozenset({"0", "false", "off", "none"})
# Wingdings and Symbol characters people use as check boxes and arrows.
_SYMBOLS = {"F0A8": "☐", "F06F": "☐", "F0FE": "☒", "F052": "☑", "F0FC": "✓", "F0E0": "→", "F0B7": "•", "F0D8": "➢"}


@dataclass(slots=True)
class _Piece:
    text: str
    mark: str
    link: str | None


@dataclass(slots=True)
class _Field:
    code: str = ""
    shown: bool = False


@dataclass(slots=True)
class Line:
    """A paragraph's text, and the blocks anchored in it (text boxes, charts), which follow it."""

    text: str
    after: list[str] = field(default_factory=list)


class RunReader:
    """Reads paragraphs of one part.

    Args:
        package: Where charts and diagrams are.
        relations: What the part points to.
        blocks: Makes the blocks of a text box.
        notes: Note keys such as `footnote:2` to their number in order of appearance; filled while reading.
        comments: Whether comments are notes too.
    """

    def __init__(
        self,
        package: OoxmlPackage,
        relations: dict[str, Relation],
        blocks: Callable[[Element], list[str]],
        notes: dict[str, int],
        *,
        comments: bool = False,
    ) -> None:
        self._package = package
        self._relations = relations
        self._blocks = blocks
        self._notes = notes
        self._references = _NOTES | {"commentReference"} if comments else _NOTES
        self._pieces: list[_Piece] = []
        self._after: list[str] = []
        self._fields: list[_Field] = []

    def read(self, paragraph: Element, *, emphasis: bool = True) -> Line:
        """The paragraph as markdown; line breaks in it are newlines."""
        outer = self._pieces, self._after, self._fields
        self._pieces, self._after, self._fields = [], [], []
        self._walk(paragraph, None, 0)
        line = Line(_joined(self._pieces, emphasis=emphasis), self._after)
        self._pieces, self._after, self._fields = outer
        return line

    def code(self, paragraph: Element) -> str:
        """The paragraph's text as it stands, for program text."""
        outer, self._pieces = self._pieces, []
        self._walk(paragraph, None, 0, raw=True)
        text = "".join(piece.text for piece in self._pieces)
        self._pieces = outer
        return text

    def _walk(self, node: Element, link: str | None, depth: int, *, raw: bool = False) -> None:
        if depth > MAX_DEPTH:
            return
        for child in node:
            tag = child.tag
            if tag == W + "r":
                self._run(child, link, raw=raw)
            elif tag in _THROUGH:
                self._walk(child, link, depth + 1, raw=raw)
            elif tag == W + "hyperlink":
                self._walk(child, self._target(child) or link, depth + 1, raw=raw)
            elif tag in {_M + "oMath", _M + "oMathPara"}:
                self._formula(child, display=tag == _M + "oMathPara", link=link)
            elif tag == _MC + "AlternateContent":
                chosen = _chosen(child)
                if chosen is not None:
                    self._walk(chosen, link, depth + 1, raw=raw)

    def _target(self, node: Element) -> str | None:
        relation = self._relations.get(relation_id(node) or "")
        if relation is None or not relation.external:
            return None  # a place in the document itself: its text says enough
        anchor = node.get(W + "anchor")
        return f"{relation.target}#{anchor}" if anchor and "#" not in relation.target else relation.target

    def _formula(self, node: Element, *, display: bool, link: str | None) -> None:
        text = latex(node)
        if text:
            self._pieces.append(_Piece(f"$${text}$$" if display else f"${text}$", "", link))

    def _run(self, node: Element, link: str | None, *, raw: bool) -> None:
        mark, texts = "", []
        for child in node:
            tag = child.tag
            if tag == W + "t":
                texts.append(child.text or "")
            elif tag == W + "rPr":
                marks = {name for each in child if (name := _MARKS.get(each.tag)) and each.get(VAL) not in _OFF}
                if "vanish" in marks:
                    return
                mark = (
                    ("~~" if "strike" in marks else "") + ("**" if "b" in marks else "") + ("*" if "i" in marks else "")
                )
            elif tag == W + "fldChar":
                link = self._field_char(child, link)
            elif tag == W + "instrText":
                if self._fields:
                    self._fields[-1].code += child.text or ""
            elif isinstance(tag, str):
                texts.append(self._special(child, tag))
        text = "".join(texts)
        if text:
            target = link or self._field_link()
            self._pieces.append(_Piece(text if raw else escape_tags(text), mark, target))

    def _field_char(self, node: Element, link: str | None) -> str | None:
        kind = node.get(W + "fldCharType")
        if kind == "begin":
            self._fields.append(_Field())
        elif kind == "separate" and self._fields:
            self._fields[-1].shown = True
        elif kind == "end" and self._fields:
            self._fields.pop()
        return link

    def _field_link(self) -> str | None:
        for each in reversed(self._fields):
            match = _FIELD_LINK.search(each.code) if each.shown else None
            if match and "://" in match[1]:
                return match[1]
        return None

    def _special(self, node: Element, tag: str) -> str:
        """Text of what is not plain text in a run; drawings leave their text boxes and charts behind the paragraph."""
        name = tag.rpartition("}")[2]
        if name in {"tab", "ptab"}:
            return "\t"
        if name in {"br", "cr"}:
            return "" if node.get(W + "type") in {"page", "column"} else "\n"
        if name == "noBreakHyphen":
            return "-"
        if name == "sym":
            return _SYMBOLS.get((node.get(W + "char") or "").upper(), "")
        if name in self._references:
            key = f"{name[: -len('Reference')]}:{node.get(W + 'id')}"
            return f"[^{self._notes.setdefault(key, len(self._notes) + 1)}]"
        if name == "ruby":
            self._walk(node, None, 0)
        elif name in {"drawing", "pict", "object"}:
            return self._drawing(node)
        elif name == "AlternateContent":
            chosen = _chosen(node)
            return self._drawing(chosen) if chosen is not None else ""
        return ""

    def _drawing(self, node: Element) -> str:
        boxes = list(_text_boxes(node, 0))
        for box in boxes:
            self._after.extend(self._blocks(box))
        for chart in node.iter(_CHART):
            relation = self._relations.get(relation_id(chart) or "")
            part = self._package.part(relation.target) if relation and not relation.external else None
            if part is not None:
                self._after.extend(chart_blocks(part))
        for diagram in node.iter(_DIAGRAM):
            self._after.extend(self._diagram(diagram))
        properties = next(node.iter(_WP_PROPERTIES), None)
        alt = (properties.get("descr") or "") if properties is not None and not boxes else ""
        return f"![{' '.join(alt.split())}]()" if alt.strip() else ""

    def _diagram(self, node: Element) -> list[str]:
        """SmartArt: the texts of its points as a list."""
        relation = self._relations.get(relation_id(node, "dm") or "")
        part = self._package.part(relation.target) if relation and not relation.external else None
        if part is None:
            return []
        texts = (
            " ".join("".join(t.text or "" for t in point.iter(_POINT_TEXT)).split()) for point in part.iter(_POINT)
        )
        lines = [f"- {text}" for text in texts if text]
        return ["\n".join(lines)] if lines else []


def _chosen(node: Element) -> Element | None:
    """Of alternative content, what a current program would show; never both."""
    choice = node.find(_MC + "Choice")
    return choice if choice is not None else node.find(_MC + "Fallback")


def _text_boxes(node: Element, depth: int) -> Iterator[Element]:
    """The outermost text boxes below a drawing."""
    for child in node if depth <= MAX_DEPTH else ():
        if child.tag == W + "txbxContent":
            yield child
        elif child.tag == _MC + "AlternateContent":
            chosen = _chosen(child)
            if chosen is not None:
                yield from _text_boxes(chosen, depth + 1)
        elif isinstance(child.tag, str):
            yield from _text_boxes(child, depth + 1)


def _joined(pieces: list[_Piece], *, emphasis: bool) -> str:
    """The pieces as one text, neighbours of like kind under one pair of marks, outer spaces outside the marks."""
    merged: list[_Piece] = []
    for piece in pieces:
        mark = piece.mark if emphasis and not piece.text.startswith(("$", "[^")) else ""
        last = merged[-1] if merged else None
        if last and last.link == piece.link and (last.mark == mark or not piece.text.strip()):
            last.text += piece.text
        else:
            merged.append(_Piece(piece.text, mark, piece.link))
    return "".join(map(_marked, merged)).strip()


def _marked(piece: _Piece) -> str:
    inner = piece.text.strip()
    if not inner or not (piece.mark or piece.link):
        return piece.text
    start = piece.text.index(inner)
    shown = "\n".join(
        f"{piece.mark}{line.strip()}{piece.mark[::-1]}" if line.strip() else "" for line in inner.split("\n")
    )
    if piece.link:
        shown = f"[{' '.join(shown.split())}]({piece.link.replace(' ', '%20')})"
    return f"{piece.text[:start]}{shown}{piece.text[start + len(inner) :]}"
