import io
import zipfile
from pathlib import Path

import pytest

from corebrain.documents.convert import epub
from corebrain.documents.types import RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, TooLarge

CONTAINER = '<container><rootfiles><rootfile full-path="OPS/c.opf"/></rootfiles></container>'


def _book(chapters: dict[str, str], spine: list[str], **members: str) -> RawDocument:
    items = "".join(f'<item id="{name}" href="{name}.xhtml" media-type="application/xhtml+xml"/>' for name in chapters)
    order = "".join(f'<itemref idref="{name}"/>' for name in spine)
    package = f"<package><metadata/><manifest>{items}</manifest><spine>{order}</spine></package>"
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("META-INF/container.xml", CONTAINER)
        archive.writestr("OPS/c.opf", package)
        for name, text in chapters.items():
            archive.writestr(f"OPS/{name}.xhtml", f"<html><body>{text}</body></html>")
        for name, text in members.items():
            archive.writestr(name, text)
    return RawDocument(held.getvalue())


def test_chapters_come_in_reading_order_without_the_table_of_contents(samples: Path) -> None:
    converted = epub.convert(RawDocument(samples / "test.epub"), "epub")
    assert converted.markdown.startswith("# Chapter 1: Test Content\n")
    assert converted.markdown.index("Chapter 1") < converted.markdown.index("Chapter 2")
    assert (converted.title, converted.language) == ("Test EPUB Document", "en")
    assert converted.metadata == {"creator": "Test Author"}


def test_spine_decides_the_order_and_what_is_missing_is_passed_over() -> None:
    book = _book({"a": "<p>first</p>", "b": "<p>second</p>", "c": ""}, ["b", "gone", "a", "b", "c"])
    assert epub.convert(book, "epub").markdown == "second\n\nfirst\n"


def test_locked_chapters_are_encrypted_and_locked_fonts_are_not() -> None:
    lock = '<encryption><EncryptedData><CipherReference URI="{}"/></EncryptedData></encryption>'
    with pytest.raises(Encrypted):
        epub.convert(_book({"a": "x"}, ["a"], **{"META-INF/encryption.xml": lock.format("OPS/a.xhtml")}), "epub")
    font = _book({"a": "x"}, ["a"], **{"META-INF/encryption.xml": lock.format("OPS/font.otf")})
    assert epub.convert(font, "epub").markdown == "x\n"


def test_chapter_that_unpacks_without_end_is_too_large() -> None:
    with pytest.raises(TooLarge):
        epub.convert(_book({"a": " " * (epub.MAX_CHAPTER_BYTES + 1)}, ["a"]), "epub")


def test_book_without_text_is_empty() -> None:
    with pytest.raises(Empty):
        epub.convert(_book({"a": "<img src='x'/>"}, ["a"]), "epub")


@pytest.mark.parametrize("data", [b"PK\x03\x04 cut off", b""])
def test_broken_book_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        epub.convert(RawDocument(data), "epub")


def test_book_without_a_package_is_damaged() -> None:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        archive.writestr("META-INF/container.xml", "<container/>")
    with pytest.raises(Damaged, match="package"):
        epub.convert(RawDocument(held.getvalue()), "epub")
