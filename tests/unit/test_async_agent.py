"""An agent's memory through the asynchronous door: the same answers, and a loop that stays free."""

import asyncio
import inspect
import threading
from typing import Any

import pytest

from corebrain.aio import AsyncAgentMemory
from corebrain.brain import Brain
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import Unsupported
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory
from corebrain.model.item import Role, StoreItem, Turn
from corebrain.model.requests import ListPage, ListRequest

TICK_S = 0.001
WITHOUT_WAIT = {"history_build", "core_build", "with_policy", "with_core", "brain", "background", "tools"}
"""What waits for nothing and is taken from the memory itself."""


def an_agent() -> AgentMemory:
    engine = ReferenceEngine()
    Brain(engine).ingest(BrainDocument(source=BrainSource.FILES, text="Refunds settle within five business days."))
    return AgentMemory(engine, MemoryLayout(), "support-01")


def test_every_moment_answers_as_the_blocking_call_does() -> None:
    async def turns() -> list[Any]:
        async with AsyncAgentMemory(an_agent(), workers=2) as memory:
            context = await memory.pre_turn("t1", 0, "when do refunds settle")
            reply = await memory.post_turn("t1", 1, "Within five days.")
            started = await memory.start_session("t1", "refunds")
            recalled = await memory.recall("refunds settle")
            dropped = [Turn(role=Role.USER, text="when do refunds settle")]
            compacted = await memory.recall_for_compaction("t1", dropped)
            report = await memory.run_background(memory.memory.history_build())
            counted = await memory.forget_history(dry_run=True)
            return [context.pack, reply.receipt, started, recalled, compacted, report.outcome, counted]

    blocking = an_agent()
    context = blocking.pre_turn("t1", 0, "when do refunds settle")
    reply = blocking.post_turn("t1", 1, "Within five days.")
    wanted = [context.pack, reply.receipt, blocking.start_session("t1", "refunds"), blocking.recall("refunds settle")]
    assert asyncio.run(turns())[:4] == wanted


def test_a_models_tools_are_called_without_holding_up_the_loop() -> None:
    threads: list[str] = []

    class Noting(ReferenceEngine):
        def list(self, request: ListRequest) -> ListPage:
            threads.append(threading.current_thread().name)
            return super().list(request)

    async def talk() -> Any:
        agent = AgentMemory(Noting(), MemoryLayout(), "support-01")
        tools = agent.tools().read_only()
        async with AsyncAgentMemory(agent, workers=1) as memory:
            with pytest.raises(Unsupported):
                await memory.call_tool(tools, "memory_store", {})
            return await memory.call_tool(tools, "memory_list", {"limit": 1})

    assert asyncio.run(talk()) == {"items": []}
    assert threads == ["corebrain-aio_0"]


def test_the_door_has_every_call_that_may_wait() -> None:
    calls = {name for name, _ in inspect.getmembers(AgentMemory, inspect.isfunction) if not name.startswith("_")}
    offered = {name for name, _ in inspect.getmembers(AsyncAgentMemory, inspect.iscoroutinefunction)}
    assert calls - WITHOUT_WAIT <= offered


def test_the_loop_stays_free_and_the_engine_stays_open() -> None:
    agent = an_agent()
    ticks = 0

    async def tick() -> None:
        nonlocal ticks
        while True:
            ticks += 1
            await asyncio.sleep(TICK_S)

    async def work() -> None:
        ticking = asyncio.create_task(tick())
        async with AsyncAgentMemory(agent) as memory:
            for number in range(50):
                await memory.pre_turn("t1", number, f"question {number}")
        ticking.cancel()

    asyncio.run(work())
    assert ticks > 1
    assert agent.engine.store(StoreItem.document("still open")).id
