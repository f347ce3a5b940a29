"""Recall bodies, and lists of several scopes put together rank by rank (spec 04 section 7)."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import zip_longest
from typing import Any, TypeVar

from corebrain.engines.cortexdb.events import EVENT_BYTES

MAX_TOKENS = 8_388_608
_One = TypeVar("_One")


def recall_body(
    scope: str,
    query: str,
    limits: dict[str, int],
    labels: Sequence[str] = (),
    *,
    include: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the body that builds a pack of one scope.

    Args:
        scope: The scope; never more than one, a parent's pack is only a sample.
        query: What to rank for.
        limits: Most entries of each layer.
        labels: Any of them admits an event; none admits all.
        include: The layers, those of *limits* when left out.
    """
    body: dict[str, Any] = {
        "scope": scope,
        "query": query,
        "view": "granular",
        "include": list(include or limits),
        "budgets": {
            "max_tokens": min(EVENT_BYTES * sum(limits.values()), MAX_TOKENS),
            "per_layer_limits": limits,
        },
    }
    if labels:
        body["filters"] = {"metadata": {"labels": list(labels)}}
    return body


def interleaved(lists: Iterable[Sequence[_One]], key: Callable[[_One], Hashable]) -> list[_One]:
    """Return the best of every list, then the second best, and so on; each key once, at its best rank."""
    merged: dict[Hashable, _One] = {}
    for rank in zip_longest(*lists):
        for one in rank:
            if one is not None:
                merged.setdefault(key(one), one)
    return list(merged.values())
