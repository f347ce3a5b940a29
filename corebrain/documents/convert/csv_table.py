"""CSV and TSV as a markdown table: dialect and charset found, ragged rows kept."""

import csv
from collections import Counter
from itertools import islice

from corebrain.documents.charset import decode_text
from corebrain.documents.convert.markdown_table import table
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, TooLarge

NAME = "csv"
VERSION = 1

MAX_CELLS = 2_000_000
_DELIMITERS = ",;\t|"
_SAMPLE_ROWS = 60
_SAMPLE_CHARACTERS = 128 * 1024
_FIELD_CHARACTERS = 1_000_000


def convert(raw: RawDocument, format: str) -> ConvertedDocument:  # noqa: A002 - the contract's word
    """The rows as one table, the first as its head; blank rows are left out.

    Raises:
        Empty: No row holds anything.
        Damaged: The bytes are not text.
        TooLarge: More than two million cells.
    """
    data = raw.read()
    text = decode_text(data).lstrip("\ufeff")
    delimiter, text = _stated_delimiter(text)
    delimiter = delimiter or find_delimiter(text, usual="\t" if format == "tsv" else ",")
    rows = read_rows(text, delimiter)
    if not rows:
        raise Empty("the table holds nothing")
    return ConvertedDocument(
        markdown=table(rows),
        title=None,
        format=format,
        language=None,
        converter=NAME,
        pages=None,
        size=len(data),
        metadata={"delimiter": delimiter, "rows": len(rows)},
    )


def find_delimiter(text: str, *, usual: str) -> str:
    """The separator that splits the first rows most evenly; `usual` when none splits them.

    A separator's score is the share of rows with the most frequent number of fields; a tie goes to the one with more
    fields, then to the usual one. Quotes count, so commas inside a quoted field do not.
    """
    sample = text[:_SAMPLE_CHARACTERS]
    best, best_score = usual, (0.0, 0, False)
    for delimiter in _DELIMITERS:
        widths = Counter(len(row) for row in _rows(sample, delimiter, _SAMPLE_ROWS) if any(row))
        widths.pop(1, None)
        if not widths:
            continue
        width, often = max(widths.items(), key=lambda pair: (pair[1], pair[0]))
        score = (often / min(_SAMPLE_ROWS, max(1, sample.count("\n") + 1)), width, delimiter == usual)
        if (round(score[0], 1), *score[1:]) > (round(best_score[0], 1), *best_score[1:]):
            best, best_score = delimiter, score
    return best


def read_rows(text: str, delimiter: str) -> list[list[str]]:
    """All rows that hold something.

    Raises:
        TooLarge: More than two million cells.
    """
    rows: list[list[str]] = []
    cells = 0
    for row in _rows(text, delimiter, None):
        if not any(field.strip() for field in row):
            continue
        cells += len(row)
        if cells > MAX_CELLS:
            raise TooLarge("the table has more than 2,000,000 cells")
        rows.append(row)
    return rows


def _rows(text: str, delimiter: str, limit: int | None) -> list[list[str]]:
    """Rows as the quotes say, or, when a quote is never closed, as the line ends say."""
    csv.field_size_limit(_FIELD_CHARACTERS)
    for quoting in (csv.QUOTE_MINIMAL, csv.QUOTE_NONE):
        reader = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, quoting=quoting, skipinitialspace=True)
        try:
            return list(islice(reader, limit))
        except csv.Error:
            continue
    raise Damaged("the rows cannot be told apart", advice="export the table again as CSV in UTF-8")


def _stated_delimiter(text: str) -> tuple[str, str]:
    """Excel's own first line `sep=;`, taken off."""
    first, _, rest = text.partition("\n")
    stated = first.strip()
    if stated.lower().startswith("sep=") and len(stated) == 5:
        return stated[4], rest
    return "", text
