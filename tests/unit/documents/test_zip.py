"""A ZIP is a list of its files, and those that can be read are documents below it."""

import io
import struct
import zipfile
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents.brain_document import MAX_PART_DEPTH, brain_documents
from corebrain.documents.convert import zip_archive
from corebrain.documents.convert.zip_archive import safe_name
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, Refusal, TimedOut, TooLarge
from corebrain.model.meta import MemoryMeta


def packed(*members: tuple[str, bytes]) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return file.getvalue()


def converted(data: bytes, password: str | None = None) -> ConvertedDocument:
    return zip_archive.convert(RawDocument(data, "a.zip", password=password), "zip")


def test_files_are_listed_and_what_can_be_read_is_taken_along() -> None:
    found = converted(packed(("docs/plan.md", b"# Plan"), ("docs/", b""), ("tool.bin", b"\0\1\2"), ("empty.txt", b"")))
    assert found.markdown == "- docs/plan.md (6 bytes)\n- tool.bin (3 bytes)\n- empty.txt (0 bytes)"
    assert [(part.name, part.data) for part in found.parts] == [("docs/plan.md", b"# Plan")]
    assert found.metadata == {"files": 3}


def test_litter_of_systems_is_left_out() -> None:
    found = converted(packed(("__MACOSX/._a", b"x"), ("a/.DS_Store", b"x"), (".git/config", b"x"), ("a.txt", b"x")))
    assert found.markdown == "- a.txt (1 bytes)"


def test_documents_of_an_archive_lie_at_their_paths_below_it(converter: RegistryConverter) -> None:
    inner = packed(("deep.md", b"# Deep"))
    archive = packed(
        ("a/b/plan.md", b"# Plan"), ("notes.md", b"# Notes"), ("./notes.md", b"# Again"), ("in.zip", inner)
    )
    made = brain_documents(converter, RawDocument(archive, "a.zip"), meta=MemoryMeta(file_path="x/a.zip", folder="x"))
    placed = [(document.meta.file_path, document.meta.folder, document.title) for document in made]
    assert placed == [
        ("x/a.zip", "x", "a.zip"),
        ("x/a.zip/a/b/plan.md", "x/a.zip/a/b", "Plan"),
        ("x/a.zip/notes.md", "x/a.zip", "Notes"),
        ("x/a.zip/notes.md~2", "x/a.zip", "Again"),
        ("x/a.zip/in.zip", "x/a.zip", "in.zip"),
        ("x/a.zip/in.zip/deep.md", "x/a.zip/in.zip", "Deep"),
    ]
    assert made.refused == ()


@pytest.mark.parametrize(
    ("name", "safe"),
    [
        ("../../etc/passwd", "etc/passwd"),
        ("/abs.txt", "abs.txt"),
        ("..\\..\\x.txt", "x.txt"),
        ("C:\\y.txt", "y.txt"),
        ("a\x1b[31m\n.txt", "a[31m.txt"),
        ("\u202egnp.exe.txt", "gnp.exe.txt"),
        ("./a//b/.", "a/b"),
        ("..", "file"),
    ],
)
def test_names_that_lead_out_of_the_archive_are_made_harmless(name: str, safe: str) -> None:
    assert safe_name(name) == safe


@given(st.text())
def test_every_name_stays_below_its_archive(name: str) -> None:
    steps = safe_name(name).split("/")
    assert steps
    assert not {"", ".", ".."}.intersection(steps)
    assert safe_name(safe_name(name)) == safe_name(name)


def test_archive_in_archives_ends_at_a_depth(converter: RegistryConverter) -> None:
    data = b"hello"
    for level in range(MAX_PART_DEPTH + 3):
        data = packed(("a.zip" if level else "a.txt", data))
    made = brain_documents(converter, RawDocument(data, "a.zip"))
    assert len(made.parts) == MAX_PART_DEPTH
    (refused,) = made.refused
    assert refused.name == "/".join(["a.zip"] * (MAX_PART_DEPTH + 1))
    assert "nested" in refused.error.message


def test_more_attachments_than_anyone_reads_are_refused(
    converter: RegistryConverter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corebrain.documents.brain_document.MAX_PARTS", 2)
    made = brain_documents(converter, RawDocument(packed(*((f"{n}.txt", b"x") for n in range(4))), "a.zip"))
    assert (len(made.parts), [refused.name for refused in made.refused]) == (2, ["2.txt", "3.txt"])


def test_attachments_of_attachments_are_held_up_to_a_size(
    converter: RegistryConverter, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("corebrain.documents.brain_document.MAX_HELD_BYTES", 1_000)
    inner = packed(("a.txt", b"a" * 900))
    made = brain_documents(converter, RawDocument(packed(("in.zip", inner), ("b.txt", b"b")), "a.zip"))
    assert [part.title for part in made.parts] == ["in.zip", "b.txt"]
    assert [refused.name for refused in made.refused] == ["in.zip/a.txt"]


class Hanging:
    """A converter that reads archives and hangs on all else."""

    name = "hanging"
    version = 1
    tried = 0

    def supports(self, format: str) -> bool:  # noqa: A002 - the contract's word
        return bool(format)

    def convert(self, raw: RawDocument) -> ConvertedDocument:
        if raw.head(2) == b"PK":
            return zip_archive.convert(raw, "zip")
        self.tried += 1
        raise TimedOut("late")


def test_after_three_that_hang_no_more_are_tried() -> None:
    hanging = Hanging()
    made = brain_documents(hanging, RawDocument(packed(*((f"{n}.txt", b"x") for n in range(9))), "a.zip"))
    assert (hanging.tried, len(made.refused)) == (3, 9)
    assert {type(refused.error) for refused in made.refused} == {TimedOut}


def entries(names: Iterable[str], data: bytes, declared: int | None = None) -> bytes:
    """An archive whose directory names one member's bytes several times."""
    deflate = zlib.compressobj(9, zlib.DEFLATED, -15)
    body = deflate.compress(data) + deflate.flush()
    size = len(data) if declared is None else declared
    head = (zlib.crc32(data), len(body), size)
    local = struct.pack("<IHHHHHIIIHH", 0x04034B50, 20, 0, 8, 0, 0, *head, 1, 0) + b"a" + body
    central = b"".join(
        struct.pack("<IHHHHHHIIIHHHHHII", 0x02014B50, 20, 20, 0, 8, 0, 0, *head, 1, 0, 0, 0, 0, 0, 0) + name.encode()
        for name in names
    )
    count = len(central) // 47
    return local + central + struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(central), len(local), 0)


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (packed(), Empty),
        (packed(("a/", b"")), Empty),
        (b"PK\x03\x04 and no archive", Damaged),
        (packed(("a.txt", b"x" * 100))[:60], Damaged),
        (entries("aaaaaaaaaa", b"A" * 100_000), Damaged),
        (packed(("a.txt", b"\0" * 20_000_000)), TooLarge),
    ],
    ids=["empty", "folders", "no archive", "cut", "overlap", "bomb"],
)
def test_archive_that_cannot_be_read_is_refused_with_advice(data: bytes, kind: type[Refusal]) -> None:
    with pytest.raises(kind) as caught:
        converted(data)
    assert caught.value.advice


def test_member_that_lies_about_its_size_is_damaged() -> None:
    found = converted(entries("a", b"A" * 1_000_000, declared=100))
    assert (found.markdown, found.parts) == ("- a (100 bytes, damaged)", ())


def test_members_after_the_limit_are_only_listed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(zip_archive, "MAX_TOTAL_BYTES", 5)
    found = converted(packed(("a.txt", b"1234"), ("b.txt", b"12345")))
    assert found.markdown.split("\n") == ["- a.txt (4 bytes)", "- b.txt (5 bytes, left out for its size)"]


def test_archive_under_a_password_is_told() -> None:
    data = bytearray(packed(("a.txt", b"secret")))
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        data[data.index(mark) + place] |= 1  # general purpose bit 0: encrypted
    with pytest.raises(Encrypted):
        converted(bytes(data))
    assert converted(bytes(data), password="no").markdown.endswith("damaged)")
