"""Finds what the engine holds of a source and the books do not: after a lost or older state (design section 5)."""

from collections.abc import Iterator

from corebrain.contract import MemoryEngine
from corebrain.model.filter import MetaFilter, is_under
from corebrain.model.meta import MemoryMeta
from corebrain.model.requests import Hit, ListRequest
from pipeline.state.contract import Ledger

_PAGE = 200


def strangers(ledger: Ledger, engine: MemoryEngine, documents: MetaFilter, failed: list[str]) -> tuple[list[str], int]:
    """Return ids of this source's items that no record references, and how many items the engine holds of it.

    Left out are those whose path or url belongs to a key that failed: they may come back.

    Args:
        ledger: The source's books, everything listed recorded.
        engine: What may hold more.
        documents: The documents of the source's node.
        failed: Keys and scopes that could not be read.
    """
    found: list[str] = []
    held = 0
    wanted = documents.model_copy(update={"source_id": ledger.name})
    for page in _pages(engine, ListRequest(filter=wanted, limit=_PAGE)):
        held += len(page)
        referenced = ledger.references([hit.id for hit in page])
        found += [hit.id for hit in page if hit.id not in referenced and not _belongs(hit.meta, failed)]
    return found, held


def _pages(engine: MemoryEngine, request: ListRequest) -> Iterator[tuple[Hit, ...]]:
    while True:
        page = engine.list(request)
        yield page.items
        if page.next_cursor is None:
            return
        request = request.model_copy(update={"cursor": page.next_cursor})


def _belongs(meta: MemoryMeta, failed: list[str]) -> bool:
    return any(
        (meta.file_path is not None and is_under(meta.file_path, key.replace("!/", "/")))
        or (meta.url is not None and meta.url == key)
        for key in failed
    )
