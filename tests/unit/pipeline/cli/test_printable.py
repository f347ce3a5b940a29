"""Nothing a document holds can act on a terminal."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.cli.printable import counted, lines, printable


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, größer, 日本", "plain, größer, 日本"),
        ("\x1b[31mred\x07", "\\x1b[31mred\\x07"),
        ("a\u202egnp.exe", "a\\u202egnp.exe"),
        ("\u2066x\u2069", "\\u2066x\\u2069"),
        ("\x9b2J", "\\x9b2J"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("👩\u200d🔬", "👩\u200d🔬"),
        (" two\r\nlines\tand\fpages ", "two lines and pages"),
    ],
)
def test_what_a_terminal_would_act_on_is_written_out(text: str, shown: str) -> None:
    assert printable(text) == shown


def test_line_breaks_stay_and_form_feeds_become_them() -> None:
    assert lines("a\r\nb\fc\td\x00") == "a\nb\nc\td\\x00"


def test_a_lone_carriage_return_cannot_overwrite_a_line() -> None:
    assert lines("honest\rforged") == "honest\\x0dforged"


@given(st.text())
def test_no_control_character_ever_comes_through(text: str) -> None:
    shown = lines(text)
    assert not [c for c in shown if unicodedata.category(c) in {"Cc", "Cs"} and c not in "\n\t"]
    assert "\n" not in printable(text)
    shown.encode("utf-8")


def test_numbers_agree_with_their_nouns() -> None:
    assert [counted(number, "item") for number in (0, 1, 1200)] == ["0 items", "1 item", "1,200 items"]
