"""Which scopes an operation touches, in the order they are read (spec 04 section 5)."""

from collections.abc import Iterable

from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import WHOLE_TREE, Namespace, Reach

Kinds = tuple[ItemKind, ...]
EVERY_KIND: Kinds = tuple(ItemKind)


class ReachScopes:
    """Turns reaches into scopes, asking the server only where a reach goes down.

    Args:
        wire: Whom to ask.
        layout: Where nodes lie.
    """

    def __init__(self, wire: DirectWire, layout: ScopeLayout) -> None:
        self._wire = wire
        self._layout = layout

    def of_filter(self, wanted: MetaFilter, *, complete: bool = False) -> list[KindScope]:
        """Return the scopes in which a filter's items may lie."""
        kinds = tuple(kind for kind in EVERY_KIND if wanted.admits_kind(kind))
        return self.of_reach(wanted.reach, kinds, complete=complete)

    def of_reach(self, reach: Reach | None, kinds: Kinds = EVERY_KIND, *, complete: bool = False) -> list[KindScope]:
        """Return the scopes of a reach: the nodes it names, and what is listed below."""
        covered = reach or WHOLE_TREE
        named = [scope for node in covered.nodes() for kind in kinds for scope in self._layout.readable(node, kind)]
        if not covered.descendants:
            return ordered(named)
        return ordered([*named, *self.held(covered, kinds, complete=complete)])

    def held(self, reach: Reach, kinds: Kinds = EVERY_KIND, *, complete: bool = False) -> list[KindScope]:
        """Return the scopes that exist, within a reach."""
        top = Namespace.ROOT if reach.inherit else reach.at
        return ordered(
            scope for scope in self._listed(top, complete=complete) if scope.kind in kinds and reach.admits(scope.node)
        )

    def everywhere(self) -> list[KindScope]:
        """Return every scope there is, sandboxes included; `EngineError` when that cannot be known."""
        root = [scope for kind in EVERY_KIND for scope in self._layout.readable(Namespace.ROOT, kind)]
        return ordered([*root, *self._listed(Namespace.ROOT, complete=True)])

    def _listed(self, top: Namespace, *, complete: bool) -> list[KindScope]:
        paths = [path for prefix in self._layout.prefixes(top) for path in self._wire.scopes(prefix, complete=complete)]
        return [scope for scope in map(self._layout.parse, paths) if scope is not None]


def ordered(scopes: Iterable[KindScope]) -> list[KindScope]:
    """Return each scope once: by kind, then node, then path."""
    return sorted({scope.path: scope for scope in scopes}.values(), key=lambda scope: scope.order)
