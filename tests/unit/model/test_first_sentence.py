"""The one fact a deterministic build draws from an item."""

from typing import Any

import pytest

from corebrain.model.first_sentence import MAX_SENTENCE, belief_of, first_sentence
from corebrain.model.item import LearningKind, StoreItem, read_item
from corebrain.model.meta import MemoryMeta


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("Refunds take five business days.", "Refunds take five business days."),
        ("One. Two.", "One."),
        ("Really? Yes!", "Really?"),
        ("Stop! Go.", "Stop!"),
        ("no end", "no end"),
        ("", ""),
        (" \n\t\n\u2003", ""),
        ("# Title\n\nThe text is here.", "The text is here."),
        ("  ## Indented\nText.", "Text."),
        ("# Only\n## Headings. here", "Only Headings."),
        ("###\n#", ""),
        ("two\nlines\u00a0 of\r\ntext. More", "two lines of text."),
        ("page one\x0cpage two.", "page one page two."),
        ("Take 3.5 days", "Take 3."),  # as the rule says: after the first full stop
        ("\x1c", "\x1c"),
        ("x" * 300, "x" * 240),
        ("x" * 239 + ". y", "x" * 239 + "."),
        ("x" * 240 + ".", "x" * 240),
    ],
)
def test_the_first_sentence_is_cut_by_the_rule(text: str, sentence: str) -> None:
    assert first_sentence(text) == sentence
    assert len(first_sentence(text)) <= MAX_SENTENCE == 240


def conversation(*turns: tuple[str, str]) -> Any:
    return read_item({"type": "conversation", "turns": [{"role": role, "text": text} for role, text in turns]})


def test_a_conversation_speaks_by_its_first_user_turn() -> None:
    belief = belief_of(conversation(("system", "Be kind."), ("user", "I like tea. Much."), ("user", "Bye.")))
    assert belief is not None
    assert belief.text == "I like tea."
    assert belief_of(conversation(("assistant", "Hello."))) is None


def test_a_belief_names_its_source_and_keeps_its_metadata() -> None:
    meta = MemoryMeta.from_dict(
        {"namespace": "team:a", "agent_id": "x", "observed_at": "2026-01-01T00:00:00Z", "tags": ["t"]}
    )
    source = StoreItem.document("Tea is good.", meta)
    belief = belief_of(source)
    assert belief is not None
    assert (belief.learning_kind, belief.confidence, belief.evidence) == (LearningKind.FACT, 0.5, source.fingerprint())
    assert belief.meta == meta.model_copy(update={"tags": ("t", "consolidated")})


def test_the_tag_is_added_once() -> None:
    belief = belief_of(StoreItem.document("Tea.", MemoryMeta(tags=("consolidated", "t"))))
    assert belief is not None
    assert belief.meta.tags == ("consolidated", "t")


def test_nothing_is_drawn_from_a_learning_an_empty_text_or_what_forbids_it() -> None:
    assert belief_of(StoreItem.learning("Tea.", LearningKind.FACT, 1.0)) is None
    assert belief_of(StoreItem.document("###")) is None
    assert belief_of(StoreItem.document("Tea.", MemoryMeta(derive=False))) is None
    assert belief_of(StoreItem.document("Tea.", MemoryMeta(derive=True))) is not None


def test_the_title_is_no_prose() -> None:
    titled = read_item({"type": "document", "title": "Refunds.", "body": {"text": "They take days."}})
    belief = belief_of(titled)
    assert belief is not None
    assert belief.text == "They take days."
