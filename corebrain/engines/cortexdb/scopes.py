"""Where a node's items lie on CortexDB, in the legacy layout and below a host's root (spec 04 section 5)."""

import re
from abc import ABC, abstractmethod
from typing import NamedTuple

from corebrain.errors import ConfigError, InvalidRequest
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, SegmentKind

APP = "app:tinymemory"
_BRAIN = "app:brain"
_FLOWS = "app:flows"
LEAVES = {
    ItemKind.DOCUMENT: "app:documents",
    ItemKind.CONVERSATION: "app:conversations",
    ItemKind.LEARNING: "app:learnings",
}
_KINDS = {leaf: kind for kind, leaf in LEAVES.items()}
_ROOT = re.compile(r"(org|dept|team|app|user|agent|service|ws|project|source):[A-Za-z0-9_-]+")
_HOSTED_ROOT = re.compile(r"[a-z]+:[A-Za-z0-9_-]+")
KIND_ORDER = {kind: rank for rank, kind in enumerate(ItemKind)}


class KindScope(NamedTuple):
    """One scope: the items of one kind at one node."""

    kind: ItemKind
    node: Namespace
    path: str

    @property
    def order(self) -> tuple[int, Namespace, str]:
        """The order in which scopes are read: kind, node, path."""
        return KIND_ORDER[self.kind], self.node, self.path


class ScopeLayout(ABC):
    """How nodes become scope paths and back."""

    @abstractmethod
    def path(self, node: Namespace, kind: ItemKind) -> str:
        """Return the scope of *kind* at *node*; `InvalidRequest` when the node cannot be written below the root."""

    @abstractmethod
    def parse(self, path: str) -> KindScope | None:
        """Return what a scope holds; `None` when it is not ours."""

    @abstractmethod
    def prefixes(self, node: Namespace) -> list[str]:
        """Return the prefixes under which the scopes at and below *node* lie; an empty one stands for everything."""

    def scope(self, node: Namespace, kind: ItemKind) -> KindScope:
        """Return the scope of *kind* at *node*, the one that is written to."""
        return KindScope(kind, node, self.path(node, kind))

    def readable(self, node: Namespace, kind: ItemKind) -> list[KindScope]:
        """Return every scope that may hold items of *kind* at *node*."""
        return [self.scope(node, kind)]

    def successor(self, scope: KindScope) -> KindScope | None:
        """Return the scope that is written to in place of *scope*; `None` when it is *scope* itself."""
        del scope
        return None


class LegacyLayout(ScopeLayout):
    """`app:tinymemory/<node>/app:<leaf>`, the default; whatever precedes it is a tenant's prefix."""

    def path(self, node: Namespace, kind: ItemKind) -> str:
        return "/".join((APP, *map(str, node.segments), LEAVES[kind]))

    def parse(self, path: str) -> KindScope | None:
        segments = path.split("/")
        if APP not in segments:
            return None
        inner = segments[segments.index(APP) + 1 :]
        kind = _KINDS.get(inner[-1]) if inner else None
        node = _node(inner[:-1])
        return KindScope(kind, node, path) if kind is not None and node is not None else None

    def prefixes(self, node: Namespace) -> list[str]:
        return ["/".join((APP, *map(str, node.segments)))]


class RootedLayout(ScopeLayout):
    """The v3 layout below a host's root, documents of a source under `app:brain`, sandboxes under `app:flows`.

    Args:
        root: `type:id` segments; empty on a hosted engine, whose paths are relative to its tenant's.
        anywhere: Match the root at its last occurrence instead of the path's start (hosted engines).

    Raises:
        ConfigError: the root is malformed or holds `app:tinymemory`.
    """

    def __init__(self, root: str, *, anywhere: bool = False) -> None:
        self._root = tuple(root.split("/")) if root else ()
        grammar = _HOSTED_ROOT if anywhere else _ROOT
        if any(not grammar.fullmatch(segment) for segment in self._root):
            raise ConfigError(f"scope root {root[:80]!r} is not type:id segments such as org:42")
        if APP in self._root:
            raise ConfigError(f"scope root {root[:80]!r} holds {APP}")
        if not root and not anywhere:
            raise ConfigError("a scope root is needed, such as org:42")
        self._anywhere = anywhere

    def path(self, node: Namespace, kind: ItemKind) -> str:
        segments = tuple(map(str, node.segments))
        if self._root and segments[: len(self._root)] == self._root:
            raise InvalidRequest(f"namespace {node} repeats the scope root {'/'.join(self._root)}")
        return "/".join((*self._root, *self._below(node, kind)))

    @staticmethod
    def _below(node: Namespace, kind: ItemKind) -> tuple[str, ...]:
        brain = kind is ItemKind.DOCUMENT and _holds(node, SegmentKind.SOURCE)
        grouped = _grouped(node, brain=brain)
        return grouped if brain else (*grouped, LEAVES[kind])

    def parse(self, path: str) -> KindScope | None:
        below = self._stripped(path.split("/"))
        if not below:
            return None
        kind = _KINDS.get(below[-1])
        middle = below if kind is None else below[:-1]
        node = _node([segment for segment in middle if segment not in {_BRAIN, _FLOWS}])
        if node is None:
            return None
        kind = kind or ItemKind.DOCUMENT
        return KindScope(kind, node, path) if self._below(node, kind) == tuple(below) else None

    def _stripped(self, segments: list[str]) -> list[str] | None:
        width = len(self._root)
        starts = range(len(segments) - width, -1, -1) if self._anywhere and width else (0,)
        for start in starts:
            if tuple(segments[start : start + width]) == self._root:
                return segments[start + width :]
        return None

    def prefixes(self, node: Namespace) -> list[str]:
        groupings = [_grouped(node, brain=False)]
        if _holds(node, SegmentKind.SOURCE):
            groupings.append(_grouped(node, brain=True))
        return ["/".join((*self._root, *grouping)) for grouping in groupings]


class RetiringLayout(ScopeLayout):
    """A root that is written to, and one that was before it and is still read.

    Args:
        current: Where items are written.
        retired: Where older ones lie; never written to.
    """

    def __init__(self, current: RootedLayout, retired: RootedLayout) -> None:
        self._current = current
        self._retired = retired

    def path(self, node: Namespace, kind: ItemKind) -> str:
        self._retired.path(node, kind)  # refuses a node that repeats the retired root
        return self._current.path(node, kind)

    def parse(self, path: str) -> KindScope | None:
        return self._current.parse(path) or self._retired.parse(path)

    def prefixes(self, node: Namespace) -> list[str]:
        return [*self._current.prefixes(node), *self._retired.prefixes(node)]

    def readable(self, node: Namespace, kind: ItemKind) -> list[KindScope]:
        return [self.scope(node, kind), self._retired.scope(node, kind)]

    def successor(self, scope: KindScope) -> KindScope | None:
        current = self.scope(scope.node, scope.kind)
        return None if current == scope else current


def layout_of(root: str, *, retired: str = "", tenant: bool = False, hosted: bool = False) -> ScopeLayout:
    """Return the layout the settings ask for: v3 below *root* or a tenant's own, else the legacy one.

    Raises:
        ConfigError: a root is malformed, a tenant's root is asked of a server of one's own, or settings contradict.
    """
    if tenant and not hosted:
        raise ConfigError("tenant_root is the hosted engine's; name a scope_root such as org:42")
    if tenant and root:
        raise ConfigError("tenant_root and scope_root are two roots; keep one of them")
    if not root and not tenant:
        if retired:
            raise ConfigError("retired_scope_root needs the scope_root that took its place")
        return LegacyLayout()
    current = RootedLayout(root, anywhere=hosted)
    if not retired:
        return current
    if retired == root:
        raise ConfigError("retired_scope_root is the scope_root itself; leave it out")
    return RetiringLayout(current, RootedLayout(retired, anywhere=hosted))


def _holds(node: Namespace, kind: SegmentKind) -> bool:
    return any(segment.kind is kind for segment in node.segments)


def _grouped(node: Namespace, *, brain: bool) -> tuple[str, ...]:
    """Write the node, `app:flows` before its first service and, for *brain*, `app:brain` before its first source."""
    groups = {SegmentKind.SERVICE: _FLOWS}
    if brain:
        groups[SegmentKind.SOURCE] = _BRAIN
    written: list[str] = []
    for segment in node.segments:
        group = groups.pop(segment.kind, None)
        written += [group, str(segment)] if group else [str(segment)]
    return tuple(written)


def _node(segments: list[str]) -> Namespace | None:
    try:
        return Namespace.parse("/".join(segments)) if segments else Namespace.ROOT
    except InvalidRequest:
        return None
