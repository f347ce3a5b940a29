import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.engines.local.matching import Matcher


@pytest.mark.parametrize(
    ("question", "text", "marked"),
    [
        ("What do refunds cost?", "A refund is refunded.", ["refund", "refunded"]),
        ("Vertrag", "Die Verträge und der Vertrag der Firma.", ["Verträge", "Vertrag"]),
        ("vertrage", "Die Verträge und die Firma.", ["Verträge"]),
        ("договор", "Договоры не продлены и это всё.", ["Договоры"]),
        ("尊严权利", "在尊严和权利上", ["尊严", "权利"]),
        ("自由権利", "この自由権利章", ["自由権利"]),
        ("handle limit", "test_handle_limit", ["handle", "limit"]),
        ("user", "call getUserName", ["getUserName"]),
        ("organ*", "organize the organs", ["organize", "organs"]),
        ("per month", "The monthly report", ["monthly"]),
        ("who are you", "who is it", ["who"]),
        ("zebra", "nothing", []),
        ("", "nothing", []),
    ],
)
def test_words_are_marked_in_the_forms_that_the_index_knows(question: str, text: str, marked: list[str]) -> None:
    assert [text[span.start : span.end] for span in Matcher(question).spans(text)] == marked


def test_a_span_names_the_word_that_was_asked() -> None:
    assert [span.word for span in Matcher("Refunds desk").spans("the desk refunded")] == ["desk", "refunds"]


@given(st.text(), st.text())
def test_spans_lie_in_the_text_in_order_and_apart(question: str, text: str) -> None:
    end = 0
    for span in Matcher(question).spans(text):
        assert end <= span.start < span.end <= len(text)
        end = span.end
