"""How well are documents ranked? nDCG@10 over a test collection, Cranfield by default.

    python benchmarks/ranking.py cran.json --judgements cranqrel
    python benchmarks/ranking.py cran.json --embedder none

FILE holds `[documents, queries]` or `[documents, queries, judgements]`: documents as `{"T": title, "W": text}`,
queries as strings. Judgements are lines `query document grade` counted from 1, as the classic `cranqrel` has them
(grades 1 to 4 are relevant, all others are not), in the file or beside it. Every document is stored as one of a
source. nDCG@10 is that of binary relevance, the mean over the queries with a relevant document.

A collection without judgements is measured by *known items*: each document is asked for by a few words of its own
text, drawn with a seed, and the mean reciprocal rank within the first ten is printed.

It is asked by words, by meaning and by both, with the embedder named (`minilm` comes with the extra `semantic`).

The last line is `nDCG@10 lexical X hybrid Y` (or `MRR@10 …`).
"""

import argparse
import json
import math
import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import mean

from corebrain.embed import build_embedder
from corebrain.engines.local import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Document
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchMode, FetchRequest

NODE = Namespace.parse("source:collection")
BATCH = 100
DEPTH = 10
RELEVANT = range(1, 5)
LABELS = {FetchMode.KEYWORD: "lexical", FetchMode.VECTOR: "meaning", FetchMode.HYBRID: "hybrid"}

Relevant = dict[int, set[int]]
"""Documents that answer a query, both as places in their lists."""


def read(file: Path, judgements: Path | None) -> tuple[list[tuple[str, str]], list[str], Relevant]:
    documents, queries, *judged = json.loads(file.read_text("utf-8"))
    texts = [(raw["T"].strip(), raw["W"]) for raw in documents]
    if judgements is not None:
        judged = [[line.split() for line in judgements.read_text("ascii").splitlines() if line.strip()]]
    relevant: Relevant = {}
    for query, document, grade in (row[:3] for rows in judged for row in rows):
        if int(grade) in RELEVANT:
            relevant.setdefault(int(query) - 1, set()).add(int(document) - 1)
    return texts, queries, relevant


def known_items(texts: Sequence[tuple[str, str]], count: int) -> tuple[list[str], Relevant]:
    """Draw queries from the documents themselves: four words out of a dozen that stand together."""
    drawn = random.Random(11)  # noqa: S311  # the same queries every time
    queries: list[str] = []
    relevant: Relevant = {}
    worded = [place for place, (_, text) in enumerate(texts) if text.strip()]
    for place in drawn.sample(worded, min(count, len(worded))):
        words = texts[place][1].split()
        start = drawn.randrange(max(1, len(words) - 12))
        near = words[start : start + 12]
        relevant[len(queries)] = {place}
        queries.append(" ".join(drawn.sample(near, min(4, len(near)))))
    return queries, relevant


def stored(engine: LocalEngine, texts: Sequence[tuple[str, str]]) -> dict[str, int]:
    """Store the documents that have text; return their places by id."""
    documents = [
        (place, Document(title=title or None, body=Body(text=text), meta=_meta(place)))
        for place, (title, text) in enumerate(texts)
        if text.strip()
    ]
    places: dict[str, int] = {}
    for start in range(0, len(documents), BATCH):
        part = documents[start : start + BATCH]
        receipts = engine.store_many([document for _, document in part])
        places |= {receipt.id: place for receipt, (place, _) in zip(receipts, part, strict=True)}
    return places


def _meta(place: int) -> MemoryMeta:
    return MemoryMeta(namespace=NODE, source=SourceRef(kind=SourceKind.FILE, id="collection"), file_path=f"{place}.md")


def asked(
    engine: LocalEngine, places: dict[str, int], queries: Sequence[str], mode: FetchMode
) -> tuple[list[list[int]], list[float]]:
    """Return the first ten documents for each query, and how long each took in seconds."""
    wanted = MetaFilter(reach=Reach.subtree(NODE))
    found, seconds = [], []
    for query in queries:
        started = time.perf_counter()
        page = engine.fetch(FetchRequest(query=query, mode=mode, filter=wanted, limit=DEPTH))
        seconds.append(time.perf_counter() - started)
        found.append([places[hit.id] for hit in page.hits])
    return found, seconds


def ndcg(found: Sequence[int], relevant: set[int]) -> float:
    gained = sum(1 / math.log2(place + 2) for place, document in enumerate(found[:DEPTH]) if document in relevant)
    return gained / sum(1 / math.log2(place + 2) for place in range(min(DEPTH, len(relevant))))


def reciprocal_rank(found: Sequence[int], relevant: set[int]) -> float:
    return next((1 / place for place, document in enumerate(found, 1) if document in relevant), 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="the collection as JSON")
    parser.add_argument("--judgements", type=Path, help="lines `query document grade`")
    parser.add_argument("--known", type=int, default=300, help="known items asked for when there are no judgements")
    parser.add_argument("--embedder", default="minilm", help="minilm, fastembed:MODEL, …, or none; minilm by default")
    given = parser.parse_args()
    texts, queries, relevant = read(given.file, given.judgements)
    name, measured = "nDCG@10", ndcg
    if not relevant:
        name, measured = "MRR@10", reciprocal_rank
        queries, relevant = known_items(texts, given.known)
    print(
        f"{len(texts)} documents, {len(relevant)} queries with {sum(map(len, relevant.values()))} relevant documents\n"
    )
    embedder = None if given.embedder == "none" else build_embedder(given.embedder)
    print(f"| mode | {name} | recall@10 | p50 ms |\n|---|---|---|---|")
    reached = {}
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalEngine(folder, durability="process", embedder=embedder) as engine,
    ):
        places = stored(engine, texts)
        while engine.maintain(10.0).left:
            pass
        for mode in engine.descriptor.fetch_modes:
            found, seconds = asked(engine, places, queries, mode)
            reached[mode] = mean(measured(found[query], documents) for query, documents in relevant.items())
            recalled = mean(len(right.intersection(found[query])) / len(right) for query, right in relevant.items())
            middle = sorted(seconds)[len(seconds) // 2] * 1000
            print(f"| {LABELS[mode]} | {reached[mode]:.3f} | {recalled:.3f} | {middle:.1f} |")
    hybrid = f"{reached[FetchMode.HYBRID]:.3f}" if embedder else "none"
    print(f"\n{name} lexical {reached[FetchMode.KEYWORD]:.3f} hybrid {hybrid}")


if __name__ == "__main__":
    main()
