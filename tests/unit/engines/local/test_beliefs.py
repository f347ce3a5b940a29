from collections.abc import Callable
from pathlib import Path

from corebrain.contract import Item
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Document, Learning, LearningKind
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import WHOLE_TREE, Namespace, Reach
from corebrain.model.requests import (
    BELIEF_TAG,
    BeliefsRequest,
    ConsolidateRequest,
    ConsolidateStatus,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    Hit,
    ListRequest,
)

EVERYTHING = ConsolidateRequest(reach=WHOLE_TREE)


def all_beliefs(engine: LocalEngine, query: str | None = None, reach: Reach = WHOLE_TREE) -> list[Hit]:
    return engine.beliefs(BeliefsRequest(reach=reach, query=query, limit=100))


def test_a_build_draws_one_first_sentence_from_each_item(engine: LocalEngine, sample: list[Item]) -> None:
    engine.store_many(sample)
    receipt = engine.consolidate(EVERYTHING)
    assert (receipt.status, receipt.scopes, receipt.built) == (ConsolidateStatus.COMPLETED, 2, 2 + 1)
    texts = {belief.text for belief in all_beliefs(engine)}
    assert texts == {"Refunds take five business days.", "when do refunds settle", "after five days"}


def test_a_second_build_draws_only_from_what_is_new(
    engine: LocalEngine, sample: list[Item], document: Callable[..., Document]
) -> None:
    engine.store_many(sample)
    engine.consolidate(EVERYTHING)
    assert engine.consolidate(EVERYTHING).built == 0
    engine.store(document("A new page. With more."))
    assert engine.consolidate(EVERYTHING).built == 1


def test_beliefs_are_tagged_learnings_at_their_source_and_no_items(engine: LocalEngine, sample: list[Item]) -> None:
    engine.store_many(sample)
    before = engine.list(ListRequest()).items
    engine.consolidate(EVERYTHING)
    assert engine.list(ListRequest()).items == before
    for belief in all_beliefs(engine):
        assert belief.kind is ItemKind.LEARNING
        assert BELIEF_TAG in belief.meta.tags
        assert belief.confidence == 0.5
        assert engine.get(GetRequest(ids=(belief.id,))) == []
        assert engine.forget(ForgetTarget.of_ids(belief.id)).forgotten == 0


def test_forgetting_the_source_removes_its_beliefs(
    engine: LocalEngine, sample: list[Item], verified: Callable[[LocalEngine], None]
) -> None:
    engine.store_many(sample)
    engine.consolidate(EVERYTHING)
    engine.forget(ForgetTarget.of_ids(sample[0].fingerprint()))
    assert all("business" not in belief.text for belief in all_beliefs(engine))
    assert all_beliefs(engine, "business") == []
    engine.store(sample[0])
    assert engine.consolidate(EVERYTHING).built == 1
    verified(engine)


def test_a_sandbox_keeps_its_beliefs(engine: LocalEngine, sample: list[Item]) -> None:
    engine.store_many(sample)
    sandbox = Reach.exact(Namespace.parse("service:news"))
    assert engine.consolidate(ConsolidateRequest(reach=sandbox)).built == 1
    assert all_beliefs(engine) == all_beliefs(engine, "service restarts") == []
    assert len(all_beliefs(engine, "service restarts", sandbox)) == len(all_beliefs(engine, None, sandbox)) == 1


def test_nothing_is_drawn_from_an_item_that_says_so(engine: LocalEngine, document: Callable[..., Document]) -> None:
    engine.store(document("Keep this, draw nothing.", derive=False))
    assert engine.consolidate(EVERYTHING).built == 0


def test_a_query_ranks_beliefs_and_a_fetch_brings_them_on_its_first_page(
    engine: LocalEngine, document: Callable[..., Document]
) -> None:
    engine.store_many([document("Refunds take five days."), document("Lunch is at noon."), document("Refunds.")])
    engine.consolidate(EVERYTHING)
    assert all_beliefs(engine, "lunch")[0].text == "Lunch is at noon."
    request = FetchRequest(query="refunds", mode=FetchMode.KEYWORD, limit=1, beliefs=1)
    first = engine.fetch(request)
    assert len(first.beliefs) == 1
    second = engine.fetch(request.model_copy(update={"cursor": first.next_cursor}))
    assert second.beliefs == ()


def test_without_a_query_the_most_confident_come_first_then_the_newest(
    tmp_path: Path, document: Callable[..., Document]
) -> None:
    def distill(item: Item) -> list[Learning]:
        sure = 0.9 if "sure" in item.render_text() else 0.2
        return [Learning(text=item.render_text(), kind=LearningKind.FACT, confidence=sure, meta=MemoryMeta())]

    with LocalEngine(tmp_path / "memory.db", distill=distill) as engine:
        engine.store_many(
            [
                document("old", observed_at="2026-01-01T00:00:00Z"),
                document("sure"),
                document("new", observed_at="2026-02-01T00:00:00Z"),
                document("undated"),
            ]
        )
        engine.consolidate(EVERYTHING)
        assert [belief.text for belief in all_beliefs(engine)] == ["sure", "new", "old", "undated"]
        assert all(str(belief.meta.namespace) == "source:files" for belief in all_beliefs(engine))


def test_a_distiller_may_draw_several_or_none_and_an_item_gone_meanwhile_gets_none(
    tmp_path: Path, document: Callable[..., Document]
) -> None:
    items = [document("two"), document("none"), document("gone")]

    def distill(item: Item) -> list[Learning]:
        engine.forget(ForgetTarget.of_ids(items[2].fingerprint()))
        count = {"two": 2, "none": 0, "gone": 1}[item.render_text()]
        return [
            Learning(text=f"{item.render_text()} {n}", kind=LearningKind.FACT, confidence=1.0) for n in range(count)
        ]

    engine = LocalEngine(tmp_path / "memory.db", distill=distill)
    engine.store_many(items)
    assert engine.consolidate(EVERYTHING).built == 2
    assert {belief.text for belief in all_beliefs(engine)} == {"two 0", "two 1"}
    assert engine.consolidate(EVERYTHING).built == 0
    engine.close()


def test_a_fetch_filter_narrows_hits_but_beliefs_only_by_reach(
    engine: LocalEngine, document: Callable[..., Document]
) -> None:
    engine.store_many([document("Refunds here.", tags=("x",)), document("Refunds there.", at="source:web")])
    engine.consolidate(EVERYTHING)
    wanted = MetaFilter(reach=Reach.exact(Namespace.parse("source:web")), tags_any=("x",))
    page = engine.fetch(FetchRequest(query="refunds", mode=FetchMode.KEYWORD, filter=wanted, beliefs=5))
    assert page.hits == ()
    assert [belief.text for belief in page.beliefs] == ["Refunds there."]
