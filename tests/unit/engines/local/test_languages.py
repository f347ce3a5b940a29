import pytest

from corebrain.engines.local.languages import guessed, language_of, stem


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The contract runs until May and is renewed by the team.", "en"),
        ("Der Vertrag läuft bis Mai.", "de"),
        ("Quand expire le contrat ?", "fr"),
        ("¿Cuándo vence el contrato?", "es"),
        ("Quanti giorni di ferie ho?", "it"),
        ("Hoeveel vakantiedagen heb ik", "nl"),
        ("Когда истекает договор?", "ru"),
        ("Όλοι γεννιούνται ελεύθεροι και ίσοι στην αξιοπρέπεια", "el"),
        ("Take care!", ""),
        ("Noted.", ""),
        ("retraction conformable 4.8.1", ""),
        ("", ""),
        ("🎉 是人都生而自由", ""),
    ],
)
def test_a_language_is_told_by_its_function_words(text: str, language: str) -> None:
    assert guessed(text) == language


def test_a_long_text_is_judged_by_its_middle_too() -> None:
    assert guessed("Q3 / Q4 EUR 17 " * 40 + "der Vertrag ist mit der Firma und nicht ohne die Bank " * 40) == "de"


def test_a_declared_language_is_believed_and_a_programming_language_is_none() -> None:
    assert language_of("Noted.", "de-AT") == "de"
    assert language_of("Noted.", "nb_NO") == "no"
    assert language_of("Der Vertrag ist da und nicht weg.", "python") == "de"


def test_forms_of_a_word_share_a_stem() -> None:
    assert len({stem(word, "de") for word in ("vertrag", "verträge", "verträgen", "vertrags")}) == 1
    assert len({stem(word, "ru") for word in ("договор", "договора", "договоры")}) == 1
    assert len({stem(word, "fr") for word in ("contrat", "contrats")}) == 1
    assert stem("vertrags", "xx") == "vertrags"
