"""Namespaces: the grammar, the order, and how host ids become segments."""

import copy
import pickle

import pytest

from corebrain.errors import InvalidRequest
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import MAX_DEPTH, MAX_SEGMENT_ID, Namespace, Segment, SegmentKind

AGENT, TEAM = SegmentKind.AGENT, SegmentKind.TEAM

SANITISED = [
    ("writer", "writer"),
    ("Agent-01_x", "Agent-01_x"),
    ("", "_"),
    ("o'neil@acme.com", "o-neil-acme-com-c5acae54"),
    ("user@example.com", "user-example-com-ddaa05fb"),
    ("a.b", "a-b-108bf50c"),
    ("a b", "a-b-10a3f9f2"),
    ("a:b/c", "a-b-c-8d30d47a"),
    ("agent 7", "agent-7-e947a51f"),
    ("tinyhumansai/openhuman", "tinyhumansai-openhuman-5023397d"),
    ("日本", "---9f26ee51"),
    ("é" * 300, "-" * 119 + "-2748e235"),
    ("x" * 129, "x" * 119 + "-4ee8de87"),
    ("x" * 128, "x" * 128),
]
"""The table of the specification, and the longest id that is kept."""


def test_the_limits_are_those_of_the_specification() -> None:
    assert (MAX_DEPTH, MAX_SEGMENT_ID) == (8, 128)


@pytest.mark.parametrize(("raw", "made"), SANITISED)
def test_a_host_id_becomes_a_segment_as_tabled(raw: str, made: str) -> None:
    segment = Segment.sanitized(AGENT, raw)
    assert segment.id == made
    assert len(segment.id) <= MAX_SEGMENT_ID
    assert Namespace.agent(raw) == Namespace.parse(f"agent:{made}")
    assert str(Namespace.source(raw)) == f"source:{made}"


def test_a_lone_surrogate_is_still_sanitised() -> None:
    assert Segment.sanitized(AGENT, "a\ud800").id.startswith("a--")


@pytest.mark.parametrize(
    ("kind", "prefix", "own"),
    [
        (SegmentKind.AGENT, "agent", "agent"),
        (SegmentKind.TEAM, "team", "team"),
        (SegmentKind.USER, "user", "user"),
        (SegmentKind.WORKSPACE, "ws", "workspace"),
        (SegmentKind.PROJECT, "project", "project"),
        (SegmentKind.SOURCE, "source", "source"),
        (SegmentKind.SERVICE, "service", "service"),
    ],
)
def test_a_kind_has_a_path_prefix_and_a_form_of_its_own(kind: SegmentKind, prefix: str, own: str) -> None:
    assert (kind.prefix, kind.value) == (prefix, own)
    assert Namespace.parse(f"{prefix}:x").segments == (Segment(kind, "x"),)
    assert str(Segment(kind, "x")) == f"{prefix}:x"


def test_the_kinds_stand_in_declaration_order() -> None:
    assert [kind.name for kind in SegmentKind] == [
        *("AGENT", "TEAM", "USER", "WORKSPACE", "PROJECT", "SOURCE", "SERVICE")
    ]


@pytest.mark.parametrize("text", ["", "root", " root ", "\u3000\u0085", "\troot\n"])
def test_the_root_has_two_spellings_and_trims(text: str) -> None:
    assert Namespace.parse(text) == Namespace.ROOT
    assert str(Namespace.parse(text)) == "root"


def test_a_path_is_trimmed_around_but_not_inside() -> None:
    assert str(Namespace.parse("\u00a0team:acme/agent:writer\n")) == "team:acme/agent:writer"
    with pytest.raises(InvalidRequest):
        Namespace.parse("team:acme / agent:writer")
    with pytest.raises(InvalidRequest):
        Namespace.parse("\x1fteam:acme")


@pytest.mark.parametrize(
    "text",
    [
        "acme",  # no colon
        "/",
        "team:acme/",
        "/team:acme",
        "team:acme//agent:x",
        "root/team:acme",
        "Root",
        "team:",
        ":acme",
        "team:a:b",  # split at the first colon: the id would be a:b
        "workspace:main",  # the enum's own form is no prefix
        "TEAM:acme",
        "planet:earth",
        "team:a.b",
        "team:日本",
        "team:\u0661",  # a digit, but no ASCII one
        "team:a\n/agent:b",
        f"team:{'x' * 129}",
        "/".join(f"team:t{i}" for i in range(9)),
    ],
)
def test_a_bad_path_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        Namespace.parse(text)


def test_eight_segments_are_the_most_however_they_come() -> None:
    deep = Namespace.parse("/".join(f"team:t{i}" for i in range(8)))
    assert deep.depth == 8
    one = Segment(TEAM, "t")
    with pytest.raises(InvalidRequest, match="at most 8"):
        deep.child(one)
    with pytest.raises(InvalidRequest, match="at most 8"):
        deep.join(Namespace([one]))
    with pytest.raises(InvalidRequest, match="at most 8"):
        Namespace.of([one] * 9)
    assert Namespace.of([one] * 8).depth == 8


@pytest.mark.parametrize("segment_id", ["", "a b", "a/b", "a:b", "é", "x" * 129, "a\n"])
def test_a_bad_segment_id_is_refused(segment_id: str) -> None:
    with pytest.raises(InvalidRequest, match="segment id"):
        Segment(TEAM, segment_id)


def test_a_kind_given_as_plain_text_is_the_kind() -> None:
    assert str(Segment(SegmentKind("workspace"), "x")) == "ws:x"
    assert str(Segment("workspace", "x")) == "ws:x"  # type: ignore[arg-type]  # what a host without types passes
    with pytest.raises(InvalidRequest, match="no kind"):
        Segment("ws", "x")  # type: ignore[arg-type]  # the prefix is not the kind's name


def test_a_path_is_not_taken_for_segments() -> None:
    with pytest.raises(InvalidRequest, match=r"Namespace\.parse"):
        Namespace("abc")  # type: ignore[arg-type]  # the mistake a host makes


def test_the_accessors_tell_where_a_node_is() -> None:
    node = Namespace.parse("team:acme/agent:writer")
    assert not node.is_root
    assert Namespace.ROOT.is_root
    assert (node.depth, Namespace.ROOT.depth) == (2, 0)
    assert [str(each) for each in node.ancestors_and_self()] == ["root", "team:acme", "team:acme/agent:writer"]
    assert Namespace.ROOT.ancestors_and_self() == [Namespace.ROOT]
    assert node.child(Segment(AGENT, "scout")) == Namespace.parse("team:acme/agent:writer/agent:scout")


@pytest.mark.parametrize(
    ("inner", "outer", "within"),
    [
        ("team:acme/agent:writer", "team:acme", True),
        ("team:acme", "team:acme", True),
        ("team:acme", "root", True),
        ("root", "root", True),
        ("root", "team:acme", False),
        ("team:acme", "team:acme/agent:writer", False),
        ("team:acme-2", "team:acme", False),  # a prefix of the text, not of the segments
        ("agent:a/team:b", "team:b", False),
    ],
)
def test_within_counts_whole_segments(inner: str, outer: str, within: bool) -> None:
    assert Namespace.parse(inner).is_within(Namespace.parse(outer)) is within


def test_namespaces_are_ordered_by_segments_then_length() -> None:
    ordered = [
        "root",
        "agent:Z",  # byte order: upper case first
        "agent:a",
        "agent:a/agent:a",
        "agent:a/team:a",
        "agent:a-b",
        "agent:b",
        "team:a",  # by the kinds' declaration, not by their letters
        "user:a",
        "ws:a",
        "project:a",
        "source:a",
        "service:a",
    ]
    nodes = [Namespace.parse(text) for text in ordered]
    shuffled = [*nodes[7:], *nodes[:7]]
    assert sorted(shuffled) == nodes
    for node in nodes:
        same = Namespace(node.segments)
        assert not node < same
        assert node <= same


def test_a_namespace_is_an_immutable_value() -> None:
    node = Namespace.parse("team:acme")
    with pytest.raises(AttributeError):
        node.segments = ()
    with pytest.raises(AttributeError):
        node.segments[0].id = "other"
    assert {node: 1}[Namespace.parse("team:acme")] == 1
    assert node != "team:acme"
    assert copy.deepcopy(node) == node
    assert pickle.loads(pickle.dumps(node)) == node  # noqa: S301  # our own bytes
    assert repr(node) == "Namespace(team:acme)"


def test_on_the_wire_a_namespace_is_its_path() -> None:
    assert MemoryMeta.from_dict({"namespace": "team:acme"}).namespace == Namespace.parse("team:acme")
    assert MemoryMeta(namespace=Namespace.parse("ws:main")).to_dict()["namespace"] == "ws:main"
    for bad in (5, ["team:acme"], "planet:earth", None):
        with pytest.raises(InvalidRequest):
            MemoryMeta.from_dict({"namespace": bad})
