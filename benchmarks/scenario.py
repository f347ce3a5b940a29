"""What a turn costs in a large memory: python benchmarks/scenario.py [--turns 200] [--folder DIR] [--vectors]
[--growth].

Scenario S: 100,000 passages of documents in 4 sources of 25 collections, 50 agents of 2,000 turns, 5,000 learnings,
20 items of a core scope above the layout root; 50,000 words by Zipf's law, the most frequent being the function words
of English; a user's message has twenty of them. Printed:
`pre_turn` (logs and recalls), `post_turn` and `start_session` at full durability, `post_turn` with
`durability="process"`, each section's own read, and in the same run what one durable write costs on this disk.

With --vectors every text has a vector and every question is asked by words and meaning, the vectors drawn, not made by
a model: its own time comes on top (a small one's some 7 ms a question).

With --growth the same for smaller and larger memories and for 1 to 500 agents: no section's cost may grow with what it
does not reach, and the team section's at most twofold from 50 to 500 agents.
"""

import argparse
import shutil
import statistics
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from zlib import crc32

from benchmarks.local_engine import one_sync
from benchmarks.made_up import Words
from benchmarks.peak import peak_mb
from corebrain.contract import Item
from corebrain.embed import Embedder
from corebrain.engines.local import LocalEngine
from corebrain.layout import BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, CoreScope
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, TurnRange
from corebrain.model.namespace import Namespace
from corebrain.model.requests import FetchPage, FetchRequest

LAYOUT = MemoryLayout(root=Namespace.parse("team:acme/project:one"))
CORE = Namespace.parse("team:acme")
SOURCES = (BrainSource.FILES, BrainSource.NOTION, BrainSource.GITHUB, BrainSource.WEB)
BATCH = 100
START = Instant.parse("2026-01-01T00:00:00Z")
MINUTE_NS = 60 * 1_000_000_000
GOALS_BY_MEANING = (30.0, 60.0)  # of pre_turn, the question's vector given
GOALS = {"pre_turn": (20.0, 45.0), "post_turn": (4.0, 10.0), "start_session": (20.0, None)}


@dataclass(frozen=True, slots=True)
class Size:
    """How much a memory holds."""

    passages: int = 100_000
    agents: int = 50
    turns: int = 2_000
    learnings: int = 5_000
    core: int = 20

    @property
    def items(self) -> int:
        return self.passages + self.agents * self.turns + self.learnings + self.core


def items(size: Size, words: Words) -> Iterator[Item]:
    """Yield what the memory holds, as syncs and conversations bring it."""
    for number in range(size.passages):
        source, collection = SOURCES[number * 4 // size.passages], f"c{number % 25}"
        meta = MemoryMeta(
            namespace=LAYOUT.brain_collection(source, collection),
            file_path=f"f/{number}.md",
            source=SourceRef(kind=SourceKind.FILE, id=source.id),
        )
        yield Document(title=words(4), body=Body(text=words(110)), mime="text/markdown", meta=meta)
    for turn in range(size.turns):  # agents talk side by side
        for agent in range(size.agents):
            yield turn_of(agent, turn, words(25))
    for number in range(size.learnings):
        yield learning(f"{words(14)} {number}", LAYOUT.learnings())
    for number in range(size.core):
        yield learning(f"{words(14)} {number} for all", CORE)


def turn_of(agent: int, turn: int, text: str) -> Conversation:
    """Return one turn, a hundred to a thread."""
    thread = f"thread-{agent}-{turn // 100}"
    meta = MemoryMeta(
        namespace=LAYOUT.conversations(f"a{agent}"),
        thread_id=thread,
        turns=TurnRange(first=turn % 100, last=turn % 100),
        agent_id=f"a{agent}",
        source=SourceRef(kind=SourceKind.CONVERSATION, id=thread),
        observed_at=Instant(START.ns + turn * MINUTE_NS),
    )
    role = Role.ASSISTANT if turn % 2 else Role.USER
    return Conversation(turns=(Turn(role=role, text=text),), meta=meta)


def learning(text: str, at: Namespace) -> Learning:
    """Return a fact at a node."""
    return Learning(text=text, kind=LearningKind.FACT, confidence=0.8, meta=MemoryMeta(namespace=at))


class Drawn:
    """An embedder that draws a vector for each text, the same every time."""

    name = "drawn"
    dimension = 384

    def embed(self, texts: Sequence[str]) -> list[Any]:
        import numpy as np  # noqa: PLC0415  # only with --vectors

        return [
            np.random.default_rng(crc32(text.encode())).standard_normal(self.dimension, np.float32) for text in texts
        ]


class Timed(LocalEngine):
    """The local engine, each of its ranked reads timed by what it reaches."""

    def __init__(self, path: Path, embedder: Embedder | None) -> None:
        super().__init__(path, embedder=embedder)
        self.spent: dict[str, list[float]] = defaultdict(list)

    def fetch(self, request: FetchRequest) -> FetchPage:
        start = time.perf_counter()
        page = super().fetch(request)
        self.spent[section(request)].append((time.perf_counter() - start) * 1e3)
        return page


def section(request: FetchRequest) -> str:
    """Name the section of a pack that a read is for."""
    at = request.filter.reach.at if request.filter.reach else Namespace.ROOT
    if at == CORE:
        return "core scope"
    named = {ItemKind.DOCUMENT: "brain", ItemKind.LEARNING: "learnings", ItemKind.CONVERSATION: "team"}
    return "own history" if at != LAYOUT.root else named[request.filter.kinds[0]]


def quantiles(taken: list[float]) -> tuple[float, float]:
    """Return the median and the 95th percentile."""
    taken = sorted(taken)
    return statistics.median(taken), taken[min(len(taken) - 1, int(len(taken) * 0.95))]


def fill(file: Path, size: Size, words: Words, embedder: Embedder | None = None) -> float:
    """Store everything in batches; return items a second."""
    start = time.perf_counter()
    with LocalEngine(file, durability="process") as engine:
        batch: list[Item] = []
        for item in items(size, words):
            batch.append(item)
            if len(batch) == BATCH:
                engine.store_many(batch)
                batch = []
        if batch:
            engine.store_many(batch)
        taken = time.perf_counter() - start
        engine.maintain(60)
    if embedder is not None:
        with LocalEngine(file, durability="process", embedder=embedder) as engine:
            while engine.maintain(60).left:
                pass
    return size.items / taken


def live(engine: LocalEngine, words: Words, times: int, agents: int) -> dict[str, list[float]]:
    """Let agents take *times* turns; return what each moment took, in milliseconds."""
    taken: dict[str, list[float]] = defaultdict(list)

    def timed(name: str, run: Callable[[], object]) -> None:
        start = time.perf_counter()
        run()
        taken[name].append((time.perf_counter() - start) * 1e3)

    for number in range(times):
        memory = AgentMemory(engine, LAYOUT, f"a{number % agents}").with_core([CoreScope(at=CORE, heading="Company")])
        thread, at = f"live-{number}", Instant(START.ns + (10_000 + number) * MINUTE_NS)
        if number % 10 == 0:
            timed("start_session", memory.start_session)
        asked, said = words(20), words(25)
        timed("pre_turn", lambda m=memory, t=thread, a=at, q=asked: m.pre_turn(t, 0, q, at=a))  # type: ignore[misc]  # a lambda's defaults have no types
        timed("post_turn", lambda m=memory, t=thread, a=at, q=said: m.post_turn(t, 1, q, at=a))  # type: ignore[misc]  # as above
    return taken


def measured(
    file: Path, words: Words, times: int, agents: int, embedder: Embedder | None = None
) -> dict[str, tuple[float, float]]:
    """Return median and 95th percentile of each moment and of each section's read."""
    with Timed(file, embedder) as engine:
        live(engine, words, 10, agents)
        engine.spent.clear()
        taken = live(engine, words, times, agents)
        found = {name: quantiles(values) for name, values in taken.items()}
        found |= {f"  read: {name}": quantiles(values) for name, values in engine.spent.items()}
    with LocalEngine(file, durability="process", embedder=embedder) as engine:
        found["post_turn, durability=process"] = quantiles(live(engine, words, times, agents)["post_turn"])
    return found


def scenario(folder: Path, times: int, embedder: Embedder | None) -> None:
    """Print scenario S against its goals and this disk's floor."""
    size, words, file = Size(), Words(), folder / "memory.db"
    print(f"{size.items:,} items: {size.passages:,} passages, {size.agents} agents of {size.turns:,} turns")
    rate = fill(file, size, words, embedder)
    goals = GOALS if embedder is None else {**GOALS, "pre_turn": GOALS_BY_MEANING}
    print(f"stored {rate:,.0f} items/s (process durability); file {file.stat().st_size / 1e6:,.0f} MB")
    floor = one_sync(folder)
    for name, (middle, high) in measured(file, words, times, size.agents, embedder).items():
        goal = goals.get(name)
        line = f"{name:32} p50 {middle:8.2f} ms   p95 {high:8.2f} ms"
        print(line + (f"   goal {goal[0]:g}" + (f" / {goal[1]:g}" if goal[1] else "") if goal else ""))
    print(f"{'one 4 KiB write and fdatasync':32} p50 {floor:8.2f} ms   peak memory {peak_mb():.0f} MB")


def growth(folder: Path, times: int, sizes: list[Size]) -> None:
    """Print each section's read for growing memories."""
    for size in sizes:
        file, words = folder / f"{size.items}-{size.agents}.db", Words()
        rate = fill(file, size, words)
        found = measured(file, words, times, size.agents)
        told = ", ".join(
            f"{name.removeprefix('  read: ')} {middle:.2f}/{high:.2f}" for name, (middle, high) in found.items()
        )
        print(f"{size.items:>9,} items, {size.agents:>3} agents, {rate:,.0f}/s, p50/p95 ms: {told}", flush=True)
        file.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=200, help="turns that are measured")
    parser.add_argument("--folder", type=Path, help="where the files are written (default: a temporary folder)")
    parser.add_argument("--vectors", action="store_true", help="search by words and meaning, vectors given")
    parser.add_argument("--growth", action="store_true", help="measure memories of many sizes")
    parser.add_argument("--largest", type=int, default=1_000_000, help="items of the largest memory of --growth")
    arguments = parser.parse_args()
    folder = Path(tempfile.mkdtemp(dir=arguments.folder))
    try:
        if arguments.growth:
            by_items = [1_000, 10_000, 100_000, 1_000_000]
            sizes = [Size(n // 2, 50, n // 125, n // 20, 20) for n in by_items if n <= arguments.largest]
            by_agents = [Size(50_000, agents, 100, 2_000, 20) for agents in (1, 50, 500)]
            growth(folder, arguments.turns, [*sizes, *by_agents])
        else:
            scenario(folder, arguments.turns, Drawn() if arguments.vectors else None)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
