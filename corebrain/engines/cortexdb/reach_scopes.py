"""Which scopes an operation touches, in the order they are read (spec 04 section 5)."""

from collections.abc import Iterable, Iterator

from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.scopes import KindScope, ScopeLayout
from corebrain.engines.cortexdb.sharing import Shared
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import WHOLE_TREE, Namespace, Reach

Kinds = tuple[ItemKind, ...]
EVERY_KIND: Kinds = tuple(ItemKind)
_REMEMBERED = 256
"""Prefixes whose last listing is kept."""


class ReachScopes:
    """Turns reaches into scopes, asking the server only where a reach goes down.

    Args:
        wire: Whom to ask.
        layout: Where nodes lie.
    """

    def __init__(self, wire: DirectWire, layout: ScopeLayout) -> None:
        self._wire = wire
        self._layout = layout
        self._shared: Shared[list[str]] = Shared()
        self._remembered: dict[str, list[str]] = {}

    def changed(self) -> None:
        """Note that a write or a removal has ended, so that reads from now on see it."""
        self._shared.passed()

    def of_filter(self, wanted: MetaFilter, *, complete: bool = False) -> list[KindScope]:
        """Return the scopes in which a filter's items may lie."""
        kinds = tuple(kind for kind in EVERY_KIND if wanted.admits_kind(kind))
        return self.of_reach(wanted.reach, kinds, complete=complete)

    def expected(self, wanted: MetaFilter) -> list[KindScope]:
        """Return what `of_filter` would have returned after the last listing; nothing without one, or without need."""
        covered = wanted.reach or WHOLE_TREE
        prefixes = self._layout.prefixes(_top(covered)) if covered.descendants else []
        listed = [self._remembered[prefix] for prefix in prefixes if prefix in self._remembered]
        if not listed or len(listed) < len(prefixes):
            return []
        kinds = tuple(kind for kind in EVERY_KIND if wanted.admits_kind(kind))
        held = self._held(covered, kinds, (path for paths in listed for path in paths))
        return ordered([*self._named(covered, kinds), *held])

    def of_reach(self, reach: Reach | None, kinds: Kinds = EVERY_KIND, *, complete: bool = False) -> list[KindScope]:
        """Return the scopes of a reach: the nodes it names, and what is listed below."""
        covered = reach or WHOLE_TREE
        named = [scope for node in covered.nodes() for kind in kinds for scope in self._layout.readable(node, kind)]
        if not covered.descendants:
            return ordered(named)
        return ordered([*named, *self.held(covered, kinds, complete=complete)])

    def held(self, reach: Reach, kinds: Kinds = EVERY_KIND, *, complete: bool = False) -> list[KindScope]:
        """Return the scopes that exist, within a reach."""
        return ordered(self._held(reach, kinds, self._listed(_top(reach), complete=complete)))

    def everywhere(self) -> list[KindScope]:
        """Return every scope there is, sandboxes included; `EngineError` when that cannot be known."""
        root = [scope for kind in EVERY_KIND for scope in self._layout.readable(Namespace.ROOT, kind)]
        return ordered([*root, *self._parsed(self._listed(Namespace.ROOT, complete=True))])

    def _named(self, reach: Reach, kinds: Kinds) -> list[KindScope]:
        return [scope for node in reach.nodes() for kind in kinds for scope in self._layout.readable(node, kind)]

    def _held(self, reach: Reach, kinds: Kinds, paths: Iterable[str]) -> Iterator[KindScope]:
        return (scope for scope in self._parsed(paths) if scope.kind in kinds and reach.admits(scope.node))

    def _parsed(self, paths: Iterable[str]) -> Iterator[KindScope]:
        return (scope for scope in map(self._layout.parse, paths) if scope is not None)

    def _listed(self, top: Namespace, *, complete: bool) -> list[str]:
        return [path for prefix in self._layout.prefixes(top) for path in self._paths(prefix, complete=complete)]

    def _paths(self, prefix: str, *, complete: bool) -> list[str]:
        if complete:
            return self._wire.scopes(prefix, complete=True)
        paths = self._shared.ask(prefix, lambda: self._wire.scopes(prefix, complete=False))
        if len(self._remembered) >= _REMEMBERED:
            self._remembered.clear()
        self._remembered[prefix] = paths
        return paths


def _top(reach: Reach) -> Namespace:
    """Return the node whose listing covers *reach*: ancestors lie outside a node's own prefix."""
    return Namespace.ROOT if reach.inherit else reach.at


def ordered(scopes: Iterable[KindScope]) -> list[KindScope]:
    """Return each scope once: by kind, then node, then path."""
    return sorted({scope.path: scope for scope in scopes}.values(), key=lambda scope: scope.order)
