"""A reach against its definition, written out node by node."""

from hypothesis import given
from hypothesis import strategies as st

from corebrain.model.namespace import MAX_DEPTH, Namespace, Reach, Segment, SegmentKind

SEGMENTS = st.builds(
    Segment, st.sampled_from([SegmentKind.TEAM, SegmentKind.AGENT, SegmentKind.SERVICE]), st.sampled_from("ab")
)
NODES = st.builds(Namespace, st.lists(SEGMENTS, max_size=4))
REACHES = st.builds(Reach, at=NODES, inherit=st.booleans(), descendants=st.booleans())


@st.composite
def related(draw: st.DrawFn) -> tuple[Reach, Namespace]:
    """A reach and a node that is often above, at or below where it stands."""
    reach = draw(REACHES)
    tail = draw(st.lists(SEGMENTS, max_size=MAX_DEPTH - 4))
    cut = draw(st.integers(0, reach.at.depth))
    candidates = [Namespace(reach.at.segments[:cut]), Namespace([*reach.at.segments[:cut], *tail]), draw(NODES)]
    return reach, draw(st.sampled_from(candidates))


def admits_by_text(reach: Reach, node: Namespace) -> bool:
    """The definition, on the printed paths."""
    at = "" if reach.at.is_root else f"{reach.at}/"
    path = "" if node.is_root else f"{node}/"
    above = reach.inherit and at.startswith(path)
    below = reach.descendants and path.startswith(at) and "service:" not in path[len(at) :]
    return at == path or above or below


@given(related())
def test_a_reach_admits_exactly_what_its_definition_says(case: tuple[Reach, Namespace]) -> None:
    reach, node = case
    assert reach.admits(node) == admits_by_text(reach, node)
    assert Reach.admitted_by(reach, node) == admits_by_text(reach, node)


@given(related())
def test_the_switches_only_ever_add(case: tuple[Reach, Namespace]) -> None:
    reach, node = case
    if Reach.exact(reach.at).admits(node):
        assert reach.admits(node)
    widest = Reach(at=reach.at, inherit=True, descendants=True)
    assert widest.admits(node) == (Reach.of(reach.at).admits(node) or Reach.subtree(reach.at).admits(node))


@given(REACHES)
def test_every_node_that_can_be_named_is_admitted(reach: Reach) -> None:
    assert all(reach.admits(node) for node in reach.nodes())
    assert reach.nodes() == sorted(reach.nodes())


@given(NODES)
def test_no_reach_is_the_whole_tree_without_its_sandboxes(node: Namespace) -> None:
    boxed = any(segment.kind is SegmentKind.SERVICE for segment in node.segments)
    assert Reach.admitted_by(None, node) == (not boxed)


@given(REACHES)
def test_written_and_read_it_is_the_same_reach(reach: Reach) -> None:
    assert Reach.from_json(reach.to_json()) == reach
    assert list(reach.to_dict()) == ["at", "inherit", "descendants"]
