"""Charts of an XLSX by the sheet they stand on: the numbers they show, chart sheets included."""

from corebrain.documents.convert.ooxml import OoxmlPackage, relation_id
from corebrain.documents.convert.ooxml_chart import chart_blocks

MAX_CHARTS = 200
"""Charts read of one workbook."""

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def chart_sections(package: OoxmlPackage) -> dict[str, list[str]]:
    """The blocks of the charts on each sheet, by the sheet's name; sheets without charts are left out."""
    if not any("/charts/" in name for name in package.names()):
        return {}
    main = package.main()
    root, relations = package.part(main), package.relations(main)
    found: dict[str, list[str]] = {}
    left = MAX_CHARTS
    for sheet in root.iterfind(f"{_S}sheets/{_S}sheet") if root is not None else ():
        relation = relations.get(relation_id(sheet) or "")
        if relation is None or relation.external:
            continue
        blocks: list[str] = []
        for chart in _chart_parts(package, relation.target)[:left]:
            part = package.part(chart)
            blocks.extend(chart_blocks(part) if part is not None else ())
            left -= 1
        if blocks:
            found[sheet.get("name", "")] = blocks
    return found


def _chart_parts(package: OoxmlPackage, sheet: str) -> list[str]:
    drawings = [each.target for each in package.relations(sheet).values() if each.kind == "drawing"]
    return [each.target for drawing in drawings for each in package.relations(drawing).values() if each.kind == "chart"]
