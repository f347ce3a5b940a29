"""What a live turn costs: `pre_turn` and `post_turn`, the pack around the engine's reads, the asynchronous door.

    python benchmarks/agent_turns.py
    python benchmarks/agent_turns.py --engine reference --times 5

Documents, threads and questions are those of the memory eval, all below one root and said by one agent: a tree of eval
size, or so many times that. Wall time holds what else the machine does, so the processor's time of this process stands
beside it, and what one `fdatasync` costs where the local engine's file lies. *Assembly* is a pack's time less the
engine's own reads: settling, rendering, and the work of gathering.

Last comes the asynchronous door: what awaiting a call adds to it, and how late the event loop is while many turns are
under way. Exits 1 when a goal on the local engine is missed. The last line is a summary.
"""

import argparse
import asyncio
import os
import sys
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from statistics import mean, quantiles
from typing import Any, TypeVar

from corebrain.aio import AsyncAgentMemory, AsyncEngine
from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory
from corebrain.model.instant import Instant
from corebrain.model.requests import (
    BeliefsRequest,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)

GOALS_MS = {"pre_turn p50": 4.0, "pre_turn p95": 10.0, "post_turn p50": 2.0, "assembly p50": 0.5, "door p50": 0.3}
SCENARIOS = Path(__file__).with_name("memory_eval.toml")
IN_PROMPT = 8  # turns of a thread that the prompt still holds
START = Instant.parse("2026-03-02T09:00:00Z")
MINUTE_NS = 60_000_000_000
TICK_S = 0.001
SAMPLES = 100
_Result = TypeVar("_Result")


@dataclass
class Times:
    """Milliseconds by what took them."""

    taken: dict[str, list[float]] = field(default_factory=dict)

    @contextmanager
    def of(self, what: str) -> Iterator[None]:
        wall, processor = time.perf_counter(), time.process_time()
        yield
        self.add(f"{what} cpu", time.process_time() - processor)
        self.add(what, time.perf_counter() - wall)

    def add(self, what: str, seconds: float) -> None:
        self.taken.setdefault(what, []).append(seconds * 1000)

    def p(self, what: str, percent: int) -> float:
        values = self.taken[what]
        return quantiles(values, n=100, method="inclusive")[percent - 1] if len(values) > 1 else values[0]


class Clocked(MemoryEngine):
    """An engine, and the seconds its reads have taken."""

    works_in_process = True

    def __init__(self, engine: MemoryEngine) -> None:
        self._engine = engine
        self.read_s = 0.0

    def _timed(self, read: Callable[[], _Result]) -> _Result:
        began = time.perf_counter()
        try:
            return read()
        finally:
            self.read_s += time.perf_counter() - began

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._engine.descriptor

    def health(self) -> EngineHealth:
        return self._engine.health()

    def store(self, item: Item) -> StoreReceipt:
        return self._engine.store(item)

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        return self._engine.store_with(item, options)

    def fetch(self, request: FetchRequest) -> FetchPage:
        return self._timed(lambda: self._engine.fetch(request))

    def recall(self, request: RecallRequest) -> RecallAnswer:
        return self._timed(lambda: self._engine.recall(request))

    def list(self, request: ListRequest) -> ListPage:
        return self._timed(lambda: self._engine.list(request))

    def beliefs(self, request: BeliefsRequest) -> Hits:
        return self._timed(lambda: self._engine.beliefs(request))

    def forget(self, target: ForgetTarget) -> ForgetReport:
        return self._engine.forget(target)


class Script:
    """What is filed, said and asked in the memory eval, its scenarios one after the other."""

    def __init__(self, file: Path) -> None:
        scenarios = tomllib.loads(file.read_text(encoding="utf-8"))["scenario"]
        self.documents = [each for scenario in scenarios for each in scenario.get("document", ())]
        self.threads = [
            [(exchange["user"], reply_to(exchange)) for exchange in thread["exchanges"]]
            for scenario in scenarios
            for thread in scenario.get("thread", ())
        ]
        self._questions = [probe["question"] for scenario in scenarios for probe in scenario["probe"]]

    def asked(self, number: int) -> str:
        """Return a question; every number has one of its own."""
        return f"{self._questions[number % len(self._questions)]} (case {number})"


def reply_to(exchange: dict[str, Any]) -> str:
    return "\n".join(tool["result"] for tool in exchange.get("tools", ())) or "Noted."


def at(turn: int) -> Instant:
    return Instant(START.ns + turn * MINUTE_NS)


def conversed(memory: AgentMemory, script: Script, repeats: int, times: Times) -> None:
    """Hold every thread so many times, its prompt keeping the last turns."""
    number = 0
    for again in range(repeats):
        for place, thread in enumerate(script.threads):
            for turn, (said, reply) in enumerate(thread):
                name, index, number = f"thread-{again}-{place}", 2 * turn, number + 1
                with times.of("pre_turn"):
                    logged = memory.pre_turn(name, index, said, max(0, index - IN_PROMPT), at(number))
                if logged.logged is None:
                    raise SystemExit(f"a turn was not logged: {logged.log_error}")
                with times.of("post_turn"):
                    memory.post_turn(name, index + 1, reply, at=at(number))


def assembled(engine: MemoryEngine, memory: AgentMemory, script: Script, times: Times) -> None:
    """Recall as a turn does, and keep what the engine's reads did not take."""
    clocked = Clocked(engine)
    watched = AgentMemory(clocked, memory.layout, memory.agent_id)
    for turn in range(SAMPLES):
        before = clocked.read_s
        began = time.perf_counter()
        watched.recall(script.asked(turn))
        times.add("assembly", time.perf_counter() - began - (clocked.read_s - before))


async def awaited(times: Times) -> None:
    """Take turn about: a read of nothing called and awaited; what awaiting adds is the difference of each pair."""
    engine, nothing = ReferenceEngine(), ListRequest()
    async with AsyncEngine(engine) as door:
        await door.list(nothing)
        for _ in range(5 * SAMPLES):
            began = time.perf_counter()
            engine.list(nothing)
            called = time.perf_counter() - began
            began = time.perf_counter()
            await door.list(nothing)
            times.add("door", time.perf_counter() - began - called)


async def lagging(memory: AgentMemory, script: Script, turns: int, times: Times) -> None:
    """Run so many turns at once and look every millisecond how late the loop is."""
    over = asyncio.Event()

    async def watch() -> None:
        while not over.is_set():
            began = time.perf_counter()
            await asyncio.sleep(TICK_S)
            times.add("loop lag", max(0.0, time.perf_counter() - began - TICK_S))

    async with AsyncAgentMemory(memory) as door:
        watcher = asyncio.create_task(watch())
        began = time.perf_counter()
        turns_at_once = (door.pre_turn(f"burst-{turn}", 0, script.asked(turn), at=at(turn)) for turn in range(turns))
        await asyncio.gather(*turns_at_once)
        times.add("burst", time.perf_counter() - began)
        over.set()
        await watcher


def synced(folder: Path, times: Times) -> None:
    """What the disk alone takes for a page that must survive a power loss."""
    sync = getattr(os, "fdatasync", os.fsync)
    with (folder / "probe").open("wb", buffering=0) as file:
        for _ in range(100):
            file.write(b"\0" * 4096)
            began = time.perf_counter()
            sync(file.fileno())
            times.add("fdatasync", time.perf_counter() - began)


@contextmanager
def opened(name: str, folder: Path) -> Iterator[MemoryEngine]:
    if name == "reference":
        yield ReferenceEngine()
        return
    from corebrain.engines.local import LocalEngine  # noqa: PLC0415  # only this choice needs its database library

    with LocalEngine(folder / "memory.db") as engine:
        yield engine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="local", choices=("local", "reference"))
    parser.add_argument("--times", type=int, default=1, help="how often the eval's threads are held")
    parser.add_argument("--burst", type=int, default=1000, help="turns at once while the loop is watched")
    given = parser.parse_args()
    times, script = Times(), Script(SCENARIOS)
    with tempfile.TemporaryDirectory() as place, opened(given.engine, Path(place)) as engine:
        memory = AgentMemory(engine, MemoryLayout(), "support-01")
        for each in script.documents:
            memory.brain().ingest(
                BrainDocument(source=BrainSource(each["source"]), title=each["title"], text=each["text"])
            )
        conversed(memory, script, given.times, times)
        assembled(engine, memory, script, times)
        asyncio.run(awaited(times))
        synced(Path(place), times)
        asyncio.run(lagging(memory, script, given.burst, times))
    sys.exit(report(given.engine, given.burst, times))


def report(engine: str, burst: int, times: Times) -> int:
    """Print the table and the summary; return the exit status."""
    print(f"{engine} engine\n\n| | times | p50 ms | p95 ms | mean ms | max ms |\n|---|---|---|---|---|---|")
    for what, values in times.taken.items():
        figures = times.p(what, 50), times.p(what, 95), mean(values), max(values)
        print(f"| {what} | {len(values)} | {' | '.join(f'{figure:.2f}' for figure in figures)} |")
    found = {goal: times.p(goal.rpartition(" p")[0], int(goal.rpartition(" p")[2])) for goal in GOALS_MS}
    missed = [goal for goal, value in found.items() if value > GOALS_MS[goal]]
    told = ", ".join(f"{goal} {value:.2f} (goal {GOALS_MS[goal]})" for goal, value in found.items())
    rate = burst / times.taken["burst"][0] * 1000
    print(f"\n{told} ms; loop lag p95 {times.p('loop lag', 95):.1f} ms at {rate:.0f} turns/s")
    return int(engine == "local" and bool(missed))


if __name__ == "__main__":
    main()
