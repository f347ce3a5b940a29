"""The reference engine: scores, ranking, paging, forgetting, builds, and calls from several threads."""

import math
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from corebrain.engines.reference import DIMENSIONS, ReferenceEngine, embed, keyword_score, score, vector_score, words
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, StoreItem, read_item
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateRequest,
    ConsolidateStatus,
    Consolidation,
    EraseRequest,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
    WriteOptions,
)

EVERYTHING = Reach.subtree(Namespace.ROOT)


def at(path: str, **fields: Any) -> MemoryMeta:
    return MemoryMeta(namespace=Namespace.parse(path), **fields)


def texts(engine: ReferenceEngine, reach: Reach | None = None) -> list[str]:
    return [hit.text for hit in engine.list(ListRequest(filter=MetaFilter(reach=reach), limit=1000)).items]


# -- what it says of itself


def test_the_descriptor_is_the_one_of_the_specification() -> None:
    described = ReferenceEngine().descriptor
    assert (described.id, described.label) == ("reference", "Reference (in-memory)")
    assert not (described.hosted)
    assert not (described.needs_endpoint)
    assert not (described.needs_key)
    assert described.default_endpoint is None
    assert set(described.fetch_modes) == set(FetchMode)
    assert described.consolidation is Consolidation.ON_DEMAND
    assert ReferenceEngine().health().is_serving


@pytest.mark.parametrize("declared", Consolidation)
def test_whatever_it_declares_it_builds(declared: Consolidation) -> None:
    engine = ReferenceEngine(declared)
    engine.store(StoreItem.document("Tea."))
    assert engine.descriptor.consolidation is declared
    assert engine.consolidate(ConsolidateRequest(reach=EVERYTHING)).status is ConsolidateStatus.COMPLETED


# -- scores


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Refunds take FIVE days.", ["refunds", "take", "five", "days"]),
        ("snake_case x-y", ["snake", "case", "x", "y"]),
        ("日本 café ½ ٣", ["日本", "café", "½", "٣"]),
        ("—…!", []),
    ],
)
def test_words_are_lower_cased_runs_of_letters_and_digits(text: str, found: list[str]) -> None:
    assert words(text) == found


def test_the_keyword_score_is_the_share_of_distinct_words() -> None:
    assert keyword_score("how long do refunds take", "Refunds take five business days.") == 0.4
    assert keyword_score("refunds refunds REFUNDS days", "refunds") == 0.5
    assert keyword_score("!", "anything") == 0.0
    assert score(FetchMode.KEYWORD, "refund", "refunds") is None


def test_the_vector_counts_windows_of_three_characters() -> None:
    vector = embed("go")
    assert len(vector) == DIMENSIONS == 64
    assert vector.typecode == "f", "single precision"
    places = {_fnv(" go") % 64, _fnv("go ") % 64}
    assert [place for place, value in enumerate(vector) if value] == sorted(places)
    assert math.isclose(sum(value * value for value in vector), 1.0, rel_tol=1e-6)
    assert list(embed("a b")) == list(embed("b a")), "no window spans two words"
    assert not any(embed("!"))


def _fnv(window: str) -> int:
    value = 0x811C9DC5
    for letter in window:
        value = (value ^ ord(letter)) * 0x01000193 % 2**32
    return value


def test_a_vector_hit_needs_a_cosine_of_a_fifth() -> None:
    assert score(FetchMode.VECTOR, "refund", "refunds") == vector_score("refund", "refunds")
    assert vector_score("refund", "xyzzy") < 0.2
    assert score(FetchMode.VECTOR, "refund", "xyzzy") is None


def test_hybrid_is_the_mean_and_a_hit_when_either_is_one() -> None:
    query, text = "refund", "refunds"
    assert keyword_score(query, text) == 0.0
    assert score(FetchMode.HYBRID, query, text) == vector_score(query, text) / 2
    rare = " ".join(f"word{n}" for n in range(60)) + " a"
    assert keyword_score("a", rare) == 1.0
    assert score(FetchMode.HYBRID, "a", rare) == (1.0 + vector_score("a", rare)) / 2
    assert score(FetchMode.HYBRID, "refund", "xyzzy") is None


def test_hits_come_best_first_then_as_they_were_stored() -> None:
    engine = ReferenceEngine()
    for text in ("tea one", "tea and cake two", "tea three", "none"):
        engine.store(StoreItem.document(text))
    page = engine.fetch(FetchRequest(query="tea cake", mode=FetchMode.KEYWORD))
    assert [(hit.text, hit.score) for hit in page.hits] == [
        ("tea and cake two", 1.0),
        ("tea one", 0.5),
        ("tea three", 0.5),
    ]


def test_the_rendered_text_is_scored_and_only_learnings_have_a_confidence() -> None:
    engine = ReferenceEngine()
    engine.store(read_item({"type": "document", "title": "Refunds", "body": {"text": "five days"}}))
    engine.store(read_item({"type": "conversation", "turns": [{"role": "user", "text": "refunds?"}]}))
    engine.store(StoreItem.learning("refunds matter", LearningKind.FACT, 0.75))
    hits = engine.fetch(FetchRequest(query="refunds", mode=FetchMode.KEYWORD)).hits
    assert {hit.text: hit.confidence for hit in hits} == {
        "# Refunds\n\nfive days": None,
        "user: refunds?": None,
        "refunds matter": 0.75,
    }


# -- paging


@pytest.mark.parametrize("limit", [1, 2, 3, 4, 5])
def test_following_the_cursors_visits_everything_once(limit: int) -> None:
    engine = ReferenceEngine()
    stored = [f"tea {number}" for number in range(4)]
    for text in stored:
        engine.store(StoreItem.document(text))
    request = ListRequest(limit=limit)
    seen = []
    while True:
        page = engine.list(request)
        seen += [hit.text for hit in page.items]
        if page.next_cursor is None:
            break
        assert page.next_cursor == str(len(seen))
        request = request.model_copy(update={"cursor": page.next_cursor})
    assert seen == stored


@pytest.mark.parametrize("cursor", ["", "x", "-1", "+1", " 1", "1.0", "01", "\uff11", "\u00b2", "9" * 5000])
def test_a_cursor_nobody_wrote_is_refused_by_every_paged_read(cursor: str) -> None:
    engine = ReferenceEngine()
    with pytest.raises(InvalidRequest, match="cursor"):
        engine.list(ListRequest(cursor=cursor))
    with pytest.raises(InvalidRequest, match="cursor"):
        engine.export(ListRequest(cursor=cursor))
    with pytest.raises(InvalidRequest, match="cursor"):
        engine.fetch(FetchRequest(query="x", cursor=cursor))


def test_a_cursor_beyond_the_end_is_the_end() -> None:
    page = ReferenceEngine().list(ListRequest(cursor="7"))
    assert page.items == ()
    assert page.next_cursor is None


# -- storing, forgetting, erasing, exporting


def test_an_item_stored_again_is_a_replay_until_it_is_gone() -> None:
    engine = ReferenceEngine()
    item = StoreItem.document("tea")
    first, again = engine.store(item), engine.store_with(item, WriteOptions.accepted())
    assert (first.id, first.replayed, again.id, again.replayed) == (item.fingerprint(), False, first.id, True)
    assert len(engine) == 1
    engine.erase(EraseRequest(reach=Reach()))
    assert not engine.store(item).replayed


def test_the_first_copy_is_kept_when_only_the_time_of_observation_differs() -> None:
    engine = ReferenceEngine()
    early, late = (at("root", observed_at=f"202{year}-01-01T00:00:00Z") for year in (5, 6))
    engine.store(StoreItem.document("tea", early))
    assert engine.store(StoreItem.document("tea", late)).replayed
    assert engine.list(ListRequest()).items[0].meta == early


def test_forgetting_by_id_enters_sandboxes_and_counts_each_item_once() -> None:
    engine = ReferenceEngine()
    boxed = engine.store(StoreItem.document("boxed", at("service:s"))).id
    assert engine.get(GetRequest(ids=(boxed,))) == []
    assert engine.forget(ForgetTarget.of_ids(boxed, "unknown", boxed)).forgotten == 1
    assert len(engine) == 0
    assert engine.forget(ForgetTarget.of_ids(boxed)).forgotten == 0


def test_forgetting_by_filter_stays_out_of_sandboxes() -> None:
    engine = ReferenceEngine()
    for path in ("root", "team:a", "service:s"):
        engine.store(StoreItem.document(path, at(path)))
    assert engine.forget(ForgetTarget.of_filter(MetaFilter.of_kinds(ItemKind.DOCUMENT))).forgotten == 2
    assert texts(engine, Reach.exact(Namespace.parse("service:s"))) == ["service:s"]


@pytest.mark.parametrize(
    ("reach", "kinds", "left", "scopes"),
    [
        (Reach.exact(Namespace.parse("team:a")), (), ["root", "team:a/agent:b", "box"], 1),
        (Reach.of(Namespace.parse("team:a")), (), ["root", "team:a/agent:b", "box"], 1),
        (Reach.subtree(Namespace.parse("team:a")), (), ["root", "box"], 2),
        (Reach.subtree(Namespace.ROOT), (ItemKind.DOCUMENT,), ["box"], 3),
        (Reach.subtree(Namespace.ROOT), (ItemKind.LEARNING,), ["root", "team:a", "team:a/agent:b", "box"], 0),
        (Reach.subtree(Namespace.parse("team:a/service:s")), (), ["root", "team:a", "team:a/agent:b"], 1),
    ],
)
def test_erasing_takes_what_the_reach_names_without_its_ancestors(
    reach: Reach, kinds: tuple[ItemKind, ...], left: list[str], scopes: int
) -> None:
    engine = ReferenceEngine()
    for path in ("root", "team:a", "team:a/agent:b"):
        engine.store(StoreItem.document(path, at(path)))
    engine.store(StoreItem.document("box", at("team:a/service:s")))
    report = engine.erase(EraseRequest(reach=reach, kinds=kinds))
    assert (report.erased_scopes, report.receipts) == (scopes, ())
    assert texts(engine) + texts(engine, Reach.exact(Namespace.parse("team:a/service:s"))) == left


def test_what_is_exported_is_what_was_stored_and_storing_it_back_is_a_replay() -> None:
    engine = ReferenceEngine()
    item = read_item(
        {"type": "learning", "text": "tea", "kind": "fact", "confidence": 0.3, "evidence": "", "meta": {"tags": ["x"]}}
    )
    engine.store(item)
    [exported] = engine.export(ListRequest()).items
    assert exported.item == item
    assert exported.id == item.fingerprint()
    assert engine.store(exported.item).replayed
    assert engine.export(ListRequest()).incomplete == ()


def test_an_item_that_may_not_be_stored_is_not() -> None:
    engine = ReferenceEngine()
    for bad in (StoreItem.document(" "), StoreItem.document("\ud800"), StoreItem.learning("x", LearningKind.FACT, 1.5)):
        with pytest.raises(InvalidRequest):
            engine.store(bad)
        with pytest.raises(InvalidRequest) as caught:
            engine.store_many([StoreItem.document("good"), bad])
        assert caught.value.index == 1
    assert len(engine) == 0


@pytest.mark.parametrize(
    "call",
    [
        lambda engine: engine.forget(ForgetTarget.of_ids()),
        lambda engine: engine.forget(ForgetTarget.of_filter(MetaFilter())),
        lambda engine: engine.forget(ForgetTarget()),
        lambda engine: engine.erase(EraseRequest(reach=EVERYTHING)),
        lambda engine: engine.consolidate(ConsolidateRequest(reach=EVERYTHING, kinds=(ItemKind.DOCUMENT,) * 2)),
        lambda engine: engine.get(GetRequest(ids=())),
        lambda engine: engine.list(ListRequest(limit=0)),
        lambda engine: engine.export(ListRequest(limit=0)),
        lambda engine: engine.fetch(FetchRequest(query=" ")),
        lambda engine: engine.recall(RecallRequest(question=" ")),
        lambda engine: engine.beliefs(BeliefsRequest(limit=0)),
        lambda engine: engine.store_many([]),
    ],
)
def test_a_malformed_call_is_refused_and_changes_nothing(call: Callable[[ReferenceEngine], Any]) -> None:
    engine = ReferenceEngine()
    engine.store(StoreItem.document("Tea."))
    with pytest.raises(InvalidRequest):
        call(engine)
    assert texts(engine) == ["Tea."]


# -- answers and builds


def test_an_answer_quotes_what_it_rests_on_and_never_more_than_asked() -> None:
    engine = ReferenceEngine()
    for number in range(3):
        engine.store(StoreItem.document(f"tea {number}"))
    answer = engine.recall(RecallRequest(question="tea", limit=2))
    assert "2 items" in answer.answer
    assert all(citation.snippet in answer.answer for citation in answer.citations)
    assert [citation.id for citation in answer.citations] == [
        hit.id for hit in engine.fetch(FetchRequest(query="tea", limit=2)).hits
    ]


def test_an_answer_without_hits_is_one_fixed_sentence() -> None:
    engine = ReferenceEngine()
    answers = {engine.recall(RecallRequest(question=question)).to_json() for question in ("tea", "cake")}
    assert len(answers) == 1


def test_an_undeclared_mode_would_be_refused_first() -> None:
    class Keyword(ReferenceEngine):
        def __init__(self) -> None:
            super().__init__()
            self._descriptor = self._descriptor.model_copy(update={"fetch_modes": (FetchMode.KEYWORD,)})

    with pytest.raises(Unsupported, match="reference does not offer hybrid"):
        Keyword().fetch(FetchRequest(query=" ", limit=0, cursor="x"))


def test_a_build_makes_one_fact_an_item_at_its_node() -> None:
    engine = ReferenceEngine()
    vector = read_item(
        {
            "type": "document",
            "title": "refunds.md",
            "body": {"text": "Refunds take five business days."},
            "meta": {"namespace": "source:markdown", "source": {"kind": "file"}},
        }
    )
    engine.store_many(
        [vector, StoreItem.document("###", at("source:markdown")), StoreItem.document("Tea.", at("team:a"))]
    )
    engine.store(StoreItem.learning("never distilled", LearningKind.FACT, 1.0, at("team:b")))
    request = ConsolidateRequest(reach=EVERYTHING)
    receipt = engine.consolidate(request)
    assert (receipt.status, receipt.scopes, receipt.built, receipt.jobs) == (ConsolidateStatus.COMPLETED, 2, 2, ())
    assert engine.get(GetRequest(ids=("f5f813bbad72ace5fbc348393ec95b6eddcaee29",)))[0].meta.tags == ("consolidated",)
    assert engine.consolidate(request).built == 0
    assert len(engine) == 6


def test_a_build_stays_within_its_reach_and_kinds() -> None:
    engine = ReferenceEngine()
    for path in ("root", "team:a", "team:a/agent:b", "team:a/service:s"):
        engine.store(StoreItem.document(f"At {path}.", at(path)))
    engine.store(read_item({"type": "conversation", "turns": [{"role": "user", "text": "Hi."}]}))
    built = [
        engine.consolidate(ConsolidateRequest(reach=reach, kinds=kinds)).built
        for reach, kinds in (
            (Reach.exact(Namespace.parse("team:a")), (ItemKind.CONVERSATION, ItemKind.LEARNING)),
            (Reach.of(Namespace.parse("team:a")), (ItemKind.DOCUMENT,)),
            (Reach.subtree(Namespace.parse("team:a")), ()),
            (EVERYTHING, ()),
        )
    ]
    assert built == [0, 2, 1, 1]


def test_a_built_belief_is_an_item_like_any_other() -> None:
    engine = ReferenceEngine()
    engine.store(StoreItem.document("Tea is good."))
    engine.consolidate(ConsolidateRequest(reach=EVERYTHING))
    assert engine.beliefs(BeliefsRequest(query="tea")) == []
    page = engine.fetch(FetchRequest(query="tea", beliefs=5))
    assert page.beliefs == ()
    assert [hit.kind for hit in page.hits] == [ItemKind.DOCUMENT, ItemKind.LEARNING]


# -- several threads


class Hesitant(dict[str, Any]):
    """Lets other threads in between the look and the leap."""

    def __contains__(self, key: object) -> bool:
        found = super().__contains__(key)
        time.sleep(0.0005)
        return found


def test_of_many_threads_storing_one_item_exactly_one_stores_it() -> None:
    engine = ReferenceEngine()
    engine._items = Hesitant()
    items = [StoreItem.document(f"tea {number}") for number in range(20)]
    with ThreadPoolExecutor(8) as pool:
        receipts = list(pool.map(engine.store, [item for item in items for _ in range(8)]))
    assert sum(not receipt.replayed for receipt in receipts) == len(items) == len(engine)


def test_reads_beside_writes_see_whole_states() -> None:
    engine = ReferenceEngine()
    pairs = [
        [StoreItem.document(f"{side} {number}", at("team:a")) for side in ("left", "right")] for number in range(150)
    ]

    def write(pair: list[Any]) -> int:
        engine.store_many(pair)
        engine.consolidate(ConsolidateRequest(reach=EVERYTHING))
        return engine.forget(ForgetTarget.of_ids(*[item.fingerprint() for item in pair])).forgotten

    def read(_: object) -> list[str]:
        return [
            hit.text for hit in engine.list(ListRequest(filter=MetaFilter.of_kinds(ItemKind.DOCUMENT), limit=999)).items
        ]

    with ThreadPoolExecutor(6) as pool:
        writes = [pool.submit(write, pair) for pair in pairs]
        reads = [pool.submit(read, None) for _ in range(150)]
        assert {done.result() for done in writes} == {2}
        for seen in (done.result() for done in reads):
            sides = [text.split()[1] for text in seen]
            assert all(sides.count(number) == 2 for number in sides), "half a batch was seen"


def test_nothing_is_kept_of_what_was_forgotten() -> None:
    engine = ReferenceEngine()
    kept, gone = (engine.store(StoreItem.document(text)).id for text in ("kept words", "gone words"))
    request = FetchRequest(query="words", mode=FetchMode.HYBRID)
    assert {hit.id for hit in engine.fetch(request).hits} == {kept, gone}
    engine.forget(ForgetTarget.of_ids(gone))
    assert list(engine._features) == [kept]
    assert [hit.id for hit in engine.fetch(request).hits] == [kept]
