"""What the tools answer a model: plain JSON that never names a node (spec 06 section 3)."""

from collections.abc import Iterable, Sequence
from typing import Any

from corebrain.model.meta import MemoryMeta
from corebrain.model.requests import Citation, ExplorePage, Hit, RecallAnswer

Json = dict[str, Any]


def answer_json(answer: RecallAnswer) -> Json:
    """Write an answer with its citations."""
    return {"answer": answer.answer, "citations": list(map(_citation, answer.citations))}


def _citation(citation: Citation) -> Json:
    score = {} if citation.score is None else {"score": round(citation.score, 4)}
    head = {"id": citation.id, "kind": citation.kind.value, "snippet": citation.snippet}
    return head | score | {"meta": meta_json(citation.meta)}


def page_json(key: str, hits: Iterable[Hit], next_cursor: str | None) -> Json:
    """Write a page of hits under *key*."""
    page: Json = {key: list(map(hit_json, hits))}
    return page if next_cursor is None else page | {"next_cursor": next_cursor}


def hit_json(hit: Hit) -> Json:
    """Write one hit; scores and confidences to four decimals."""
    confidence = {} if hit.confidence is None else {"confidence": round(hit.confidence, 4)}
    head = {"id": hit.id, "kind": hit.kind.value, "text": hit.text, "score": round(hit.score, 4)}
    return head | confidence | {"meta": meta_json(hit.meta)}


def meta_json(meta: MemoryMeta) -> Json:
    """Write what a model may know of an item: where it came from and when, never the node it lives at."""
    shown: Json = {
        "source": meta.source.to_dict(),
        "file_path": meta.file_path,
        "url": meta.url,
        "thread_id": meta.thread_id,
        "tags": list(meta.tags) or None,
        "observed_at": None if meta.observed_at is None else str(meta.observed_at),
    }
    return {key: value for key, value in shown.items() if value is not None}


def explore_json(page: ExplorePage) -> Json:
    """Write counts per value."""
    return {
        "facet": page.facet.value,
        "buckets": [{"value": bucket.value, "count": bucket.count} for bucket in page.buckets],
        "total": page.total,
        "missing": page.missing,
        "more_buckets": page.more_buckets,
        "truncated": page.truncated,
    }


def got_json(hits: Sequence[Hit], wanted: Sequence[str]) -> Json:
    """Write items read by id; one that is unknown and one out of reach look alike."""
    found = {hit.id for hit in hits}
    return {"items": list(map(hit_json, hits)), "missing": [item_id for item_id in wanted if item_id not in found]}
