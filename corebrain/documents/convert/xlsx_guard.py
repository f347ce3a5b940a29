"""Bounds of a spreadsheet, looked at before it is loaded: the reader lays every sheet out as a full grid."""

import re
import zipfile
import zlib

from corebrain.documents.convert.ooxml import MAX_PART_BYTES, check_zip
from corebrain.errors import Damaged, Encrypted, TooLarge

MAX_GRID_CELLS = 20_000_000
"""Rows times columns of one sheet; a place in the grid takes about 32 bytes."""
FULL_SCAN_BYTES = 4 * 1024 * 1024
"""A sheet part up to this is read for its bounds from end to end."""

_TAIL_BYTES = 4096
_ROW = re.compile(rb"\sr=['\"][A-Z]*(\d+)['\"]")
_COLUMN = re.compile(rb"\sr=['\"]([A-Z]{1,3})\d")
_ODS_ROW = re.compile(rb"<table:table-row\b([^>]*)>(.*?)</table:table-row>", re.DOTALL)
_ODS_ROW_REPEAT = re.compile(rb"table:number-rows-repeated=\"(\d+)\"")
_ODS_CELL = re.compile(rb"<table:(?:covered-)?table-cell\b([^>]*?)(/?)>")
_ODS_CELL_REPEAT = re.compile(rb"table:number-columns-repeated=\"(\d+)\"")


def check_workbook_zip(archive: zipfile.ZipFile, format_name: str) -> None:
    """Refuse a workbook whose sheets would not fit in memory.

    Raises:
        TooLarge: A sheet's used range is over `MAX_GRID_CELLS`, or the package is over the limits of `ooxml`.
        Damaged: A sheet cannot be unpacked.
        Encrypted: Its entries are protected with a password.
    """
    check_zip(archive)
    for entry in archive.infolist():
        name = entry.filename.lower()
        if format_name == "ods" and name == "content.xml":
            cells = _ods_cells(_read(archive, entry))
        elif name.startswith("xl/worksheets/") and name.endswith(".xml"):
            cells = _xlsx_cells(_read(archive, entry))
        else:
            continue
        if cells > MAX_GRID_CELLS:
            raise TooLarge(f"a sheet spans {cells:,} cells, over the limit of {MAX_GRID_CELLS:,}")


def _read(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    try:
        with archive.open(entry) as stream:
            data = stream.read(MAX_PART_BYTES + 1)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError) as error:
        raise Damaged(f"part {entry.filename} cannot be unpacked") from error
    except RuntimeError as error:  # what zipfile raises for an encrypted entry
        raise Encrypted("the file is protected with a password") from error
    if len(data) > MAX_PART_BYTES:
        raise TooLarge(f"part {entry.filename} unpacks to more than {MAX_PART_BYTES >> 20} MiB")
    return data


def _xlsx_cells(data: bytes) -> int:
    """Rows times columns a sheet part reaches (rows alone when no width could be too much).

    Rows come in order, so of a long part only the end is read; in a short one they may be in any.
    """
    start = 0 if len(data) <= FULL_SCAN_BYTES else len(data) - _TAIL_BYTES
    rows = max((int(match[1]) for match in _ROW.finditer(data, start)), default=data.count(b"<row"))
    if rows * 16_384 <= MAX_GRID_CELLS:  # no sheet is wider
        return rows
    columns = max((_column(letters) for letters in set(_COLUMN.findall(data))), default=1)
    return rows * columns


def _column(letters: bytes) -> int:
    number = 0
    for letter in letters:
        number = number * 26 + letter - ord("A") + 1
    return number


def _ods_cells(data: bytes) -> int:
    """Places that repeated rows and cells with content unfold to."""
    total = 0
    for row in _ODS_ROW.finditer(data):
        repeat = _ODS_ROW_REPEAT.search(row[1])
        times = int(repeat[1]) if repeat else 1
        width = last = 0
        for cell in _ODS_CELL.finditer(row[2]):
            copies = _ODS_CELL_REPEAT.search(cell[1])
            width += int(copies[1]) if copies else 1
            if b"office:value" in cell[1] or not cell[2]:
                last = width
        total += last * times
    return total
