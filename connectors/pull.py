"""From a connector straight to brain documents, for people who embed: scan, fetch, convert, one after the other."""

from collections.abc import Iterator
from pathlib import Path

from connectors.contract import Blob, Connector, Failed, Ref, Seen, Unchanged
from connectors.document import SetAside, documents
from connectors.errors import ConnectorError, DocumentError
from connectors.notes import MemoryNotes
from corebrain.documents.types import DocumentConverter
from corebrain.layout import BrainDocument


def pull(
    connector: Connector,
    scope: str = "",
    *,
    name: str | None = None,
    converter: DocumentConverter | None = None,
    collections: bool = True,
) -> Iterator[BrainDocument | SetAside]:
    """Yield every document a source holds, ready for `Brain.ingest_many`; what cannot be read is a `SetAside`.

    Keeps no state: everything is read each time, and storing what is there already is a replay. To follow changes and
    deletions use a sync. Memory does not grow with the source, and nothing is left on disk.

    Args:
        connector: Any connector.
        scope: `""` for everything, a key, or a prefix ending in `/`.
        name: The source's name, the `source.id` of the documents; the connector's own, else its source's id.
        converter: `None` is the default registry behind the worker pool.
        collections: Whether each document is filed at its collection's node (`BrainDocument.collection`) or all at
            the source's. A sync decides by the number of documents.

    Raises:
        ConnectorError: The source failed as a whole (`AuthError`, `Unavailable`, `ConfigError`).
        CorebrainError: The conversion failed for a reason other than a document's.
    """
    called = name or getattr(connector, "name", "") or str(connector.source)
    for event in connector.scan(None, MemoryNotes(), scope):
        if isinstance(event, Failed):
            yield SetAside.of(event.scope, event.error)
        elif isinstance(event, Seen):
            try:
                blob = event.blob or _fetched(connector, event.ref)
            except DocumentError as error:
                yield SetAside.of(event.ref.key, error)
                continue
            collection = event.ref.collection if collections else None
            try:
                yield from documents(
                    connector.source, called, event.ref, blob, converter=converter, collection=collection
                )
            finally:
                delete_copies(blob)


def delete_copies(blob: Blob) -> None:
    """Delete the private copies on disk of a blob and its parts; those already gone are fine."""
    if isinstance(blob.data, Path):
        blob.data.unlink(missing_ok=True)
    for part in blob.parts:
        delete_copies(part)


def _fetched(connector: Connector, ref: Ref) -> Blob:
    answer = connector.fetch(ref, None)
    if isinstance(answer, Unchanged):
        raise ConnectorError(f"the connector answered {ref.key} with unchanged though no token was known; report this")
    return answer
