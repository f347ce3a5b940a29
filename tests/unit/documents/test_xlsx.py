"""Spreadsheets to markdown: values as shown, blocks, merged cells, hidden sheets, guards."""

import datetime as dt
import io
import zipfile

import pytest
from python_calamine import CalamineWorkbook

from corebrain.documents.convert import xlsx, xlsx_formats
from corebrain.documents.convert.xlsx_formats import parse_format
from corebrain.documents.convert.xlsx_grid import Budget, sheet_blocks, value_text
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, TooLarge

S = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"
R = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
REL = "http://schemas.openxmlformats.org/package/2006/relationships"
TYPES = "http://schemas.openxmlformats.org/package/2006/content-types"
STYLES = (
    f'<styleSheet xmlns="{S}"><numFmts><numFmt numFmtId="170" formatCode="#,##0.00\\ [$€-407]"/></numFmts>'
    '<fonts count="1"><font/></fonts><fills count="1"><fill/></fills>'
    '<borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs>'
    '<cellXfs count="4"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="10"/>'
    '<xf numFmtId="170"/></cellXfs></styleSheet>'
)


def cell(place: str, value: str | float, style: int = 0) -> str:
    if isinstance(value, str):
        return f'<c r="{place}" t="inlineStr"><is><t>{value}</t></is></c>'
    return f'<c r="{place}" s="{style}"><v>{value}</v></c>'


def sheet(*rows: str, merged: str = "") -> str:
    data = "".join(f'<row r="{n}">{row}</row>' for n, row in enumerate(rows, 1) if row)
    return f'<worksheet xmlns="{S}"><sheetData>{data}</sheetData>{merged}</worksheet>'


def workbook(*sheets: tuple[str, str, str]) -> bytes:
    """A workbook of (name, state, sheet XML)."""
    parts = {
        "[Content_Types].xml": f'<Types xmlns="{TYPES}"/>',
        "_rels/.rels": f'<Relationships xmlns="{REL}">'
        f'<Relationship Id="a" Type="{R}/officeDocument" Target="xl/workbook.xml"/></Relationships>',
        "xl/styles.xml": STYLES,
        "xl/workbook.xml": f'<workbook xmlns="{S}" xmlns:r="{R}"><sheets>'
        + "".join(
            f'<sheet name="{name}" sheetId="{n}" state="{state}" r:id="s{n}"/>'
            for n, (name, state, _) in enumerate(sheets, 1)
        )
        + "</sheets></workbook>",
        "xl/_rels/workbook.xml.rels": f'<Relationships xmlns="{REL}">'
        + "".join(
            f'<Relationship Id="s{n}" Type="{R}/worksheet" Target="worksheets/sheet{n}.xml"/>'
            for n in range(1, len(sheets) + 1)
        )
        + f'<Relationship Id="st" Type="{R}/styles" Target="styles.xml"/></Relationships>',
    }
    parts |= {f"xl/worksheets/sheet{n}.xml": xml for n, (_, _, xml) in enumerate(sheets, 1)}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in parts.items():
            archive.writestr(name, data)
    return out.getvalue()


def converted(data: bytes, format_name: str = "xlsx") -> ConvertedDocument:
    return xlsx.convert(RawDocument(data=data), format_name)


def test_sheets_are_sections_with_values_as_shown() -> None:
    data = workbook(
        ("Plan", "visible", sheet(cell("A1", "when") + cell("B1", "n"), cell("A2", 45306, 1) + cell("B2", 3.0))),
        ("Old", "hidden", sheet(cell("A1", "x"))),
    )
    got = converted(data)
    assert got.markdown == "## Plan\n\n| when | n |\n| --- | --- |\n| 2024-01-15 | 3 |\n\n## Old (hidden)\n\nx"
    assert got.metadata["sheets"] == 2


def test_blank_rows_part_blocks_and_a_lone_row_above_is_text() -> None:
    data = workbook(
        (
            "S",
            "visible",
            sheet(
                cell("A1", "Staff"),
                cell("A2", "name") + cell("C2", "age"),
                cell("A3", "Ann") + cell("C3", 41),
                "",
                cell("A5", "total") + cell("B5", 1),
            ),
        )
    )
    assert converted(data).markdown == (
        "## S\n\nStaff\n\n| name | age |\n| --- | --- |\n| Ann | 41 |\n\n| total | 1 |\n| --- | --- |"
    )


def test_merged_cells_are_repeated_in_a_table_and_not_in_a_title() -> None:
    merged = '<mergeCells><mergeCell ref="A1:C1"/><mergeCell ref="A2:B2"/><mergeCell ref="A3:A4"/></mergeCells>'
    rows = (
        cell("A1", "Title"),
        cell("A2", "both") + cell("C2", "c"),
        cell("A3", "k") + cell("B3", 1) + cell("C3", 2),
        cell("B4", 3) + cell("C4", 4),
    )
    assert converted(workbook(("S", "visible", sheet(*rows, merged=merged)))).markdown == (
        "## S\n\nTitle\n\n| both | both | c |\n| --- | --- | --- |\n| k | 1 | 2 |\n| k | 3 | 4 |"
    )


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (3.0, "3"),
        (0.1 + 0.2, "0.3"),
        (1e20, "1e+20"),
        (-2.5, "-2.5"),
        (True, "TRUE"),
        (dt.datetime.fromisoformat("2024-01-05"), "2024-01-05"),
        (dt.datetime.fromisoformat("2024-01-05 13:45"), "2024-01-05 13:45:00"),
        (dt.date(2024, 1, 5), "2024-01-05"),
        (dt.time(8, 30), "08:30:00"),
        (dt.timedelta(hours=30, minutes=5), "30:05:00"),
        ("text", "text"),
    ],
)
def test_value_is_written_as_a_person_reads_it(value: float | str | dt.date | dt.time, shown: str) -> None:
    assert value_text(value) == shown


def test_rows_over_the_budget_are_counted_and_named() -> None:
    rows = [cell(f"A{n}", n) + cell(f"B{n}", n) for n in range(1, 6)]
    book = CalamineWorkbook.from_filelike(io.BytesIO(workbook(("S", "visible", sheet(*rows)))))
    budget = Budget(cells=4)
    assert sheet_blocks(book.get_sheet_by_name("S"), budget)[-1] == "(3 more rows are not shown)"
    assert budget.left_out == 3


def test_sparse_sheet_of_billions_of_cells_is_too_large() -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c r="XFD1048576"><v>2</v></c></row>'
    xml = f'<worksheet xmlns="{S}"><sheetData>{rows}</sheetData></worksheet>'
    with pytest.raises(TooLarge, match="cells"):
        converted(workbook(("S", "visible", xml)))


def test_sparse_sheet_with_its_rows_out_of_order_is_too_large() -> None:
    rows = '<row r="1048576"><c r="XFD1048576"><v>2</v></c></row>' + "".join(
        f'<row r="{n}"><c r="A{n}"><v>{n}</v></c></row>' for n in range(1, 400)
    )
    with pytest.raises(TooLarge):
        converted(workbook(("S", "visible", f'<worksheet xmlns="{S}"><sheetData>{rows}</sheetData></worksheet>')))


def test_long_narrow_sheet_is_not_too_large() -> None:
    rows = '<row r="1"><c r="A1"><v>1</v></c></row><row r="900000"><c r="B900000"><v>2</v></c></row>'
    xml = f'<worksheet xmlns="{S}"><sheetData>{rows}</sheetData></worksheet>'
    assert converted(workbook(("S", "visible", xml))).markdown == "## S\n\n1\n\n2"


def test_repeated_cells_of_an_opendocument_sheet_are_bounded() -> None:
    content = (
        '<table:table table:name="S"><table:table-row table:number-rows-repeated="1048576">'
        '<table:table-cell office:value-type="float" office:value="1" table:number-columns-repeated="16384"/>'
        "</table:table-row></table:table>"
    )
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        archive.writestr("content.xml", content)
    with pytest.raises(TooLarge):
        converted(out.getvalue(), "ods")


def test_protected_workbook_is_encrypted() -> None:
    with pytest.raises(Encrypted):
        converted(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + bytes(2048))


@pytest.mark.parametrize("data", [b"", b"PK\x03\x04rest", b"plain"])
def test_broken_workbook_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        converted(data)


def test_workbook_without_values_is_empty() -> None:
    with pytest.raises(Empty):
        converted(workbook(("S", "visible", sheet())))


@pytest.mark.parametrize(
    ("code", "value", "shown"),
    [
        ("0%", 0.125, "12%"),
        ("0.00%", -0.125, "-12.50%"),
        ('"$"#,##0.00', 1234.5, "$1,234.50"),
        ("[$$-409]#,##0;[Red]-[$$-409]#,##0", -1234.4, "-$1,234"),
        ("#,##0.00\\ [$€-407]", 1234.5, "1,234.50 €"),
        ('_-* #,##0.00\\ "kr"_-;-* #,##0.00', 7, "7.00 kr"),
        ("[$CHF]\\ 0", 5, "CHF5"),
        ("£0.0", -0.04, "£0.0"),
    ],
)
def test_percent_and_money_are_shown_as_their_cells_show_them(code: str, value: float, shown: str) -> None:
    display = parse_format(code)
    assert display is not None
    assert display.text(value) == shown


@pytest.mark.parametrize("code", ["General", "0.00", "#,##0", "yyyy-mm-dd", "@", "", "[h]:mm", '"Total" 0', "0.0E+00"])
def test_other_formats_leave_the_number_as_it_is(code: str) -> None:
    assert parse_format(code) is None


def test_formats_find_their_cells_in_a_sheet_that_starts_late() -> None:
    rows = (
        "",
        cell("B2", "Share") + cell("C2", "Price"),
        cell("B3", 0.25, style=2) + cell("C3", 1234.5, style=3),
        cell("B4", 3) + cell("C4", 5),
    )
    assert converted(workbook(("S", "visible", sheet(*rows)))).markdown == (
        "## S\n\n| Share | Price |\n| --- | --- |\n| 25.00% | 1,234.50 € |\n| 3 | 5 |"
    )


def test_sheet_too_large_for_a_second_look_shows_plain_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(xlsx_formats, "MAX_SHEET_BYTES", 10)
    assert "0.25" in converted(workbook(("S", "visible", sheet(cell("A1", 0.25, style=2))))).markdown


def test_merged_cells_are_found_in_a_sheet_that_starts_late() -> None:
    rows = (
        "", "", "",
        cell("B4", "Region") + cell("C4", "City"),
        cell("B5", "North") + cell("C5", "Oslo"),
        cell("C6", "Bergen"),
    )  # fmt: skip
    merged = '<mergeCells><mergeCell ref="B5:B6"/></mergeCells>'
    assert converted(workbook(("S", "visible", sheet(*rows, merged=merged)))).markdown.endswith(
        "| North | Oslo |\n| North | Bergen |"
    )
