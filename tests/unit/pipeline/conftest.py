"""A brain in memory, a scripted source, and a host whose clock and chance stand still."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from connectors.testing.scripted import ScriptedConnector
from corebrain.brain import Brain
from corebrain.contract import Item, Receipts
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import CorebrainError, InvalidRequest, Unavailable
from corebrain.layout import MemoryLayout
from corebrain.model.item import Document
from corebrain.model.requests import ForgetReport, ForgetTarget, GetRequest, Hit, ListPage, ListRequest
from pipeline.host import Host, Progress
from pipeline.options import SyncOptions
from pipeline.report import SourceReport, SyncReport
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all


class CountingEngine(ReferenceEngine):
    """Counts calls, and fails or refuses on demand."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.calls: list[str] = []
        self.failure: CorebrainError | None = None
        self.poison: str | None = None

    def store_many(self, items: Sequence[Item]) -> Receipts:
        self.calls.append("store_many")
        if self.failure is not None:
            raise self.failure
        if self.poison is not None and any(self.poison in item.render_text() for item in items):
            raise InvalidRequest("one of these cannot be kept")
        return super().store_many(items)

    def get(self, request: GetRequest) -> list[Hit]:
        self.calls.append("get")
        return super().get(request)

    def list(self, request: ListRequest) -> ListPage:
        self.calls.append("list")
        return super().list(request)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        self.calls.append("forget")
        return super().forget(target)

    def go_down(self) -> None:
        self.failure = Unavailable("the engine is down")

    def texts(self) -> dict[str, str]:
        """Path -> text of every document held."""
        return {
            str(item.meta.file_path or item.meta.url): item.text
            for item in self._items.values()
            if isinstance(item, Document)
        }

    def nodes(self) -> dict[str, str]:
        """Path -> node of every document held."""
        return {str(item.meta.file_path or item.meta.url): str(item.meta.namespace) for item in self._items.values()}


@dataclass
class Bench:
    """Everything a sync needs, and short words for it."""

    engine: CountingEngine = field(default_factory=CountingEngine)
    state: SqliteState = field(default_factory=lambda: SqliteState(None))
    layout: MemoryLayout = field(default_factory=MemoryLayout)
    clock: float = 1_000_000.0
    told: list[Progress] = field(default_factory=list)

    def host(self) -> Host:
        return Host(now=lambda: self.clock, chance=lambda: 0.5, tell=self.told.append)

    def sync(self, connector: ScriptedConnector, **options: Any) -> SourceReport:
        """Sync one source and return its report."""
        return self.sync_many(connector, **options).sources[0]

    def sync_many(self, *connectors: ScriptedConnector, **options: Any) -> SyncReport:
        """Sync several sources in one call."""
        self.engine.calls.clear()
        brain = Brain(self.engine, self.layout)
        chosen = SyncOptions(**{"threads": 2, **options})
        sources = [Source(connector.name, connector, brain, chosen) for connector in connectors]
        return sync_all(sources, self.state, self.host())


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def documents() -> Callable[[int], dict[str, str]]:
    """Make a number of distinct documents."""

    def make(count: int) -> dict[str, str]:
        return {f"docs/{number:04d}.md": f"# Document {number}\n\nText {number}." for number in range(count)}

    return make
