"""The newest of a window, picked by the engine: what paging through the whole listing and sorting it gives."""

import random
from collections.abc import Callable

import pytest

from corebrain.contract import MemoryEngine
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import Conversation, Learning, LearningKind, Role, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, TurnRange
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import Hit, ListPage, ListRequest
from corebrain.recall import HolisticRecall, ScopeSection, holistic_recall
from corebrain.recall.gather import newest_first
from corebrain.recall.types import Latest

REACHES = {
    "few nodes": Reach.subtree(Namespace.parse("team:x/agent:a1")),
    "an area": Reach.subtree(Namespace.parse("team:x")),
    "an area and what is above": Reach(at=Namespace.parse("team:x"), inherit=True, descendants=True),
    "everything": Reach.subtree(Namespace.ROOT),
}


@pytest.fixture
def filled(engine: LocalEngine) -> LocalEngine:
    dice = random.Random(5)  # noqa: S311  # the same made-up items every time
    for number in range(300):
        at = dice.choice(["root", "team:x", "team:y", *(f"team:x/agent:a{agent}" for agent in range(30))])
        when = dice.choice([None, Instant(dice.randrange(-5, 5) * 10**9 + dice.randrange(3))])
        meta = MemoryMeta(namespace=Namespace.parse(at), observed_at=when)
        if number % 2:
            kind = LearningKind.FACT
            engine.store(Learning(text=f"fact {number}", kind=kind, confidence=dice.choice([0.2, 0.9]), meta=meta))
        else:
            turns = meta.model_copy(update={"thread_id": "t", "turns": TurnRange(first=0, last=dice.randrange(4))})
            said = Turn(role=Role.USER, text=f"turn {number}")
            engine.store(Conversation(turns=(said,), meta=turns))
    return engine


def walked(engine: MemoryEngine, wanted: MetaFilter, window: int) -> list[Hit]:
    return list(engine.list(ListRequest(filter=wanted, limit=window)).items)


@pytest.mark.parametrize("reach", REACHES.values(), ids=REACHES)
@pytest.mark.parametrize("kinds", [(), (ItemKind.LEARNING,), (ItemKind.CONVERSATION,)])
@pytest.mark.parametrize("window", [7, 5_000])
def test_newest_is_what_sorting_the_listing_gives(
    filled: LocalEngine, reach: Reach, kinds: tuple[ItemKind, ...], window: int
) -> None:
    wanted = MetaFilter(reach=reach, kinds=kinds)
    expected = sorted(walked(filled, wanted, window), key=newest_first)[:9]
    assert list(filled.newest(ListRequest(filter=wanted, limit=9), window)) == expected
    assert expected


def test_newest_refuses_what_a_listing_refuses(engine: LocalEngine) -> None:
    with pytest.raises(InvalidRequest, match="limit"):
        engine.newest(ListRequest(limit=0), 10)


def test_a_section_of_the_newest_lists_no_page(filled: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    section = ScopeSection(heading="New", filter=MetaFilter(kinds=(ItemKind.CONVERSATION,)), limit=4, query=Latest())
    recall = HolisticRecall(sections=(section,))
    by_pages: Callable[[ListRequest], ListPage] = filled.list
    pages: list[ListRequest] = []

    def counted(request: ListRequest) -> ListPage:
        pages.append(request)
        return by_pages(request)

    monkeypatch.setattr(filled, "list", counted)
    pack = holistic_recall(filled, recall)
    assert (len(pages), len(pack.refs)) == (0, 4)
    hidden = recall.model_copy(update={"exclude_ids": pack.refs[:1]})
    assert pack.refs[0] not in holistic_recall(filled, hidden).refs
    assert len(pages) == 2
