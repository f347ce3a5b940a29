"""The shapes of one slide: text with its bullets, tables, charts, diagrams, groups (DrawingML, ECMA-376 part 1)."""

from dataclasses import dataclass

from corebrain.documents.convert.ooxml import Element, OoxmlPackage, Relation, relation_id
from corebrain.documents.convert.ooxml_chart import chart_blocks
from corebrain.documents.convert.ooxml_math import latex
from corebrain.documents.escape import escape_start, escape_tags
from corebrain.documents.tables import markdown_table

MAX_DEPTH = 40
"""Nesting of groups that is followed."""

_A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
_P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_MC = "{http://schemas.openxmlformats.org/markup-compatibility/2006}"
_MATH = "{http://schemas.openxmlformats.org/officeDocument/2006/math}oMath"
_CHART = "{http://schemas.openxmlformats.org/drawingml/2006/chart}chart"
_DIAGRAM = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}relIds"
_POINT = "{http://schemas.openxmlformats.org/drawingml/2006/diagram}pt"
_FURNITURE = frozenset({"sldNum", "dt", "ftr", "hdr", "sldImg"})
_TITLES = frozenset({"title", "ctrTitle"})
_BULLETED = frozenset({"body", "obj"})  # placeholders whose text the master shows with bullets


@dataclass(frozen=True, slots=True)
class _Paragraph:
    """One paragraph: its text, level, and bullet: `-` a bullet, `1` a number, empty none, None as the master says."""

    text: str
    level: int
    bullet: str | None


class SlideReader:
    """Reads one slide or notes page.

    Args:
        package: The presentation.
        relations: What the page points to.
    """

    def __init__(self, package: OoxmlPackage, relations: dict[str, Relation]) -> None:
        self._package = package
        self._relations = relations
        self._title: list[str] = []

    def read(self, slide: Element) -> tuple[str, list[str]]:
        """Title on one line (may be empty) and blocks of a slide."""
        self._title = []
        tree = slide.find(f"{_P}cSld/{_P}spTree")
        blocks = self._shapes(tree, 0) if tree is not None else []
        return " ".join(" ".join(self._title).split()), blocks

    def notes(self, page: Element) -> str:
        """What the speaker wrote, as lines."""
        lines: list[str] = []
        for shape in page.iter(_P + "sp"):
            if _placeholder(shape) == "body":
                body = shape.find(_P + "txBody")
                lines.extend(each.text for each in self._paragraphs(body) if each.text)
        return "\n".join(lines)

    def _shapes(self, tree: Element, depth: int) -> list[str]:
        blocks: list[str] = []
        for shape in tree if depth <= MAX_DEPTH else ():
            tag = shape.tag
            if tag == _P + "sp":
                blocks.extend(self._text_shape(shape))
            elif tag == _P + "grpSp":
                blocks.extend(self._shapes(shape, depth + 1))
            elif tag == _P + "graphicFrame":
                blocks.extend(self._frame(shape))
            elif tag == _P + "pic":
                blocks.extend(_picture(shape))
            elif tag == _MC + "AlternateContent":
                choice = shape.find(_MC + "Choice")
                chosen = choice if choice is not None else shape.find(_MC + "Fallback")
                blocks.extend(self._shapes(chosen, depth + 1) if chosen is not None else ())
        return blocks

    def _text_shape(self, shape: Element) -> list[str]:
        kind = _placeholder(shape)
        body = shape.find(_P + "txBody")
        if body is None or kind in _FURNITURE:
            return []
        paragraphs = [each for each in self._paragraphs(body) if each.text]
        if kind in _TITLES:
            self._title.extend(each.text for each in paragraphs)
            return []
        return _text_blocks(paragraphs, bulleted=kind in _BULLETED and len(paragraphs) > 1)

    def _paragraphs(self, body: Element | None) -> list[_Paragraph]:
        return [self._paragraph(node) for node in body.iterchildren(_A + "p")] if body is not None else []

    def _paragraph(self, node: Element) -> _Paragraph:
        pieces: list[str] = []
        level, bullet = 0, None
        for child in node:
            tag = child.tag
            if tag in {_A + "r", _A + "fld"}:
                pieces.append(self._run(child))
            elif tag == _A + "br":
                pieces.append("\n")
            elif tag == _A + "pPr":
                level = int(child.get("lvl")) if (child.get("lvl") or "").isdigit() else 0
                bullet = _bullet(child)
            elif isinstance(tag, str) and tag != _A + "endParaRPr":
                formula = next(child.iter(_MATH), None)
                pieces.append(f"${latex(formula)}$" if formula is not None else "")
        lines = (" ".join(line.split()) for line in "".join(pieces).replace("\v", "\n").split("\n"))
        return _Paragraph("\n".join(line for line in lines if line), min(level, 8), bullet)

    def _run(self, node: Element) -> str:
        text = escape_tags("".join(child.text or "" for child in node.iterchildren(_A + "t")))
        link = node.find(f"{_A}rPr/{_A}hlinkClick")
        relation = self._relations.get(relation_id(link) or "") if link is not None else None
        if relation is None or not relation.external or not text.strip():
            return text
        return f"[{text.strip()}]({relation.target.replace(' ', '%20')})"

    def _frame(self, frame: Element) -> list[str]:
        table = next(frame.iter(_A + "tbl"), None)
        if table is not None:
            shown = markdown_table(self._grid(table))
            return [shown] if shown else []
        blocks: list[str] = []
        for chart in frame.iter(_CHART):
            part = self._related(relation_id(chart))
            blocks.extend(chart_blocks(part) if part is not None else ())
        for diagram in frame.iter(_DIAGRAM):
            part = self._related(relation_id(diagram, "dm"))
            points = part.iter(_POINT) if part is not None else ()
            texts = ("".join(text.text or "" for text in point.iter(_A + "t")) for point in points)
            lines = [f"- {' '.join(text.split())}" for text in texts if text.strip()]
            blocks.extend(["\n".join(lines)] if lines else [])
        return blocks

    def _related(self, key: str | None) -> Element | None:
        relation = self._relations.get(key or "")
        return self._package.part(relation.target) if relation and not relation.external else None

    def _grid(self, table: Element) -> list[list[str]]:
        """The table's cells, merged ones written into each place they cover."""
        grid: list[list[str]] = []
        for row in table.iterchildren(_A + "tr"):
            line: list[str] = []
            for cell in row.iterchildren(_A + "tc"):
                if cell.get("hMerge") in {"1", "true"} and line:
                    line.append(line[-1])
                elif cell.get("vMerge") in {"1", "true"} and grid and len(line) < len(grid[-1]):
                    line.append(grid[-1][len(line)])
                else:
                    line.append("\n".join(each.text for each in self._paragraphs(cell.find(_A + "txBody"))))
            grid.append(line)
        return grid


def _placeholder(shape: Element) -> str | None:
    """What a shape is a placeholder for; None for a free shape."""
    node = shape.find(f"{_P}nvSpPr/{_P}nvPr/{_P}ph")
    return node.get("type", "obj") if node is not None else None


def _bullet(properties: Element) -> str | None:
    for child in properties:
        if child.tag in {_A + "buChar", _A + "buBlip"}:
            return "-"
        if child.tag == _A + "buAutoNum":
            return "1"
        if child.tag == _A + "buNone":
            return ""
    return None


def _text_blocks(paragraphs: list[_Paragraph], *, bulleted: bool) -> list[str]:
    """Paragraphs as blocks; bullets that follow each other make one list."""
    blocks: list[str] = []
    items: list[str] = []
    numbers: dict[int, int] = {}
    for paragraph in paragraphs:
        inherited = "-" if bulleted or paragraph.level else ""
        bullet = inherited if paragraph.bullet is None else paragraph.bullet
        if not bullet:
            blocks.extend(["\n".join(items)] if items else [])
            items, numbers = [], {}
            blocks.append("  \n".join(map(escape_start, paragraph.text.split("\n"))))
            continue
        numbers = {level: count for level, count in numbers.items() if level <= paragraph.level}
        if bullet == "1":
            numbers[paragraph.level] = numbers.get(paragraph.level, 0) + 1
            marker = f"{numbers[paragraph.level]}. "
        else:
            numbers.pop(paragraph.level, None)
            marker = "- "
        pad = " " * (4 * paragraph.level) if items else ""
        items.append(pad + marker + f"  \n{pad}{' ' * len(marker)}".join(paragraph.text.split("\n")))
    return [*blocks, "\n".join(items)] if items else blocks


def _picture(shape: Element) -> list[str]:
    node = shape.find(f"{_P}nvPicPr/{_P}cNvPr")
    alt = " ".join((node.get("descr") or "").split()) if node is not None else ""
    return [f"![{alt}]()"] if alt else []
