"""Where memory lives: namespaces, their segments, and the reach of a read (spec 01 sections 1 and 2)."""

import re
from collections.abc import Iterable
from enum import StrEnum
from functools import total_ordering
from typing import Any, ClassVar, Self

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from corebrain.errors import InvalidRequest
from corebrain.model.text import fnv1a_32, trim
from corebrain.model.value import Value

MAX_DEPTH = 8
MAX_SEGMENT_ID = 128
_ID = re.compile(rf"[A-Za-z0-9_-]{{1,{MAX_SEGMENT_ID}}}")
_FOREIGN = re.compile(r"[^A-Za-z0-9_-]")
_KEPT = MAX_SEGMENT_ID - 9  # room for "-" and eight hex digits


class SegmentKind(StrEnum):
    """What one step of a namespace names. The set is open: code that switches on it keeps a fallback."""

    AGENT = "agent"
    TEAM = "team"
    USER = "user"
    WORKSPACE = "workspace"
    PROJECT = "project"
    SOURCE = "source"
    SERVICE = "service"

    @property
    def prefix(self) -> str:
        """The kind as it stands in a path; only `workspace` is shortened, to `ws`."""
        return "ws" if self is SegmentKind.WORKSPACE else self.value


_BY_PREFIX = {kind.prefix: kind for kind in SegmentKind}
_RANK = {kind: rank for rank, kind in enumerate(SegmentKind)}


@total_ordering
class Segment:
    """One `kind:id` step.

    Raises:
        InvalidRequest: the kind is unknown, or the id is not 1 to 128 characters of `A-Z a-z 0-9 _ -`.
    """

    __slots__ = ("_key", "id", "kind")
    kind: SegmentKind
    id: str

    def __init__(self, kind: SegmentKind, segment_id: str) -> None:
        if not _ID.fullmatch(segment_id):
            raise InvalidRequest(
                f"segment id {segment_id[:40]!r} is not 1 to {MAX_SEGMENT_ID} characters of A-Z a-z 0-9 _ -"
            )
        try:
            kind = SegmentKind(kind)  # a plain "team" compares equal and must print alike
        except ValueError as error:
            raise InvalidRequest(f"{kind!r} is no kind of segment") from error
        object.__setattr__(self, "kind", kind)
        object.__setattr__(self, "id", segment_id)
        object.__setattr__(self, "_key", (_RANK[kind], segment_id))

    @classmethod
    def sanitized(cls, kind: SegmentKind, raw: str) -> Self:
        """Make a segment of any host id; never fails.

        A valid id is kept. Otherwise foreign characters become `-`, 119 are kept, and `-` with the
        FNV-1a hash of *raw* tells such ids apart. The hash is no security boundary.
        """
        if _ID.fullmatch(raw):
            return cls(kind, raw)
        if raw == "":
            return cls(kind, "_")
        digest = fnv1a_32(raw.encode("utf-8", "surrogatepass"))
        return cls(kind, f"{_FOREIGN.sub('-', raw)[:_KEPT]}-{digest:08x}")

    def __str__(self) -> str:
        return f"{self.kind.prefix}:{self.id}"

    def __repr__(self) -> str:
        return f"Segment({self})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Segment is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Segment) and self._key == other._key

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Segment):
            return NotImplemented
        return bool(self._key < other._key)

    def __hash__(self) -> int:
        return hash(self._key)

    def __reduce__(self) -> tuple[type[Self], tuple[SegmentKind, str]]:
        return type(self), (self.kind, self.id)

    _key: tuple[int, str]


@total_ordering
class Namespace:
    """A path from the root, at most 8 segments; the root prints as `root`.

    Ordered by segments, a shorter path before a longer one it prefixes.
    """

    __slots__ = ("_text", "segments")
    segments: tuple[Segment, ...]
    _text: str

    ROOT: ClassVar["Namespace"]

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        held = tuple(segments)
        if not all(isinstance(segment, Segment) for segment in held):
            raise InvalidRequest("a namespace is made of segments; read a path with Namespace.parse")
        if len(held) > MAX_DEPTH:
            raise InvalidRequest(f"namespace is {len(held)} segments deep, at most {MAX_DEPTH} are allowed")
        object.__setattr__(self, "segments", held)
        object.__setattr__(self, "_text", "/".join(map(str, held)) or "root")

    @classmethod
    def of(cls, segments: Iterable[Segment]) -> Self:
        """Build from segments; only the depth can be wrong."""
        return cls(segments)

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read a path such as `team:acme/agent:writer`; empty text and `root` are the root."""
        path = trim(text)
        if path in {"", "root"}:
            return cls()
        segments = []
        for part in path.split("/"):
            prefix, colon, segment_id = part.partition(":")
            kind = _BY_PREFIX.get(prefix)
            if not colon or kind is None:
                raise InvalidRequest(f"namespace segment {part[:60]!r} is not kind:id with a known kind")
            segments.append(Segment(kind, segment_id))
        return cls(segments)

    @classmethod
    def agent(cls, raw: str) -> Self:
        """One agent's node below the root, its id sanitised."""
        return cls((Segment.sanitized(SegmentKind.AGENT, raw),))

    @classmethod
    def source(cls, raw: str) -> Self:
        """One source's node below the root, its id sanitised."""
        return cls((Segment.sanitized(SegmentKind.SOURCE, raw),))

    def child(self, segment: Segment) -> Self:
        """Return the node one step below; raises `InvalidRequest` below depth 8."""
        return type(self)((*self.segments, segment))

    def join(self, below: "Namespace") -> Self:
        """Return *below* placed under this node."""
        return type(self)((*self.segments, *below.segments))

    @property
    def is_root(self) -> bool:
        """Whether this is the root."""
        return not self.segments

    @property
    def depth(self) -> int:
        """Number of segments; 0 at the root."""
        return len(self.segments)

    def ancestors_and_self(self) -> list["Namespace"]:
        """Return every node from the root down to this one, root first."""
        return [Namespace(self.segments[:depth]) for depth in range(self.depth + 1)]

    def is_within(self, other: "Namespace") -> bool:
        """Tell whether *other* is this node or an ancestor of it."""
        return self.segments[: other.depth] == other.segments

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return f"Namespace({self._text})"

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError("a Namespace is immutable")

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Namespace) and self._text == other._text

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, Namespace):
            return NotImplemented
        return self.segments < other.segments

    def __hash__(self) -> int:
        return hash(self._text)

    def __reduce__(self) -> tuple[type[Self], tuple[tuple[Segment, ...]]]:
        return type(self), (self.segments,)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: object, handler: GetCoreSchemaHandler) -> CoreSchema:
        def read(value: Any) -> Namespace:
            if isinstance(value, Namespace):
                return value
            if isinstance(value, str):
                return cls.parse(value)
            raise InvalidRequest("a namespace is a path such as team:acme/agent:writer")

        return core_schema.no_info_plain_validator_function(
            read, serialization=core_schema.plain_serializer_function_ser_schema(str)
        )


Namespace.ROOT = Namespace()


class Reach(Value):
    """Which nodes a read covers: a node, optionally its ancestors, optionally everything below it.

    Going down never enters a `service:` sandbox below `at`.
    """

    at: Namespace = Namespace.ROOT
    inherit: bool = True
    descendants: bool = False

    @classmethod
    def of(cls, at: Namespace) -> Self:
        """The node and its ancestors: what someone at the node sees."""
        return cls(at=at)

    @classmethod
    def exact(cls, at: Namespace) -> Self:
        """The node alone."""
        return cls(at=at, inherit=False)

    @classmethod
    def subtree(cls, at: Namespace) -> Self:
        """The node and everything below it, sandboxes left out."""
        return cls(at=at, inherit=False, descendants=True)

    def admits(self, node: Namespace) -> bool:
        """Tell whether *node* is covered."""
        if node == self.at:
            return True
        if self.inherit and self.at.is_within(node):
            return True
        if not self.descendants or not node.is_within(self.at):
            return False
        return all(segment.kind is not SegmentKind.SERVICE for segment in node.segments[self.at.depth :])

    @staticmethod
    def admitted_by(reach: "Reach | None", node: Namespace) -> bool:
        """Tell whether *node* is covered; no reach means the whole tree but its sandboxes."""
        return (reach or WHOLE_TREE).admits(node)

    def nodes(self) -> list[Namespace]:
        """Return the nodes that can be named: `at` and, when inheriting, its ancestors, root first."""
        return self.at.ancestors_and_self() if self.inherit else [self.at]


WHOLE_TREE = Reach.subtree(Namespace.ROOT)
"""What a read without a reach covers."""
