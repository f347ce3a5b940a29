"""Does memory find the turns that answer a question? Evidence recall over LoCoMo dialogues.

    python benchmarks/locomo.py locomo10.json
    python benchmarks/locomo.py locomo10.json --stores own --k 20
    python benchmarks/locomo.py locomo10.json --embedder none

FILE holds conversations as LoCoMo has them (snap-research/locomo, `data/locomo10.json`; CC BY-NC 4.0, so it is not
shipped). Every turn is stored as a live agent stores it, one conversation of one turn with its speaker in front, a
thread a session. A question is fetched within its conversation; recall@k is the share of its evidence turns among
the first k, the mean over all questions that have evidence. Three stores are measured:

- own: a memory file for each conversation;
- one: all conversations in one file, the read reaching one of them;
- whole: the same file, the read reaching all of it.

Each is asked by words, by meaning and by both, with the embedder that is named (`minilm` comes with the extra
`semantic`). The weights of the fusion were chosen on five of the ten conversations.

The last line is `recall@10 lexical X hybrid Y`, in per cent, over the stores of their own.
"""

import argparse
import json
import re
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from statistics import mean
from typing import Any

from corebrain.embed import Embedder, build_embedder
from corebrain.engines.local import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import Conversation, Role, Turn
from corebrain.model.meta import MemoryMeta, TurnRange
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchMode, FetchRequest

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open", 4: "single-hop", 5: "adversarial"}
STORES = ("own", "one", "whole")
BATCH = 100
DAY_NS = 86_400 * 1_000_000_000


@dataclass
class Dialogue:
    """A conversation: its turns with their LoCoMo ids, and its questions with the ids of their evidence."""

    name: str
    turns: list[tuple[str, Conversation]] = field(default_factory=list)
    questions: list[tuple[str, int, frozenset[str]]] = field(default_factory=list)


def read(file: Path) -> list[Dialogue]:
    return [_dialogue(f"conv-{number}", raw) for number, raw in enumerate(json.loads(file.read_text("utf-8")), 1)]


def _dialogue(name: str, raw: dict[str, Any]) -> Dialogue:
    made = Dialogue(name)
    talk = raw["conversation"]
    session = 1
    while f"session_{session}_date_time" in talk:
        at = datetime.strptime(talk[f"session_{session}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        for number, turn in enumerate(talk.get(f"session_{session}", ())):
            made.turns.append((turn["dia_id"], _turn(name, session, number, turn, talk["speaker_a"], Instant.of(at))))
        session += 1
    held = {dia_id for dia_id, _ in made.turns}
    for asked in raw["qa"]:
        named = re.findall(r"D(\d+):(\d+)", str(asked.get("evidence", "")))
        evidence = frozenset(f"D{int(part)}:{int(turn)}" for part, turn in named) & held
        if evidence:
            made.questions.append((asked["question"], asked["category"], evidence))
    return made


def _turn(name: str, session: int, number: int, raw: dict[str, Any], first: str, at: Instant) -> Conversation:
    caption = f" [image: {raw['blip_caption']}]" if raw.get("blip_caption") else ""
    role = Role.USER if raw["speaker"] == first else Role.ASSISTANT
    meta = MemoryMeta(
        namespace=Namespace.parse(f"agent:{name}"),
        agent_id=name,
        thread_id=f"{name}-session-{session}",
        turns=TurnRange(first=number, last=number),
        observed_at=at,
    )
    return Conversation(turns=(Turn(role=role, text=f"{raw['speaker']}: {raw['text']}{caption}"),), meta=meta)


@dataclass
class Score:
    """Recall of one way to ask, question by question."""

    found: list[tuple[str, int, float]] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)

    def recall(self, category: int | None = None, name: str | None = None) -> float:
        kept = [share for dialogue, of, share in self.found if category in {None, of} and name in {None, dialogue}]
        return 100 * mean(kept) if kept else 0.0


class Remembered:
    """An embedder that embeds a text once, however many stores hold it."""

    def __init__(self, inner: Embedder) -> None:
        self._inner = inner
        self._rows: dict[str, Sequence[float]] = {}
        self.name = inner.name
        self.dimension = inner.dimension

    def embed(self, texts: Sequence[str]) -> list[Sequence[float]]:
        new = [text for text in dict.fromkeys(texts) if text not in self._rows]
        if new:
            self._rows |= zip(new, self._inner.embed(new), strict=True)  # type: ignore[arg-type]  # rows, however typed
        return [self._rows[text] for text in texts]


def measure(
    dialogues: Sequence[Dialogue], store: str, modes: Sequence[FetchMode], k: int, embedder: Embedder | None
) -> list[Score]:
    scores = [Score() for _ in modes]
    groups = [[dialogue] for dialogue in dialogues] if store == "own" else [list(dialogues)]
    for group in groups:
        moments = [turn.meta.observed_at for dialogue in group for _, turn in dialogue.turns if turn.meta.observed_at]
        asked_at = Instant(max(moment.ns for moment in moments) + DAY_NS)  # a question looks back on all sessions
        with (
            tempfile.TemporaryDirectory() as folder,
            LocalEngine(folder, durability="process", embedder=embedder, clock=partial(Instant, asked_at.ns)) as engine,
        ):
            names = dict(stored(engine, group))
            while engine.maintain(10.0).left:
                pass
            for mode, score in zip(modes, scores, strict=True):
                for dialogue in group:
                    ask(engine, dialogue, names, store, mode, k, score)
    return scores


def stored(engine: LocalEngine, group: Sequence[Dialogue]) -> Iterator[tuple[str, tuple[str, str]]]:
    for dialogue in group:
        for start in range(0, len(dialogue.turns), BATCH):
            part = dialogue.turns[start : start + BATCH]
            for receipt, (dia_id, _) in zip(engine.store_many([turn for _, turn in part]), part, strict=True):
                yield receipt.id, (dialogue.name, dia_id)


def ask(
    engine: LocalEngine,
    dialogue: Dialogue,
    names: dict[str, tuple[str, str]],
    store: str,
    mode: FetchMode,
    k: int,
    score: Score,
) -> None:
    at = Namespace.ROOT if store == "whole" else Namespace.parse(f"agent:{dialogue.name}")
    wanted = MetaFilter(reach=Reach.subtree(at))
    for question, category, evidence in dialogue.questions:
        started = time.perf_counter()
        page = engine.fetch(FetchRequest(query=question, mode=mode, filter=wanted, limit=k))
        score.seconds.append(time.perf_counter() - started)
        found = {names[hit.id] for hit in page.hits}
        hits = sum((dialogue.name, dia_id) in found for dia_id in evidence)
        score.found.append((dialogue.name, category, hits / len(evidence)))


def table(rows: Sequence[tuple[str, Score]], dialogues: Sequence[Dialogue]) -> str:
    names = [dialogue.name for dialogue in dialogues]
    lines = [
        f"| store | all | {' | '.join(CATEGORIES.values())} | {' | '.join(names)} | p50 ms |",
        f"|{'---|' * (len(CATEGORIES) + len(names) + 3)}",
    ]
    for label, score in rows:
        cells = [
            score.recall(),
            *(score.recall(category) for category in CATEGORIES),
            *(score.recall(name=name) for name in names),
        ]
        middle = sorted(score.seconds)[len(score.seconds) // 2] * 1000
        lines.append(f"| {label} | {' | '.join(f'{cell:.1f}' for cell in cells)} | {middle:.1f} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path, help="conversations as locomo10.json has them")
    parser.add_argument("--stores", nargs="+", choices=STORES, default=STORES, help="which stores to measure")
    parser.add_argument("--k", type=int, default=10, help="how many hits are looked at")
    parser.add_argument("--embedder", default="minilm", help="minilm, fastembed:MODEL, …, or none; minilm by default")
    given = parser.parse_args()
    dialogues = read(given.file)
    asked = sum(len(dialogue.questions) for dialogue in dialogues)
    print(f"{len(dialogues)} conversations, {sum(len(each.turns) for each in dialogues)} turns, {asked} questions\n")
    embedder = None if given.embedder == "none" else Remembered(build_embedder(given.embedder))
    modes = (FetchMode.KEYWORD,) if embedder is None else tuple(FetchMode)
    measured = {store: measure(dialogues, store, modes, given.k, embedder) for store in given.stores}
    for place, mode in enumerate(modes):
        rows = [(store, scores[place]) for store, scores in measured.items()]
        label = {"keyword": "lexical", "vector": "by meaning alone"}.get(mode.value, mode.value)
        print(f"recall@{given.k} in per cent, {label}\n\n{table(rows, dialogues)}\n")
    first = measured[given.stores[0]]
    hybrid = "none" if embedder is None else f"{first[-1].recall():.1f}"
    print(f"recall@{given.k} lexical {first[0].recall():.1f} hybrid {hybrid}")


if __name__ == "__main__":
    main()
