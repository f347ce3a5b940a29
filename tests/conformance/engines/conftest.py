"""The engines that must pass, by name, and the synchronous suite's way through the asynchronous door."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator, Sequence
from pathlib import Path
from typing import Any, TypeVar

import pytest

from corebrain.aio import AsyncEngine
from corebrain.conformance.wrappers import BareEngine
from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine, Receipts
from corebrain.embed.letters import Letters
from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.model.item import StoreItem
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateReceipt,
    ConsolidateRequest,
    Consolidation,
    EraseReport,
    EraseRequest,
    ExplorePage,
    ExploreRequest,
    ExportPage,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
    WriteOptions,
)


class Embedding(BareEngine):
    """Embeds what was stored before it is read, which a host's upkeep does later."""

    inner: LocalEngine

    def fetch(self, request: FetchRequest) -> FetchPage:
        self.inner.maintain(0)
        return super().fetch(request)


FOREIGN = StoreItem.document("a foreign note, there before any run")
_Answer = TypeVar("_Answer")


class Blocking(MemoryEngine):
    """An `AsyncEngine` as an engine: every coroutine runs on a loop in a thread of its own."""

    def __init__(self, door: AsyncEngine) -> None:
        self._door = door
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever)
        self._thread.start()

    def _wait(self, call: Coroutine[Any, Any, _Answer]) -> _Answer:
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._door.descriptor

    def health(self) -> EngineHealth:
        return self._wait(self._door.health())

    def store(self, item: Item) -> StoreReceipt:
        return self._wait(self._door.store(item))

    def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        return self._wait(self._door.store_with(item, options))

    def store_many(self, items: Sequence[Item]) -> Receipts:
        return self._wait(self._door.store_many(items))

    def store_many_with(self, items: Sequence[Item], options: WriteOptions) -> Receipts:
        return self._wait(self._door.store_many_with(items, options))

    def fetch(self, request: FetchRequest) -> FetchPage:
        return self._wait(self._door.fetch(request))

    def recall(self, request: RecallRequest) -> RecallAnswer:
        return self._wait(self._door.recall(request))

    def list(self, request: ListRequest) -> ListPage:
        return self._wait(self._door.list(request))

    def get(self, request: GetRequest) -> Hits:
        return self._wait(self._door.get(request))

    def explore(self, request: ExploreRequest) -> ExplorePage:
        return self._wait(self._door.explore(request))

    def forget(self, target: ForgetTarget) -> ForgetReport:
        return self._wait(self._door.forget(target))

    def erase(self, request: EraseRequest) -> EraseReport:
        return self._wait(self._door.erase(request))

    def export(self, request: ListRequest) -> ExportPage:
        return self._wait(self._door.export(request))

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        return self._wait(self._door.consolidate(request))

    def beliefs(self, request: BeliefsRequest) -> Hits:
        return self._wait(self._door.beliefs(request))

    def close(self) -> None:
        if self._thread.is_alive():
            self._wait(self._door.close())
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()


def _holding_a_foreign_item(_: Path) -> MemoryEngine:
    engine = ReferenceEngine()
    engine.store(FOREIGN)
    return engine


ENGINES: dict[str, Callable[[Path], MemoryEngine]] = {
    "reference": lambda _: ReferenceEngine(),
    "reference declared automatic": lambda _: ReferenceEngine(Consolidation.AUTOMATIC),
    "bare": lambda _: BareEngine(ReferenceEngine()),
    "reference holding a foreign item": _holding_a_foreign_item,
    "local": lambda folder: LocalEngine(folder / "memory.db", durability="process"),
    "local, bare": lambda folder: BareEngine(LocalEngine(folder / "memory.db", durability="process")),
    "local, nothing embedded yet": lambda folder: LocalEngine(
        folder / "memory.db", durability="process", embedder=Letters()
    ),
    "local, embedding as it is read": lambda folder: Embedding(
        LocalEngine(folder / "memory.db", durability="process", embedder=Letters())
    ),
    "reference through the asynchronous door": lambda _: Blocking(AsyncEngine(ReferenceEngine())),
    "local through the asynchronous door": lambda folder: Blocking(
        AsyncEngine(LocalEngine(folder / "memory.db", durability="process"), workers=2)
    ),
}


@pytest.fixture(params=list(ENGINES))
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryEngine]:
    """Each engine that must pass, closed afterwards."""
    with ENGINES[request.param](tmp_path) as made:
        yield made


@pytest.fixture(params=["reference", "local"])
def sound(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryEngine]:
    """A sound engine to put faults around."""
    with ENGINES[request.param](tmp_path) as made:
        yield made


@pytest.fixture
def foreign() -> Item:
    """What the engine that holds a foreign item holds."""
    return FOREIGN
