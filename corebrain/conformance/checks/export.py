"""`export`: items come out exactly as they went in."""

from collections import Counter

from corebrain.conformance.trial import Trial
from corebrain.conformance.walking import PAGE, export_all
from corebrain.errors import Unsupported
from corebrain.model.requests import ListRequest


def export(trial: Trial) -> None:
    """Every item is exported once, equal to what was stored, under its fingerprint; storing it back is a replay."""
    held = trial.hold_round_trip()
    wanted = trial.filter()
    try:
        first = trial.engine.export(ListRequest(filter=wanted, limit=PAGE))
    except Unsupported:
        trial.note_unsupported("export")
        return
    pages = export_all(trial, wanted, first)
    exported = [each for page in pages for each in page.items]
    incomplete = [item_id for page in pages for item_id in page.incomplete]
    trial.expect(not incomplete, f"items are exported as incomplete: {incomplete}")
    for each in exported:
        trial.expect(each.id == each.item.fingerprint(), f"the exported id {each.id} is not its item's fingerprint")
    times = Counter(each.id for each in exported)
    trial.expect(max(times.values(), default=0) <= 1, "an item is exported twice")
    by_id = {each.id: each.item for each in exported}
    for item_id, item in held.items():
        trial.expect(item_id in by_id, f"the stored {item.kind.value} {item_id} is not exported")
        trial.expect(by_id[item_id] == item, f"the exported {item.kind.value} differs from the stored one")
        again = trial.engine.store(by_id[item_id])
        trial.expect(again.replayed, f"storing the exported {item.kind.value} back is not a replay")
        trial.expect(again.id == item_id, f"storing an exported item back answers {again.id}, not {item_id}")
