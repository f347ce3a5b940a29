import pytest

from corebrain.contract import MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, forget_history
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace
from corebrain.model.requests import EraseReport, EraseRequest, ListRequest

LAYOUT = MemoryLayout(Namespace.parse("team:acme"))


def agent(engine: MemoryEngine, name: str = "coder", layout: MemoryLayout = LAYOUT) -> AgentMemory:
    return AgentMemory(engine, layout, name)


def texts(engine: MemoryEngine) -> set[str]:
    everything = MetaFilter()
    return {hit.text for hit in engine.list(ListRequest(filter=everything, limit=200)).items}


def fill(engine: MemoryEngine, layout: MemoryLayout = LAYOUT) -> None:
    for name in ("coder", "planner"):
        for day, thread in ((1, "one"), (2, "two")):
            agent(engine, name, layout).pre_turn(thread, 0, f"{name} {thread}", at=f"2026-01-0{day}T00:00:00Z")
    agent(engine, layout=layout).pre_turn("three", 0, "coder undated")
    agent(engine, layout=layout).brain().ingest(BrainDocument(source=BrainSource.FILES, text="handbook"))
    own = MemoryMeta(namespace=layout.conversations("coder"))
    engine.store(StoreItem.learning("kept by a tool", LearningKind.FACT, 0.5, own))


OTHERS = {"user: planner one", "user: planner two", "handbook", "kept by a tool"}


def test_all_of_an_agents_history_goes_and_nothing_else(engine: MemoryEngine) -> None:
    fill(engine)
    assert forget_history(agent(engine)).forgotten == 3
    assert texts(engine) == OTHERS


def test_one_thread_goes(engine: MemoryEngine) -> None:
    fill(engine)
    assert forget_history(agent(engine), thread=" one ").forgotten == 1
    assert texts(engine) == OTHERS | {"user: coder two", "user: coder undated"}


def test_turns_before_a_time_go_and_undated_ones_stay(engine: MemoryEngine) -> None:
    fill(engine)
    assert forget_history(agent(engine), before="2026-01-02T00:00:00Z").forgotten == 1
    assert texts(engine) == OTHERS | {"user: coder two", "user: coder undated"}


def test_dry_run_counts_what_would_go_and_forgets_nothing(engine: MemoryEngine) -> None:
    fill(engine)
    before = texts(engine)
    assert forget_history(agent(engine), dry_run=True).forgotten == 3
    assert forget_history(agent(engine), "one", dry_run=True).forgotten == 1
    assert texts(engine) == before


def test_long_history_with_what_was_distilled_is_counted_whole() -> None:
    engine = ReferenceEngine()
    memory = agent(engine)
    memory.pre_turn("long", 0, "The user said this.")
    for turn in range(1, 450):
        memory.post_turn("long", turn, f"reply {turn}")
    memory.run_background(memory.history_build())
    distilled = len(engine) - 450
    assert distilled == 1, "from what the user said"
    assert forget_history(memory, dry_run=True).forgotten == 451
    assert forget_history(memory).forgotten == 451
    assert len(engine) == 0


def test_learnings_distilled_from_the_history_go_with_it(engine: MemoryEngine) -> None:
    memory = agent(engine)
    memory.pre_turn("t", 0, "Her number is on the fridge. Really.")
    memory.run_background(memory.history_build())
    assert "on the fridge" in memory.recall("number fridge").markdown
    forget_history(memory)
    assert memory.recall("number fridge").markdown == ""
    assert texts(engine) == set()


def test_pooled_agents_history_goes_without_the_others(engine: MemoryEngine) -> None:
    pooled = LAYOUT.with_pooled_conversations(Namespace.parse("ws:main"))
    fill(engine, pooled)
    assert forget_history(agent(engine, layout=pooled)).forgotten == 3
    assert texts(engine) == OTHERS


def test_whole_history_is_also_erased_for_good_where_the_engine_can() -> None:
    class Erasing(ReferenceEngine):
        erased: list[EraseRequest]

        def erase(self, request: EraseRequest) -> EraseReport:
            self.erased.append(request)
            raise Unsupported("not here")

    engine = Erasing()
    engine.erased = []
    fill(engine)
    assert forget_history(agent(engine), thread="one").forgotten == 1
    assert engine.erased == []
    assert forget_history(agent(engine)).forgotten == 2
    assert [(str(each.reach.at), [kind.value for kind in each.kinds]) for each in engine.erased] == [
        ("team:acme/agent:coder", ["conversation"])
    ]


def test_erased_turn_may_be_said_again(engine: MemoryEngine) -> None:
    memory = agent(engine)
    memory.pre_turn("t", 0, "hello")
    forget_history(memory)
    again = memory.pre_turn("t", 0, "hello")
    assert again.logged is not None
    assert not again.logged.replayed


@pytest.mark.parametrize(("thread", "before"), [(" ", None), (None, "yesterday")])
def test_malformed_forgetting_is_refused_and_forgets_nothing(thread: str | None, before: str | None) -> None:
    engine = ReferenceEngine()
    fill(engine)
    count = len(engine)
    with pytest.raises(InvalidRequest):
        forget_history(agent(engine), thread, before)
    assert len(engine) == count
