"""Ids over any item: what they depend on, what they do not, and how a confidence is written."""

import json
import struct
from decimal import ROUND_HALF_EVEN, Context, Decimal
from fractions import Fraction
from typing import Any

from hypothesis import assume, given, settings
from hypothesis import strategies as st

from corebrain.errors import InvalidRequest
from corebrain.model.fingerprint import confidence_text, single_precision
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn, read_item
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import Namespace
from corebrain.model.requests import Exported

TEXT = st.text(st.characters(codec="utf-8"), max_size=20)
MOMENTS = st.integers(-(10**18), 4 * 10**18).map(Instant)
CALLS = st.builds(ToolCallRef, name=TEXT, id=st.none() | TEXT)
STRINGS = ("workspace", "folder", "file_path", "language", "repo", "commit", "url", "thread_id", "agent_id")
METAS = st.builds(
    MemoryMeta,
    namespace=st.sampled_from(["root", "team:acme", "ws:main/service:s"]).map(Namespace.parse),
    **{name: st.none() | TEXT for name in STRINGS},
    turns=st.none() | st.builds(TurnRange, first=st.integers(0, 2**32 - 1), last=st.integers(0, 2**32 - 1)),
    tool_call=st.none() | CALLS,
    source=st.builds(SourceRef, kind=st.sampled_from(SourceKind), id=st.none() | TEXT),
    tags=st.lists(TEXT, max_size=3),
    observed_at=st.none() | MOMENTS,
    derive=st.none() | st.booleans(),
)
TURNS = st.builds(
    Turn,
    role=st.sampled_from(Role),
    text=TEXT,
    at=st.none() | MOMENTS,
    tool_calls=st.lists(CALLS, max_size=2),
)
ITEMS = (
    st.builds(
        Document,
        title=st.none() | TEXT,
        body=st.builds(Body, text=TEXT) | st.builds(Body, uri=TEXT),
        mime=st.none() | TEXT,
        meta=METAS,
    )
    | st.builds(Conversation, turns=st.lists(TURNS, max_size=3), meta=METAS)
    | st.builds(
        Learning,
        text=TEXT,
        kind=st.sampled_from(LearningKind),
        confidence=st.floats(0, 1),
        evidence=st.none() | TEXT,
        meta=METAS,
    )
)


@given(ITEMS)
def test_written_and_read_it_is_the_same_item(item: Document | Conversation | Learning) -> None:
    for again in (read_item(item.to_json()), read_item(item.to_dict()), type(item).from_json(item.to_json())):
        assert again == item
        assert again.fingerprint() == item.fingerprint()
    exported = Exported.of(item)
    assert Exported.from_json(exported.to_json()) == exported
    assert exported.to_dict() == {"id": item.fingerprint(), "item": item.to_dict()}


@given(ITEMS)
def test_the_plain_form_and_the_text_are_one_in_order_too(item: Document | Conversation | Learning) -> None:
    assert json.dumps(item.to_dict()) == json.dumps(json.loads(item.to_json()))
    assert next(iter(item.to_dict())) == "type"
    assert list(item.to_dict())[-1] == "meta"


def shuffled(value: Any, order: Any) -> Any:
    """The same JSON value with the keys of every object in another order, and an unknown one among them."""
    if isinstance(value, dict):
        names = order.draw(st.permutations([*value, "an_unknown_key"]))
        return {name: shuffled(value[name], order) if name in value else [1, {"x": None}] for name in names}
    return [shuffled(each, order) for each in value] if isinstance(value, list) else value


@given(ITEMS, st.data())
def test_the_order_of_keys_and_unknown_keys_do_not_count(item: Document | Conversation | Learning, data: Any) -> None:
    mixed = json.dumps(shuffled(item.to_dict(), data), ensure_ascii=data.draw(st.booleans()))
    assert read_item(mixed).fingerprint() == item.fingerprint()


@given(ITEMS, st.none() | MOMENTS)
def test_when_it_was_observed_does_not_count(item: Document | Conversation | Learning, seen: Instant | None) -> None:
    assert item.with_meta(item.meta.model_copy(update={"observed_at": seen})).fingerprint() == item.fingerprint()


@given(ITEMS, ITEMS)
def test_different_items_have_different_ids(
    one: Document | Conversation | Learning, other: Document | Conversation | Learning
) -> None:
    unseen = [item.with_meta(item.meta.model_copy(update={"observed_at": None})) for item in (one, other)]
    assert (one.fingerprint() == other.fingerprint()) == (unseen[0] == unseen[1])


@given(ITEMS)
def test_the_canonical_text_is_what_a_plain_json_writer_writes(item: Document | Conversation | Learning) -> None:
    canonical = item.canonical(hashed=True)
    assert "observed_at" not in json.loads(canonical)["meta"]
    if not isinstance(item, Learning):  # a confidence is written as a single, which no plain writer knows
        assert json.dumps(json.loads(canonical), ensure_ascii=False, separators=(",", ":")) == canonical


@given(st.text(st.characters(codec=None), max_size=20))
def test_text_is_stored_as_it_is_or_refused_for_a_lone_surrogate(text: str) -> None:
    document = Document(body=Body(text=text))
    if any(0xD800 <= ord(letter) < 0xE000 for letter in text):
        try:
            document.fingerprint()
        except InvalidRequest:
            return
        raise AssertionError(text)
    assert read_item(document.to_json()).render_text() == text


def single(bits: int) -> float:
    return float(struct.unpack("<f", struct.pack("<I", bits))[0])


def shortest_by_decimal(bits: int) -> tuple[str, int]:
    """The fewest digits, rounded to nearest, inside the interval that rounds to this single; exact arithmetic."""
    value = Fraction(single(bits))
    low = (Fraction(single(bits - 1)) + value) / 2
    high = (Fraction(single(bits + 1)) + value) / 2
    exact = Context(prec=200).divide(Decimal(value.numerator), Decimal(value.denominator))
    for count in range(1, 10):
        rounded = Context(prec=count, rounding=ROUND_HALF_EVEN).plus(exact)
        inside = low < Fraction(rounded) < high or (bits % 2 == 0 and Fraction(rounded) in {low, high})
        if inside:
            digits = "".join(map(str, rounded.as_tuple().digits)).rstrip("0")
            return digits, rounded.adjusted() + 1
    raise AssertionError(bits)


def written(digits: str, point: int) -> str:
    """The table of forms, read from the top."""
    if len(digits) <= point <= 13:
        return digits + "0" * (point - len(digits)) + ".0"
    if 0 < point <= 13:
        return f"{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return "0." + "0" * -point + digits
    return digits[0] + ("." + digits[1:] if len(digits) > 1 else "") + f"e{point - 1}"


ONE = 0x3F800000
"""The bits of 1.0; those of every positive single below it are smaller."""


def check(bits: int) -> None:
    text = confidence_text(single(bits))
    assert text == written(*shortest_by_decimal(bits))
    assert single_precision(float(text)) == single(bits)


@given(st.integers(1, ONE))
def test_a_confidence_is_written_as_exact_arithmetic_says(bits: int) -> None:
    check(bits)


def test_confidences_over_the_whole_range_are_written_as_exact_arithmetic_says() -> None:
    step = 1_061 if settings().max_examples > 1_000 else 524_287  # odd, so that all last bits occur
    for bits in range(1, ONE + 1, step):
        check(bits)


@given(st.integers(1, 0x7F7FFFFE))
def test_singles_beyond_one_are_written_by_the_same_table(bits: int) -> None:
    check(bits)
    assert confidence_text(-single(bits)) == "-" + confidence_text(single(bits))


@given(st.floats(0, 1))
def test_equal_singles_have_equal_ids(confidence: float) -> None:
    rounded = single_precision(confidence)
    ids = {Learning(text="t", kind=LearningKind.FACT, confidence=c).fingerprint() for c in (confidence, rounded)}
    assert len(ids) == 1
    learning = Learning(text="t", kind=LearningKind.FACT, confidence=confidence)
    assert read_item(learning.to_json()).confidence_or_none == learning.confidence
    assume(confidence >= 2**-126)  # below, singles lose digits
    assert abs(learning.confidence - confidence) <= confidence * 2**-23
