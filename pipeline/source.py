"""One configured source, ready to be synced."""

from dataclasses import dataclass, field
from pathlib import Path

from connectors.contract import Connector
from corebrain.brain import Brain
from corebrain.documents.brain_document import MAX_BYTES
from corebrain.documents.types import DocumentConverter
from pipeline.options import SyncOptions
from pipeline.scrubbing import Scrub


@dataclass(frozen=True, slots=True)
class Source:
    """One configured source.

    Attributes:
        name: Its name, the `source.id` of its documents.
        connector: What lists and fetches.
        brain: Where its documents go; its layout may differ from other sources'.
        options: How it is synced.
        converter: What turns bytes into markdown; `None` is the default registry.
        max_bytes: Largest raw document that is converted.
        scrub: What is redacted between conversion and engine.
        spool: Folder for what a listing had to read; the system's temporary folder when left out.
    """

    name: str
    connector: Connector
    brain: Brain
    options: SyncOptions = field(default_factory=SyncOptions)
    converter: DocumentConverter | None = None
    max_bytes: int = MAX_BYTES
    scrub: Scrub = "off"
    spool: Path | None = None
