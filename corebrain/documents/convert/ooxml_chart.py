"""The numbers behind an Office chart (DrawingML, ECMA-376 part 1 section 21.2) as a table."""

from corebrain.documents.convert.ooxml import Element
from corebrain.documents.tables import markdown_table

MAX_POINTS = 1000
"""Points of one series that are written."""

_C = "{http://schemas.openxmlformats.org/drawingml/2006/chart}"
_A_T = "{http://schemas.openxmlformats.org/drawingml/2006/main}t"


def chart_blocks(root: Element) -> list[str]:
    """The blocks of a chart part: its title, then a table with a row a category and a column a series."""
    title_node = root.find(f"{_C}chart/{_C}title")
    title = " ".join("".join(_texts(title_node)).split()) if title_node is not None else ""
    series = list(root.iter(_C + "ser"))
    categories: dict[int, str] = {}
    columns: list[tuple[str, dict[int, str]]] = []
    for index, node in enumerate(series, 1):
        for name in ("cat", "xVal"):
            for position, text in _points(node.find(_C + name)).items():
                categories.setdefault(position, text)
        values = _points(node.find(_C + "val")) or _points(node.find(_C + "yVal"))
        name_node = node.find(_C + "tx")
        label = next(iter(_points(name_node).values()), "") if name_node is not None else ""
        columns.append((label or f"series {index}", values))
    positions = sorted(set(categories).union(*(values for _, values in columns)))[:MAX_POINTS]
    rows = [["", *(label for label, _ in columns)]]
    rows += [[categories.get(at, ""), *(values.get(at, "") for _, values in columns)] for at in positions]
    table = markdown_table(rows) if positions else ""
    return [block for block in (f"**{title}**" if title else "", table) if block]


def _texts(node: Element) -> list[str]:
    return [text.text or "" for text in node.iter(_A_T)] or [text.text or "" for text in node.iter(_C + "v")]


def _points(node: Element | None) -> dict[int, str]:
    """Cached values by position; the workbook behind the chart is not opened."""
    found: dict[int, str] = {}
    for point in node.iter(_C + "pt") if node is not None else ():
        value = point.find(_C + "v")
        if value is not None and (point.get("idx") or "").isdigit():
            found[int(point.get("idx"))] = _shown(value.text or "")
    if not found and node is not None:
        value = node.find(_C + "v")
        if value is not None and value.text:
            found[0] = value.text
    return found


def _shown(text: str) -> str:
    """A cached number without the noise of binary fractions."""
    try:
        number = float(text)
    except ValueError:
        return text
    return f"{number:.15g}" if abs(number) < 1e15 else text
