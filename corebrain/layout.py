"""The standard tree below one layout root, and how documents are filed in it (spec 02 sections 1 to 3)."""

from functools import total_ordering
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Document
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef
from corebrain.model.namespace import MAX_DEPTH, Namespace, Reach, Segment, SegmentKind
from corebrain.model.text import is_blank, trim
from corebrain.model.value import Value

_KNOWN = ("files", "pdf", "markdown", "notion", "github", "web")
_LOCAL = frozenset({"files", "pdf", "markdown"})


@total_ordering
class BrainSource:
    """The connector or app a document came from; on the wire its id, a plain string.

    Ordered as declared: the six known sources, then others by id.
    """

    __slots__ = ("id",)
    id: str

    FILES: ClassVar["BrainSource"]
    PDF: ClassVar["BrainSource"]
    MARKDOWN: ClassVar["BrainSource"]
    NOTION: ClassVar["BrainSource"]
    GITHUB: ClassVar["BrainSource"]
    WEB: ClassVar["BrainSource"]

    def __init__(self, source_id: str) -> None:
        name = trim(source_id)
        if not name:
            raise InvalidRequest("a source id is blank")
        lowered = "markdown" if name.lower() == "md" else name.lower()
        object.__setattr__(self, "id", lowered if lowered in _KNOWN else name)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read an id: the six known ones (and `md`) in any case, any other app's slug as it is."""
        return cls(text)

    @classmethod
    def for_format(cls, format: str) -> "BrainSource":  # noqa: A002  # the word of the field
        """Return the source a file's format implies: `FILES`, whatever the format."""
        del format
        return cls.FILES

    @property
    def default_kind(self) -> SourceKind:
        """The source kind of its documents when the host sets none."""
        return SourceKind.FILE if self.id in _LOCAL else SourceKind.IMPORT

    def __str__(self) -> str:
        return self.id

    def __repr__(self) -> str:
        return f"BrainSource({self.id})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a BrainSource is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, BrainSource) and self.id == other.id

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, BrainSource):
            return NotImplemented
        return self._rank < other._rank

    @property
    def _rank(self) -> tuple[int, str]:
        return (_KNOWN.index(self.id), "") if self.id in _KNOWN else (len(_KNOWN), self.id)

    def __hash__(self) -> int:
        return hash(self.id)

    def __reduce__(self) -> tuple[type[Self], tuple[str]]:
        return type(self), (self.id,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any) -> BrainSource:
            if isinstance(value, BrainSource):
                return value
            if isinstance(value, str):
                return cls(value)
            raise InvalidRequest("a source is named by its id")

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )


BrainSource.FILES = BrainSource("files")
BrainSource.PDF = BrainSource("pdf")
BrainSource.MARKDOWN = BrainSource("markdown")
BrainSource.NOTION = BrainSource("notion")
BrainSource.GITHUB = BrainSource("github")
BrainSource.WEB = BrainSource("web")


class MemoryLayout(Value):
    """Where the brain, the conversations and the learnings lie below `root`.

    Raises:
        InvalidRequest: the root is deeper than 7, or the conversations' pool does not fit below it.
    """

    omitted: ClassVar[frozenset[str]] = frozenset({"pool"})
    root: Namespace = Namespace.ROOT
    pool: Namespace | None = None

    def __init__(self, /, root: Namespace = Namespace.ROOT, pool: Namespace | None = None, **unknown: object) -> None:
        del unknown  # keys of a later version, ignored as by every value
        super().__init__(root=root, pool=pool)
        if self.root.depth >= MAX_DEPTH:
            raise InvalidRequest(f"layout root {root} is {self.root.depth} deep, at most {MAX_DEPTH - 1} leaves room")
        if self.pool is not None and (self.pool == self.root or not self.pool.is_within(self.root)):
            raise InvalidRequest(f"conversations cannot be pooled at {self.pool}, which is not below {self.root}")

    def ancestors(self) -> list[Namespace]:
        """Return the root's strict ancestors, root first."""
        return self.root.ancestors_and_self()[:-1]

    def admits_core(self, at: Namespace) -> None:
        """Raise `InvalidRequest` unless *at* is a strict ancestor of the layout root."""
        if at == self.root or not self.root.is_within(at):
            raise InvalidRequest(f"core scope {at} is not above the layout root {self.root}")

    def brain(self, source: BrainSource) -> Namespace:
        """Return the node of a source's documents."""
        return self.root.child(Segment.sanitized(SegmentKind.SOURCE, source.id))

    def brain_collection(self, source: BrainSource, collection: str) -> Namespace:
        """Return the node of one collection of a source; `InvalidRequest` when there is no room below the root."""
        return self.brain(source).child(Segment.sanitized(SegmentKind.PROJECT, collection))

    def conversations(self, agent_id: str) -> Namespace:
        """Return the node of an agent's turns, or the pool."""
        return self.pool or self.root.child(Segment.sanitized(SegmentKind.AGENT, agent_id))

    def learnings(self) -> Namespace:
        """Return the node of shared learnings: the root itself."""
        return self.root

    def brain_filter(self, source: BrainSource | None = None) -> MetaFilter:
        """Admit the documents of one source, or of every source."""
        at = self.root if source is None else self.brain(source)
        return MetaFilter(reach=Reach.subtree(at), kinds=(ItemKind.DOCUMENT,))

    def conversations_filter(self, agent_id: str | None = None) -> MetaFilter:
        """Admit the turns of one agent, or of every agent."""
        kinds = (ItemKind.CONVERSATION,)
        if self.pool is not None:
            return MetaFilter(reach=Reach.exact(self.pool), kinds=kinds, agent_id=agent_id)
        at = self.root if agent_id is None else self.conversations(agent_id)
        return MetaFilter(reach=Reach.subtree(at), kinds=kinds)

    def learnings_filter(self) -> MetaFilter:
        """Admit every learning of the tree."""
        return MetaFilter(reach=Reach.subtree(self.root), kinds=(ItemKind.LEARNING,))

    def holistic_filter(self) -> MetaFilter:
        """Admit everything of the tree."""
        return MetaFilter(reach=Reach.subtree(self.root))

    def with_pooled_conversations(self, node: Namespace) -> "MemoryLayout":
        """Return a layout whose agents all converse at `<root>/<node>`; the root itself cannot be the pool."""
        if node.is_root:
            raise InvalidRequest("conversations cannot be pooled at the layout root")
        return MemoryLayout(self.root, self.root.join(node))


class BrainDocument(Value):
    """A text with the source it is filed under; never carries an agent id once filed."""

    omitted: ClassVar[frozenset[str]] = frozenset({"collection", "title", "mime"})
    source: BrainSource
    collection: str | None = None
    title: str | None = None
    text: str
    mime: str | None = None
    meta: MemoryMeta = MemoryMeta()

    def titled(self, title: str) -> Self:
        """Return a copy with a title."""
        return self.model_copy(update={"title": title})

    def with_meta(self, meta: MemoryMeta) -> Self:
        """Return a copy with other metadata."""
        return self.model_copy(update={"meta": meta})

    def into_item(self, layout: MemoryLayout) -> Document:
        """Return the item that is stored: at its source's (or collection's) node, whatever the metadata says.

        Raises:
            InvalidRequest: the text is blank, or there is no room below the layout root.
        """
        if is_blank(self.text):
            raise InvalidRequest("a brain document's text is blank")
        node = layout.brain(self.source)
        if self.collection is not None:
            node = layout.brain_collection(self.source, self.collection)
        origin = self.meta.source
        if origin == SourceRef():
            origin = SourceRef(kind=self.source.default_kind)
        meta = self.meta.model_copy(update={"namespace": node, "agent_id": None, "source": origin})
        item = Document(title=self.title, body=Body(text=self.text), mime=self.mime, meta=meta)
        item.validate()
        return item
