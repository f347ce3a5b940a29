"""Conditions on metadata; every set field must hold (spec 01 section 4)."""

import hashlib
import re
from typing import ClassVar, Self

from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, TurnRange
from corebrain.model.namespace import Reach
from corebrain.model.value import Value

_REDACTED = "tm-redacted:"
_UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}", re.IGNORECASE)
_SPACERS = frozenset(b" -.()+")
_PHONE_DIGITS = 7


def redacted_id(value: str) -> str:
    """Return the form in which an engine off the device keeps an id that holds a phone number."""
    return _REDACTED + hashlib.sha256(value.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def same_id(held: str | None, wanted: str) -> bool:
    """Tell whether *held* is *wanted* or its redacted form."""
    if held == wanted:
        return True
    return held is not None and held.startswith(_REDACTED) and held == redacted_id(wanted)


def holds_phone_number(value: str) -> bool:
    """Tell whether *value* holds a run of seven or more digits that reads as a phone number (spec 01 section 4)."""
    if value.startswith(_REDACTED):
        return False
    count = 0
    glued = False
    previous = ord("_")
    for byte in _UUID.sub("_", value).encode("utf-8", "surrogatepass"):
        if _is_digit(byte):
            if count == 0:
                glued = _is_letter(previous)
            count += 1
        elif byte not in _SPACERS:
            letter_after_digit = _is_letter(byte) and _is_digit(previous)
            if count >= _PHONE_DIGITS and not glued and not letter_after_digit:
                return True
            count = 0
        previous = byte
    return count >= _PHONE_DIGITS and not glued


def _is_digit(byte: int) -> bool:
    return 0x30 <= byte <= 0x39


def _is_letter(byte: int) -> bool:
    return 0x41 <= byte <= 0x5A or 0x61 <= byte <= 0x7A


def is_under(held: str | None, wanted: str) -> bool:
    """Tell whether the path *held* is *wanted* or lies below it; trailing slashes of *wanted* do not count."""
    if held is None:
        return False
    if held == wanted:
        return True
    stem = wanted.rstrip("/")
    return held == stem or held.startswith(stem + "/")


class MetaFilter(Value):
    """Which items a read or a forget is about. The empty filter admits the whole tree but its sandboxes."""

    omitted: ClassVar[frozenset[str]] = frozenset(
        {
            *("reach", "workspace", "folder", "file_path", "language", "repo", "commit", "url", "thread_id", "turns"),
            *("agent_id", "tool_call", "kinds", "sources", "source_id", "tags_any"),
            *("observed_after", "observed_before"),
        }
    )

    reach: Reach | None = None
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
    tool_call: str | None = None
    kinds: tuple[ItemKind, ...] = ()
    sources: tuple[SourceKind, ...] = ()
    source_id: str | None = None
    tags_any: tuple[str, ...] = ()
    observed_after: Instant | None = None
    observed_before: Instant | None = None

    @classmethod
    def of_kinds(cls, *kinds: ItemKind) -> Self:
        """Constrain only the kinds."""
        return cls(kinds=kinds)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is set; a lone reach is something."""
        return self == MetaFilter()

    def admits_kind(self, kind: ItemKind) -> bool:
        """Tell whether items of *kind* can match."""
        return not self.kinds or kind in self.kinds

    def matches(self, kind: ItemKind, meta: MemoryMeta) -> bool:
        """Tell whether an item of *kind* with *meta* is admitted."""
        return (
            self.admits_kind(kind)
            and Reach.admitted_by(self.reach, meta.namespace)
            and self._equal(meta)
            and self._identified(meta)
            and (self.folder is None or is_under(meta.folder, self.folder))
            and (self.file_path is None or is_under(meta.file_path, self.file_path))
            and (not self.sources or meta.source.kind in self.sources)
            and (not self.tags_any or any(tag in meta.tags for tag in self.tags_any))
            and self._observed(meta)
        )

    def _equal(self, meta: MemoryMeta) -> bool:
        called = meta.tool_call.name if meta.tool_call else None
        return (
            (self.workspace is None or meta.workspace == self.workspace)
            and (self.language is None or meta.language == self.language)
            and (self.repo is None or meta.repo == self.repo)
            and (self.commit is None or meta.commit == self.commit)
            and (self.url is None or meta.url == self.url)
            and (self.turns is None or meta.turns == self.turns)
            and (self.tool_call is None or called == self.tool_call)
        )

    def _identified(self, meta: MemoryMeta) -> bool:
        return (
            (self.thread_id is None or same_id(meta.thread_id, self.thread_id))
            and (self.agent_id is None or same_id(meta.agent_id, self.agent_id))
            and (self.source_id is None or same_id(meta.source.id, self.source_id))
        )

    def _observed(self, meta: MemoryMeta) -> bool:
        if self.observed_after is None and self.observed_before is None:
            return True
        if meta.observed_at is None:
            return False
        late_enough = self.observed_after is None or self.observed_after <= meta.observed_at
        return late_enough and (self.observed_before is None or meta.observed_at < self.observed_before)
