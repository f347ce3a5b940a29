from collections.abc import Callable

import pytest

from corebrain.contract import Item
from corebrain.engines.local.engine import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import Document
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    EraseRequest,
    ExploreRequest,
    ForgetTarget,
    GetRequest,
    Hit,
    ListRequest,
    WriteOptions,
)

Listed = Callable[..., list[Hit]]
Verified = Callable[[LocalEngine], None]


def test_a_stored_item_comes_back_exactly(engine: LocalEngine, sample: list[Item]) -> None:
    receipts = engine.store_many(sample)
    assert [receipt.id for receipt in receipts] == [item.fingerprint() for item in sample]
    exported = engine.export(ListRequest()).items
    assert {each.item.to_json() for each in exported} == {item.to_json() for item in sample[:-1]}


def test_a_replay_writes_nothing_even_with_another_time(engine: LocalEngine, document: Callable[..., Document]) -> None:
    first = document("same", observed_at=Instant(1))
    engine.store(first)
    with engine._database.reading() as connection:
        before = connection.execute("SELECT * FROM items").fetchall()
    again = first.with_meta(first.meta.model_copy(update={"observed_at": Instant(2)}))
    assert engine.store(again).replayed
    with engine._database.reading() as connection:
        assert connection.execute("SELECT * FROM items").fetchall() == before


def test_an_item_twice_in_a_batch_is_a_replay_of_its_first_copy(
    engine: LocalEngine, document: Callable[..., Document]
) -> None:
    receipts = engine.store_many([document("a"), document("b"), document("a")])
    assert [receipt.replayed for receipt in receipts] == [False, False, True]


def test_one_invalid_item_refuses_the_whole_batch(engine: LocalEngine, document: Callable[..., Document]) -> None:
    with pytest.raises(InvalidRequest) as caught:
        engine.store_many([document("a"), document(" ")])
    assert caught.value.index == 1
    assert engine.list(ListRequest()).items == ()


def test_a_lone_surrogate_is_refused(engine: LocalEngine, document: Callable[..., Document]) -> None:
    with pytest.raises(InvalidRequest, match="surrogate"):
        engine.store(document("a\ud800"))


def test_an_accepted_store_answers_the_items_id(engine: LocalEngine, document: Callable[..., Document]) -> None:
    item = document("a")
    assert engine.store_with(item, WriteOptions.accepted()).id == item.fingerprint()


def test_a_listing_is_newest_first_and_unmoved_by_writes_behind_it(
    engine: LocalEngine, document: Callable[..., Document]
) -> None:
    engine.store_many([document(f"n{n}") for n in range(10)])
    seen = []
    cursor = None
    for step in range(5):
        page = engine.list(ListRequest(limit=2, cursor=cursor))
        seen += [hit.text for hit in page.items]
        cursor = page.next_cursor
        engine.store(document(f"later {step}"))
    assert seen == [f"n{n}" for n in reversed(range(10))]
    assert cursor is None


def test_get_keeps_the_order_asked_and_leaves_out_what_is_unknown_or_out_of_reach(
    engine: LocalEngine, document: Callable[..., Document]
) -> None:
    a, b, hidden = document("a"), document("b", at="agent:x"), document("c", at="service:s")
    engine.store_many([a, b, hidden])
    ids = (b.fingerprint(), "0" * 40, "A" * 40, "no", a.fingerprint(), hidden.fingerprint(), b.fingerprint())
    assert [hit.text for hit in engine.get(GetRequest(ids=ids))] == ["b", "a"]
    reach = Reach.exact(Namespace.parse("service:s"))
    assert [hit.text for hit in engine.get(GetRequest(ids=ids, reach=reach))] == ["c"]


def test_counters_are_exact_beyond_the_scan_limit(engine: LocalEngine, document: Callable[..., Document]) -> None:
    engine.store_many([document(f"n{n}", language="en", folder="f") for n in range(30)])
    counted = engine.explore(ExploreRequest(facet=Facet.LANGUAGE, scan_limit=10))
    assert (counted.total, counted.truncated, counted.buckets[0].count) == (30, False, 30)
    wanted = MetaFilter(language="en")
    scanned = engine.explore(ExploreRequest(facet=Facet.FOLDER, scan_limit=10, filter=wanted))
    assert (scanned.total, scanned.truncated, scanned.buckets[0].count) == (10, True, 10)
    whole = engine.explore(ExploreRequest(facet=Facet.FOLDER, scan_limit=30, filter=wanted))
    assert (whole.total, whole.truncated) == (30, False)


@pytest.mark.parametrize("facet", Facet)
@pytest.mark.parametrize("forget", [False, True])
def test_counters_say_what_a_count_says(
    engine: LocalEngine, document: Callable[..., Document], sample: list[Item], facet: Facet, forget: bool
) -> None:
    reference = ReferenceEngine()
    full = {name: name for name in ("workspace", "folder", "file_path", "language", "repo", "url", "agent_id")}
    items = [*sample, document("all", tool_call={"name": "grep"}, tags=("policy",), **full), document("bare")]
    for each in (engine, reference):
        each.store_many(items)
        if forget:
            each.forget(ForgetTarget.of_ids(items[0].fingerprint(), items[3].fingerprint()))
    for wanted in (
        MetaFilter(),
        MetaFilter.of_kinds(ItemKind.DOCUMENT, ItemKind.LEARNING),
        MetaFilter(reach=Reach.exact(Namespace.parse("source:files"))),
        MetaFilter(agent_id="agent_id"),
    ):
        request = ExploreRequest(facet=facet, filter=wanted, limit=2)
        assert engine.explore(request) == reference.explore(request)


def test_forgetting_by_id_reaches_into_sandboxes_and_by_filter_does_not(
    engine: LocalEngine, sample: list[Item], listed: Listed, verified: Verified
) -> None:
    engine.store_many(sample)
    assert engine.forget(ForgetTarget.of_filter(MetaFilter.of_kinds(ItemKind.DOCUMENT))).forgotten == 1
    sandbox = MetaFilter(reach=Reach.exact(Namespace.parse("service:news")))
    assert len(listed(engine, sandbox)) == 1
    assert engine.forget(ForgetTarget.of_ids(sample[-1].fingerprint())).forgotten == 1
    assert listed(engine, sandbox) == []
    verified(engine)


def test_erasing_a_subtree_spares_the_rest_and_the_erased_is_new_again(
    engine: LocalEngine, document: Callable[..., Document], listed: Listed, verified: Verified
) -> None:
    items = [document(at, at=at) for at in ("team:a", "team:a/agent:x", "team:a/service:s", "team:ab", "root")]
    engine.store_many(items)
    report = engine.erase(EraseRequest(reach=Reach(at=Namespace.parse("team:a"), inherit=True, descendants=True)))
    assert report.erased_scopes == 2
    assert {hit.text for hit in listed(engine)} == {"team:ab", "root"}
    assert [receipt.replayed for receipt in engine.store_many(items)] == [False, False, True, True, True]
    verified(engine)


def test_an_interlock_guards_the_whole_tree(engine: LocalEngine, sample: list[Item], listed: Listed) -> None:
    engine.store_many(sample)
    with pytest.raises(InvalidRequest):
        engine.erase(EraseRequest(reach=Reach.subtree(Namespace.ROOT)))
    assert len(listed(engine)) == len(sample) - 1


def test_more_branches_than_tables_share_them(
    engine: LocalEngine, document: Callable[..., Document], find: Callable[..., list[Hit]], verified: Verified
) -> None:
    engine.store_many([document(f"page common {n}", at=f"source:s{n}") for n in range(50)])
    with engine._database.reading() as connection:
        held = [row[0] for row in connection.execute("SELECT count(*) FROM placements GROUP BY shard")]
    assert len(held) == 16
    assert max(held) <= 4
    for number in (0, 20, 49):
        reach = Reach.exact(Namespace.parse(f"source:s{number}"))
        assert [hit.text for hit in find(engine, "common", reach=reach)] == [f"page common {number}"]
    assert len(find(engine, "common", limit=100)) == 50
    verified(engine)


def test_a_listing_over_many_nodes_equals_one_over_few(
    engine: LocalEngine, document: Callable[..., Document], listed: Listed
) -> None:
    items = [document(f"n{n}", at=f"source:s{n % 40}") for n in range(90)]
    engine.store_many(items)
    assert [hit.text for hit in listed(engine, page=7)] == [f"n{n}" for n in reversed(range(90))]
    few = MetaFilter(reach=Reach.exact(Namespace.parse("source:s3")))
    assert [hit.text for hit in listed(engine, few, page=1)] == ["n83", "n43", "n3"]


def test_maintain_leaves_nothing_and_changes_no_answer(
    engine: LocalEngine, document: Callable[..., Document], find: Callable[..., list[Hit]], verified: Verified
) -> None:
    for n in range(40):
        engine.store(document(f"page common {n}"))
    before = find(engine, "common", limit=50)
    assert engine.maintain(30).left == 0
    assert find(engine, "common", limit=50) == before
    verified(engine)


def test_maintain_without_time_says_what_is_left(engine: LocalEngine, document: Callable[..., Document]) -> None:
    engine.store(document("a"))
    assert engine.maintain(0).left == 1
