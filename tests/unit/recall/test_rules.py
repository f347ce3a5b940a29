from typing import Any

import pytest

from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter, redacted_id
from corebrain.model.meta import ItemKind, MemoryMeta, TurnRange
from corebrain.model.requests import Hit
from corebrain.recall import Answer, Fetch, HolisticRecall, Latest, ScopeSection, ThreadWindow


def section(**fields: Any) -> ScopeSection:
    held: dict[str, Any] = {"heading": "H", "limit": 1} | fields
    return ScopeSection(**held)


def turn(thread: str | None, last: int | None) -> Hit:
    turns = None if last is None else TurnRange(first=last, last=last)
    return Hit(id="x", kind=ItemKind.CONVERSATION, text="t", meta=MemoryMeta(thread_id=thread, turns=turns))


@pytest.mark.parametrize(
    "recall",
    [
        HolisticRecall(sections=(), budget_tokens=0),
        HolisticRecall(sections=(), budget_tokens=-5),
        HolisticRecall(sections=(), title=" \u3000"),
        HolisticRecall(sections=(), section_timeout_s=0),
        HolisticRecall(sections=(), section_timeout_s=float("nan")),
        HolisticRecall(sections=(section(), section(heading="\n"))),
        HolisticRecall(sections=(section(limit=0),)),
        HolisticRecall(sections=(section(limit=-1),)),
        HolisticRecall(sections=(section(query=Answer(question="\t")),)),
    ],
)
def test_malformed_recall_is_refused(recall: HolisticRecall) -> None:
    with pytest.raises(InvalidRequest):
        recall.validate()


def test_defaults_are_those_of_the_reference() -> None:
    recall = HolisticRecall(sections=())
    assert (recall.budget_tokens, recall.title, recall.query) == (1200, "Memory", None)
    assert (recall.exclude_ids, recall.exclude_thread, recall.section_timeout_s) == ((), None, None)


@pytest.mark.parametrize(
    ("query", "written"),
    [
        (Fetch(), {"by": "fetch"}),
        (Fetch(query="q"), {"by": "fetch", "query": "q"}),
        (Latest(), {"by": "latest"}),
        (Answer(question="q"), {"by": "answer", "question": "q"}),
        (
            Answer(question="q", instructions="i", fallback_to_fetch=True),
            {"by": "answer", "question": "q", "instructions": "i", "fallback_to_fetch": True},
        ),
    ],
)
def test_section_query_is_tagged_by_how_it_is_filled(
    query: Fetch | Latest | Answer, written: dict[str, object]
) -> None:
    held = section(query=query)
    assert held.to_dict()["query"] == written
    assert ScopeSection.from_dict(held.to_dict()) == held


def test_recall_survives_its_json_form() -> None:
    recall = HolisticRecall(
        query="q",
        sections=(section(filter=MetaFilter.of_kinds(ItemKind.LEARNING), max_scopes=4),),
        exclude_ids=("a",),
        exclude_thread=ThreadWindow(thread_id="t", from_turn=3),
        section_timeout_s=0.5,
    )
    assert HolisticRecall.from_json(recall.to_json()) == recall


@pytest.mark.parametrize(
    ("hit", "covered"),
    [
        (turn("t", 3), True),
        (turn("t", 4), True),
        (turn("t", 2), False),
        (turn("t", None), True),
        (turn("u", 9), False),
        (turn(None, None), False),
    ],
)
def test_window_covers_its_thread_from_its_turn_on(hit: Hit, *, covered: bool) -> None:
    assert ThreadWindow(thread_id="t", from_turn=3).covers(hit) is covered


def test_window_knows_a_thread_whose_id_was_redacted() -> None:
    phone = "call-+1 415 555 0100"
    assert ThreadWindow(thread_id=phone).covers(turn(redacted_id(phone), 0))


def test_section_with_its_own_query_ranks_for_it_and_not_for_the_packs() -> None:
    recall = HolisticRecall(query="pack", sections=())
    assert recall.query_of(section(query=Fetch(query="own"))) == "own"
    assert recall.query_of(section(query=Fetch(query=" "))) == "pack"
    assert recall.query_of(section()) == "pack"
    assert HolisticRecall(query=" ", sections=()).query_of(section()) is None


def test_least_that_a_recall_may_ask_for_is_taken() -> None:
    HolisticRecall(sections=(), budget_tokens=1, section_timeout_s=0.001).validate()
    assert ThreadWindow(thread_id="t").covers(turn("t", 0))
    assert not ThreadWindow(thread_id="t", from_turn=1).covers(turn("t", 0))
    with pytest.raises(InvalidRequest):
        ThreadWindow(thread_id="t", from_turn=-1)
