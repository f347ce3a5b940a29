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
    bare: set[str] = set()
    held = 0
    wanted = documents.model_copy(update={"source_id": ledger.name})
    for page in _pages(engine, ListRequest(filter=wanted, limit=_PAGE)):
        held += len(page)
        referenced = ledger.references([hit.id for hit in page])
        unknown = [hit for hit in page if hit.id not in referenced and not _belongs(hit.meta, failed)]
        found += [hit.id for hit in unknown]
        bare |= {hit.id for hit in unknown if hit.meta.file_path and not hit.meta.folder}
    kept = _in_folders(engine, wanted, failed) if bare else set()
    return [item for item in found if item not in bare & kept], held


def _in_folders(engine: MemoryEngine, wanted: MetaFilter, failed: list[str]) -> set[str]:
    """Return ids of items that belong to a failed key below a folder: some engines filter by it and never show it."""
    paths = {key.replace("!/", "/") for key in failed if "/" in key}
    requests = [ListRequest(filter=wanted.model_copy(update={"file_path": path}), limit=_PAGE) for path in paths]
    return {hit.id for request in requests for page in _pages(engine, request) for hit in page}


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
