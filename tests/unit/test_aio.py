"""The asynchronous door: the same methods, off the loop's thread, with an end that can be relied on."""

import asyncio
import contextvars
import inspect
import threading
from collections.abc import Iterator

import pytest

from corebrain.aio import AsyncEngine
from corebrain.contract import HealthState, Item, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import ConfigError, EngineError, InvalidRequest
from corebrain.model.item import StoreItem
from corebrain.model.requests import ForgetTarget, ListPage, ListRequest, StoreReceipt

ITEM = StoreItem.document("refunds take five days")
WAIT_S = 30
"""Longer than any wait of a sound run; ends a hanging one."""

caller: contextvars.ContextVar[str] = contextvars.ContextVar("caller", default="nobody")


class Gated(ReferenceEngine):
    """Stores only when let, and counts who is inside."""

    def __init__(self) -> None:
        super().__init__()
        self.entered = threading.Semaphore(0)
        self.gate = threading.Event()
        self.inside = self.most = self.closed = 0
        self.seen: list[str] = []
        self._counting = threading.Lock()

    def store(self, item: Item) -> StoreReceipt:
        with self._counting:
            self.inside += 1
            self.most = max(self.most, self.inside)
            self.seen.append(caller.get())
        self.entered.release()
        assert self.gate.wait(WAIT_S)
        with self._counting:
            self.inside -= 1
        return super().store(item)

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def gated() -> Iterator[Gated]:
    engine = Gated()
    yield engine
    engine.gate.set()


async def entered(engine: Gated) -> None:
    """Wait until one more call is inside, without holding the loop."""
    assert await asyncio.to_thread(engine.entered.acquire, timeout=WAIT_S)


def document(number: int) -> Item:
    return StoreItem.document(f"note {number}")


def own_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("corebrain-aio")]


def test_every_method_of_the_contract_is_a_coroutine_with_the_same_parameters() -> None:
    names = [name for name, _ in inspect.getmembers(MemoryEngine, inspect.isfunction) if not name.startswith("_")]
    assert len(names) == 16
    for name in names:
        ours = getattr(AsyncEngine, name)
        assert inspect.iscoroutinefunction(ours), name
        assert inspect.signature(ours) == inspect.signature(getattr(MemoryEngine, name)), name


def test_calls_answer_and_raise_as_the_engine_does() -> None:
    async def scenario() -> None:
        async with AsyncEngine(ReferenceEngine()) as engine:
            assert engine.descriptor.id == "reference"
            receipt = await engine.store(ITEM)
            assert receipt == StoreReceipt(id=ITEM.fingerprint(), replayed=False)
            assert (await engine.health()).is_serving
            page = await engine.list(ListRequest())
            assert [hit.id for hit in page.items] == [receipt.id]
            with pytest.raises(InvalidRequest, match="names no ids"):
                await engine.forget(ForgetTarget(ids=()))
            assert (await engine.forget(ForgetTarget.of_ids(receipt.id))).forgotten == 1

    asyncio.run(scenario())


def test_the_loop_stays_free_while_calls_run_at_once(gated: Gated) -> None:
    async def scenario() -> None:
        async with AsyncEngine(gated, workers=2) as engine:
            calls = [asyncio.create_task(engine.store(document(number))) for number in range(5)]
            await entered(gated)
            await entered(gated)
            assert not any(call.done() for call in calls)
            gated.gate.set()
            receipts = await asyncio.gather(*calls)
            assert [receipt.id for receipt in receipts] == [document(number).fingerprint() for number in range(5)]

    asyncio.run(scenario())
    assert gated.most == 2


def test_a_cancelled_call_that_had_begun_goes_on_and_one_that_had_not_is_dropped(gated: Gated) -> None:
    async def scenario() -> None:
        async with AsyncEngine(gated, workers=1) as engine:
            begun = asyncio.create_task(engine.store(document(1)))
            await entered(gated)
            waiting = asyncio.create_task(engine.store(document(2)))
            await asyncio.sleep(0)
            for call in (begun, waiting):
                call.cancel()
                with pytest.raises(asyncio.CancelledError):
                    await call
            gated.gate.set()

    asyncio.run(scenario())
    assert [hit.id for hit in gated.list(ListRequest()).items] == [document(1).fingerprint()]
    assert len(gated.seen) == 1


def test_closing_finishes_what_was_called_then_closes_the_engine_and_leaves_no_thread(gated: Gated) -> None:
    async def scenario() -> None:
        engine = AsyncEngine(gated, workers=1)
        calls = [asyncio.create_task(engine.store(document(number))) for number in range(2)]
        await entered(gated)
        closing = [asyncio.create_task(engine.close()) for _ in range(2)]
        await asyncio.sleep(0)
        assert gated.closed == 0
        gated.gate.set()
        await asyncio.gather(*closing)
        assert [(await call).replayed for call in calls] == [False, False]
        assert own_threads() == []

    asyncio.run(scenario())
    assert gated.closed > 0
    assert len(gated) == 2


def test_a_closed_door_refuses_calls_and_reports_itself_down() -> None:
    async def scenario() -> None:
        engine = AsyncEngine(ReferenceEngine())
        await engine.close()
        await engine.close()
        with pytest.raises(EngineError, match="was closed: make another one"):
            await engine.store(ITEM)
        assert (await engine.health()).state is HealthState.DOWN

    asyncio.run(scenario())


def test_a_call_that_finds_the_pool_gone_is_a_typed_error() -> None:
    async def scenario() -> None:
        async with AsyncEngine(ReferenceEngine()) as engine:
            engine._pool.shutdown()  # as when another thread closes between the look and the call
            with pytest.raises(EngineError, match="could not begin"):
                await engine.store(ITEM)

    asyncio.run(scenario())


def test_closing_goes_on_when_it_is_cancelled(gated: Gated) -> None:
    async def scenario() -> None:
        engine = AsyncEngine(gated, workers=1)
        call = asyncio.create_task(engine.store(ITEM))
        await entered(gated)
        closing = asyncio.create_task(engine.close())
        await asyncio.sleep(0)
        closing.cancel()
        with pytest.raises(asyncio.CancelledError):
            await closing
        gated.gate.set()
        assert not (await call).replayed
        await engine.close()

    asyncio.run(scenario())
    assert gated.closed > 0
    assert len(gated) == 1


def test_leaving_by_an_error_closes_too(gated: Gated) -> None:
    async def scenario() -> None:
        async with AsyncEngine(gated):
            raise KeyError("the host's own")

    with pytest.raises(KeyError):
        asyncio.run(scenario())
    assert gated.closed > 0


def test_the_engine_sees_the_context_of_its_caller(gated: Gated) -> None:
    gated.gate.set()

    async def named(engine: AsyncEngine, name: str) -> None:
        caller.set(name)
        await engine.store(document(len(name)))

    async def scenario() -> None:
        async with AsyncEngine(gated) as engine:
            await asyncio.gather(*(asyncio.create_task(named(engine, name)) for name in ("ann", "ben")))

    asyncio.run(scenario())
    assert sorted(gated.seen) == ["ann", "ben"]


def test_one_door_serves_several_loops() -> None:
    engine = AsyncEngine(ReferenceEngine(), workers=2)
    found: list[ListPage] = []

    def other_loop() -> None:
        found.append(asyncio.run(engine.list(ListRequest())))

    async def scenario() -> None:
        await engine.store(ITEM)
        thread = threading.Thread(target=other_loop)
        thread.start()
        await asyncio.to_thread(thread.join)
        await engine.close()

    asyncio.run(scenario())
    assert [hit.id for page in found for hit in page.items] == [ITEM.fingerprint()]


def test_a_door_without_workers_is_refused() -> None:
    with pytest.raises(ConfigError, match="workers is 0, at least 1 is needed"):
        AsyncEngine(ReferenceEngine(), workers=0)
