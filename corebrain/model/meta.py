"""What is known about an item beside its text (spec 01 section 3)."""

from enum import StrEnum
from typing import ClassVar, Self

from pydantic import Field

from corebrain.model.instant import Instant
from corebrain.model.namespace import Namespace
from corebrain.model.value import Value


class ItemKind(StrEnum):
    """The three kinds of items, in the order that matters."""

    DOCUMENT = "document"
    CONVERSATION = "conversation"
    LEARNING = "learning"


class SourceKind(StrEnum):
    """Where an item came from.

    All nine are read; `folder file conversation agent import` alone are written unless the host names another
    (a peer with a closed set would drop the rest).
    """

    FOLDER = "folder"
    FILE = "file"
    LINK = "link"
    GITHUB = "github"
    RSS = "rss"
    COMPOSIO = "composio"
    CONVERSATION = "conversation"
    AGENT = "agent"
    IMPORT = "import"


class SourceRef(Value):
    """The source of an item: its kind and, when there are several, which one."""

    omitted: ClassVar[frozenset[str]] = frozenset({"id"})
    kind: SourceKind = SourceKind.AGENT
    id: str | None = None


class TurnRange(Value):
    """Turns of a thread, zero-based and inclusive."""

    first: int = Field(ge=0, le=0xFFFFFFFF)
    last: int = Field(ge=0, le=0xFFFFFFFF)


class ToolCallRef(Value):
    """A tool call by name and, when known, its id."""

    omitted: ClassVar[frozenset[str]] = frozenset({"id"})
    name: str
    id: str | None = None


class MemoryMeta(Value):
    """An item's metadata. Every field but `observed_at` counts for the item's id."""

    omitted: ClassVar[frozenset[str]] = frozenset(
        {
            *(
                "namespace",
                "workspace",
                "folder",
                "file_path",
                "language",
                "repo",
                "commit",
                "url",
                "thread_id",
                "turns",
            ),
            *("agent_id", "tool_call", "tags", "observed_at", "derive"),
        }
    )

    namespace: Namespace = Namespace.ROOT
    workspace: str | None = None
    folder: str | None = None
    file_path: str | None = None
    language: str | None = None
    repo: str | None = None
    commit: str | None = None
    url: str | None = None
    thread_id: str | None = None
    turns: TurnRange | None = None
    agent_id: str | None = None
    tool_call: ToolCallRef | None = None
    source: SourceRef = SourceRef()
    tags: tuple[str, ...] = ()
    observed_at: Instant | None = None
    derive: bool | None = None

    @classmethod
    def from_source(cls, kind: SourceKind, source_id: str | None = None) -> Self:
        """Set only where the item came from."""
        return cls(source=SourceRef(kind=kind, id=source_id))
