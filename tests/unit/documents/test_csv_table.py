from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents.convert import csv_table
from corebrain.documents.convert.markdown_table import table
from corebrain.documents.types import RawDocument
from corebrain.errors import Empty, TooLarge


def _markdown(data: bytes, kind: str = "csv") -> str:
    return csv_table.convert(RawDocument(data), kind).markdown


@pytest.mark.parametrize("name", ["csv-comma-in-cell", "csv-too-many-columns", "csv-inconsistent-header"])
def test_table_is_the_expected_one(samples: Path, name: str) -> None:
    expected = (samples / f"{name}.csv.expected.md").read_text(encoding="utf-8")
    assert _markdown((samples / f"{name}.csv").read_bytes()).split("\n") == expected.rstrip("\n").split("\n")


@pytest.mark.parametrize(
    ("data", "delimiter"),
    [
        (b"a;b;c\n1,5;2;3\n2,5;3;4\n", ";"),
        (b"a,b\n1,2\n", ","),
        (b"a\tb\n1,5\t2\n", "\t"),
        (b"a|b|c\n1|2|3\n", "|"),
        (b'name,text\nx,"one; two; three"\ny,"a; b; c"\n', ","),
        (b"sep=;\na,b;c\n", ";"),
        (b"one column\nonly\n", ","),
    ],
)
def test_separator_is_the_one_that_splits_evenly(data: bytes, delimiter: str) -> None:
    assert csv_table.convert(RawDocument(data), "csv").metadata["delimiter"] == delimiter


def test_japanese_table_is_read(samples: Path) -> None:
    assert "| 髙橋淳 | 35 | 名古屋 |" in _markdown((samples / "test_mskanji.csv").read_bytes())


def test_cells_stay_in_their_cells() -> None:
    assert _markdown(b'a,b\n"x|y","line\nbreak"\n') == "| a | b |\n| - | - |\n| x\\|y | line<br>break |"


def test_quote_that_is_never_closed_does_not_swallow_the_rest() -> None:
    lines = _markdown(b'a,b\n"x,' + b"y\n1," * 400_000).split("\n")
    assert len(lines) > 400_000
    assert lines[2].startswith('| "x | y |')


def test_table_of_blank_rows_is_empty() -> None:
    with pytest.raises(Empty):
        _markdown(b",,\n , \n\n")


def test_too_many_cells_are_refused() -> None:
    with pytest.raises(TooLarge):
        _markdown(b",".join([b"a"] * 1500) + b"\n" + (b",".join([b"1"] * 1500) + b"\n") * 1400)


def test_one_very_wide_row_does_not_widen_all_others() -> None:
    rows = [["a"] * 100_000, *[["b"]] * 1000]
    assert len(table(rows)) < 1_500_000


@given(st.lists(st.lists(st.text(alphabet='ab|,;"\n\\', max_size=5), min_size=1, max_size=4), min_size=1, max_size=5))
def test_every_line_of_a_table_has_the_same_number_of_cells(rows: list[list[str]]) -> None:
    width = max(len(row) for row in rows)
    for line in table(rows).split("\n"):
        assert line.replace("\\|", "").count("|") == width + 1
