"""An engine that answers what a test scripts, and remembers what it was asked."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine
from corebrain.model.requests import (
    BeliefsRequest,
    FetchMode,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
)

ALL_MODES = (FetchMode.KEYWORD, FetchMode.VECTOR, FetchMode.HYBRID)


class Scripted(MemoryEngine):
    """Each reader is a function of the request; by default nothing is found. `asked` holds every request."""

    def __init__(
        self,
        *,
        fetch: Callable[[FetchRequest], FetchPage] = lambda _: FetchPage(),
        listing: Callable[[ListRequest], ListPage] = lambda _: ListPage(),
        recall: Callable[[RecallRequest], RecallAnswer] = lambda _: RecallAnswer(answer=""),
        beliefs: Callable[[BeliefsRequest], Hits] = lambda _: [],
        modes: Sequence[FetchMode] = ALL_MODES,
    ) -> None:
        self._fetch, self._listing, self._recall, self._beliefs = fetch, listing, recall, beliefs
        self._descriptor = EngineDescriptor(
            id="scripted", label="Scripted", description="as told", fetch_modes=tuple(modes)
        )
        self._lock = threading.Lock()
        self.asked: list[Any] = []

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._descriptor

    def health(self) -> EngineHealth:
        return EngineHealth.ok()

    def _note(self, request: Any) -> None:
        request.validate()
        with self._lock:
            self.asked.append(request)

    def fetches(self) -> list[FetchRequest]:
        return [request for request in self.asked if isinstance(request, FetchRequest)]

    def fetch(self, request: FetchRequest) -> FetchPage:
        self._note(request)
        return self._fetch(request)

    def list(self, request: ListRequest) -> ListPage:
        self._note(request)
        return self._listing(request)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        self._note(request)
        return self._recall(request)

    def beliefs(self, request: BeliefsRequest) -> Hits:
        self._note(request)
        return self._beliefs(request)

    def store(self, item: Item) -> StoreReceipt:
        raise NotImplementedError

    def forget(self, target: ForgetTarget) -> ForgetReport:
        raise NotImplementedError


@pytest.fixture
def scripted() -> type[Scripted]:
    return Scripted
