"""What one parser worker may use."""

from dataclasses import dataclass
from typing import Final

CLOSED: Final = "closed"
OFFICE: Final = "office"
OPEN: Final = "open"
"""Modes of a worker: what it may see beside its folder (`worker_platform.confine`)."""

_MB: Final = 1_000_000


@dataclass(frozen=True, slots=True)
class Limits:
    """What one worker may use.

    Attributes:
        wall_s: Seconds for one document, once its parser is imported.
        load_s: Seconds to start a worker and to import a parser.
        memory: Bytes a worker may grow by after its first import (Linux).
        reply: Longest answer, in bytes.
        parts: All attachments of one document, in bytes.
        tasks: A worker is replaced after that many documents.
        resident: A worker that holds more bytes than this after a document is replaced.
        confined: Whether a worker sees no file but programs, libraries and its own folder (Linux with Landlock).
    """

    wall_s: float = 30.0
    load_s: float = 60.0
    memory: int = 1 << 30
    reply: int = 20 * _MB
    parts: int = 100 * _MB
    tasks: int = 200
    resident: int = 500 * _MB
    confined: bool = True
