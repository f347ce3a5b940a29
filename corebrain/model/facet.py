"""The fields one can count and drill into (spec 01 section 7, "Explore")."""

from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.text import is_blank

_Enum = TypeVar("_Enum", bound=StrEnum)


class Facet(StrEnum):
    """One countable field of an item."""

    KIND = "kind"
    SOURCE = "source"
    SOURCE_ID = "source_id"
    WORKSPACE = "workspace"
    FOLDER = "folder"
    FILE_PATH = "file_path"
    LANGUAGE = "language"
    REPO = "repo"
    URL = "url"
    THREAD = "thread"
    AGENT = "agent"
    TOOL_CALL = "tool_call"
    TAG = "tag"
    NAMESPACE = "namespace"

    def values(self, kind: ItemKind, meta: MemoryMeta) -> Sequence[str]:
        """Return the item's values: none for an unset field, several only for tags."""
        if self is Facet.TAG:
            return meta.tags
        value = self._single(kind, meta)
        return () if value is None else (value,)

    def _single(self, kind: ItemKind, meta: MemoryMeta) -> str | None:
        match self:
            case Facet.KIND:
                return kind.value
            case Facet.SOURCE:
                return meta.source.kind.value
            case Facet.SOURCE_ID:
                return meta.source.id
            case Facet.THREAD:
                return meta.thread_id
            case Facet.AGENT:
                return meta.agent_id
            case Facet.TOOL_CALL:
                return meta.tool_call.name if meta.tool_call else None
            case Facet.NAMESPACE:
                return str(meta.namespace)
            case _:
                plain: str | None = getattr(meta, self.value)
                return plain

    def narrow(self, base: MetaFilter, value: str) -> MetaFilter:
        """Return *base* with this facet's field replaced by *value*.

        Raises:
            InvalidRequest: *value* is blank, an unknown kind or source, or no namespace.
        """
        if is_blank(value):
            raise InvalidRequest(f"facet {self.value} cannot be narrowed to a blank value")
        match self:
            case Facet.KIND:
                return base.model_copy(update={"kinds": (_known(ItemKind, value),)})
            case Facet.SOURCE:
                return base.model_copy(update={"sources": (_known(SourceKind, value),)})
            case Facet.NAMESPACE:
                return base.model_copy(update={"reach": Reach.exact(Namespace.parse(value))})
            case Facet.TAG:
                return base.model_copy(update={"tags_any": (value,)})
            case Facet.THREAD:
                return base.model_copy(update={"thread_id": value})
            case Facet.AGENT:
                return base.model_copy(update={"agent_id": value})
            case _:
                return base.model_copy(update={self.value: value})


def _known(enum: type[_Enum], value: str) -> _Enum:
    try:
        return enum(value)
    except ValueError:
        known = ", ".join(member.value for member in enum)
        raise InvalidRequest(f"{value[:60]!r} is none of {known}") from None
