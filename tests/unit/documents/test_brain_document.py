from pathlib import Path

import pytest

from corebrain.documents import brain_document as module
from corebrain.documents.brain_document import brain_document, brain_documents
from corebrain.documents.default_converter import RegistryConverter, close_default, default_converter
from corebrain.documents.types import ConvertedDocument, Part, RawDocument
from corebrain.errors import Damaged, Empty, Encrypted, TooLarge, UnsupportedFormat
from corebrain.layout import BrainSource, MemoryLayout
from corebrain.model.meta import MemoryMeta


class Fake:
    """Converts what it is told to."""

    name = "fake"
    version = 1

    def __init__(self, markdown: str = "words", title: str | None = None, parts: tuple[Part, ...] = ()) -> None:
        self.markdown = markdown
        self.title = title
        self.parts = parts
        self.seen: list[RawDocument] = []

    def supports(self, format: str) -> bool:  # noqa: A002 - the contract's word
        return format in {"plain_text", "eml"}

    def convert(self, raw: RawDocument) -> ConvertedDocument:
        self.seen.append(raw)
        return ConvertedDocument(
            self.markdown, self.title, "plain_text", None, "fake", None, raw.size(), parts=self.parts
        )


def test_refunds_of_the_specification() -> None:
    raw = RawDocument(b"# Refunds\n\nRefunds take five business days.\n", "handbook/refunds.md")
    document = brain_document(None, raw)
    assert document.source == BrainSource.FILES
    assert document.title == "Refunds"
    assert document.mime == "text/markdown"
    assert document.text == "# Refunds\n\nRefunds take five business days.\n"
    assert document.into_item(MemoryLayout()).meta.language is None


@pytest.mark.parametrize(
    ("data", "filename", "origin", "title"),
    [
        (b"# A comment\n", "dir/run.py", None, "run.py"),
        (b"words", r"C:\docs\note.txt", None, "note.txt"),
        (b"words", None, "https://acme.example/a", "https://acme.example/a"),
        (b"---\ntitle: Front\n---\n# Heading\n", "a.md", None, "Front"),
        (b"words", None, None, None),
    ],
)
def test_title_is_the_first_there_is(data: bytes, filename: str | None, origin: str | None, title: str | None) -> None:
    assert brain_document(None, RawDocument(data, filename, None, origin)).title == title


def test_sheet_name_is_no_title(converter: RegistryConverter, samples: Path) -> None:
    assert brain_document(converter, RawDocument(samples / "test.xls", "budget/test.xls")).title == "test.xls"


def test_language_is_filled_only_when_unset() -> None:
    raw = RawDocument(b"x = 1\n", "a.py")
    assert brain_document(None, raw).meta.language == "python"
    assert brain_document(None, raw, meta=MemoryMeta(language="starlark")).meta.language == "starlark"


def test_authors_tags_go_before_the_callers() -> None:
    raw = RawDocument(b"---\ntags: [a, b]\n---\nx", "a.md")
    assert brain_document(None, raw, meta=MemoryMeta(tags=("in:Top", "b"))).meta.tags == ("a", "b", "in:Top")


def test_named_source_is_kept() -> None:
    assert brain_document(None, RawDocument(b"x", "a.txt"), BrainSource.WEB).source == BrainSource.WEB


def test_file_without_bytes_is_empty_before_any_converter_runs() -> None:
    fake = Fake()
    with pytest.raises(Empty):
        brain_document(fake, RawDocument(b"", "a.pdf"))
    assert fake.seen == []


def test_file_over_the_cap_is_refused_before_any_converter_runs(tmp_path: Path) -> None:
    fake = Fake()
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * 11)
    with pytest.raises(TooLarge, match="11 bytes"):
        brain_document(fake, RawDocument(path), max_bytes=10)
    assert fake.seen == []
    assert brain_document(fake, RawDocument(path), max_bytes=11).text == "words"


def test_default_cap_is_32_mib() -> None:
    assert module.MAX_BYTES == 32 * 1024 * 1024


@pytest.mark.parametrize("blank", ["", " \n\t", "\f\f\n", "\u3000\u2028"])
def test_blank_conversion_is_empty(blank: str) -> None:
    with pytest.raises(Empty):
        brain_document(Fake(blank), RawDocument(b"x", "a.txt"))


def test_nothing_unstorable_reaches_the_brain() -> None:
    document = brain_document(Fake("a\x00b\ud800c", "t\udfffx"), RawDocument(b"x", "a.txt"))
    assert (document.text, document.title) == ("a\ufffdb\ufffdc", "t\ufffdx")


def test_format_the_converter_does_not_take_is_unsupported() -> None:
    with pytest.raises(UnsupportedFormat, match="zip"):
        brain_document(Fake(), RawDocument(b"PK\x05\x06" + bytes(18), "a.zip"))


def test_office_file_under_a_password_is_encrypted_and_says_what_to_do(samples: Path) -> None:
    with pytest.raises(Encrypted) as caught:
        brain_document(None, RawDocument(samples / "password.xlsx"))
    assert "without a password" in caught.value.advice


def test_text_called_odt_is_damaged_not_missing_a_program(samples: Path) -> None:
    with pytest.raises(Damaged, match="not in the odt format"):
        brain_document(None, RawDocument(samples / "not_a_zip.odt"))


def test_attachments_are_documents_below_their_parent(converter: RegistryConverter, samples: Path) -> None:
    meta = MemoryMeta(file_path="mail/digest.eml", folder="mail", url="https://acme.example/m")
    found = brain_documents(converter, RawDocument(samples / "mime-multipart-digest.eml"), BrainSource.WEB, meta)
    assert [part.title for part in found.parts] == ["First Message", "Second Message", "Third Message"]
    first = found.parts[0]
    assert first.meta.file_path == "mail/digest.eml/First Message.eml"
    assert first.meta.folder == "mail/digest.eml"
    assert first.meta.url == "https://acme.example/m"
    assert first.source == BrainSource.WEB
    assert list(found) == [found.document, *found.parts]


def test_second_attachment_of_a_name_gets_a_number_and_a_refused_one_costs_itself() -> None:
    parts = (
        Part("a/b.txt", "text/plain", b"one"),
        Part("a/b.txt", "text/plain", b"two"),
        Part("a_b.txt~2", "text/plain", b"three"),
        Part(" ", "text/plain", b"four"),
        Part("virus.exe", "application/octet-stream", b"MZ\0\0"),
        Part("empty.txt", "text/plain", b""),
    )

    class Outer(Fake):
        def convert(self, raw: RawDocument) -> ConvertedDocument:
            document = super().convert(raw)
            return document if raw.filename == "m.eml" else ConvertedDocument(
                raw.read().decode(), None, "plain_text", None, "fake", None, raw.size()
            )  # fmt: skip

    found = brain_documents(Outer(parts=parts), RawDocument(b"x", "m.eml"), meta=MemoryMeta(file_path="m.eml"))
    assert [(part.meta.file_path, part.text) for part in found.parts] == [
        ("m.eml/a_b.txt", "one"),
        ("m.eml/a_b.txt~2", "two"),
        ("m.eml/a_b.txt~2~2", "three"),
        ("m.eml/part", "four"),
    ]
    assert [(part.name, type(part.error)) for part in found.refused] == [
        ("virus.exe", UnsupportedFormat),
        ("empty.txt", Empty),
    ]


def test_attachments_of_attachments_end_at_a_depth_and_a_number() -> None:
    endless = Fake(parts=(Part("in.eml", "message/rfc822", b"x"), Part("b.eml", "message/rfc822", b"x")))
    found = brain_documents(endless, RawDocument(b"x", "m.eml"), meta=MemoryMeta(file_path="m.eml"))
    assert len(found.parts) == 2 + 4 + 8 + 16
    assert {type(part.error) for part in found.refused} == {TooLarge}
    assert found.parts[1].meta.file_path == "m.eml/in.eml/in.eml"


def test_default_converter_is_one_and_starts_anew_after_it_was_closed() -> None:
    first = default_converter()
    assert default_converter() is first
    close_default()
    second = default_converter()
    assert second is not first
    assert brain_document(None, RawDocument(b"a,b\n1,2\n", "a.csv")).text.startswith("| a | b |")
    close_default()


def test_same_bytes_give_the_same_document(converter: RegistryConverter, samples: Path) -> None:
    for name in ("fake-email-attachment.eml", "test_notebook.ipynb", "csv-comma-in-cell.csv"):
        raw = RawDocument((samples / name).read_bytes(), name)
        with RegistryConverter() as other:
            assert converter.convert(raw) == other.convert(raw)
