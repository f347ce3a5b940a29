import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents.charset import decode_text, looks_like_text
from corebrain.errors import Damaged

PROSE = "This is a test document, written to be read.\nSecond line: äöü.\n"


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16", "utf-32", "utf-8"])
def test_marked_text_is_read_and_its_mark_left_out(encoding: str) -> None:
    assert decode_text(PROSE.encode(encoding)) == PROSE


@pytest.mark.parametrize(("mark", "encoding"), [(b"\xfe\xff", "utf-16-be"), (b"\x00\x00\xfe\xff", "utf-32-be")])
def test_big_endian_marks_are_known(mark: bytes, encoding: str) -> None:
    assert decode_text(mark + PROSE.encode(encoding)) == PROSE


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be"])
def test_wide_text_without_a_mark_is_found(encoding: str) -> None:
    assert decode_text(PROSE.encode(encoding)) == PROSE


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp1252", "Müller & Söhne"),
        ("cp1252", "Perché così è più"),
        ("cp1252", "naïve façade à la carte, déjà vu, œuvre \u2013 15 €"),
        ("cp1252", "## können\n\nkönnen\n\näöüß\n"),
        ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy, když přišel"),
        ("cp1250", "Zażółć gęślą jaźń, proszę bardzo, jeszcze dziś"),
        ("cp1251", "Съешь ещё этих мягких французских булок"),
        ("cp932", "これは日本語のテキストです。東京"),
        ("gb18030", "这是一个测试文件,包含中文"),
        ("euc-kr", "이것은 한국어 텍스트입니다"),
    ],
)
def test_legacy_text_is_guessed_right(encoding: str, text: str) -> None:
    assert decode_text(text.encode(encoding)) == text


def test_declared_charset_is_asked_only_when_the_bytes_do_not_tell() -> None:
    assert decode_text("é".encode(), declared="cp1252") == "é"
    assert decode_text("Ж".encode("koi8-r"), declared="koi8-r") == "Ж"


def test_line_ends_stay_as_they_are() -> None:
    assert decode_text(b"a\r\nb\rc\n") == "a\r\nb\rc\n"


@pytest.mark.parametrize("data", [bytes(range(256)) * 16, bytes(5000), b"ab\0c" * 10])
def test_binary_is_no_text(data: bytes) -> None:
    assert not looks_like_text(data)
    with pytest.raises(Damaged, match="not text"):
        decode_text(data)


@given(st.text())
def test_utf8_comes_back_as_it_was(text: str) -> None:
    data = text.encode()
    if not text.startswith("\ufeff") and "\0" not in text:
        assert decode_text(data) == text
