"""The asynchronous door: any engine, its methods as coroutines (spec 01, opening).

```python
async with AsyncEngine(LocalEngine("brain.db")) as engine:
    receipt = await engine.store(item)
    page, answer = await asyncio.gather(engine.fetch(request), engine.recall(question))
```

Engines are blocking and safe to call from several threads; each call here runs on a thread of the door's own pool, and
the event loop stays free. The default pool of the loop is not used, so a slow engine starves nobody else.

**Cancelling** (also by `asyncio.timeout`) ends the wait at once. A call that had not begun is dropped; one that had
goes on in its thread to its end, and keeps its thread until then. So a cancelled write may still happen: repeat it
and it is a replay, or read to see. Nothing is left half done, as each call is whole by the law of the contract.
"""

import asyncio
import contextvars
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine, Receipts
from corebrain.errors import ConfigError, EngineError
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateReceipt,
    ConsolidateRequest,
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

WORKERS = 8
"""Calls that run at once unless told otherwise; the others wait their turn."""

_CLOSED = "the engine was closed: make another one"
_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


class AsyncEngine:
    """An engine's methods as coroutines; what they do, return and raise is the law of `MemoryEngine`.

    It may be used from several event loops. Context variables of the caller are seen by the engine.

    Args:
        engine: The engine; `close` closes it.
        workers: Calls that run at once, at least 1. Waiting calls are served in order.

    Raises:
        ConfigError: there are no workers.
    """

    def __init__(self, engine: MemoryEngine, *, workers: int = WORKERS) -> None:
        if workers < 1:
            raise ConfigError(f"workers is {workers}, at least 1 is needed")
        self._engine = engine
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="corebrain-aio")
        self._closed = False

    @property
    def descriptor(self) -> EngineDescriptor:
        """What the engine is and can do; no call, so no coroutine."""
        return self._engine.descriptor

    async def _call(self, method: Callable[_Given, _Answer], /, *args: _Given.args, **kwargs: _Given.kwargs) -> _Answer:
        """Run one method on a thread of the pool.

        Raises:
            EngineError: the door is closed.
        """
        if self._closed:
            raise EngineError(_CLOSED)
        context = contextvars.copy_context()
        loop = asyncio.get_running_loop()
        try:
            answer = loop.run_in_executor(self._pool, lambda: context.run(method, *args, **kwargs))
        except RuntimeError as error:  # closed meanwhile from another thread, or no thread to be had
            raise EngineError(f"the call could not begin: {error}") from error
        return await answer

    async def health(self) -> EngineHealth:
        """Tell whether the engine serves; never raises, also when the door is closed."""
        if self._closed:
            return EngineHealth.down(_CLOSED)
        return await self._call(self._engine.health)

    async def store(self, item: Item) -> StoreReceipt:
        """Store one item."""
        return await self._call(self._engine.store, item)

    async def store_with(self, item: Item, options: WriteOptions) -> StoreReceipt:
        """Store one item and wait as *options* say."""
        return await self._call(self._engine.store_with, item, options)

    async def store_many(self, items: Sequence[Item]) -> Receipts:
        """Store 1 to 100 items in order."""
        return await self._call(self._engine.store_many, items)

    async def store_many_with(self, items: Sequence[Item], options: WriteOptions) -> Receipts:
        """Store a batch and wait as *options* say."""
        return await self._call(self._engine.store_many_with, items, options)

    async def fetch(self, request: FetchRequest) -> FetchPage:
        """Return hits, best first."""
        return await self._call(self._engine.fetch, request)

    async def recall(self, request: RecallRequest) -> RecallAnswer:
        """Return an answer with citations."""
        return await self._call(self._engine.recall, request)

    async def list(self, request: ListRequest) -> ListPage:
        """Return a page of items."""
        return await self._call(self._engine.list, request)

    async def get(self, request: GetRequest) -> Hits:
        """Return the named items in the order named."""
        return await self._call(self._engine.get, request)

    async def explore(self, request: ExploreRequest) -> ExplorePage:
        """Count the values of a facet."""
        return await self._call(self._engine.explore, request)

    async def forget(self, target: ForgetTarget) -> ForgetReport:
        """Remove items by id or by filter."""
        return await self._call(self._engine.forget, target)

    async def erase(self, request: EraseRequest) -> EraseReport:
        """Delete nodes for good."""
        return await self._call(self._engine.erase, request)

    async def export(self, request: ListRequest) -> ExportPage:
        """Return a page of items exactly as stored."""
        return await self._call(self._engine.export, request)

    async def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        """Ask for a belief build."""
        return await self._call(self._engine.consolidate, request)

    async def beliefs(self, request: BeliefsRequest) -> Hits:
        """Return beliefs kept apart from items."""
        return await self._call(self._engine.beliefs, request)

    async def close(self) -> None:
        """Refuse further calls, finish those that were made, close the engine and end the threads; twice is safe.

        Cancelled, it goes on in a thread of its own.
        """
        self._closed = True
        closer = ThreadPoolExecutor(1, thread_name_prefix="corebrain-aio-close")
        ended = asyncio.get_running_loop().run_in_executor(closer, self._end)
        try:
            await asyncio.shield(ended)
        finally:
            closer.shutdown(wait=ended.done())

    def _end(self) -> None:
        self._pool.shutdown(wait=True)
        self._engine.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()
