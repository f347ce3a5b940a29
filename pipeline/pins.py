"""Pinned fields: fixed when a version is first stored, refreshed only when its raw bytes change (design section 5)."""

from collections.abc import Sequence

from corebrain.layout import BrainDocument
from corebrain.model.meta import MemoryMeta
from pipeline.state.values import Pinned


def pinned_of(meta: MemoryMeta) -> Pinned:
    """Return what of the source's own metadata is pinned: commit, a url that holds it, breadcrumb and author tags."""
    url = meta.url if meta.commit and meta.url and meta.commit in meta.url else None
    return Pinned(meta.commit, url, meta.tags)


def with_pins(documents: Sequence[BrainDocument], fresh: Pinned, wanted: Pinned) -> list[BrainDocument]:
    """Return *documents*, made with the *fresh* pins, as they are with the *wanted* ones."""
    if fresh == wanted:
        return list(documents)
    return [document.with_meta(_repinned(document.meta, fresh, wanted)) for document in documents]


def _repinned(meta: MemoryMeta, fresh: Pinned, wanted: Pinned) -> MemoryMeta:
    own = tuple(tag for tag in meta.tags if tag not in fresh.tags)
    return meta.model_copy(
        update={
            "commit": wanted.commit if meta.commit == fresh.commit else meta.commit,
            "url": wanted.url if fresh.url is not None and meta.url == fresh.url else meta.url,
            "tags": tuple(dict.fromkeys((*own, *wanted.tags))),
        }
    )
