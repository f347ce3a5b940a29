"""Forgetting and erasing (spec 04 section 7)."""

from collections.abc import Iterable, Sequence

from corebrain.engines.cortexdb.cursors import ListCursor
from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.looking_up import look_up
from corebrain.engines.cortexdb.replies import Held
from corebrain.engines.cortexdb.scopes import KindScope
from corebrain.engines.cortexdb.walking import Walk
from corebrain.model.filter import MetaFilter

_PAGE = 200


def forget_ids(wire: DirectWire, scopes: Sequence[KindScope], ids: Sequence[str]) -> int:
    """Remove every event of the named items from all *scopes*; returns how many items there were."""
    found: set[str] = set()
    for scope in scopes:
        parts = look_up(wire, scope, ids)
        found |= parts.keys()
        _remove(wire, parts.values())
    return len(found)


def forget_matching(wire: DirectWire, scopes: Sequence[KindScope], wanted: MetaFilter) -> int:
    """Remove every item the full filter admits; returns how many there were.

    A scope is read to its end before anything of it is removed: a removal would move what the pages stand on.
    """
    forgotten = 0
    for scope in scopes:
        walk = Walk(wire, [scope], wanted)
        doomed: dict[str, list[Held]] = {}
        start = ListCursor(offset=0)
        while True:
            page = walk.page(start, _PAGE)
            doomed |= dict(page.items)
            if page.next_cursor is None:
                break
            start = ListCursor.read(page.next_cursor)
        _remove(wire, doomed.values())
        forgotten += len(doomed)
    return forgotten


def erase(wire: DirectWire, scopes: Sequence[KindScope]) -> list[str]:
    """Delete scopes for good, the deepest first; returns the receipts."""
    deepest = sorted(scopes, key=lambda scope: -scope.path.count("/"))
    return [receipt for scope in deepest for receipt in wire.erase(scope.path)]


def _remove(wire: DirectWire, items: Iterable[Sequence[Held]]) -> None:
    by_scope: dict[str, list[str]] = {}
    for parts in items:
        for held in parts:
            by_scope.setdefault(held.scope, []).append(held.event_id)
    for scope, ids in by_scope.items():
        wire.forget(scope, ids)
