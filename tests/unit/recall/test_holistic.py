from types import SimpleNamespace
from typing import Any

import pytest

from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError, InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchPage, Hit, ListPage
from corebrain.recall import Answer, ContextPack, Fetch, HolisticRecall, Latest, ScopeSection, holistic_recall

LEARNINGS = MetaFilter.of_kinds(ItemKind.LEARNING)


def learning(text: str, node: str = "root") -> Any:
    return StoreItem.learning(text, LearningKind.FACT, 0.5, MemoryMeta(namespace=Namespace.parse(node)))


def test_pack_says_what_it_found_what_it_skipped_and_on_which_engine() -> None:
    engine = ReferenceEngine()
    item = learning("refunds take five days")
    engine.store(item)
    pack = holistic_recall(
        engine,
        HolisticRecall(
            query="refunds",
            sections=(
                ScopeSection(heading="Learnings", filter=LEARNINGS, limit=3),
                ScopeSection(heading="Brain", filter=MetaFilter.of_kinds(ItemKind.DOCUMENT), limit=3),
            ),
        ),
    )
    assert pack.markdown == "# Memory\n\n## Learnings\n\n- refunds take five days\n"
    assert pack.tokens == 13
    assert pack.refs == (item.fingerprint(),)
    assert [(found.heading, found.answer, len(found.hits)) for found in pack.sections] == [("Learnings", None, 1)]
    assert [(skipped.heading, skipped.reason) for skipped in pack.skipped] == [("Brain", "empty")]
    assert pack.engine == "reference"
    assert ContextPack.from_json(pack.to_json()) == pack


def test_sections_are_reported_before_the_budget_trims_them() -> None:
    engine = ReferenceEngine()
    for number in range(4):
        engine.store(learning(f"refund rule {number}"))
    section = ScopeSection(heading="Learnings", filter=LEARNINGS, limit=4)
    pack = holistic_recall(engine, HolisticRecall(query="refund", sections=(section,), budget_tokens=12))
    assert len(pack.sections[0].hits) == 4
    assert len(pack.refs) == 1


def test_malformed_recall_is_raised_before_anything_is_read(scripted: Any) -> None:
    engine = scripted()
    section = ScopeSection(heading="H", limit=0)
    with pytest.raises(InvalidRequest):
        holistic_recall(engine, HolisticRecall(query="q", sections=(section,)))
    assert engine.asked == []


def test_pack_of_an_engine_that_fails_everywhere_is_empty_with_reasons(scripted: Any) -> None:
    def away(_: Any) -> Any:
        raise EngineError("away")

    engine = scripted(fetch=away, listing=away, recall=away, beliefs=away)
    sections = (
        ScopeSection(heading="A", limit=1, query=Fetch(query="q")),
        ScopeSection(heading="B", limit=1, query=Latest()),
        ScopeSection(heading="C", limit=1, query=Answer(question="q", fallback_to_fetch=True)),
    )
    pack = holistic_recall(engine, HolisticRecall(sections=sections))
    assert (pack.markdown, pack.tokens, pack.refs, pack.sections) == ("", 0, (), ())
    assert [skipped.reason for skipped in pack.skipped] == ["engine error: away"] * 3


def test_hits_repeated_by_an_engine_and_hits_of_foreign_kinds_do_not_reach_the_pack(scripted: Any) -> None:
    def garbage(_: Any) -> FetchPage:
        same = Hit(id="a", kind=ItemKind.LEARNING, text="once", meta=MemoryMeta())
        foreign = Hit(id="b", kind=ItemKind.CONVERSATION, text="foreign", meta=MemoryMeta())
        return FetchPage(hits=(same, foreign, same, same))

    section = ScopeSection(heading="Learnings", filter=LEARNINGS, limit=5)
    pack = holistic_recall(scripted(fetch=garbage), HolisticRecall(query="q", sections=(section,)))
    assert pack.markdown == "# Memory\n\n## Learnings\n\n- once\n"


@pytest.mark.parametrize("garbage", [None, "junk", [None], SimpleNamespace(id="a", kind="banana", text="x")])
def test_engine_that_answers_garbage_costs_its_sections_only(scripted: Any, garbage: Any) -> None:
    honest = Hit(id="h", kind=ItemKind.LEARNING, text="honest", meta=MemoryMeta())
    engine = scripted(
        fetch=lambda request: (
            FetchPage(hits=(honest,))
            if request.query == "good"
            else SimpleNamespace(hits=(garbage,), beliefs=(garbage,), next_cursor=None)
        ),
        listing=lambda _: SimpleNamespace(items=(garbage,), next_cursor=None),
        recall=lambda _: SimpleNamespace(answer="said", citations=(garbage,)),
        beliefs=lambda _: (garbage,),
    )
    sections = (
        ScopeSection(heading="Fetched", filter=LEARNINGS, limit=2, query=Fetch(query="q")),
        ScopeSection(heading="Newest", filter=LEARNINGS, limit=2, query=Latest()),
        ScopeSection(heading="Answered", limit=2, query=Answer(question="q")),
        ScopeSection(heading="Good", limit=2, query=Fetch(query="good")),
    )
    pack = holistic_recall(engine, HolisticRecall(sections=sections))
    assert pack.markdown == "# Memory\n\n## Good\n\n- honest\n"
    assert all(skipped.reason.startswith("engine error: the engine answered with ") for skipped in pack.skipped)
    assert len(pack.skipped) == 3


def test_beliefs_that_are_garbage_leave_the_stored_learnings(scripted: Any) -> None:
    honest = Hit(id="h", kind=ItemKind.LEARNING, text="honest", meta=MemoryMeta())
    engine = scripted(listing=lambda _: ListPage(items=(honest,)), beliefs=lambda _: ["junk"])
    section = ScopeSection(heading="Newest", filter=LEARNINGS, limit=2, query=Latest())
    pack = holistic_recall(engine, HolisticRecall(sections=(section,)))
    assert (pack.markdown, pack.skipped) == ("# Memory\n\n## Newest\n\n- honest\n", ())


def test_sandbox_is_not_entered_and_siblings_stay_apart() -> None:
    engine = ReferenceEngine()
    for node in ("team:a", "team:b", "team:a/service:news", "team:a/agent:x"):
        engine.store(learning(f"rule of {node}", node))
    reach = Reach.subtree(Namespace.parse("team:a"))
    section = ScopeSection(heading="L", filter=MetaFilter(reach=reach), limit=9)
    markdown = holistic_recall(engine, HolisticRecall(query="rule", sections=(section,))).markdown
    assert markdown == "# Memory\n\n## L\n\n- rule of team:a\n- rule of team:a/agent:x\n"
