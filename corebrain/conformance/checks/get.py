"""`get`: the named items, in the order named."""

from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import list_all
from corebrain.model.requests import GetRequest


def get(trial: Trial) -> None:
    """Items come back in the order asked for, equal to their listing; unknown ids are left out."""
    trial.hold_round_trip()
    for label in ("get one", "get two"):
        trial.engine.store(trial.document(label))
    listed = {hit.id: hit for hit in list_all(trial, trial.filter())}
    orders = (sorted(listed), sorted(listed, reverse=True))  # no order of the engine's own fits both
    unknown = trial.document("never stored").fingerprint()
    for order in orders:
        found = trial.engine.get(GetRequest(ids=(order[0], unknown, *order[1:])))
        trial.expect(
            [hit.id for hit in found] == order,
            f"get answers {[hit.id for hit in found]}, asked for {order} with the unknown {unknown} after the first",
        )
        for hit in found:
            trial.expect(hit == listed[hit.id], f"get shows {hit!r}, list shows {listed[hit.id]!r}")
