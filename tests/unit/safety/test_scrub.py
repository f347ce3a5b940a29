"""What of an item and of a JSON value is scrubbed, and what stays."""

from typing import cast

import pytest
from pydantic import JsonValue

from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import MemoryMeta
from corebrain.safety import BareCard, Policy, SafetyReport, sanitize_json, scrub_item, scrub_text

LEAK = "token=a 123-45-6789"
CLEAN = "[REDACTED] [REDACTED_PII_SSN]"
META = MemoryMeta(url="https://h.example/secret/abc", folder=LEAK, file_path=LEAK, tags=(LEAK,))


def test_a_document_is_scrubbed_in_title_text_and_url() -> None:
    sanitized = scrub_item(Document(title=LEAK, body=Body(text=LEAK), mime="text/plain", meta=META))
    meta = META.model_copy(update={"url": "https://h.example/secret/[REDACTED]"})
    assert sanitized.value == Document(title=CLEAN, body=Body(text=CLEAN), mime="text/plain", meta=meta)
    assert sanitized.report == SafetyReport(text_redactions=3, pii_redactions=2)


def test_the_uri_of_a_body_stays() -> None:
    item = Document(body=Body(uri="https://h.example/secret/abc"))
    assert scrub_item(item).value is item


def test_a_conversation_is_scrubbed_in_every_turn() -> None:
    turns = (Turn(role=Role.USER, text=LEAK), Turn(role=Role.TOOL, text="fine"))
    sanitized = scrub_item(Conversation(turns=turns))
    assert sanitized.value == Conversation(turns=(Turn(role=Role.USER, text=CLEAN), turns[1]))
    assert sanitized.report == SafetyReport(text_redactions=1, pii_redactions=1)


def test_a_learning_is_scrubbed_in_text_and_evidence() -> None:
    sanitized = scrub_item(Learning(text=LEAK, kind=LearningKind.FACT, confidence=0.5, evidence=LEAK))
    assert sanitized.value == Learning(text=CLEAN, kind=LearningKind.FACT, confidence=0.5, evidence=CLEAN)


def test_a_redacted_item_is_another_item_and_a_clean_one_the_same() -> None:
    leaky, clean = Document(body=Body(text=LEAK)), Document(title="t", body=Body(text="fine"))
    assert scrub_item(leaky).value.fingerprint() == Document(body=Body(text=CLEAN)).fingerprint()
    assert scrub_item(clean).value is clean


def test_the_policy_reaches_the_items() -> None:
    item = Document(body=Body(text="1234567812345670 123-45-6789"))
    corroborated = scrub_item(item, Policy(bare_card=BareCard.CORROBORATED)).value
    assert corroborated == Document(body=Body(text="1234567812345670 [REDACTED_PII_SSN]"))
    assert scrub_item(item, Policy(pii=False)).value is item


def test_a_report_that_counts_anything_has_changed() -> None:
    assert not SafetyReport().changed()
    for name in SafetyReport.model_fields:
        assert SafetyReport(**{name: 1}).changed()
        assert SafetyReport(**{name: 1}) + SafetyReport(**{name: 2}) == SafetyReport(**{name: 3})


@pytest.mark.parametrize(
    "key",
    [
        "api_key",
        "API-Key",
        "token",
        "Authorization",
        "password",
        "secret",
        "clientSecret",
        "page_token",
        "x-apikey",
        "privateKey",
        "my-password2",
        "secrets",
    ],
)
def test_the_value_under_a_sensitive_key_is_replaced_unread(key: str) -> None:
    for value in cast("list[JsonValue]", ["a", 1, None, True, {"b": ["c"]}]):
        sanitized = sanitize_json({key: value})
        assert sanitized.value == {key: "[REDACTED_SECRET]"}
        assert sanitized.report == SafetyReport(key_redactions=1)


@pytest.mark.parametrize("key", ["tokens", "keys", "keyboard", "author", "pass", "apikeys", "authorizations"])
def test_the_value_under_another_key_is_read(key: str) -> None:
    assert sanitize_json({key: [LEAK, 1, 2.5, True, None]}).value == {key: [CLEAN, 1, 2.5, True, None]}


def nested(levels: int, leaf: JsonValue) -> JsonValue:
    for _ in range(levels):
        leaf = [leaf]
    return leaf


def test_what_lies_deeper_than_128_levels_is_replaced() -> None:
    assert sanitize_json(nested(128, 7)).value == nested(128, 7)
    sanitized = sanitize_json(nested(129, 7))
    assert sanitized.value == nested(129, "[REDACTED_SECRET]")
    assert sanitized.report == SafetyReport(depth_redactions=1)
    assert sanitize_json(nested(50_000, 7)).report == SafetyReport(depth_redactions=1)


def test_a_tuple_is_no_way_around() -> None:
    assert sanitize_json(cast("JsonValue", (LEAK,))).value == [CLEAN]


def test_half_a_surrogate_pair_does_not_fail() -> None:
    text = "\ud83d 1234567812345670 \ude00"
    assert scrub_text(text, Policy(bare_card=BareCard.CORROBORATED)).value == text
