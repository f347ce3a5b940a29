"""Namespaces for any segments: print and parse, order, and host ids that stay apart."""

import random
import string

from hypothesis import given, settings
from hypothesis import strategies as st

from corebrain.errors import InvalidRequest
from corebrain.model.namespace import MAX_DEPTH, Namespace, Segment, SegmentKind

CHARSET = string.ascii_letters + string.digits + "_-"
IDS = st.text(CHARSET, min_size=1, max_size=128)
SEGMENTS = st.builds(Segment, st.sampled_from(SegmentKind), IDS)
NAMESPACES = st.builds(Namespace, st.lists(SEGMENTS, max_size=MAX_DEPTH))
SPACE = st.text("\t\n\x0b\x0c\r \x85\xa0\u2003\u3000", max_size=3)
ANY_TEXT = st.text(st.characters(codec=None), max_size=200)  # lone surrogates included


@given(NAMESPACES, SPACE, SPACE)
def test_printed_and_parsed_it_is_the_same_node(node: Namespace, before: str, after: str) -> None:
    assert Namespace.parse(f"{before}{node}{after}") == node


@given(st.text(":/-_ ", max_size=20) | ANY_TEXT)
def test_any_text_is_a_node_that_prints_alike_or_refused(text: str) -> None:
    try:
        node = Namespace.parse(text)
    except InvalidRequest:
        return
    assert Namespace.parse(str(node)) == node
    assert node.is_root or str(node) in text


@given(st.lists(NAMESPACES, max_size=12))
def test_the_order_is_by_kind_id_and_length(nodes: list[Namespace]) -> None:
    kinds = list(SegmentKind)
    keyed = sorted(nodes, key=lambda node: [(kinds.index(part.kind), part.id.encode()) for part in node.segments])
    assert sorted(nodes) == keyed


@given(NAMESPACES, NAMESPACES)
def test_within_is_having_the_other_among_the_ancestors(inner: Namespace, outer: Namespace) -> None:
    for node in (inner, Namespace([*outer.segments, *inner.segments][:MAX_DEPTH])):
        assert node.is_within(outer) == (outer in node.ancestors_and_self())


@given(st.sampled_from(SegmentKind), ANY_TEXT)
def test_sanitising_never_fails_and_changes_nothing_twice(kind: SegmentKind, raw: str) -> None:
    once = Segment.sanitized(kind, raw)
    assert Segment(kind, once.id) == once
    assert Segment.sanitized(kind, once.id) == once


@given(st.text(st.sampled_from(" .:/@é日") | st.sampled_from(CHARSET), min_size=1, max_size=40))
def test_a_foreign_id_keeps_its_shape_before_the_hash(raw: str) -> None:
    made = Segment.sanitized(SegmentKind.AGENT, raw).id
    if all(letter in CHARSET for letter in raw):
        assert made == raw
    else:
        assert made[:-9] == "".join(letter if letter in CHARSET else "-" for letter in raw)
        assert made[-9] == "-"
        assert set(made[-8:]) <= set("0123456789abcdef")


def test_many_ids_collide_no_more_often_than_the_hash_must() -> None:
    count = 1_000_000 if settings().max_examples > 1_000 else 20_000
    chance = random.Random(1)  # noqa: S311  # repeatable, not secret
    raws = {"".join(chance.choices(".:/@ é日ß", k=12)) for _ in range(count)}
    made = {Segment.sanitized(SegmentKind.AGENT, raw).id for raw in raws}
    expected = len(raws) ** 2 / 2**33  # all share one stem of dashes, so only 32 bits tell them apart
    assert len(raws) - len(made) <= 2 * expected + 3
