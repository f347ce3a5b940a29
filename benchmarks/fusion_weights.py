"""Which weights fuse words and meaning? Each collection is judged by the weights that were best on the others.

    python -m benchmarks.fusion_weights locomo10.json cran.json --judgements cranqrel

Tried is the weight of the words; with --deviations also where a likeness begins to count, in standard deviations above
the mean of what a read reaches, which is one unless it is tried: 0.5 to 1.5 differ by less than a point. Units are the
conversations of LoCoMo (recall@10) and the collection (nDCG@10), in per cent; a choice is the best mean over the other
units. The last line gives what the held-out units reach, and the choice over all of them.
"""

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from statistics import mean

from benchmarks import locomo, ranking
from corebrain.embed import Embedder, build_embedder
from corebrain.engines.local import LocalEngine, fusion, vector_search
from corebrain.model.requests import FetchMode

WEIGHTS = (0.5, 0.55, 0.6, 0.65, 0.7)
Choice = tuple[float, float]


@contextmanager
def settled(embedder: Embedder) -> Iterator[LocalEngine]:
    with (
        tempfile.TemporaryDirectory() as folder,
        LocalEngine(folder, durability="process", embedder=embedder) as engine,
    ):
        yield engine


def choices(tried: Sequence[float]) -> Iterator[Choice]:
    """Yield each choice while it is in force."""
    for weight, deviations in product(WEIGHTS, tried):
        fusion.WORDS_WEIGHT, vector_search.DEVIATIONS = weight, deviations
        yield weight, deviations


def of_dialogue(dialogue: locomo.Dialogue, embedder: Embedder, tried: Sequence[float]) -> dict[Choice, float]:
    with settled(embedder) as engine:
        names = dict(locomo.stored(engine, [dialogue]))
        while engine.maintain(10.0).left:
            pass
        reached = {}
        for choice in choices(tried):
            score = locomo.Score()
            locomo.ask(engine, dialogue, names, "own", FetchMode.HYBRID, 10, score)
            reached[choice] = score.recall()
    return reached


def of_collection(file: Path, judgements: Path, embedder: Embedder, tried: Sequence[float]) -> dict[Choice, float]:
    texts, queries, relevant = ranking.read(file, judgements)
    with settled(embedder) as engine:
        places = ranking.stored(engine, texts)
        while engine.maintain(10.0).left:
            pass
        reached = {}
        for choice in choices(tried):
            found, _ = ranking.asked(engine, places, queries, FetchMode.HYBRID)
            reached[choice] = 100 * mean(ranking.ndcg(found[query], right) for query, right in relevant.items())
    return reached


def best(units: Sequence[dict[Choice, float]]) -> Choice:
    return max(units[0], key=lambda choice: mean(unit[choice] for unit in units))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dialogues", type=Path, help="conversations as locomo10.json has them")
    parser.add_argument("collection", type=Path, help="the collection as benchmarks/ranking.py reads it")
    parser.add_argument("--judgements", type=Path, required=True, help="lines `query document grade`")
    parser.add_argument("--deviations", type=float, nargs="+", default=[1.0], help="where a likeness begins to count")
    given = parser.parse_args()
    embedder = locomo.Remembered(build_embedder("minilm"))
    units = {each.name: of_dialogue(each, embedder, given.deviations) for each in locomo.read(given.dialogues)}
    units[given.collection.stem] = of_collection(given.collection, given.judgements, embedder, given.deviations)
    print("| held out | weight of words | deviations | reached | best there |\n|---|---|---|---|---|")
    reached = []
    for name, unit in units.items():
        chosen = best([other for other in units.values() if other is not unit])
        reached.append(unit[chosen])
        print(f"| {name} | {chosen[0]} | {chosen[1]} | {unit[chosen]:.1f} | {max(unit.values()):.1f} |")
    words, deviations = best(list(units.values()))
    print(f"\nheld out {mean(reached):.2f}, over all: words {words} deviations {deviations}")


if __name__ == "__main__":
    main()
