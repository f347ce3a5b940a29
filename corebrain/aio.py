"""The asynchronous door: any engine, and an agent's memory, as coroutines (spec 01, opening).

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
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from types import TracebackType
from typing import ParamSpec, Self, TypeVar

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine, Receipts
from corebrain.errors import ConfigError, EngineError
from corebrain.jobs import BuildBeliefs, IngestBrain, JobReport
from corebrain.lifecycle import AgentMemory, Moment, PostTurnReport, TurnContext, forget_history
from corebrain.model.item import Turn
from corebrain.model.meta import ToolCallRef
from corebrain.model.namespace import Namespace
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
from corebrain.recall import ContextPack
from corebrain.tools import MemoryTools
from corebrain.tools.render import Json

WORKERS = 8
"""Calls that run at once unless told otherwise; the others wait their turn."""

_CLOSED = "the engine was closed: make another one"
_Given = ParamSpec("_Given")
_Answer = TypeVar("_Answer")


class _Door:
    """Threads of its own, and calls on them."""

    def __init__(self, workers: int) -> None:
        if workers < 1:
            raise ConfigError(f"workers is {workers}, at least 1 is needed")
        self._pool = ThreadPoolExecutor(workers, thread_name_prefix="corebrain-aio")
        self._closed = False

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

    async def close(self) -> None:
        """Refuse further calls, finish those that were made, and end the threads; twice is safe.

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

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()


class AsyncEngine(_Door):
    """An engine's methods as coroutines; what they do, return and raise is the law of `MemoryEngine`.

    It may be used from several event loops. Context variables of the caller are seen by the engine. `close` refuses
    further calls, finishes those that were made, closes the engine and ends the threads.

    Args:
        engine: The engine; `close` closes it.
        workers: Calls that run at once, at least 1. Waiting calls are served in order.

    Raises:
        ConfigError: there are no workers.
    """

    def __init__(self, engine: MemoryEngine, *, workers: int = WORKERS) -> None:
        super().__init__(workers)
        self._engine = engine

    @property
    def descriptor(self) -> EngineDescriptor:
        """What the engine is and can do; no call, so no coroutine."""
        return self._engine.descriptor

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

    def _end(self) -> None:
        super()._end()
        self._engine.close()


class AsyncAgentMemory(_Door):
    """The moments of an agent's turn as coroutines; what they do, return and raise is said at `AgentMemory`.

    ```python
    async with AsyncAgentMemory(AgentMemory(engine, layout, "coder")) as memory:
        context = await memory.pre_turn("t1", 0, "when do refunds settle")
    ```

    Accessors, jobs (`history_build`, `core_build`) and variants (`with_policy`, `with_core`) wait for nothing: take
    them from `memory`. `close` ends the threads and leaves the engine open, for other agents may use it.

    Args:
        memory: One agent's memory.
        workers: Calls that run at once, at least 1.

    Raises:
        ConfigError: there are no workers.
    """

    def __init__(self, memory: AgentMemory, *, workers: int = WORKERS) -> None:
        super().__init__(workers)
        self.memory = memory

    async def start_session(self, thread_id: str | None = None, focus: str | None = None) -> ContextPack:
        """Return what an agent should know when a session starts or resumes."""
        return await self._call(self.memory.start_session, thread_id, focus)

    async def pre_turn(
        self, thread_id: str, turn_index: int, user_text: str, in_prompt_from: int = 0, at: Moment | None = None
    ) -> TurnContext:
        """Log what the user said and recall for it, at once."""
        return await self._call(self.memory.pre_turn, thread_id, turn_index, user_text, in_prompt_from, at)

    async def post_turn(
        self,
        thread_id: str,
        turn_index: int,
        assistant_text: str,
        tool_calls: Iterable[ToolCallRef] = (),
        at: Moment | None = None,
    ) -> PostTurnReport:
        """Log the reply; hand back a belief build when one is due."""
        return await self._call(self.memory.post_turn, thread_id, turn_index, assistant_text, tuple(tool_calls), at)

    async def recall_for_compaction(
        self, thread_id: str, dropped: Sequence[Turn], focus: str | None = None
    ) -> ContextPack:
        """Return what should stand in place of turns that leave the prompt."""
        return await self._call(self.memory.recall_for_compaction, thread_id, dropped, focus)

    async def recall(self, query: str | None = None) -> ContextPack:
        """Return the standard sections for *query*; nothing is logged."""
        return await self._call(self.memory.recall, query)

    async def run_background(self, job: BuildBeliefs | IngestBrain) -> JobReport:
        """Run a job that a call handed back."""
        return await self._call(self.memory.run_background, job)

    async def promote(self, node: Namespace, item: Item) -> StoreReceipt:
        """Store *item* at a configured core node."""
        return await self._call(self.memory.promote, node, item)

    async def call_tool(self, tools: MemoryTools, name: str, arguments: object = None) -> Json:
        """Run a tool of *tools*, such as `memory.memory.tools().read_only()`, and return its JSON."""
        return await self._call(tools.call, name, arguments)

    async def forget_history(
        self, thread: str | None = None, before: Moment | None = None, *, dry_run: bool = False
    ) -> ForgetReport:
        """Forget the agent's turns, and the learnings that builds distilled from them."""
        return await self._call(forget_history, self.memory, thread, before, dry_run=dry_run)
