"""Files a stored document elsewhere without reading or converting it: the engine has its text."""

from connectors.contract import Ref
from connectors.document import Convertible
from corebrain.contract import MemoryEngine
from corebrain.documents.brain_document import document_of
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.layout import BrainDocument, BrainSource
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Document
from corebrain.model.meta import MemoryMeta
from corebrain.model.requests import MAX_GET_IDS, GetRequest, Hit
from pipeline.pins import with_pins
from pipeline.state.values import Fact, Pinned, Record


class Mover:
    """Rebuilds documents from what the engine holds. Every text is proved by its id before it is used."""

    def __init__(self, engine: MemoryEngine, source: BrainSource) -> None:
        self._engine = engine
        self._source = source

    def as_stored(self, record: Record) -> list[BrainDocument] | None:
        """Return a record's documents as they were stored; `None` when the engine has not all of them whole."""
        items = self._items(record)
        return None if items is None else [self._document(item) for item in items]

    def renamed(self, twin: Record, ready: Convertible, fresh: Pinned, pinned: Pinned) -> list[BrainDocument] | None:
        """Return the documents of *twin* as the fetched *ready* would give them, had it been converted."""
        items = self._items(twin)
        if items is None:
            return None
        first, *parts = items
        head = document_of(_converted(first, twin), ready.raw, self._source, ready.meta)
        if ready.title:
            head = head.titled(ready.title)
        moved = [head, *(self._document(part, _rebased(part.meta, first.meta, ready.meta)) for part in parts)]
        return with_pins(moved, fresh, pinned)

    def relisted(self, twin: Record, ref: Ref) -> list[BrainDocument] | None:
        """Return the documents of *twin* under the key and url of *ref*, which was not fetched."""
        items = self._items(twin)
        if items is None:
            return None
        first, *parts = items
        meta = _placed(first.meta, ref)
        raw = RawDocument(b"", filename=ref.key, mime=ref.media_type or None, origin=ref.url or None)
        own = tuple(tag for tag in twin.facts[0].tags if tag not in twin.pinned.tags)
        bare = meta.model_copy(update={"language": None, "tags": tuple(t for t in meta.tags if t not in own)})
        head = document_of(_converted(first, twin), raw, self._source, bare)
        if ref.title:
            head = head.titled(ref.title)
        return [head, *(self._document(part, _rebased(part.meta, first.meta, meta)) for part in parts)]

    def _document(self, item: Document, meta: MemoryMeta | None = None) -> BrainDocument:
        return BrainDocument(
            source=self._source, title=item.title, text=item.text, mime=item.mime, meta=meta or item.meta
        )

    def _items(self, record: Record) -> list[Document] | None:
        held: dict[str, Hit] = {}
        ids = [fact.id for fact in record.facts]
        for start in range(0, len(ids), MAX_GET_IDS):
            page = self._engine.get(GetRequest(ids=tuple(ids[start : start + MAX_GET_IDS])))
            held.update((hit.id, hit) for hit in page)
        items = [_proved(held.get(fact.id), fact, record.ref.key) for fact in record.facts]
        whole = [item for item in items if item is not None]
        return whole if len(whole) == len(items) else None


def _proved(hit: Hit | None, fact: Fact, key: str) -> Document | None:
    """Take the rendered text apart again; the id tells whether that was right."""
    if hit is None:
        return None
    candidates = [
        Document(title=title, body=Body(text=text), mime=fact.mime, meta=meta)
        for title, text in _readings(hit.text)
        for meta in _metas(hit.meta, f"{key}/{fact.part}" if fact.part else key)
    ]
    return next((item for item in candidates if item.fingerprint() == fact.id), None)


def _readings(text: str) -> list[tuple[str | None, str]]:
    """Return title and text as they may have been before they were rendered."""
    if not text.startswith("# "):
        return [(None, text)]
    title, _, body = text[2:].partition("\n\n")
    return [(title, body), (None, text)]


def _metas(meta: MemoryMeta, path: str) -> list[MemoryMeta]:
    """Return metadata as it is given back, and as it was stored where a server is told no folders."""
    if not meta.file_path or meta.folder is not None or "/" not in path:
        return [meta]
    return [meta, meta.model_copy(update={"file_path": path, "folder": path.rpartition("/")[0]})]


def _converted(item: Document, twin: Record) -> ConvertedDocument:
    fact = twin.facts[0]
    return ConvertedDocument(
        markdown=item.text,
        title=fact.title,
        format=twin.format,
        language=fact.language,
        converter=twin.converter,
        pages=None,
        size=0,
        tags=fact.tags,
    )


def _rebased(meta: MemoryMeta, old: MemoryMeta, new: MemoryMeta) -> MemoryMeta:
    """Move a part's metadata along with its document's."""
    path = _swapped(meta.file_path, old.file_path, new.file_path)
    folder = _swapped(meta.folder, old.file_path, new.file_path)
    breadcrumb = tuple(tag for tag in new.tags if tag.startswith("in:"))
    own = tuple(tag for tag in meta.tags if not tag.startswith("in:"))
    return meta.model_copy(
        update={
            "file_path": path,
            "folder": folder,
            "url": new.url if meta.url == old.url else meta.url,
            "commit": new.commit,
            "tags": (*own, *breadcrumb),
            "observed_at": new.observed_at if meta.observed_at == old.observed_at else meta.observed_at,
        }
    )


def _swapped(path: str | None, old: str | None, new: str | None) -> str | None:
    if path is None or old is None or new is None or not path.startswith(old):
        return path
    return new + path[len(old) :]


def _placed(meta: MemoryMeta, ref: Ref) -> MemoryMeta:
    path = ref.key if meta.file_path else None
    return meta.model_copy(
        update={
            "file_path": path,
            "folder": path.rpartition("/")[0] or None if path else None,
            "url": ref.url or meta.url,
            "observed_at": Instant.of(ref.modified) if ref.modified else meta.observed_at,
        }
    )
