"""Spreadsheets (XLSX, XLS, XLSB, ODS) to markdown with python-calamine: a section a sheet, a table a filled block."""

import io
import struct
import zipfile
from dataclasses import dataclass, field
from pathlib import Path

from python_calamine import (
    CalamineError,
    CalamineWorkbook,
    PasswordError,
    SheetMetadata,
    SheetTypeEnum,
    SheetVisibleEnum,
    WorksheetNotFound,
)

from corebrain.documents.convert.ooxml import OoxmlPackage
from corebrain.documents.convert.xlsx_charts import chart_sections
from corebrain.documents.convert.xlsx_formats import NumberFormats
from corebrain.documents.convert.xlsx_grid import Budget, sheet_blocks
from corebrain.documents.convert.xlsx_guard import check_workbook_zip
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted

NAME = "xlsx"
VERSION = 2

_ZIP_MAGIC = b"PK\x03\x04"
_OLE_MAGIC = b"\xd0\xcf\x11\xe0"
_ZIPPED = frozenset({"xlsx", "xlsm", "xlsb", "ods"})


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """Markdown of a workbook: `## Sheet`, then a table for each block of filled rows.

    Values are shown as the cell would: percent and money in an XLSX, dates in ISO form, whole numbers without a
    fraction, TRUE and FALSE. A merged cell is repeated where it covers a table's columns or rows. Hidden sheets are
    marked. What is over the budget of `xlsx_grid` is left out with a line that says how many rows.

    Raises:
        Empty: No sheet holds a value.
        Damaged: It cannot be read as a workbook.
        Encrypted: A password protects it.
        TooLarge: A sheet spans more cells than `xlsx_guard` allows.
    """
    data = raw.data.read_bytes() if isinstance(raw.data, Path) else raw.data
    if format in _ZIPPED and data[:4] == _OLE_MAGIC:
        raise Encrypted("the workbook is protected with a password")
    package = _checked(data, format)
    try:
        workbook = CalamineWorkbook.from_filelike(io.BytesIO(data))
        found = _read_sheets(workbook, NumberFormats(package) if package is not None else None)
    except PasswordError as error:
        raise Encrypted("the workbook is protected with a password") from error
    except (CalamineError, ValueError, OSError) as error:
        raise Damaged("the workbook cannot be read") from error
    charts = chart_sections(package) if package is not None else {}
    for section in found.sections:
        section.blocks.extend(charts.pop(section.name, []))
    sections = [section for section in found.sections if section.blocks]
    if not sections:
        raise Empty("no sheet holds a value")
    title, language, metadata = package.properties() if package is not None else (None, None, {})
    shown: dict[str, Json] = {**metadata, "sheets": len(found.sections)}
    if found.budget.left_out:
        shown["rows_left_out"] = found.budget.left_out
    return ConvertedDocument(
        markdown="\n\n".join("\n\n".join([f"## {section.title}", *section.blocks]) for section in sections),
        title=title,
        format=format,
        language=language,
        converter=f"{NAME}:calamine",
        pages=None,
        size=len(data),
        metadata=shown,
    )


@dataclass(slots=True)
class _Section:
    name: str
    title: str
    blocks: list[str]


@dataclass(slots=True)
class _Found:
    sections: list[_Section] = field(default_factory=list)
    budget: Budget = field(default_factory=Budget)


def _checked(data: bytes, format_name: str) -> OoxmlPackage | None:
    """The package of an XLSX for its charts and properties; other formats give None. Bounds are checked for any zip."""
    if data[:4] != _ZIP_MAGIC:
        if format_name in _ZIPPED:
            raise Damaged("the file is not a whole zip package")
        return None
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            check_workbook_zip(archive, format_name)
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error) as error:
        raise Damaged("the file is not a whole zip package") from error
    if format_name == "ods":
        return None
    return OoxmlPackage(data)


def _read_sheets(workbook: CalamineWorkbook, formats: NumberFormats | None) -> _Found:
    found = _Found()
    for sheet in workbook.sheets_metadata:
        hidden = "" if sheet.visible == SheetVisibleEnum.Visible else " (hidden)"
        found.sections.append(
            _Section(sheet.name, f"{sheet.name}{hidden}", _sheet(workbook, sheet, found.budget, formats))
        )
    return found


def _sheet(
    workbook: CalamineWorkbook, sheet: SheetMetadata, budget: Budget, formats: NumberFormats | None
) -> list[str]:
    if sheet.typ != SheetTypeEnum.WorkSheet:
        return []
    try:
        displays = formats.cells(sheet.name) if formats is not None else None
        return sheet_blocks(workbook.get_sheet_by_name(sheet.name), budget, displays)
    except WorksheetNotFound:  # named by the workbook, missing in the package
        return []
