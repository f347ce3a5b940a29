"""`round_trip` and `replay`: what goes in comes out, once."""

from corebrain.conformance import items
from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import expect_ids, ids, list_all
from corebrain.contract import Item
from corebrain.model.requests import Hit


def round_trip(trial: Trial) -> None:
    """One item of each kind is stored new and listed once, with everything it carries."""
    stored: dict[str, Item] = {}
    for item in items.round_trip(trial.workspace, trial.marker):
        receipt = trial.engine.store(item)
        trial.expect(not receipt.replayed, f"the first store of a {item.kind.value} is reported as a replay")
        stored[receipt.id] = item
    trial.expect(len(stored) == 3, "different items are stored under one id")
    for item_id, item in stored.items():
        listed = list_all(trial, trial.filter(kinds=(item.kind,)))
        expect_ids(trial, f"list of kind {item.kind.value}", [hit.id for hit in listed], [item_id])
        _expect_same(trial, listed[0], item)
    expect_ids(trial, "list of the workspace", ids(trial, trial.filter()), stored)
    trial.round_trip = stored


def _expect_same(trial: Trial, hit: Hit, item: Item) -> None:
    pairs = {
        "kind": (hit.kind, item.kind),
        "metadata": (hit.meta, item.meta),
        "confidence": (hit.confidence, item.confidence_or_none),
        "text": (hit.text, item.render_text()),
    }
    for field, (found, stored) in pairs.items():
        trial.expect(found == stored, f"the {field} of a {item.kind.value} is listed as {found!r}, stored {stored!r}")


def replay(trial: Trial) -> None:
    """Storing an item again answers its id as a replay, and one copy lists."""
    item = trial.document("replay", tags=("replay",))
    first, second = trial.engine.store(item), trial.engine.store(item)
    trial.expect(not first.replayed, "the first store is reported as a replay")
    trial.expect(second.replayed, "the second store of an identical item is not reported as a replay")
    trial.expect(second.id == first.id, f"the replay answers {second.id}, the first store {first.id}")
    expect_ids(trial, "list", ids(trial, trial.filter(tags_any=("replay",))), [first.id])
