"""Every sample beside this file converts to exactly the markdown kept for it."""

import importlib
from pathlib import Path

import pytest

from corebrain.documents.types import RawDocument

HERE = Path(__file__).parent
MODULES = {name: name for name in ("docx", "eml", "epub", "html", "ipynb", "odf", "pdf", "pptx", "xlsx")}
MODULES["csv"] = "csv_table"
SOURCES = sorted(path for folder in MODULES for path in (HERE / folder).iterdir() if path.suffix != ".md")
ORIGIN = "https://example.org/docs/page.html"


def converted(source: Path) -> str:
    module = importlib.import_module(f"corebrain.documents.convert.{MODULES[source.parent.name]}")
    raw = RawDocument(data=source.read_bytes(), filename=source.name, origin=ORIGIN)
    return str(module.convert(raw, source.suffix[1:]).markdown) + "\n"


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_sample_converts_to_the_markdown_kept_for_it(source: Path, update_golden: bool) -> None:
    expected = source.with_name(f"{source.name}.md")
    got = converted(source)
    if update_golden:
        expected.write_text(got, encoding="utf-8", newline="")
    assert got == expected.read_bytes().decode("utf-8")


@pytest.mark.parametrize("source", SOURCES, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_second_conversion_gives_the_same_bytes(source: Path) -> None:
    assert converted(source) == converted(source)
