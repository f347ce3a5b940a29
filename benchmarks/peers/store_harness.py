"""What every store of `benchmarks/stores.py` is put through: the same items, vectors and questions, the same clock.

A store is a class with `add`, `settle`, `words`, `near`, `forget` and `close`; `run` plays one and prints JSON.
"""

import json
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

BATCH = 100
HITS = 10


@dataclass(frozen=True)
class Item:
    """One text with its scope, one in a hundred; `number` is its row of the vectors."""

    number: int
    text: str
    scope: str

    @property
    def name(self) -> str:
        return f"item-{self.number}"


class Store(Protocol):
    """A store that keeps items with their vectors in a folder."""

    def add(self, items: Sequence[Item], vectors: Any) -> None:
        """Keep a batch, so that it survives the process."""

    def settle(self) -> None:
        """Do whatever is due before reads: indexes, embedding backlogs."""

    def words(self, query: str, scope: str | None) -> list[int] | None:
        """Find ten items by words; `None` when the store has no such search."""

    def near(self, question: int, vector: Any, scope: str | None) -> list[int] | None:
        """Find the ten items nearest to the vector of a question; `None` when the store has no such search."""

    def forget(self, scope: str) -> None:
        """Remove a scope's items."""

    def close(self) -> None:
        """Let go of the files."""


def read(folder: Path) -> tuple[list[Item], Any, list[str], Any]:
    items = [Item(number, *row) for number, row in enumerate(json.loads((folder / "items.json").read_text("utf-8")))]
    questions = json.loads((folder / "questions.json").read_text("utf-8"))
    return items, np.load(folder / "vectors.npy"), questions, np.load(folder / "asked.npy")


def run(make: Callable[[Path], Store]) -> None:
    """Play the store *make* builds in the folder of the second argument, over the data in that of the first."""
    data, folder = Path(sys.argv[1]), Path(sys.argv[2])
    items, vectors, questions, asked = read(data)
    store = make(folder)
    report: dict[str, Any] = {}
    began = time.perf_counter()
    for start in range(0, len(items), BATCH):
        store.add(items[start : start + BATCH], vectors[start : start + BATCH])
    added = time.perf_counter()
    store.settle()
    report["added_s"], report["ingest_s"] = added - began, time.perf_counter() - began
    scopes = [items[(number * 37) % len(items)].scope for number in range(len(questions))]
    for scoped in (False, True):
        end = "_scoped" if scoped else ""
        of = [scopes[number] if scoped else None for number in range(len(questions))]
        report[f"words{end}"] = _timed([_call(store.words, question, of[n]) for n, question in enumerate(questions)])
        near = [_call(store.near, n, asked[n], of[n]) for n in range(len(questions))]
        report[f"near{end}"] = _timed(near)
        if report[f"near{end}"] is not None:
            report[f"found{end}"] = _found(near, items, vectors, asked, of)
    began = time.perf_counter()
    store.forget(items[0].scope)
    report["forget_s"] = time.perf_counter() - began
    store.close()
    report["bytes"] = sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
    sys.stdout.write("\n" + json.dumps(report) + "\n")


def _call(ask: Callable[..., list[int] | None], *arguments: Any) -> Callable[[], list[int] | None]:
    return lambda: ask(*arguments)


def _timed(calls: Sequence[Callable[[], list[int] | None]]) -> list[float] | None:
    """Return p50 and p95 in milliseconds of asking everything twice, the first time not counted."""
    if calls[0]() is None:
        return None
    for call in calls:
        call()
    spent = []
    for call in calls:
        began = time.perf_counter()
        call()
        spent.append((time.perf_counter() - began) * 1000)
    spent.sort()
    return [spent[len(spent) // 2], spent[int(len(spent) * 0.95)]]


def _found(
    calls: Sequence[Callable[[], list[int] | None]], items: Sequence[Item], vectors: Any, asked: Any, of: Sequence[Any]
) -> float:
    """Return which share of the ten truly nearest was found."""
    scopes = np.array([item.scope for item in items])
    shares = []
    for call, vector, scope in zip(calls, asked, of, strict=True):
        rows = np.arange(len(items)) if scope is None else np.flatnonzero(scopes == scope)
        likeness = vectors[rows] @ vector
        nearest = set(rows[np.argsort(-likeness)[:HITS]].tolist())
        shares.append(len(nearest.intersection(call() or ())) / len(nearest))
    return float(np.mean(shares))
