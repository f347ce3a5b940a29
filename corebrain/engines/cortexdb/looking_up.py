"""All events of named items, by the label every one of them carries (spec 04 section 7)."""

from collections.abc import Iterable, Sequence

from corebrain.engines.cortexdb.direct_wire import LABELS_A_LISTING, DirectWire
from corebrain.engines.cortexdb.labels import item_label
from corebrain.engines.cortexdb.replies import Held, read_event
from corebrain.engines.cortexdb.scopes import KindScope

Parts = dict[str, list[Held]]


def look_up(wire: DirectWire, scope: KindScope, ids: Iterable[str]) -> Parts:
    """Return the events a scope holds of the named items, by item id; items not there are left out."""
    wanted: Sequence[str] = list(dict.fromkeys(ids))
    found: Parts = {}
    for start in range(0, len(wanted), LABELS_A_LISTING):
        group = wanted[start : start + LABELS_A_LISTING]
        seen: set[str] = set()
        for raw in wire.pages(scope.path, [item_label(item_id) for item_id in group]):
            held = read_event(raw, scope.path, scope.kind)
            if held is None or held.event_id in seen or held.envelope.id not in group:
                continue
            seen.add(held.event_id)
            found.setdefault(held.envelope.id, []).append(held)
    return found
