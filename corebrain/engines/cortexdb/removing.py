"""Forgetting and erasing (spec 04 section 7)."""

from collections.abc import Iterable, Sequence

from corebrain.engines.cortexdb.concurrent_reads import each
from corebrain.engines.cortexdb.direct_wire import LABELS_A_LISTING, DirectWire
from corebrain.engines.cortexdb.labels import item_label, narrowing_labels
from corebrain.engines.cortexdb.looking_up import look_up
from corebrain.engines.cortexdb.replies import Held, event_id, read_event
from corebrain.engines.cortexdb.scopes import KindScope
from corebrain.model.filter import MetaFilter


def forget_ids(wire: DirectWire, scopes: Sequence[KindScope], ids: Sequence[str]) -> int:
    """Remove every event of the named items from all *scopes*; returns how many items there were."""
    found: set[str] = set()
    for parts in each(lambda scope: look_up(wire, scope, ids), scopes):
        found |= parts.keys()
        _remove(wire, (held for group in parts.values() for held in group))
    return len(found)


def forget_matching(wire: DirectWire, scopes: Sequence[KindScope], wanted: MetaFilter) -> int:
    """Remove every event of items the full filter admits; returns how many items there were.

    Also of items that are held only in part, which no listing shows. A scope is read to its end before anything of it
    is removed: a removal would move what the pages stand on.
    """
    labels = narrowing_labels(wanted)
    forgotten: set[str] = set()
    for scope in scopes:
        doomed: dict[str, Held] = {}
        for raw in wire.pages(scope.path, labels):
            held = read_event(raw, scope.path, scope.kind)
            if held is not None and held.envelope.matches(wanted):
                doomed[held.event_id] = held
        _remove(wire, doomed.values())
        forgotten |= {held.envelope.id for held in doomed.values()}
    return len(forgotten)


def erase(wire: DirectWire, scopes: Sequence[KindScope]) -> list[str]:
    """Delete scopes for good, the deepest first; returns the receipts."""
    deepest = sorted(scopes, key=lambda scope: -scope.path.count("/"))
    return [receipt for scope in deepest for receipt in wire.erase(scope.path)]


def _remove(wire: DirectWire, events: Iterable[Held]) -> None:
    by_scope: dict[str, dict[str, str]] = {}
    for held in events:
        by_scope.setdefault(held.scope, {})[held.event_id] = item_label(held.envelope.id)
    for scope, labels in by_scope.items():
        wire.forget(scope, list(labels))
        if _is_kept(wire, scope, labels):
            wire.forget(scope, list(labels), redact=True)


def _is_kept(wire: DirectWire, scope: str, labels: dict[str, str]) -> bool:
    """Look whether what was just forgotten is listed still: newer servers keep events unless told to redact them.

    Args:
        wire: Whom to ask.
        scope: Their scope.
        labels: Id of each event, and the label of its item.
    """
    some = list(dict.fromkeys(labels.values()))[:LABELS_A_LISTING]
    return any(event_id(raw) in labels for raw in wire.page(scope, some).raws)
