"""Every vector of spec 01 section 3: another implementation derives the same ids."""

import json
from pathlib import Path
from typing import Any

import pytest

from corebrain.errors import InvalidRequest
from corebrain.model.fingerprint import confidence_text
from corebrain.model.instant import Instant
from corebrain.model.item import Document, Learning, LearningKind, StoreItem, Turn, read_item
from corebrain.model.meta import MemoryMeta, SourceKind

VECTORS = json.loads(Path(__file__).with_name("fingerprints.json").read_text())


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: f"{vector['name']}-{vector['about'][:30]}")
def test_each_vector_of_the_spec_reproduces(vector: dict[str, Any]) -> None:
    item = read_item(vector["item"])
    item.validate()
    assert item.canonical(hashed=True) == vector["canonical"]
    assert item.fingerprint() == vector["fingerprint"]


def test_there_are_fifteen_vectors() -> None:
    assert [vector["name"] for vector in VECTORS] == [f"F{number}" for number in range(1, 16)]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_an_item_reads_back_from_its_own_json(vector: dict[str, Any]) -> None:
    item = read_item(vector["item"])
    again = read_item(item.to_json())
    assert again == item
    assert again.fingerprint() == vector["fingerprint"]


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.5, "0.5"),
        (1 / 3, "0.33333334"),
        (0.000001, "0.000001"),
        (1e-7, "1e-7"),
        (1.5e-7, "1.5e-7"),
        (0.8, "0.8"),
        (0.95, "0.95"),
        (0.1 + 0.2, "0.3"),
        (123456.0, "123456.0"),
        (1234.5, "1234.5"),
        (1e12, "1000000000000.0"),
        (1e13, "1e13"),
        (16777216.0, "16777216.0"),
        (3.4028234663852886e38, "3.4028235e38"),
        (1.401298464324817e-45, "1e-45"),
        (-0.25, "-0.25"),
    ],
)
def test_a_confidence_is_the_shortest_single(value: float, text: str) -> None:
    assert confidence_text(value) == text


def test_observed_at_does_not_count_and_a_turns_own_time_does() -> None:
    plain = StoreItem.document("text")
    seen = StoreItem.document("text", MemoryMeta(observed_at=Instant.parse("2026-01-01T00:00:00Z")))
    assert plain.fingerprint() == seen.fingerprint()
    turn = {"role": "user", "text": "hi"}
    untimed = read_item({"type": "conversation", "turns": [turn]})
    timed = read_item({"type": "conversation", "turns": [{**turn, "at": "2026-01-01T00:00:00.000000001Z"}]})
    later = read_item({"type": "conversation", "turns": [{**turn, "at": "2026-01-01T00:00:00.000000002Z"}]})
    assert len({untimed.fingerprint(), timed.fingerprint(), later.fingerprint()}) == 3


@pytest.mark.parametrize(
    "change",
    [
        {"namespace": "team:acme"},
        {"workspace": ""},
        {"folder": "a"},
        {"file_path": "a/b"},
        {"language": "en"},
        {"repo": "r"},
        {"commit": "c"},
        {"url": "u"},
        {"thread_id": "t"},
        {"turns": {"first": 0, "last": 0}},
        {"agent_id": "a"},
        {"tool_call": {"name": "n"}},
        {"source": {"kind": "file"}},
        {"tags": ["x"]},
        {"derive": True},
    ],
    ids=lambda change: next(iter(change)),
)
def test_every_other_field_counts(change: dict[str, Any]) -> None:
    plain = read_item({"type": "document", "body": {"text": "t"}})
    changed = read_item({"type": "document", "body": {"text": "t"}, "meta": change})
    assert plain.fingerprint() != changed.fingerprint()


def test_the_order_of_keys_and_unknown_keys_do_not_count() -> None:
    one = read_item('{"type":"document","body":{"text":"t"},"meta":{"url":"u","language":"en"}}')
    other = read_item('{"meta":{"language":"en","url":"u","later":1},"extra":{},"body":{"text":"t"},"type":"document"}')
    assert one == other
    assert one.fingerprint() == other.fingerprint()


def test_a_lone_surrogate_cannot_be_stored() -> None:
    with pytest.raises(InvalidRequest, match="surrogate"):
        StoreItem.document("bad \ud800 text").fingerprint()


def test_all_source_kinds_are_read() -> None:
    for kind in SourceKind:
        item = read_item({"type": "document", "body": {"text": "t"}, "meta": {"source": {"kind": kind.value}}})
        assert item.meta.source.kind is kind


@pytest.mark.parametrize(
    ("data", "what"),
    [
        ({"type": "document", "body": {"text": " \u2003\n"}}, "blank"),
        ({"type": "document", "body": {"uri": "file:///x"}}, "uri"),
        ({"type": "document", "body": {}}, "uri"),
        ({"type": "conversation", "turns": []}, "no turns"),
        ({"type": "conversation", "turns": [{"role": "user", "text": "a"}, {"role": "user", "text": "\t"}]}, "blank"),
        ({"type": "learning", "text": " ", "kind": "fact", "confidence": 0.5}, "blank"),
        ({"type": "learning", "text": "t", "kind": "fact", "confidence": 1.01}, "confidence"),
        ({"type": "learning", "text": "t", "kind": "fact", "confidence": -0.01}, "confidence"),
        ({"type": "learning", "text": "t", "kind": "fact", "confidence": float("nan")}, "confidence"),
    ],
)
def test_what_may_not_be_stored_is_told(data: dict[str, Any], what: str) -> None:
    with pytest.raises(InvalidRequest, match=what):
        read_item(data).validate()


def test_control_characters_that_python_calls_space_are_no_whitespace() -> None:
    StoreItem.document("\x1c").validate()


@pytest.mark.parametrize(
    "data",
    [
        "{",
        "[]",
        {"type": "poem"},
        {"body": {"text": "t"}},
        {"type": "document"},
        {"type": "learning", "text": "t", "kind": "hunch", "confidence": 0.5},
        {"type": "document", "body": {"text": "t"}, "meta": {"namespace": "planet:mars"}},
        {"type": "document", "body": {"text": "t"}, "meta": {"observed_at": "yesterday"}},
        {"type": "document", "body": {"text": "t"}, "meta": {"turns": {"first": -1, "last": 0}}},
    ],
)
def test_a_malformed_item_is_an_invalid_request(data: Any) -> None:
    with pytest.raises(InvalidRequest):
        read_item(data)


def test_a_wrong_constructor_is_an_invalid_request_that_names_the_field() -> None:
    with pytest.raises(InvalidRequest, match="role"):
        Turn(role="narrator", text="x")  # type: ignore[arg-type]  # that is the point


def test_text_is_rendered_as_the_spec_says() -> None:
    assert Document.from_dict({"title": "T", "body": {"text": "B"}}).render_text() == "# T\n\nB"
    assert Document.from_dict({"title": " ", "body": {"text": "B"}}).render_text() == "B"
    talk = read_item(
        {
            "type": "conversation",
            "turns": [
                {"role": "user", "text": "hi"},
                {"role": "assistant", "text": "ho", "tool_calls": [{"name": "a", "id": "1"}, {"name": "b"}]},
            ],
        }
    )
    assert talk.render_text() == "user: hi\nassistant: ho [tools: a (1), b]"
    learning = Learning(text="tea", kind=LearningKind.FACT, confidence=1 / 3)
    assert learning.render_text() == "tea"
    assert learning.confidence_or_none == 0.33333334
    assert StoreItem.document("x").confidence_or_none is None


@pytest.mark.parametrize("confidence", [float("nan"), float("inf"), -float("inf"), 1e39])
def test_what_no_json_can_carry_has_no_id(confidence: float) -> None:
    learning = StoreItem.learning("t", LearningKind.FACT, confidence)
    for write in (learning.fingerprint, learning.to_json, learning.to_dict):
        with pytest.raises(InvalidRequest, match="finite"):
            write()
