"""A person may choose the parser of a format."""

from pathlib import Path

import pytest

from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import RawDocument

PAGE = b"<html><body><h1>Refunds</h1><p>Refunds take five business days.</p><ul><li>One</li></ul></body></html>"


def test_unstructured_reads_pages_when_chosen_and_tells_its_name() -> None:
    pytest.importorskip("unstructured", reason="the extra [unstructured] is not installed")
    with RegistryConverter(choices={"html": "unstructured"}) as converter:
        converted = converter.convert(RawDocument(PAGE, "a.html"))
    assert converted.converter == "unstructured"
    assert converted.markdown == "# Refunds\n\nRefunds take five business days.\n\n- One"


def test_pypdf_reads_when_chosen(samples: Path) -> None:
    with RegistryConverter(choices={"pdf": "pypdf"}) as converter:
        converted = converter.convert(RawDocument(samples / "not_a_pdf_header.pdf"))
    assert converted.converter.startswith("pdf:pypdf")
    assert "Bug 1606566" in converted.markdown
