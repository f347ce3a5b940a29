"""Metadata as it leaves this machine: no folders, no absolute workspace, no phone numbers (spec 04 section 4)."""

import re
from dataclasses import dataclass

from corebrain.engines.cortexdb.digests import path_digest, path_digests
from corebrain.model.filter import holds_phone_number, redacted_id
from corebrain.model.meta import MemoryMeta

_ABSOLUTE = re.compile(r"[/~\\]|[A-Za-z]:")
_SEPARATOR = re.compile(r"[/\\]")


@dataclass(frozen=True, slots=True)
class SentMeta:
    """What is sent of an item's metadata, and the digests that stand for what is not.

    Attributes:
        meta: The metadata without local paths, ids with phone numbers redacted.
        workspace: Digest of an absolute workspace.
        file_path: Digests of the original file path and what lies above it.
        folder: Digests of the original folder and what lies above it.
    """

    meta: MemoryMeta
    workspace: str | None = None
    file_path: tuple[str, ...] = ()
    folder: tuple[str, ...] = ()


def is_absolute(workspace: str) -> bool:
    """Tell whether a workspace names a place of this machine rather than a logical id."""
    return _ABSOLUTE.match(workspace) is not None


def redacted(value: str | None) -> str | None:
    """Return an id as it is sent: in its redacted form when it holds a phone number."""
    return redacted_id(value) if value is not None and holds_phone_number(value) else value


def as_sent(meta: MemoryMeta) -> SentMeta:
    """Return what is sent of *meta*; the item's id is made of the original all the same."""
    workspace, path, folder = meta.workspace, meta.file_path, meta.folder
    dropped = workspace is not None and is_absolute(workspace)
    changes: dict[str, object] = {
        "workspace": None if dropped else workspace,
        "folder": None,
        "file_path": None if path is None else _SEPARATOR.split(path)[-1] or None,
        "thread_id": redacted(meta.thread_id),
        "agent_id": redacted(meta.agent_id),
    }
    source_id = redacted(meta.source.id)
    if source_id != meta.source.id:
        changes["source"] = meta.source.model_copy(update={"id": source_id})
    return SentMeta(
        meta=meta.model_copy(update=changes),
        workspace=path_digest(workspace) if dropped and workspace is not None else None,
        file_path=() if path is None else path_digests(path),
        folder=() if folder is None else path_digests(folder),
    )
