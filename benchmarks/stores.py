"""The local engine beside stores people reach for: ingest, search by words and by vector, and the size on disk.

    python benchmarks/stores.py [--peers DIR] [--items 5000] [--only chroma lancedb]

Every store gets the same texts and the same vectors, 384 numbers each, in batches of 100 that are to survive the
process, and answers the same questions with ten texts: over everything, and within a scope, one in a hundred. Nobody
runs a model. `found` is the share of the ten truly nearest that a search by vector finds.

Texts are words drawn as in a language, some 700 characters each; vectors are drawn around topics. DIR holds a virtual
environment for each peer, and a peer without one is not run:

    python -m venv DIR/chroma  && DIR/chroma/bin/pip install chromadb
    python -m venv DIR/qdrant  && DIR/qdrant/bin/pip install qdrant-client
    python -m venv DIR/lancedb && DIR/lancedb/bin/pip install lancedb numpy
    python -m venv DIR/tantivy && DIR/tantivy/bin/pip install tantivy numpy
    python -m venv DIR/mem0    && DIR/mem0/bin/pip install mem0ai
    python -m venv DIR/langmem && DIR/langmem/bin/pip install langmem numpy

The last line gives the ratios to each: ingest (more is better), time of a scoped search and bytes (less is better).
"""

import argparse
import json
import random
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
OURS = "corebrain"
PEERS = ("chroma", "qdrant", "lancedb", "tantivy", "mem0", "langmem")
DIMENSION = 384
SCOPES = 100
QUESTIONS = 50
PATIENCE_S = 3_600


@dataclass
class Outcome:
    """What one store did; why not, when it did not."""

    name: str
    report: dict[str, Any] = field(default_factory=dict)
    failure: str = ""


def write_data(folder: Path, count: int) -> int:
    """Write items, vectors and questions; return the bytes of all texts."""
    drawn = random.Random(7)  # noqa: S311  # the same texts every time
    pieces = files("corebrain.embed").joinpath("wordpieces.txt").read_text("utf-8").split("\n")
    vocabulary = [word for word in pieces if word.isascii() and word.isalpha() and len(word) > 2]
    drawn.shuffle(vocabulary)
    weights = list(accumulate(1 / (rank + 3) for rank in range(len(vocabulary))))
    items = [
        (" ".join(drawn.choices(vocabulary, cum_weights=weights, k=110)), f"s{number % SCOPES}")
        for number in range(count)
    ]
    questions = [" ".join(drawn.sample(items[drawn.randrange(count)][0].split(), 6)) for _ in range(QUESTIONS)]
    numbers = np.random.default_rng(7)
    topics = _unit(numbers.standard_normal((200, DIMENSION)))
    vectors = _unit(topics[numbers.integers(0, 200, count)] + numbers.standard_normal((count, DIMENSION)) * 0.05)
    asked = _unit(
        vectors[numbers.integers(0, count, QUESTIONS)] + numbers.standard_normal((QUESTIONS, DIMENSION)) * 0.02
    )
    (folder / "items.json").write_text(json.dumps(items), "utf-8")
    (folder / "questions.json").write_text(json.dumps(questions), "utf-8")
    np.save(folder / "vectors.npy", vectors)
    np.save(folder / "asked.npy", asked)
    return sum(len(text) for text, _ in items)


def _unit(rows: Any) -> Any:
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def played(name: str, python: Path, data: Path) -> Outcome:
    """Play a store in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        command = [str(python), "-m", f"benchmarks.peers.store_{name}", str(data), folder]
        try:
            ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE_S, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            return Outcome(name, failure=f"{type(error).__name__}")
    if ended.returncode:
        return Outcome(name, failure=(ended.stderr.strip().splitlines() or ["no reason given"])[-1][:150])
    return Outcome(name, json.loads(ended.stdout.strip().splitlines()[-1]))


COLUMNS = "ingest items/s, words ms, scoped, vector ms, scoped, found, scoped, forget 1 % ms, bytes ÷ text"


def row(outcome: Outcome, count: int, text: int) -> str:
    held = outcome.report
    if not held:
        return f"| {outcome.name} | not run: {outcome.failure} |{' |' * 8}"
    times = [_of(held[name]) for name in ("words", "words_scoped", "near", "near_scoped")]
    found = [f"{held[name]:.2f}" if name in held else "-" for name in ("found", "found_scoped")]
    cells = [
        *(outcome.name, f"{count / held['ingest_s']:,.0f}", *times, *found, f"{held['forget_s'] * 1000:.0f}"),
        f"{held['bytes'] / text:.2f}" if held["bytes"] else "-",
    ]
    return f"| {' | '.join(cells)} |"


def _of(pair: list[float] | None) -> str:
    return "none" if pair is None else f"{pair[0]:.2f} ({pair[1]:.2f})"


def ratios(ours: dict[str, Any], other: Outcome) -> str:
    """Return our figures as parts of another store's."""
    held = other.report
    parts = [f"ingest {held['ingest_s'] / ours['ingest_s']:.1f}x"]
    for name, label in (("words_scoped", "scoped words"), ("near_scoped", "scoped vector"), ("near", "vector")):
        if held[name] is not None:
            parts.append(f"{label} {ours[name][0] / held[name][0]:.3f}x")
    if held["bytes"] and held["near"] is not None:
        parts.append(f"bytes {ours['bytes'] / held['bytes']:.2f}x")
    return f"{other.name}: {', '.join(parts)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, default=Path("peers"), help="folder of the peers' virtual environments")
    parser.add_argument("--items", type=int, default=5_000, help="texts that are stored")
    parser.add_argument("--only", nargs="+", choices=PEERS, default=PEERS, help="which peers")
    given = parser.parse_args()
    outcomes = []
    with tempfile.TemporaryDirectory() as folder:
        text = write_data(Path(folder), given.items)
        print(f"{given.items:,} texts of {text / given.items:,.0f} characters, {QUESTIONS} questions; p50 (p95)\n")
        print(f"| store | {COLUMNS.replace(', ', ' | ')} |\n|{'---|' * 10}", flush=True)
        for name in (OURS, *given.only):
            python = Path(sys.executable) if name == OURS else given.peers.absolute() / name / "bin" / "python"
            if python.exists():
                outcomes.append(played(name, python, Path(folder)))
            else:
                outcomes.append(Outcome(name, failure=f"there is no {python}"))
            print(row(outcomes[-1], given.items, text), flush=True)
    ours, *others = outcomes
    if not ours.report:
        raise SystemExit(f"{OURS} was not measured: {ours.failure}")
    print("\n" + "; ".join(ratios(ours.report, other) for other in others if other.report))


if __name__ == "__main__":
    main()
