"""`consolidate`: belief builds answer as declared, and beliefs keep to their reach."""

from corebrain.conformance import items
from corebrain.conformance.trial import Trial
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BELIEF_TAG,
    BeliefsRequest,
    ConsolidateRequest,
    ConsolidateStatus,
    Consolidation,
)

_LIMIT = 10
_ANSWERS = {
    Consolidation.ON_DEMAND: (ConsolidateStatus.STARTED, ConsolidateStatus.COMPLETED),
    Consolidation.AUTOMATIC: (ConsolidateStatus.STARTED, ConsolidateStatus.COMPLETED),
    Consolidation.SCHEDULED: (ConsolidateStatus.SCHEDULED,),
}


def consolidate(trial: Trial) -> None:
    """A malformed build is refused, a valid one answered as declared; beliefs are tagged learnings within reach."""
    node = trial.node("beliefs")
    text = f"The {trial.marker} desk opens at nine. It closes at five."
    trial.engine.store(items.document(trial.workspace, text, namespace=node))
    twice = ConsolidateRequest(reach=Reach.exact(node), kinds=(ItemKind.DOCUMENT, ItemKind.DOCUMENT))
    trial.refused("a belief build that names a kind twice", lambda: trial.engine.consolidate(twice), InvalidRequest)
    _expect_answer(trial, ConsolidateRequest(reach=Reach.exact(node), kinds=(ItemKind.DOCUMENT,)))
    _expect_beliefs(trial, node)


def _expect_answer(trial: Trial, request: ConsolidateRequest) -> None:
    declared = trial.engine.descriptor.consolidation
    due = _ANSWERS.get(declared)
    if due is None:
        trial.refused(
            "a belief build of an engine that declares none", lambda: trial.engine.consolidate(request), Unsupported
        )
        return
    status = trial.engine.consolidate(request).status
    named = " or ".join(each.value for each in due)
    trial.expect(status in due, f"declared {declared.value}, a belief build answers {status.value}, not {named}")


def _expect_beliefs(trial: Trial, node: Namespace) -> None:
    reach = Reach.exact(node)
    nothing = BeliefsRequest(reach=reach, query=trial.marker, limit=0)
    trial.refused("reading beliefs with limit 0", lambda: trial.engine.beliefs(nothing), InvalidRequest)
    found = trial.engine.beliefs(BeliefsRequest(reach=reach, query=trial.marker, limit=_LIMIT))
    trial.expect(len(found) <= _LIMIT, f"{len(found)} beliefs are read with limit {_LIMIT}")
    for belief in found:
        trial.expect(belief.kind is ItemKind.LEARNING, f"a belief is a {belief.kind.value}, not a learning")
        trial.expect(BELIEF_TAG in belief.meta.tags, f"a belief is tagged {belief.meta.tags}, not {BELIEF_TAG!r}")
        at = belief.meta.namespace
        trial.expect(reach.admits(at), f"a belief at {at} is read under exact({node})")
