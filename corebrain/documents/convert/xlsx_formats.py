"""How a workbook shows its numbers: percent and money, by the number formats of an XLSX (ECMA-376 part 1 18.8.30).

calamine gives the numbers alone. Only workbooks that use such formats are looked at a second time, and of their sheets
only the cells' heads.
"""

import re
from dataclasses import dataclass

from corebrain.documents.convert.ooxml import Element, OoxmlPackage, relation_id

MAX_SHEET_BYTES = 16 * 1024 * 1024
"""A larger sheet shows its numbers plain."""
MAX_CELLS = 400_000

_S = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_BUILT_IN = {
    9: "0%", 10: "0.00%", 5: '"$"#,##0', 6: '"$"#,##0', 7: '"$"#,##0.00', 8: '"$"#,##0.00', 42: '"$"#,##0',
    44: '"$"#,##0.00',
}  # fmt: skip
_CELL = re.compile(rb"<(?:\w+:)?c\s([^>]*)>")
_PLACE, _STYLE = re.compile(rb'\br="([A-Z]{1,3})(\d{1,7})"'), re.compile(rb'\bs="(\d+)"')
_QUOTED = re.compile(r'"([^"]*)"|\\(.)')
_CURRENCY = re.compile(r"\[\$([^\]-]*)(?:-[^\]]*)?\]")
_SYMBOL = re.compile(r"[$€£¥₹₩₽₺₪฿₫₴]|\b(?:CHF|EUR|USD|GBP|JPY|CNY|SEK|NOK|DKK|PLN|kr|zł|Kč|R\$)")
_DIGITS = re.compile(r"[#0?](?:[#0?,]*)(?:\.([0?#]+))?")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Display:
    """How a number is shown: `before` and `after` it stand, `decimals` digits follow the point."""

    decimals: int
    percent: bool = False
    grouped: bool = False
    before: str = ""
    after: str = ""

    def text(self, value: float) -> str:
        """The number as a person sees it; a minus stands first."""
        shown = abs(value) * 100 if self.percent else abs(value)
        digits = f"{shown:,.{self.decimals}f}" if self.grouped else f"{shown:.{self.decimals}f}"
        sign = "-" if value < 0 and digits.strip("0.,") else ""
        return f"{sign}{self.before}{digits}{self.after}"


def parse_format(code: str) -> Display | None:
    """The display of a format code when it is one of percent or money, else `None`."""
    plain = _CURRENCY.sub(lambda match: match[1], code.split(";", maxsplit=1)[0])
    plain = re.sub(r"\[[^\]]*\]|_.|\*.", "", _QUOTED.sub(lambda match: match[1] or match[2] or "", plain))
    digits = _DIGITS.search(plain)
    if digits is None:
        return None
    decimals, grouped = len(digits[1] or ""), "," in digits[0].rstrip(",")
    before, after = plain[: digits.start()], plain[digits.end() :]
    if "%" in after:
        return Display(decimals, percent=True, grouped=grouped, after="%")
    if _SYMBOL.search(before):
        return Display(decimals, grouped=grouped, before=before.strip())
    if _SYMBOL.search(after):
        return Display(decimals, grouped=grouped, after=f" {after.strip()}")
    return None


class NumberFormats:
    """The displays of a workbook's styles, and of the cells of each of its sheets.

    Args:
        package: The workbook.
    """

    def __init__(self, package: OoxmlPackage) -> None:
        self._package = package
        self._parts: dict[str, str] | None = None
        self._displays = _displays(package)

    def cells(self, sheet: str) -> dict[Place, Display]:
        """The cells of a sheet that show percent or money, by row and column from 0."""
        if not self._displays:
            return {}
        if self._parts is None:
            self._parts = _sheet_parts(self._package)
        data = self._package.read(self._parts.get(sheet, ""))
        if data is None or len(data) > MAX_SHEET_BYTES:
            return {}
        found: dict[Place, Display] = {}
        for match in _CELL.finditer(data):
            style = _STYLE.search(match[1])
            display = self._displays.get(int(style[1])) if style else None
            place = _PLACE.search(match[1]) if display else None
            if display is not None and place is not None:
                found[int(place[2]) - 1, _column(place[1])] = display
                if len(found) >= MAX_CELLS:
                    break
        return found


def _displays(package: OoxmlPackage) -> dict[int, Display]:
    """Style number to display, of the styles that have one."""
    root = _related(package, "styles")
    if root is None:
        return {}
    codes = dict(_BUILT_IN)
    for node in root.iter(f"{_S}numFmt"):
        if (number := node.get("numFmtId", "")).isdigit():
            codes[int(number)] = node.get("formatCode", "")[:200]
    parsed = {number: display for number, code in codes.items() if (display := parse_format(code)) is not None}
    styles = root.find(f"{_S}cellXfs")
    found: dict[int, Display] = {}
    for index, node in enumerate(styles if styles is not None else ()):
        number = node.get("numFmtId", "")
        if number.isdigit() and int(number) in parsed:
            found[index] = parsed[int(number)]
    return found


def _related(package: OoxmlPackage, kind: str) -> Element | None:
    targets = package.relations(package.main()).values()
    target = next((each.target for each in targets if each.kind == kind and not each.external), None)
    return package.part(target) if target else None


def _sheet_parts(package: OoxmlPackage) -> dict[str, str]:
    """The part of each sheet, by the sheet's name."""
    main = package.main()
    root, relations = package.part(main), package.relations(main)
    found: dict[str, str] = {}
    for node in root.iter(f"{_S}sheet") if root is not None else ():
        relation = relations.get(relation_id(node) or "")
        if relation is not None and not relation.external:
            found[node.get("name", "")] = relation.target
    return found


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - 64
    return number - 1
