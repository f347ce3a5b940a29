"""Pictures are read when that is wanted and tesseract is there, and only then."""

import shutil
from pathlib import Path

import pytest

from corebrain.documents import picture_text
from corebrain.documents.convert.ocr import _joined, _scale, _write_grey
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.picture_text import PictureText
from corebrain.documents.pool import Limits, ParserMissing, ParserPool
from corebrain.documents.registry import Parser
from corebrain.documents.types import ConvertedDocument, Json, RawDocument
from corebrain.errors import ConfigError, Empty, NeedsOcr, Refusal

PDF = RawDocument(b"%PDF-")


def document(markdown: str, format: str = "pdf", **metadata: Json) -> ConvertedDocument:  # noqa: A002 - the contract's word
    return ConvertedDocument(markdown, None, format, None, "parser", None, 5, metadata=dict(metadata))


class Reads:
    """Stands in a pool's place: answers with a text or a refusal, and notes what it was asked."""

    def __init__(self, answer: str | Exception) -> None:
        self.answer = answer
        self.limits = Limits(wall_s=3)
        self.asked: list[tuple[str, str, float | None]] = []

    def convert(self, parser: Parser, raw: RawDocument, format: str, *, wall_s: float | None) -> ConvertedDocument:  # noqa: A002 - the contract's word
        assert raw is PDF
        self.asked.append((parser.argument, format, wall_s))
        if isinstance(self.answer, Exception):
            raise self.answer
        return ConvertedDocument(self.answer, None, format, None, "tesseract", None, 5)


@pytest.fixture(autouse=True)
def installed(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    if "real" not in request.node.name:
        monkeypatch.setattr(Parser, "missing", lambda _: ())


def pictures(answer: str | Exception, languages: str = "eng") -> tuple[PictureText, Reads]:
    pool = Reads(answer)
    return PictureText(pool, languages), pool  # type: ignore[arg-type]  # as much of a pool as is asked for


def test_pages_without_text_are_filled_and_the_others_stay() -> None:
    reader, pool = pictures("\n\f\nread\n\f\n")
    got = reader.added(PDF, "pdf", document("one\n\f\n\n\f\nthree", pages_without_text=[2]))
    assert (got.markdown, got.converter) == ("one\n\f\nread\n\f\nthree", "parser+tesseract")
    assert pool.asked == [("eng", "pdf", 30.0)], "ten times the time of other parsers"


def test_words_of_an_image_stand_below_its_head() -> None:
    reader, _ = pictures("read")
    assert reader.added(PDF, "png", document("PNG image", "png")).markdown == "PNG image\n\nread"


@pytest.mark.parametrize("converted", [document("all text"), document("text", "docx", pages_without_text=[1])])
def test_document_without_pictures_is_left_alone(converted: ConvertedDocument) -> None:
    reader, pool = pictures("read")
    assert reader.added(PDF, converted.format, converted) is converted
    assert pool.asked == []


def test_what_ocr_cannot_read_stays_as_it_was_and_says_why() -> None:
    reader, _ = pictures(Empty("no words are found in its pictures"))
    got = reader.added(PDF, "png", document("PNG image", "png"))
    assert (got.markdown, got.metadata["ocr"]) == ("PNG image", "no words are found in its pictures")


def test_scan_is_read_instead_of_refused() -> None:
    assert pictures("read")[0].instead(PDF, "pdf", NeedsOcr("page 1")).markdown == "read"


def test_refusal_says_how_to_have_it_read(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(NeedsOcr, match="page 1") as caught:
        pictures("read", "")[0].instead(PDF, "pdf", NeedsOcr("page 1"))
    assert 'ocr = "eng"' in caught.value.advice
    monkeypatch.setattr(Parser, "missing", lambda parser: parser.programs)
    with pytest.raises(NeedsOcr, match="page 1") as caught:
        pictures("read")[0].instead(PDF, "pdf", NeedsOcr("page 1"))
    assert "install tesseract" in caught.value.advice


def test_package_that_is_missing_after_all_is_told() -> None:
    with pytest.raises(NeedsOcr, match="pypdfium2"):
        pictures(ParserMissing("pypdfium2"))[0].instead(PDF, "pdf", NeedsOcr("page 1"))


@pytest.mark.parametrize("languages", ["english please", "-c x=y", "eng+", "../eng", "e"])
def test_languages_are_names_and_nothing_else(languages: str) -> None:
    with pytest.raises(ConfigError, match="name languages"):
        RegistryConverter(ocr=languages)


def test_ocr_is_part_of_the_version_of_what_it_reads() -> None:
    with RegistryConverter(ocr="deu+eng") as converter, RegistryConverter() as without:
        assert converter.version_of("png") == "image/1 tesseract/1:deu+eng"
        assert without.version_of("png") == "image/1"
        assert converter.version_of("docx") == without.version_of("docx")


def test_lines_are_joined_to_paragraphs() -> None:
    assert _joined(["A broken inter-", "national word,", "", "1-", "2 and Anna-", "Maria"]) == (
        "A broken international word, 1- 2 and Anna- Maria"
    )


class Page:
    def get_size(self) -> tuple[float, float]:
        return 7_200.0, 7_200.0


def test_huge_page_is_drawn_coarser() -> None:
    assert (7_200 * _scale(Page())) ** 2 == pytest.approx(40_000_000)


def test_rows_of_a_picture_lose_their_padding(tmp_path: Path) -> None:
    _write_grey(tmp_path / "a.pgm", 2, 2, 3, b"ab.cd.")
    assert (tmp_path / "a.pgm").read_bytes() == b"P5 2 2 255\nabcd"


@pytest.mark.skipif(shutil.which("tesseract") is None, reason="tesseract is not installed")
def test_real_scan_is_read(samples: Path) -> None:
    with RegistryConverter(ocr="eng") as converter:
        read = converter.convert(RawDocument(samples / "scan_no_text.pdf"))
    assert "bundles PDF document conversion to JSON and Markdown" in read.markdown
    assert (read.converter, read.pages) == ("tesseract", 1)


def test_real_scan_without_ocr_names_its_pages(samples: Path, converter: RegistryConverter) -> None:
    with pytest.raises(Refusal, match="page 1 of 1 holds a picture and no text") as caught:
        converter.convert(RawDocument(samples / "scan_no_text.pdf"))
    assert isinstance(caught.value, NeedsOcr)
    assert "[documents]" in caught.value.advice


def test_a_pool_is_all_it_needs() -> None:
    with ParserPool(1) as pool:
        assert picture_text.PictureText(pool, "").version("pdf") == ""
