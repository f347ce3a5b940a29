"""Makes one planned document ready to be stored: fetched, compared, moved or converted. Writes nothing.

Called from several threads at once; what it needs of the books it reads.
"""

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from connectors.contract import Blob, Connector, Ref, Unchanged
from connectors.document import Conversion, Convertible, SetAside, conversions, convertibles
from connectors.errors import ConnectorError
from connectors.pull import delete_copies
from corebrain.documents.brain_document import MAX_BYTES, BrainDocuments
from corebrain.documents.sniff import sniff_raw
from corebrain.documents.types import DocumentConverter
from corebrain.layout import BrainDocument, MemoryLayout
from pipeline.moves import Mover
from pipeline.pins import pinned_of, with_pins
from pipeline.scrubbing import Scrubbing
from pipeline.spool import Spool
from pipeline.state.contract import Ledger
from pipeline.state.values import Fact, Intent, Pinned, Record, Verdict, Work
from pipeline.versions import Versions


@dataclass(frozen=True, slots=True)
class Ready:
    """A document to be stored.

    Attributes:
        record: What the books will say once it is stored.
        documents: What the brain is given, in the order of the record's facts.
        refused: Parts that could not be read.
        moved_from: The gone key it takes over from.
        is_new: Whether nothing was recorded under its key.
        refiled: Whether only its node changes.
        fetched: Bytes that were read from the source.
        redactions: What the scrub took out of it.
    """

    record: Record
    documents: tuple[BrainDocument, ...]
    refused: tuple[SetAside, ...] = ()
    moved_from: str | None = None
    is_new: bool = True
    refiled: bool = False
    fetched: int = 0
    redactions: int = 0


@dataclass(frozen=True, slots=True)
class Same:
    """A document whose listing moved and whose content did not; `version` when it was converted to see that."""

    ref: Ref
    token: str | None
    raw: str
    fetched: int = 0
    version: str | None = None


class Preparer:
    """Prepares documents of one source.

    Args:
        connector: Where bytes come from.
        name: The configured source's name, the `source.id` of its documents.
        ledger: The source's books.
        layout: Where documents are filed.
        mover: Reads back what the engine holds.
        converter: What turns bytes into markdown; `None` is the default registry.
        spool: Blobs that the listing read.
        max_bytes: Largest raw document that is converted.
        scrubbing: What is redacted; `None` is nothing.
        reconvert: Whether unchanged bytes are converted again where the result may differ.
    """

    def __init__(
        self,
        connector: Connector,
        name: str,
        ledger: Ledger,
        *,
        layout: MemoryLayout,
        mover: Mover,
        converter: DocumentConverter | None,
        spool: Spool,
        max_bytes: int = MAX_BYTES,
        scrubbing: Scrubbing | None = None,
        reconvert: bool = False,
    ) -> None:
        self._connector = connector
        self._name = name
        self._ledger = ledger
        self._layout = layout
        self._mover = mover
        self._converter = converter
        self._spool = spool
        self._max_bytes = max_bytes
        self._scrubbing = scrubbing
        self._reconvert = reconvert
        self.versions = Versions(converter, scrubbing)
        self.intents: dict[str, Intent] = ledger.intents()
        self.split = False

    def prepare(self, work: Work) -> Ready | Same:
        """Return what is to be done with one planned document.

        Raises:
            DocumentError: It could not be fetched; set it aside.
            Refusal: It cannot be converted; set it aside.
            ConnectorError: The source failed; stop it.
            CorebrainError: The engine or the conversion failed; stop the source.
        """
        held = self._ledger.record_of(work.ref.key)
        anew = self._reconvert and held is not None and not self.versions.is_current(held.version)
        if work.verdict is Verdict.REFILED and held is not None and not anew:
            refiled = self._refiled(work.ref, held)
            if refiled is not None:
                return refiled
        if held is None and work.ref.content is not None:
            moved = self._moved_unfetched(work.ref)
            if moved is not None:
                return moved
        known = None if held is None or anew or work.verdict is Verdict.REFILED else held.token
        blob = self._spool.take(work.spool) if work.spool else self._connector.fetch(work.ref, known)
        if isinstance(blob, Unchanged):
            if held is None:
                raise ConnectorError(f"the connector answered {work.ref.key} with unchanged though nothing was known")
            return Same(work.ref, blob.token, held.raw)
        try:
            return self._from_blob(work.ref, held, blob, anew=anew)
        finally:
            delete_copies(blob)

    def _from_blob(self, ref: Ref, held: Record | None, blob: Blob, *, anew: bool) -> Ready | Same:
        raw, size = _hashed(blob)
        token = blob.token
        if held is not None and held.raw == raw and not anew:
            refiled = None if held.filed == self._filed(ref) else self._refiled(replace(ref, token=token), held)
            if refiled is not None:
                return refiled
            if held.filed == self._filed(ref):
                return Same(ref, token, raw, size)
        ready = next(convertibles(self._connector.source, self._name, ref, blob))
        if held is None:
            moved = self._moved(ref, token, ready, raw)
            if moved is not None:
                return replace(moved, fetched=size)
        made = self._convert(ref, blob)
        fresh = pinned_of(ready.meta)
        version = self.versions.of(made.documents)
        if held is not None:
            carried, _ = self._scrubbed(with_pins(made.documents, fresh, held.pinned))
            if self._ids(carried) == [fact.id for fact in held.facts] and held.filed == self._filed(ref):
                return Same(ref, token, raw, size, version)
        pinned = self._pins(ref.key, raw, held, fresh)
        documents, redactions = self._scrubbed(with_pins(made.documents, fresh, pinned))
        record = Record(
            ref=ref,
            token=token,
            raw=raw,
            format=made.main.converted.format,
            converter=made.main.converted.converter,
            filed=self._filed(ref),
            pinned=pinned,
            facts=self._facts(documents, made),
            version=version,
        )
        return Ready(
            *(record, tuple(documents), tuple(made.refused)), is_new=held is None, fetched=size, redactions=redactions
        )

    def _pins(self, key: str, raw: str, held: Record | None, fresh: Pinned) -> Pinned:
        """What was pinned when these bytes were first stored, or was about to be, else what is told of them now."""
        intent = self.intents.get(key)
        if intent is not None and intent.raw == raw:
            return intent.pinned
        return held.pinned if held is not None and held.raw == raw else fresh

    def _scrubbed(self, documents: list[BrainDocument]) -> tuple[list[BrainDocument], int]:
        return (documents, 0) if self._scrubbing is None else self._scrubbing.all(documents)

    def _convert(self, ref: Ref, blob: Blob) -> "_Made":
        """Convert the document and its parts; the document's refusal is raised, a part's is kept."""
        made = _Made(ref.key)
        for conversion in conversions(
            self._connector.source,
            self._name,
            ref,
            blob,
            converter=self._converter,
            collection=self._filed(ref),
            max_bytes=self._max_bytes,
        ):
            if isinstance(conversion, Conversion):
                made.add(conversion)
            elif conversion.key == ref.key:
                raise conversion.error
            else:
                made.refused.append(conversion)
        return made

    def _facts(self, documents: list[BrainDocument], made: "_Made") -> tuple[Fact, ...]:
        converted = made.main.converted
        ids = self._ids(documents)
        title = converted.title if self._scrubbing is None else self._scrubbing.title(converted.title)
        first = Fact(ids[0], "", title, documents[0].mime, converted.language, converted.tags)
        rest = zip(ids[1:], made.names[1:], documents[1:], strict=True)
        return (first, *(Fact(item_id, name, mime=document.mime) for item_id, name, document in rest))

    def _ids(self, documents: list[BrainDocument]) -> list[str]:
        return [document.into_item(self._layout).fingerprint() for document in documents]

    def _filed(self, ref: Ref) -> str | None:
        return ref.collection if self.split else None

    # -- moves: the text is there already

    def _moved(self, ref: Ref, token: str | None, ready: Convertible, raw: str) -> Ready | None:
        twin = self._ledger.claim_twin(raw=raw, format=sniff_raw(ready.raw))
        if twin is None:
            return None
        intent = self.intents.get(ref.key)
        fresh = pinned_of(ready.meta)
        pinned = intent.pinned if intent is not None and intent.raw == raw else fresh
        documents = self._read_back(twin, lambda: self._mover.renamed(twin, ready, fresh, pinned))
        return self._taken_over(documents, ref, token, twin, pinned)

    def _moved_unfetched(self, ref: Ref) -> Ready | None:
        twin = self._ledger.claim_twin(content=ref.content)
        if twin is None:
            return None
        if _suffix(twin.ref.key) != _suffix(ref.key):  # the name may decide the format: fetch to know
            self._ledger.release_twin(twin.ref.key)
            return None
        documents = self._read_back(twin, lambda: self._mover.relisted(twin, ref))
        return self._taken_over(documents, ref, ref.token, twin, twin.pinned)

    def _read_back(self, twin: Record, read: Callable[[], list[BrainDocument] | None]) -> list[BrainDocument] | None:
        documents = None
        try:
            # Text of an older scrub or converter is not carried on: it is converted again, as a new document is.
            documents = read() if self.versions.is_current(twin.version) else None
        finally:
            if documents is None:
                self._ledger.release_twin(twin.ref.key)
        return documents

    def _taken_over(
        self, documents: list[BrainDocument] | None, ref: Ref, token: str | None, twin: Record, pinned: Pinned
    ) -> Ready | None:
        if documents is None:
            return None
        documents, redactions = self._scrubbed([replace_collection(each, self._filed(ref)) for each in documents])
        record = replace(
            twin,
            ref=ref,
            token=token,
            filed=self._filed(ref),
            pinned=pinned,
            facts=_renumbered(twin.facts, self._ids(documents)),
        )
        return Ready(record, tuple(documents), moved_from=twin.ref.key, redactions=redactions)

    def _refiled(self, ref: Ref, held: Record) -> Ready | None:
        documents = self._mover.as_stored(held)
        if documents is None:
            return None
        documents = [replace_collection(document, self._filed(ref)) for document in documents]
        record = replace(
            held, ref=ref, token=ref.token, filed=self._filed(ref), facts=_renumbered(held.facts, self._ids(documents))
        )
        return Ready(record, tuple(documents), is_new=False, refiled=True)


class _Made:
    """A conversion and its parts, in the order they are stored."""

    def __init__(self, key: str) -> None:
        self._key = key
        self.results: list[BrainDocuments] = []
        self.documents: list[BrainDocument] = []
        self.names: list[str] = []
        self.refused: list[SetAside] = []

    @property
    def main(self) -> BrainDocuments:
        """What the conversion of the document itself said."""
        return self.results[0]

    def add(self, conversion: Conversion) -> None:
        """Take a converted document of the source, or a part, with the attachments found inside it."""
        result = conversion.result
        name = conversion.key.removeprefix(self._key).removeprefix("!/")
        self.results.append(result)
        self.documents += result
        self.names += [name, *(_below(name, part, result.document) for part in result.parts)]
        self.refused += [SetAside.of(f"{conversion.key}!/{part.name}", part.error) for part in result.refused]


def _below(name: str, part: BrainDocument, parent: BrainDocument) -> str:
    inner = (part.meta.file_path or part.title or "part").removeprefix(f"{parent.meta.file_path}/")
    return f"{name}/{inner}" if name else inner


def replace_collection(document: BrainDocument, collection: str | None) -> BrainDocument:
    """Return *document* filed at *collection*'s node, or at the source's own."""
    return document.model_copy(update={"collection": collection})


def _renumbered(facts: tuple[Fact, ...], ids: list[str]) -> tuple[Fact, ...]:
    return tuple(replace(fact, id=item_id) for fact, item_id in zip(facts, ids, strict=True))


def _hashed(blob: Blob) -> tuple[str, int]:
    """Return the SHA-256 of the blob's bytes, those of its parts included, and how many there are."""
    digest = hashlib.sha256()
    size = 0
    for chunk in _chunks(blob):
        digest.update(chunk)
        size += len(chunk)
    return digest.hexdigest(), size


def _chunks(blob: Blob) -> Iterator[bytes]:
    if isinstance(blob.data, Path):
        with blob.data.open("rb") as file:
            while chunk := file.read(1 << 20):
                yield chunk
    else:
        yield blob.data
    for part in blob.parts:
        yield from _chunks(part)


def _suffix(key: str) -> str:
    return key.rpartition("/")[2].rpartition(".")[2].lower()
