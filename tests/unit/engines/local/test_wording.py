import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.engines.local.wording import asked, indexed, parts_of, unspaced_runs, without_unspaced


def test_plain_english_is_left_to_the_tokenizer() -> None:
    text = "Refunds take five days; see page 4."
    assert indexed(text, None) == text
    assert indexed(text, "en") == text


def test_words_of_another_language_become_stems_without_its_letters() -> None:
    assert indexed("Die Verträge der Straße", "de") == "die vertrag der strass"


def test_scripts_without_spaces_become_pairs_and_a_last_character() -> None:
    assert indexed("自由権 PC", None).split() == ["自由", "由権", "権", "PC"]
    assert indexed("ที่มา", None).split() == ["ที่ม", "มา", "า"]


def test_a_question_asks_for_pairs_alone() -> None:
    assert asked("自由権", "").split() == ["自由", "由権"]
    assert asked("猫", "").split() == ["猫"]


def test_what_is_not_read_does_not_part_a_word() -> None:
    assert indexed("Ver\u00adtrag ﬁnden \uff11\uff12", None) == "Vertrag finden 12"


@pytest.mark.parametrize(
    ("word", "parts"),
    [
        ("getUserName", ["get", "user", "name"]),
        ("HTTPServer", ["http", "server"]),
        ("E5150", ["5150"]),
        ("sha256sum", ["sha", "256", "sum"]),
        ("64GB", ["64", "gb"]),
        ("plain", []),
        ("README", []),
        ("v2", []),
    ],
)
def test_an_identifier_has_parts(word: str, parts: list[str]) -> None:
    assert parts_of(word) == parts


def test_a_number_in_groups_is_written_in_one() -> None:
    assert indexed("18,000 euros or 4'200.500, not 1,2 nor 4.8.1", None).split("\n")[1] == "18000"


def test_parts_stand_beside_the_text_and_signs_are_spelled_out() -> None:
    assert (
        indexed("call getUserName in C++ or C#", None)
        == "call getUserName in C++ or C#\nget user name cplusplus csharp"
    )


@given(st.text())
def test_any_text_is_indexed_asked_and_cut_without_an_error(text: str) -> None:
    for language in ("", "de", "ar"):
        indexed(text, language)
        asked(text, language)
    assert not any(len(run) == 0 for run in unspaced_runs(text))
    assert unspaced_runs(without_unspaced(text)) == []
