import io
import struct
import zipfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents import archive_names, ole
from corebrain.documents.formats import FORMATS
from corebrain.documents.sniff import language_for_path, sniff, sniff_raw
from corebrain.documents.types import RawDocument


def _zip(*names: str, first: tuple[str, bytes] | None = None) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w") as archive:
        if first:
            archive.writestr(first[0], first[1])
        for name in names:
            archive.writestr(name, b"x")
    return held.getvalue()


DOCX = _zip("[Content_Types].xml", "word/document.xml")
OPEN = "application/vnd.oasis.opendocument."


@pytest.mark.parametrize(
    ("data", "filename", "mime", "expected"),
    [
        (b"%PDF-1.7", "a.md", "text/markdown", "pdf"),
        (DOCX, "a.doc", None, "docx"),
        (DOCX, "a.md", "text/markdown", "docx"),
        (_zip("xl/workbook.xml"), None, None, "xlsx"),
        (_zip("xl/workbook.bin"), None, None, "xlsb"),
        (_zip("ppt/presentation.xml"), None, None, "pptx"),
        (_zip("a.txt"), None, None, "zip"),
        (_zip("a.txt"), "a.pptx", None, "pptx"),
        (_zip("a.txt"), "a.txt", None, "zip"),
        (_zip("a.txt"), None, FORMATS["docx"].mime, "docx"),
        (_zip(), "empty.docx", None, "docx"),
        (_zip("content.xml", first=("mimetype", OPEN.encode() + b"text")), "a.zip", None, "odt"),
        (_zip("content.xml", first=("mimetype", OPEN.encode() + b"spreadsheet")), None, None, "ods"),
        (_zip("content.xml", first=("mimetype", OPEN.encode() + b"text-template")), None, None, "odt"),
        (_zip("content.xml", first=("mimetype", b"application/epub+zip")), None, None, "epub"),
        (_zip("content.xml", first=("mimetype", OPEN.encode() + b"graphics")), None, None, "zip"),
        (b"\x89PNG\r\n\x1a\n", "a.txt", None, "png"),
        (b"\xff\xd8\xff\xe0", None, None, "jpeg"),
        (b"RIFF....WEBPVP8 ", None, None, "webp"),
        (b"{\\rtf1\\ansi", "a.doc", None, "rtf"),
        (b"text", "a.md", "TEXT/HTML; charset=utf-8", "html"),
        (b"text", "a.py", "text/plain", "plain_text"),
        (b"text", "a.docx", "application/msword", "docx"),
        (b"text", "a.csv", "application/vnd.ms-excel", "csv"),
        (b"text", "notes.odt", None, "odt"),
        (b"{}", "a.json", None, "code"),
        (b"<a/>", "a.xml", None, "code"),
        (b"", "Dockerfile", None, "code"),
        (b"text", "a.MD", None, "markdown"),
        (b"text", r"C:\docs\a.Mdown", None, "markdown"),
        (b"text", "a.log", None, "plain_text"),
        (b"text", "a.ipynb", None, "ipynb"),
        (b"  \n<!DOCTYPE HTML><p>", None, None, "html"),
        (b"\xef\xbb\xbf<html>", "page", None, "html"),
        (b"just text", "LICENSE", None, "plain_text"),
        ("Zürich".encode("utf-16"), None, None, "plain_text"),
        ("Straße nach Köln, über Müllheim".encode("cp1252"), "LIESMICH", None, "plain_text"),
        (b"x" * 65535 + "é".encode(), None, None, "plain_text"),
        (b"", None, None, "unknown"),
        (b"a\x00b", None, None, "unknown"),
        (b"\x1f\x8b\x08\x00\x00", "a.bin", None, "unknown"),
    ],
)
def test_format_follows_the_order_of_signals(
    data: bytes, filename: str | None, mime: str | None, expected: str
) -> None:
    assert sniff(data, filename, mime) == expected


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("password.xlsx", "encrypted"),
        ("test.xls", "xls"),
        ("fake-email-attachment.msg", "msg"),
        ("truncated.docx", "docx"),
        ("macro.docm", "docx"),
        ("simple.odt", "odt"),
        ("test.epub", "epub"),
        ("random.bin", "unknown"),
        ("not_a_zip.odt", "odt"),
        ("utf32.txt", "plain_text"),
    ],
)
def test_real_files_are_told_apart_by_path_and_by_bytes(samples: Path, name: str, expected: str) -> None:
    path = samples / name
    assert sniff_raw(RawDocument(path)) == expected
    assert sniff(path.read_bytes(), name) == expected


@pytest.mark.parametrize("name", ["password.xlsx", "test.xls", "fake-email-attachment.msg", "simple.odt", "test.epub"])
def test_binary_files_need_no_name(samples: Path, name: str) -> None:
    data = (samples / name).read_bytes()
    assert sniff(data, "wrong.txt") == sniff(data, name)


@pytest.mark.parametrize(
    ("path", "language"),
    [
        ("src/main.rs", "rust"),
        ("a/b.PY", "python"),
        ("Makefile", "makefile"),
        ("MAKEFILE", None),
        ("Dockerfile.prod", "dockerfile"),
        ("docker/Containerfile.x", "dockerfile"),
        ("CMakeLists.txt", "cmake"),
        (r"C:\work\Gemfile", "ruby"),
        ("justfile", "just"),
        (".py", None),
        (".bashrc.sh", "shell"),
        ("archive.tar.gz", None),
        ("x.d.ts", "typescript"),
        ("x.gql", "graphql"),
        ("x.tf", "terraform"),
        ("x.edn", "clojure"),
        ("README", None),
        ("", None),
        ("dir.py/", None),
    ],
)
def test_language_follows_the_name(path: str, language: str | None) -> None:
    assert language_for_path(path) == language


@given(st.binary(max_size=400), st.sampled_from([b"", b"PK\x03\x04", b"PK\x05\x06", ole.SIGNATURE]))
def test_no_bytes_break_the_detection(tail: bytes, head: bytes) -> None:
    assert sniff(head + tail) in FORMATS


@given(st.data())
def test_no_change_to_an_ole_file_breaks_its_reader(data: st.DataObject) -> None:
    whole = bytearray((Path(__file__).parents[2] / "documents_samples/password.xlsx").read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        whole[data.draw(st.integers(8, len(whole) - 1))] = data.draw(st.integers(0, 255))
    assert sniff(bytes(whole)) in FORMATS


def test_directory_that_loops_ends() -> None:
    head = bytearray(512)
    head[:8] = ole.SIGNATURE
    struct.pack_into("<H", head, 30, 9)
    struct.pack_into("<I", head, 48, 0)  # the directory starts in sector 0 ...
    struct.pack_into("<I", head, 76, 0)  # ... which is the allocation table too, and says that 0 follows 0
    assert ole.top_level_names(io.BytesIO(bytes(head) + bytes(512))) == {""}


def test_archive_with_very_many_members_is_read_in_part_only() -> None:
    names = archive_names.member_names(io.BytesIO(_zip(*(f"{number}.txt" for number in range(20_000)))))
    assert 1000 < len(names) < 20_000


def test_archive_behind_a_prefix_still_shows_its_members() -> None:
    assert archive_names.member_names(io.BytesIO(b"#!/bin/sh\n" + DOCX)) == ["[Content_Types].xml", "word/document.xml"]
