"""What is blank, what is whitespace, what can be stored."""

import pytest

from corebrain.errors import InvalidRequest
from corebrain.model.text import WHITESPACE, collapse, fnv1a_32, is_blank, trim, utf8

WHITE_SPACE = [
    *range(0x09, 0x0E),
    *(0x20, 0x85, 0xA0, 0x1680),
    *range(0x2000, 0x200B),
    *(0x2028, 0x2029, 0x202F, 0x205F, 0x3000),
]
"""Unicode White_Space, as the contract lists it."""


def test_whitespace_is_exactly_unicode_white_space() -> None:
    assert sorted(map(ord, WHITESPACE)) == WHITE_SPACE


@pytest.mark.parametrize("code", WHITE_SPACE)
def test_every_white_space_is_blank_trimmed_and_collapsed(code: int) -> None:
    space = chr(code)
    assert is_blank(space * 3)
    assert trim(f"{space}a{space}b{space}") == f"a{space}b"
    assert collapse(f"{space}a{space}{space}b{space}") == "a b"


@pytest.mark.parametrize("code", [0x1C, 0x1D, 0x1E, 0x1F, 0x00, 0x180E, 0x200B, 0x2060, 0xFEFF])
def test_what_python_or_the_eye_takes_for_space_is_none(code: int) -> None:
    assert not is_blank(chr(code))
    assert trim(f"{chr(code)}a") == f"{chr(code)}a"
    assert collapse(f"a{chr(code)}b") == f"a{chr(code)}b"


def test_empty_text_is_blank() -> None:
    assert is_blank("")
    assert collapse("") == ""


@pytest.mark.parametrize(
    ("text", "digest"),
    [("writer", "84cc956a"), ("o'neil@acme.com", "c5acae54"), ("日本", "9f26ee51"), ("", "811c9dc5")],
)
def test_fnv1a_hashes_the_utf8_bytes(text: str, digest: str) -> None:
    assert f"{fnv1a_32(text.encode()):08x}" == digest


def test_a_lone_surrogate_has_no_utf8() -> None:
    with pytest.raises(InvalidRequest, match="lone surrogate"):
        utf8("a\ud800b")
    assert utf8("😀é") == "😀é".encode()
