"""The metadata table of the design, and what becomes of parts."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from connectors.contract import Blob, Ref
from connectors.document import Conversion, SetAside, conversions, convertibles, document_meta, documents, part_names
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Empty
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.instant import Instant
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef

WHEN = datetime(2026, 3, 4, 5, 6, 7, 123456, tzinfo=UTC)


def test_file_has_its_key_as_path_and_its_parent_as_folder() -> None:
    meta = document_meta(BrainSource.FILES, "handbook", Ref("hr/leave/a.md", "t"), Blob(b"x", modified=WHEN))
    assert meta == MemoryMeta(
        file_path="hr/leave/a.md",
        folder="hr/leave",
        source=SourceRef(kind=SourceKind.FILE, id="handbook"),
        observed_at=Instant.of(WHEN),
    )


def test_file_at_the_top_has_no_folder() -> None:
    meta = document_meta(BrainSource.FILES, "handbook", Ref("a.md", "t"), Blob(b"x"))
    assert (meta.file_path, meta.folder, meta.observed_at) == ("a.md", None, None)


def test_page_has_its_url_and_no_path() -> None:
    ref = Ref("p1", "t", url="https://listing.example/p1", modified=WHEN)
    meta = document_meta(
        BrainSource.NOTION, "wiki", ref, Blob(b"x", url="https://n.example/p1", path=("Team", "HR"), tags=("draft",))
    )
    assert meta == MemoryMeta(
        url="https://n.example/p1",
        source=SourceRef(kind=SourceKind.IMPORT, id="wiki"),
        tags=("draft", "in:Team", "in:HR"),
        observed_at=Instant.of(WHEN),
    )
    assert document_meta(BrainSource.NOTION, "wiki", ref, Blob(b"x")).url == "https://listing.example/p1"


def test_file_of_a_repository_has_path_and_pinned_commit() -> None:
    blob = Blob(b"x", url="https://g.example/blob/9f2c/docs/a.md", repo="acme/api", commit="9f2c", language="en")
    meta = document_meta(BrainSource.GITHUB, "api", Ref("docs/a.md", "t"), blob)
    assert (meta.file_path, meta.folder, meta.repo, meta.commit, meta.language) == (
        "docs/a.md",
        "docs",
        "acme/api",
        "9f2c",
        "en",
    )


def one(ref: Ref, blob: Blob) -> BrainDocument:
    (document,) = documents(BrainSource.FILES, "handbook", ref, blob)
    assert isinstance(document, BrainDocument)
    return document


def test_touching_everything_around_a_document_keeps_its_id() -> None:
    ref = Ref("hr/a.md", "t1", size=3, modified=WHEN)
    blob = Blob(b"# Leave\n\nThirty days.", filename="a.md", token="t1", modified=WHEN)
    touched = replace(blob, token="t2", modified=WHEN + timedelta(days=1))
    layout = MemoryLayout()
    before = one(ref, blob).into_item(layout).fingerprint()
    assert (
        one(replace(ref, token="t2", size=4, locator="x", modified=None), touched).into_item(layout).fingerprint()
        == before
    )
    assert one(replace(ref, key="hr/b.md"), blob).into_item(layout).fingerprint() != before


def test_title_of_the_source_wins_over_the_heading() -> None:
    ref, blob = Ref("p", "t"), Blob(b"# Heading\n\ntext", filename="p.md")
    assert one(ref, blob).title == "Heading"
    assert one(ref, replace(blob, title="Page")).title == "Page"


def test_part_lies_below_its_parent_and_is_converted_for_itself() -> None:
    parts = (
        Blob(b"one", filename="n.txt", title="First"),
        Blob(b"two", filename="n.txt", parts=(Blob(b"deep", filename="d.txt"),)),
        Blob(b"", filename="e.txt"),
    )
    ref = Ref("m/page", "t", title="ignored")
    blob = Blob(b"body", filename="page.md", modified=WHEN, language="en", tags=("own",), path=("HR",), parts=parts)
    found = list(documents(BrainSource.FILES, "handbook", ref, blob, collection="m"))
    paths = [document.meta.file_path for document in found if isinstance(document, BrainDocument)]
    assert paths == ["m/page", "m/page/n.txt", "m/page/n.txt~2", "m/page/n.txt~2/d.txt"]
    aside = found[-1]
    assert isinstance(aside, SetAside)
    assert (aside.key, type(aside.error)) == ("m/page!/e.txt", Empty)
    assert aside.advice
    first = found[1]
    assert isinstance(first, BrainDocument)
    assert (first.title, first.text, first.collection) == ("First", "one", "m")
    assert (first.meta.folder, first.meta.language, first.meta.tags) == ("m/page", None, ("in:HR",))
    assert first.meta.observed_at == Instant.of(WHEN)


def test_part_of_a_page_without_a_path_has_the_url_of_its_parent() -> None:
    blob = Blob(b"body", url="https://n.example/p", parts=(Blob(b"x", filename="a.txt", url="https://signed.example"),))
    _, part = convertibles(BrainSource.NOTION, "wiki", Ref("p", "t"), blob)
    assert (part.key, part.meta.url, part.meta.file_path) == ("p!/a.txt", "https://n.example/p", None)


def test_refused_attachment_inside_a_file_is_set_aside_alone() -> None:
    mail = (
        b"Subject: Hello\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n"
        b"--b\r\nContent-Type: text/plain\r\n\r\nSee attached.\r\n"
        b"--b\r\nContent-Type: text/plain\r\nContent-Disposition: attachment; filename=n.txt\r\n\r\nnote\r\n"
        b"--b\r\nContent-Type: application/octet-stream\r\nContent-Disposition: attachment; filename=x.bin\r\n"
        b"Content-Transfer-Encoding: base64\r\n\r\nAAEC/w==\r\n--b--\r\n"
    )
    found = list(documents(BrainSource.FILES, "mail", Ref("a.eml", "t"), Blob(mail, filename="a.eml")))
    kinds = [item.key if isinstance(item, SetAside) else item.meta.file_path for item in found]
    assert kinds == ["a.eml", "a.eml/n.txt", "a.eml!/x.bin"]


class Constant:
    """Converts anything to one word."""

    name, version = "constant", 1

    def supports(self, format: str) -> bool:  # noqa: A002 - the contract's word
        return bool(format)

    def convert(self, raw: RawDocument) -> ConvertedDocument:
        return ConvertedDocument("word", None, "plain_text", None, self.name, None, len(raw.data))  # type: ignore[arg-type]  # bytes here


def test_size_is_the_connectors_to_limit() -> None:
    large = Blob(b"x" * (33 * 2**20), filename="a.txt")
    (document,) = documents(BrainSource.FILES, "h", Ref("a.txt", "t"), large, converter=Constant())
    assert isinstance(document, BrainDocument)
    assert document.text == "word"


def test_conversion_names_its_converter() -> None:
    (conversion,) = conversions(BrainSource.FILES, "h", Ref("a.md", "t"), Blob(b"# A", filename="a.md"))
    assert isinstance(conversion, Conversion)
    assert conversion.result.converted.format == "markdown"


@pytest.mark.parametrize(
    ("given", "names"),
    [
        (["a", "a", "a"], ["a", "a~2", "a~3"]),
        (["a", "a~2", "a"], ["a", "a~2", "a~3"]),
        (["a/b", "", " "], ["a_b", "part", "part~2"]),
        (["e\u0301", "\u00e9"], ["\u00e9", "\u00e9~2"]),
    ],
)
def test_part_names_are_unique_below_their_parent(given: list[str], names: list[str]) -> None:
    assert part_names(given) == names
