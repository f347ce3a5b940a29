"""From what a connector fetched to brain documents: the one conversion path of `pull` and of the sync.

The metadata follows the table of the design, section 5. All of it but `observed_at` counts for a document's id, so
nothing volatile may enter: no visit times, validators, signed addresses, head commits, last editors or counters.
"""

import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from connectors.contract import Blob, Ref
from connectors.errors import ConnectorError, DocumentError
from corebrain.documents.brain_document import BrainDocuments, brain_documents
from corebrain.documents.types import DocumentConverter, RawDocument
from corebrain.errors import Refusal
from corebrain.layout import BrainDocument, BrainSource
from corebrain.model.instant import Instant
from corebrain.model.meta import MemoryMeta, SourceRef

MAX_BYTES = 100 * 2**20
"""The most bytes any source may hand over; the default of a source is less."""

MAX_PART_DEPTH = 8
"""Parts within parts that are looked at; deeper ones are left out."""


@dataclass(frozen=True, slots=True)
class SetAside:
    """Something that could not become a document, and cost nothing else.

    Attributes:
        key: The document's key, `key!/name` for one of its parts, or the scope that could not be listed.
        error: Why: a `DocumentError` of the connector, a `Refusal` of the conversion, or what `Failed` carried.
        advice: What a person can do about it; empty when the next attempt needs nobody.
    """

    key: str
    error: ConnectorError | Refusal
    advice: str

    @classmethod
    def of(cls, key: str, error: ConnectorError | Refusal) -> "SetAside":
        """Take the advice from the error."""
        return cls(key, error, error.advice if isinstance(error, DocumentError | Refusal) else "")


@dataclass(frozen=True, slots=True)
class Conversion:
    """A converted document or connector's part.

    Attributes:
        key: The document's key; `key!/name` for a part.
        result: Documents ready to be stored, refused attachments, and what the converter said.
    """

    key: str
    result: BrainDocuments


@dataclass(frozen=True, slots=True)
class Convertible:
    """A document or part, ready for a converter.

    Attributes:
        key: The document's key; `key!/name` for a part.
        raw: What the converter gets.
        meta: All that is known beside the text.
        title: The source's own title; empty leaves it to the conversion.
    """

    key: str
    raw: RawDocument
    meta: MemoryMeta
    title: str


def documents(
    source: BrainSource,
    name: str,
    ref: Ref,
    blob: Blob,
    *,
    converter: DocumentConverter | None = None,
    collection: str | None = None,
) -> Iterator[BrainDocument | SetAside]:
    """Convert what was fetched: the document first, then its parts, each refused one set aside.

    Arguments and errors are those of `conversions`.
    """
    for conversion in conversions(source, name, ref, blob, converter=converter, collection=collection):
        if isinstance(conversion, SetAside):
            yield conversion
            continue
        yield from conversion.result
        for part in conversion.result.refused:
            yield SetAside.of(f"{conversion.key}!/{part.name}", part.error)


def conversions(
    source: BrainSource,
    name: str,
    ref: Ref,
    blob: Blob,
    *,
    converter: DocumentConverter | None = None,
    collection: str | None = None,
    max_bytes: int = MAX_BYTES,
) -> Iterator[Conversion | SetAside]:
    """Convert what was fetched and each part the connector gave, with all that the conversions say.

    Args:
        source: The connector's node.
        name: The configured source's name, the `source.id` of the documents.
        ref: As listed.
        blob: As fetched; a copy on disk is left to the caller to delete, after the iteration.
        converter: `None` is the default registry behind the worker pool.
        collection: Node below the source's to file the documents at; `None` is the source's own.
        max_bytes: Larger documents and parts are set aside; a connector may have a lower limit of its own.

    Raises:
        CorebrainError: The conversion failed for a reason other than the document's; stop the source.
    """
    for ready in convertibles(source, name, ref, blob):
        try:
            result = brain_documents(converter, ready.raw, source, ready.meta, max_bytes=max_bytes)
        except Refusal as error:
            yield SetAside.of(ready.key, error)
            continue
        document = result.document.titled(ready.title) if ready.title else result.document
        filed = {"collection": collection}
        yield Conversion(
            ready.key,
            replace(
                result,
                document=document.model_copy(update=filed),
                parts=tuple(part.model_copy(update=filed) for part in result.parts),
            ),
        )


def convertibles(source: BrainSource, name: str, ref: Ref, blob: Blob) -> Iterator[Convertible]:
    """Yield the document and its parts, each with the metadata of the design's table.

    A part's `file_path` is its parent's, `/` and its name, with `~2` for the second of a name and so on (none when the
    parent has none); its url, and whatever else it does not say itself, the parent's.
    """
    meta = document_meta(source, name, ref, blob)
    yield Convertible(ref.key, _raw(blob, ref.url), meta, blob.title)
    yield from _parts(blob, ref, meta, ref.key, depth=1)


def document_meta(source: BrainSource, name: str, ref: Ref, blob: Blob) -> MemoryMeta:
    """Return the metadata of a fetched document.

    A document that lies at a path (it has a commit, or no url) has the key as `file_path` and the part before the last
    `/` as `folder`; one that lives at a url alone has neither.
    """
    url = blob.url or ref.url
    path = ref.key if blob.commit or not url else None
    observed = blob.modified or ref.modified
    return MemoryMeta(
        folder=_folder(path),
        file_path=path,
        language=blob.language or None,
        repo=blob.repo or None,
        commit=blob.commit or None,
        url=url or None,
        source=SourceRef(kind=source.default_kind, id=name),
        tags=(*blob.tags, *(f"in:{title}" for title in blob.path)),
        observed_at=Instant.of(observed) if observed else None,
    )


def part_names(given: Iterable[str]) -> list[str]:
    """Name parts for a path: NFC, `_` for `/`, `part` when nameless, `~2`, `~3`, … for repeated ones."""
    taken: set[str] = set()
    names = []
    for raw in given:
        plain = unicodedata.normalize("NFC", raw.replace("/", "_").strip()) or "part"
        name, count = plain, 1
        while name in taken:
            count += 1
            name = f"{plain}~{count}"
        taken.add(name)
        names.append(name)
    return names


def _parts(blob: Blob, ref: Ref, meta: MemoryMeta, key: str, depth: int) -> Iterator[Convertible]:
    if depth > MAX_PART_DEPTH:
        return
    for part, name in zip(blob.parts, part_names(part.filename for part in blob.parts), strict=True):
        path = f"{meta.file_path}/{name}" if meta.file_path else None
        observed = Instant.of(part.modified) if part.modified else meta.observed_at
        inner = meta.model_copy(
            update={
                "file_path": path,
                "folder": _folder(path),
                "language": part.language or None,
                "tags": (*part.tags, *(tag for tag in meta.tags if tag.startswith("in:"))),
                "observed_at": observed,
            }
        )
        inner_key = f"{key}!/{name}"
        yield Convertible(inner_key, _raw(part, part.url or ref.url), inner, part.title)
        yield from _parts(part, ref, inner, inner_key, depth + 1)


def _raw(blob: Blob, url: str) -> RawDocument:
    return RawDocument(
        data=blob.data, filename=blob.filename or None, mime=blob.media_type or None, origin=blob.url or url or None
    )


def _folder(path: str | None) -> str | None:
    return path.rpartition("/")[0] or None if path else None
