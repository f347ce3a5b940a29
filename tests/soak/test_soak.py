"""A thousand scheduled cycles in a minute: a clock of its own, faults at random, and nothing that grows."""

import gc
import os
import random
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from queue import Empty

import pytest

from connectors.errors import AuthError, ConnectorError, DocumentError, DocumentRefused, Unavailable
from connectors.testing.behaviour import Behaviour
from connectors.testing.scripted import ScriptedConnector
from corebrain.brain import Brain
from corebrain.engines.local.engine import LocalEngine
from corebrain.layout import BrainSource, MemoryLayout
from corebrain.model.requests import ListRequest
from pipeline.daemon import Daemon, Inbox, Listener, Message, Tended
from pipeline.host import Host
from pipeline.options import SyncOptions
from pipeline.report import SourceReport
from pipeline.schedule import Every, Schedule, cron_of
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.upkeep import Upkeep

CYCLES = 1_000
WARM = 300
"""Cycles after which caches are full and growth counts."""

GROWTH = 1.05
SEED = 20_261_201
PAGE = 4096


def footprint() -> tuple[int, int, int]:
    """Return threads, open descriptors and resident bytes; zeros where the system does not tell.

    Readers of the engine are left out: it keeps a few open, as many as ever read at the same time.
    """
    gc.collect()
    self = Path("/proc/self")
    if not self.exists():
        return threading.active_count(), 0, 0
    opened = [os.path.realpath(descriptor) for descriptor in (self / "fd").iterdir()]
    resident = int((self / "statm").read_text().split()[1]) * PAGE
    return threading.active_count(), sum("memory.db" not in name for name in opened), resident


class Fate:
    """Edits the sources and arms their faults, at random from a seed."""

    def __init__(self, sources: list[ScriptedConnector]) -> None:
        self.sources = sources
        self.chance = random.Random(SEED)  # noqa: S311 - a test's dice, not a secret
        self.made = 0

    def strike(self) -> None:
        """Change one source a little, heal another, and perhaps let something go wrong."""
        source = self.chance.choice(self.sources)
        if self.chance.random() < 0.5:
            source.faults.heal()
        self.edit(source)
        if self.chance.random() < 0.4:
            self.chance.choice(self.faults(source))()

    def edit(self, source: ScriptedConnector) -> None:
        self.made += 1
        keys = source.keys
        key = self.chance.choice(keys)
        match self.chance.randrange(4):
            case 0 if len(keys) < 60:
                source.put(f"new/{self.made}.md", f"# New {self.made}\n\nText {self.made}.")
            case 1 if len(keys) > 30:
                source.remove(key, tombstone=source.behaviour.deltas)
            case 2:
                source.rename(key, f"moved/{self.made}.md")
            case _:
                source.put(key, f"# Edited {self.made}\n\nText {self.made}.")

    def faults(self, source: ScriptedConnector) -> list[Callable[[], None]]:
        key = self.chance.choice(source.keys)
        errors: list[ConnectorError] = [
            Unavailable("the line is cut"),
            Unavailable("slow down", retry_after_s=self.chance.randrange(1, 600)),
            AuthError("the token is refused"),
        ]
        error = self.chance.choice(errors)
        return [
            lambda: source.faults.stop_scan(after=self.chance.randrange(10), error=error),
            lambda: source.faults.fail("", error),
            lambda: source.faults.fail("docs/", error),
            lambda: source.faults.poison(key, DocumentRefused(f"{key} is too large", "split it")),
            lambda: source.faults.poison(key, DocumentError(f"{key} was cut")),
            lambda: source.faults.break_fetch(len(source.fetches) + self.chance.randrange(1, 4), error),
            source.faults.expire_cursors,
            lambda: source.faults.repeat(key),
        ]


def sources() -> list[ScriptedConnector]:
    kinds = [
        ("plain", BrainSource.FILES, Behaviour()),
        ("delta", BrainSource.NOTION, Behaviour(deltas=True)),
        ("crawl", BrainSource.WEB, Behaviour(tokens=False, in_listing=True)),
    ]
    return [
        ScriptedConnector(
            {f"docs/{number}.md": f"# {name} {number}\n\nText of {name} {number}." for number in range(40)},
            name=name,
            source=node,
            behaviour=behaviour,
        )
        for name, node, behaviour in kinds
    ]


def held(engine: LocalEngine, layout: MemoryLayout, source: ScriptedConnector) -> dict[str, str]:
    """Return path -> text of what the engine holds of a source."""
    wanted = layout.brain_filter(source.source).model_copy(update={"source_id": source.name})
    found: dict[str, str] = {}
    cursor = None
    while True:
        page = engine.list(ListRequest(filter=wanted, limit=200, cursor=cursor))
        for hit in page.items:
            place = str(hit.meta.file_path or hit.meta.url)
            assert place not in found, f"{place} is held twice"
            found[place] = hit.text
        cursor = page.next_cursor
        if cursor is None:
            return found


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_a_thousand_cycles_with_faults_leave_nothing_behind_and_nothing_wrong(tmp_path: Path) -> None:
    engine, state = LocalEngine(tmp_path / "memory.db", durability="process"), SqliteState(tmp_path / "state.db")
    layout, made = MemoryLayout(), sources()
    fate, stop, clock = Fate(made), threading.Event(), [1_000_000.0]
    counts = {"cycles": 0, "failed": 0}
    seen: list[tuple[int, int, int]] = []

    class Clocked(Inbox):
        """Lets time pass only while nothing runs."""

        def get(self, timeout_s: float) -> Message | None:
            try:
                return self._queue.get_nowait()
            except Empty:
                if daemon.running:
                    return self._queue.get(timeout=120)
                clock[0] += timeout_s
                return None

    def reported(report: SourceReport, scopes: tuple[str, ...]) -> None:
        assert not scopes
        counts["cycles"] += 1
        counts["failed"] += report.error is not None
        if counts["cycles"] in {WARM, CYCLES}:
            seen.append(footprint())
        if counts["cycles"] < CYCLES - 100:
            fate.strike()
        elif counts["cycles"] == CYCLES - 100:
            for source in made:
                source.faults.heal()
        if counts["cycles"] >= CYCLES:
            stop.set()

    schedules: list[Schedule] = [Every(900.0), Every(300.0), cron_of("*/10 * * * *")]
    tended = [
        Tended(Source(source.name, source, Brain(engine), SyncOptions(threads=2)), schedule)
        for source, schedule in zip(made, schedules, strict=True)
    ]
    host = Host(now=lambda: clock[0], chance=fate.chance.random, stop=stop)
    upkeep = Upkeep(engine, layout, state, now=host.now, say=lambda line: None, build_beliefs=True)  # noqa: ARG005 - nobody listens
    daemon = Daemon(tended, state, host, listener=Listener(reported=reported), upkeep=upkeep, inbox=Clocked())
    assert daemon.run()

    assert counts["failed"] > 20, "the faults must have struck"
    (threads, descriptors, memory), (threads_after, descriptors_after, memory_after) = seen
    assert threads_after <= threads
    assert descriptors_after <= descriptors
    assert memory_after <= memory * GROWTH, f"{memory:,} bytes became {memory_after:,}"
    for source in made:
        texts = held(engine, layout, source)
        assert sorted(texts) == sorted(source.keys)
        for key in source.keys:
            wanted = source._held[key][1].data
            assert isinstance(wanted, bytes)
            assert wanted.decode().rpartition("\n")[2] in texts[key]
    state.close()
    engine.close()
    sys.stdout.write(
        f"\nsoak: {counts['cycles']:,} cycles, {counts['failed']} failed; threads {threads} -> {threads_after},"
        f" descriptors {descriptors} -> {descriptors_after}, memory {memory_after / memory - 1:+.1%};"
        " what is held equals the sources\n"
    )
