"""Core scopes: nodes above the layout root whose own items every agent below also recalls (spec 02, 03)."""

from collections.abc import Iterable, Sequence
from typing import Self

from pydantic import Field

from corebrain.context import Brief
from corebrain.errors import InvalidRequest
from corebrain.layout import MemoryLayout
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.text import is_blank
from corebrain.model.value import Value

DEFAULT_CORE_LIMIT = 6


class CoreScope(Value):
    """One node above the layout root, read exactly: never what lies below it, so never a sibling tenant.

    Attributes:
        at: The node.
        heading: The heading of its section.
        kinds: The kinds that are read; empty for every kind.
        limit: The most items shown; 0 leaves its section out.
    """

    at: Namespace
    heading: str
    kinds: tuple[ItemKind, ...] = (ItemKind.LEARNING, ItemKind.DOCUMENT)
    limit: int = Field(default=DEFAULT_CORE_LIMIT, ge=0)

    def __init__(self, at: Namespace, heading: str, **fields: object) -> None:
        super().__init__(at=at, heading=heading, **fields)

    def with_kinds(self, kinds: Iterable[ItemKind]) -> Self:
        """Return a copy that reads other kinds."""
        return self.model_copy(update={"kinds": tuple(kinds)})

    def with_limit(self, limit: int) -> Self:
        """Return a copy with another limit."""
        return type(self)(self.at, self.heading, kinds=self.kinds, limit=limit)

    def filter(self) -> MetaFilter:
        """Admit the node's own items of its kinds."""
        return MetaFilter(reach=Reach.exact(self.at), kinds=self.kinds)

    def brief(self, question: str) -> Brief:
        """Return a `context.md` brief on this node; leave `ContextSpec.reach` unset, as it would replace the node."""
        return Brief(heading=self.heading, question=question, filter=self.filter())


def check_core(layout: MemoryLayout, scopes: Sequence[CoreScope]) -> None:
    """Raise `InvalidRequest` for a node not above the layout root, a blank heading, or a node named twice."""
    seen: set[Namespace] = set()
    for scope in scopes:
        layout.admits_core(scope.at)
        if is_blank(scope.heading):
            raise InvalidRequest(f"core scope {scope.at} has a blank heading")
        if scope.at in seen:
            raise InvalidRequest(f"core scope {scope.at} is named twice")
        seen.add(scope.at)
