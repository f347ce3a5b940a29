"""`erase`: nodes are emptied for good, and only those named."""

from corebrain.conformance import items
from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import expect_ids, ids
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.namespace import Namespace, Reach, Segment, SegmentKind
from corebrain.model.requests import EraseRequest

_TAG = "erase"


def erase(trial: Trial) -> None:
    """A node is erased with what is below it, its sibling stays, and what was erased can be stored anew."""
    node = trial.node("erased")
    nodes = [node, node.child(Segment(SegmentKind.AGENT, "child")), trial.node("kept")]
    learnings = [items.learning(trial.workspace, f"{trial.marker} erase note {at}", at, _TAG) for at in nodes]
    at_node, below, sibling = (trial.engine.store(item).id for item in learnings)
    wanted = trial.filter(tags_any=(_TAG,))
    everything = EraseRequest(reach=Reach.subtree(Namespace.ROOT))
    trial.refused(
        "erasing the whole tree without whole_tree",
        lambda: trial.engine.erase(everything),
        InvalidRequest,
        Unsupported,
    )
    expect_ids(trial, "list after a refused erase", ids(trial, wanted), [at_node, below, sibling])
    try:
        trial.engine.erase(EraseRequest(reach=Reach.subtree(node)))
    except Unsupported:
        trial.note_unsupported("erase")
        return
    expect_ids(trial, "list after an erase", ids(trial, wanted), [sibling])
    for item, item_id in zip(learnings, (at_node, below), strict=False):
        again = trial.engine.store(item)
        trial.expect(not again.replayed, "an erased item stored again is reported as a replay, it must be new")
        trial.expect(again.id == item_id, f"an erased item stored again answers {again.id}, not {item_id}")
    expect_ids(trial, "list after storing again", ids(trial, wanted), [at_node, below, sibling])
