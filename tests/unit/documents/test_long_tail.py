"""RTF, RST, ORG, DOC and PPT through unstructured with pandoc and LibreOffice; what is readable anyway without them."""

import importlib.util
import shutil
import subprocess
from pathlib import Path

import pytest

from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.registry import Parser
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import UnsupportedFormat

HAS = all(importlib.util.find_spec(name) for name in ("unstructured", "pypandoc", "docx", "pptx"))
GOLDEN = Path(__file__).parents[2] / "golden" / "documents"


def _needs(program: str, name: str) -> pytest.MarkDecorator:
    return pytest.mark.skipif(not HAS or shutil.which(program) is None, reason=f"{name} is not installed")


needs_pandoc, needs_office = _needs("pandoc", "pandoc"), _needs("soffice", "LibreOffice")


def converted(path: Path, converter: RegistryConverter) -> ConvertedDocument:
    return converter.convert(RawDocument(path, path.name))


@needs_pandoc
def test_rst_and_rtf_have_headings_lists_and_code(samples: Path, converter: RegistryConverter) -> None:
    found = converted(samples / "example-docs.rst", converter)
    assert found.converter == "unstructured"
    assert found.markdown.startswith("# Example Docs\n\nThe sample docs directory contains the following files:\n\n- ")
    assert "\n\n```\ncurl -O " in found.markdown
    assert converted(samples / "fake-doc.rtf", converter).markdown.startswith(
        "# My First Heading\n\nMy first paragraph."
    )


@needs_pandoc
def test_org_includes_no_file(samples: Path, converter: RegistryConverter, tmp_path: Path) -> None:
    assert converted(samples / "example-docs.org", converter).markdown.startswith("# Example Docs")
    secret, file = tmp_path / "secret.org", tmp_path / "a.org"
    secret.write_text("* canary")
    file.write_text(f"* Title\n\nText.\n\n#+INCLUDE: {secret}\n")
    assert "canary" not in converted(file, converter).markdown


@needs_pandoc
def test_rst_includes_no_file(converter: RegistryConverter, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("canary")
    file = tmp_path / "a.rst"
    secret = tmp_path / "secret.txt"
    file.write_text(f"Title\n=====\n\nText.\n\n.. include:: {secret}\n\n.. raw:: html\n   :file: {secret}\n")
    assert "canary" not in converted(file, converter).markdown


@needs_office
@pytest.mark.slow
@pytest.mark.timeout(120)
def test_old_word_documents_are_read(samples: Path) -> None:
    with RegistryConverter() as converter:
        found = converted(samples / "plan.doc", converter)
    assert found.format == "doc"
    assert "First part" in found.markdown
    assert "- inner a" in found.markdown
    assert "| 1 | 2 " in found.markdown


@needs_office
@pytest.mark.slow
@pytest.mark.timeout(180)
def test_old_presentations_are_read(tmp_path: Path) -> None:
    odp = GOLDEN / "odf" / "fake-power-point.odp"
    command = ["soffice", f"-env:UserInstallation=file://{tmp_path}/profile", "--headless", "--convert-to", "ppt"]
    subprocess.run([*command, "--outdir", str(tmp_path), str(odp)], check=True, capture_output=True)
    with RegistryConverter() as converter:
        found = converted(tmp_path / "fake-power-point.ppt", converter)
    assert found.format == "ppt"
    assert "# Adding a Bullet Slide\n\n- Find the bullet slide layout" in found.markdown


@pytest.mark.parametrize(("name", "expected"), [("a.rst", "text"), ("a.org", "text"), ("a.rtf", None), ("a.doc", None)])
def test_without_programs_what_is_text_is_stored_as_written(
    monkeypatch: pytest.MonkeyPatch, name: str, expected: str | None
) -> None:
    monkeypatch.setattr(Parser, "missing", lambda parser: parser.programs)
    heads = {"a.doc": b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "a.rtf": b"{\\rtf1 x}"}
    data = heads.get(name, b"Title\n=====")
    with RegistryConverter() as converter:
        if expected is None:
            with pytest.raises(UnsupportedFormat) as caught:
                converter.convert(RawDocument(data, name))
            assert "install" in caught.value.advice
            return
        found = converter.convert(RawDocument(data, name))
        assert (found.converter, found.markdown) == (expected, "Title\n=====")
        assert converter.version_of(found.format) == "text/1", "a program that comes later is another version"


@pytest.mark.parametrize("name", ["a.adoc", "a.tex", "a.jsonl", "LICENSE", "a.textile"])
def test_other_texts_are_stored_as_written(converter: RegistryConverter, name: str) -> None:
    text = '= Title\n\n\\section{One} {"a": 1}\n'
    assert converter.convert(RawDocument(text.encode(), name)).markdown == text
