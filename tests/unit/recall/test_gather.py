import threading
from typing import Any

import pytest

from corebrain.contract import MemoryEngine
from corebrain.errors import EngineError, Unavailable
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind, MemoryMeta, TurnRange
from corebrain.model.namespace import WHOLE_TREE, Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    Citation,
    FetchMode,
    FetchPage,
    FetchRequest,
    Hit,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
)
from corebrain.recall import Answer, Fetch, HolisticRecall, Latest, ScopeSection, TakesDeadline, ThreadWindow
from corebrain.recall.gather import gather, newest_first
from corebrain.recall.reads import Answered, Found

LEARNINGS = MetaFilter.of_kinds(ItemKind.LEARNING)
DOCUMENTS = MetaFilter.of_kinds(ItemKind.DOCUMENT)


def hit(name: str, kind: ItemKind = ItemKind.LEARNING, **meta: Any) -> Hit:
    return Hit(id=name, kind=kind, text=name, meta=MemoryMeta(**meta))


def hits(*names: str) -> tuple[Hit, ...]:
    return tuple(map(hit, names))


def section(limit: int = 2, query: Any = None, wanted: MetaFilter = DOCUMENTS, **fields: Any) -> ScopeSection:
    return ScopeSection(heading="H", filter=wanted, limit=limit, query=query or Fetch(), **fields)


def recall_of(*sections: ScopeSection, query: str | None = "q", **fields: Any) -> HolisticRecall:
    return HolisticRecall(query=query, sections=sections, **fields)


def answer(text: str = "yes", *cited: str) -> RecallAnswer:
    citations = tuple(Citation(id=name, kind=ItemKind.DOCUMENT, snippet=name, meta=MemoryMeta()) for name in cited)
    return RecallAnswer(answer=text, citations=citations)


def away(_: Any) -> Any:
    raise EngineError("away")


def test_each_section_reads_deep_enough_for_exclusions_and_the_sections_before_it(scripted: Any) -> None:
    engine = scripted()
    window = ThreadWindow(thread_id="t")
    gather(engine, recall_of(section(2), section(3), section(5), exclude_ids=("a", "b"), exclude_thread=window))
    assert sorted(request.limit for request in engine.fetches()) == [2 + 2 + 2, 3 + 2 + 3 + 2, 5 + 2 + 5 + 5]


def test_every_fetched_section_asks_for_as_many_beliefs_as_the_first_learnings_section_wants(scripted: Any) -> None:
    engine = scripted()
    gather(engine, recall_of(section(2), section(3, wanted=LEARNINGS), section(1, wanted=LEARNINGS)))
    assert [request.beliefs for request in engine.fetches()] == [5, 5, 5]


def test_pack_without_a_learnings_section_asks_for_no_beliefs(scripted: Any) -> None:
    engine = scripted()
    gather(engine, recall_of(section(2), section(1, Answer(question="q"), LEARNINGS)))
    assert [request.beliefs for request in engine.fetches()] == [0]


def test_filter_without_kinds_admits_learnings_and_so_asks_for_beliefs(scripted: Any) -> None:
    engine = scripted()
    gather(engine, recall_of(section(4, wanted=MetaFilter())))
    assert [request.beliefs for request in engine.fetches()] == [4]


def test_fetch_is_hybrid_when_declared_and_hands_on_filter_and_scopes(scripted: Any) -> None:
    engine = scripted()
    gather(engine, recall_of(section(2, Fetch(query="own"), max_scopes=4)))
    (request,) = engine.fetches()
    assert request == FetchRequest(query="own", mode=FetchMode.HYBRID, filter=DOCUMENTS, limit=2, max_scopes=4)


def test_fetch_takes_the_first_declared_mode_without_hybrid(scripted: Any) -> None:
    engine = scripted(modes=(FetchMode.VECTOR, FetchMode.KEYWORD))
    gather(engine, recall_of(section()))
    assert engine.fetches()[0].mode is FetchMode.VECTOR


def test_engine_without_modes_is_read_by_the_newest_without_beliefs(scripted: Any) -> None:
    engine = scripted(modes=(), listing=lambda _: ListPage(items=hits("a")), beliefs=lambda _: list(hits("b")))
    assert gather(engine, recall_of(section(wanted=LEARNINGS))) == [Found(hits("a"))]
    assert not engine.fetches()


def test_next_page_is_read_only_when_a_page_lost_hits_and_too_few_are_kept(scripted: Any) -> None:
    pages = {
        None: FetchPage(hits=hits("x", "a"), next_cursor="1", beliefs=hits("b1")),
        "1": FetchPage(hits=hits("b", "x"), next_cursor="2", beliefs=hits("b2")),
        "2": FetchPage(hits=hits("c"), next_cursor="3"),
    }
    engine = scripted(fetch=lambda request: pages[request.cursor])
    (read,) = gather(engine, recall_of(section(4, wanted=LEARNINGS), exclude_ids=("x",)))
    assert read == Found(hits("a", "b", "c"), hits("b1"))
    assert [(each.cursor, each.beliefs, each.limit) for each in engine.fetches()] == [
        (None, 5, 5),
        ("1", 0, 5),
        ("2", 0, 5),
    ]


def test_page_that_lost_nothing_is_not_followed(scripted: Any) -> None:
    engine = scripted(fetch=lambda _: FetchPage(hits=hits("a"), next_cursor="1"))
    gather(engine, recall_of(section(4)))
    assert len(engine.fetches()) == 1


def test_enough_kept_hits_end_the_paging(scripted: Any) -> None:
    engine = scripted(fetch=lambda _: FetchPage(hits=hits("x", "a", "b"), next_cursor="1"))
    gather(engine, recall_of(section(1), exclude_ids=("x",)))
    assert len(engine.fetches()) == 1


def test_five_pages_are_the_most_a_section_reads(scripted: Any) -> None:
    engine = scripted(fetch=lambda _: FetchPage(hits=hits("x"), next_cursor="more"))
    assert gather(engine, recall_of(section(), exclude_ids=("x",))) == [Found()]
    assert len(engine.fetches()) == 5


def test_latest_pages_by_a_hundred_and_keeps_the_newest_it_wants(scripted: Any) -> None:
    days = [hit(f"d{day}", observed_at=f"2026-01-{day:02d}T00:00:00Z") for day in (3, 9, 1, 7, 2)]
    pages = {None: ListPage(items=tuple(days[:2]), next_cursor="1"), "1": ListPage(items=tuple(days[2:]))}
    engine = scripted(listing=lambda request: pages[request.cursor])
    (read,) = gather(engine, recall_of(section(2, Latest(), MetaFilter(workspace="w")), exclude_ids=("d9",)))
    assert isinstance(read, Found)
    assert [each.id for each in read.hits] == ["d7", "d3", "d2"]
    listed = [request for request in engine.asked if isinstance(request, ListRequest)]
    assert [(each.limit, each.cursor, each.filter.workspace) for each in listed] == [(100, None, "w"), (100, "1", "w")]


def test_latest_reads_at_most_fifty_pages(scripted: Any) -> None:
    engine = scripted(listing=lambda _: ListPage(next_cursor="again"))
    gather(engine, recall_of(section(2, Latest())))
    assert len(engine.asked) == 50


def test_fetch_without_any_query_behaves_as_latest(scripted: Any) -> None:
    engine = scripted(listing=lambda _: ListPage(items=hits("a")))
    assert gather(engine, recall_of(section(2), query=" ")) == [Found(hits("a"))]
    assert not engine.fetches()


def test_latest_learnings_are_listed_beside_the_beliefs_of_their_reach(scripted: Any) -> None:
    acme = Reach.exact(Namespace.parse("team:acme"))
    engine = scripted(listing=lambda _: ListPage(items=hits("a")), beliefs=lambda _: list(hits("b")))
    reads = gather(
        engine,
        recall_of(section(2, Latest(), MetaFilter(reach=acme)), section(3, Latest(), LEARNINGS), section(1, Latest())),
    )
    assert reads == [Found(hits("a"), hits("b")), Found(hits("a"), hits("b")), Found(hits("a"))]
    asked = [request for request in engine.asked if isinstance(request, BeliefsRequest)]
    assert sorted(asked, key=lambda each: each.limit) == [
        BeliefsRequest(reach=acme, limit=2),
        BeliefsRequest(reach=WHOLE_TREE, limit=5),
    ]


def test_failed_belief_listing_leaves_the_stored_learnings(scripted: Any) -> None:
    engine = scripted(listing=lambda _: ListPage(items=hits("a")), beliefs=away)
    assert gather(engine, recall_of(section(2, Latest(), LEARNINGS))) == [Found(hits("a"))]


def test_answered_section_asks_with_its_own_limit(scripted: Any) -> None:
    engine = scripted(recall=lambda _: answer("yes", "a"))
    query = Answer(question="why?", instructions="short")
    reads = gather(engine, recall_of(section(7), section(2, query), exclude_ids=("a",)))
    assert reads[1] == Answered(answer("yes", "a"))
    asked = [request for request in engine.asked if isinstance(request, RecallRequest)]
    assert asked == [RecallRequest(question="why?", filter=DOCUMENTS, limit=2, instructions="short")]


@pytest.mark.parametrize("reply", [answer("thin air"), answer(" \n", "a")])
def test_answer_that_is_blank_or_cites_nothing_finds_nothing(scripted: Any, reply: RecallAnswer) -> None:
    engine = scripted(recall=lambda _: reply)
    query = Answer(question="why?", fallback_to_fetch=True)
    assert gather(engine, recall_of(section(2, query))) == [Found()]
    assert not engine.fetches()


def test_failed_answer_falls_back_to_a_fetch_for_the_question_without_beliefs(scripted: Any) -> None:
    engine = scripted(recall=away, fetch=lambda _: FetchPage(hits=hits("a")))
    query = Answer(question="why?", fallback_to_fetch=True)
    reads = gather(engine, recall_of(section(5, wanted=LEARNINGS), section(2, query, LEARNINGS)))
    assert reads[1] == Found(hits("a"))
    fallback = [request for request in engine.fetches() if request.query == "why?"]
    assert [(each.limit, each.beliefs) for each in fallback] == [(7, 0)]


def test_failed_answer_without_fallback_is_the_sections_error(scripted: Any) -> None:
    (read,) = gather(scripted(recall=away), recall_of(section(2, Answer(question="why?"))))
    assert str(read) == "engine error: away"


def test_engine_that_breaks_its_contract_costs_only_its_section_and_shows_no_words_of_its_own(scripted: Any) -> None:
    def broken(request: FetchRequest) -> FetchPage:
        if request.query == "bad":
            raise RuntimeError("password=hunter2")
        if request.query == "none":
            return None  # type: ignore[return-value]  # garbage on purpose
        return FetchPage(hits=hits("a"))

    bad, none, good = gather(
        scripted(fetch=broken), recall_of(section(1, Fetch(query="bad")), section(1, Fetch(query="none")), section(1))
    )
    assert str(bad) == "engine error: the engine raised RuntimeError"
    assert str(none) == "engine error: the engine raised AttributeError"
    assert good == Found(hits("a"))


def test_sections_are_read_at_the_same_time(scripted: Any) -> None:
    meeting = threading.Barrier(3, timeout=30)

    def meet(_: FetchRequest) -> FetchPage:
        meeting.wait()
        return FetchPage()

    assert gather(scripted(fetch=meet), recall_of(section(), section(), section())) == [Found()] * 3


def test_engine_that_works_in_process_is_read_section_by_section_in_the_callers_thread(scripted: Any) -> None:
    seen: list[tuple[str, int]] = []

    def note(request: FetchRequest) -> FetchPage:
        seen.append((request.query, threading.get_ident()))
        if request.query == "b":
            raise EngineError("away")
        return FetchPage(hits=hits(request.query))

    engine = scripted(fetch=note)
    engine.works_in_process = True
    reads = gather(engine, recall_of(*(section(1, Fetch(query=query)) for query in "abc")))
    assert seen == [(query, threading.get_ident()) for query in "abc"]
    assert [reads[0], str(reads[1]), reads[2]] == [Found(hits("a")), "engine error: away", Found(hits("c"))]


def test_nothing_runs_any_more_when_a_failing_read_has_returned(scripted: Any) -> None:
    before = set(threading.enumerate())
    gather(scripted(fetch=away, listing=away), recall_of(section(), section(1, Latest()), section()))
    assert set(threading.enumerate()) <= before


def test_order_of_the_newest() -> None:
    def at(name: str, day: int | None, confidence: float | None, last: int | None) -> Hit:
        turns = None if last is None else TurnRange(first=last, last=last)
        seen = None if day is None else Instant.parse(f"2026-01-0{day}T00:00:00Z")
        meta = MemoryMeta(observed_at=seen, turns=turns)
        return Hit(id=name, kind=ItemKind.LEARNING, text="", meta=meta, confidence=confidence)

    mixed = [
        at("undated", None, 1.0, 9),
        at("old", 1, 1.0, 9),
        at("new", 2, 0.1, 0),
        at("no confidence, turn 1", 1, None, 1),
        at("zero confidence, turn 5", 1, 0.0, 5),
        at("no confidence, no turn", 1, None, None),
        at("as well no turn", 1, None, None),
    ]
    assert [each.id for each in sorted(mixed, key=newest_first)] == [
        "new",
        "old",
        "zero confidence, turn 5",
        "no confidence, turn 1",
        "no confidence, no turn",
        "as well no turn",
        "undated",
    ]


def test_deadline_is_handed_to_an_engine_that_takes_one(scripted: Any) -> None:
    class Bounded(scripted):  # type: ignore[misc]  # the fixture's class is known at run time only
        def within(self, seconds: float) -> MemoryEngine:
            assert seconds == 0.25
            late: MemoryEngine = scripted(fetch=_late, recall=_late, listing=lambda _: ListPage(items=hits("a")))
            return late

    def _late(_: Any) -> Any:
        raise Unavailable("no answer within 0.25 s")

    engine = Bounded()
    assert isinstance(engine, TakesDeadline)
    sections = (section(), section(1, Latest()), section(1, Answer(question="q")))
    late, listed, answered = gather(engine, recall_of(*sections, section_timeout_s=0.25))
    assert str(late) == str(answered) == "unavailable: no answer within 0.25 s"
    assert listed == Found(hits("a"))
    assert engine.asked == []


def test_fallback_after_a_late_answer_has_the_deadline_anew(scripted: Any) -> None:
    given: list[float] = []

    class Bounded(scripted):  # type: ignore[misc]  # as above
        def within(self, seconds: float) -> MemoryEngine:
            given.append(seconds)
            first = len(given) == 1
            bounded: MemoryEngine = scripted(recall=away, fetch=away if first else lambda _: FetchPage(hits=hits("a")))
            return bounded

    query = Answer(question="q", fallback_to_fetch=True)
    assert gather(Bounded(), recall_of(section(1, query), section_timeout_s=2)) == [Found(hits("a"))]
    assert given == [2, 2]


def test_engine_that_takes_no_deadline_is_waited_for(scripted: Any) -> None:
    engine = scripted(fetch=lambda _: FetchPage(hits=hits("a")))
    assert gather(engine, recall_of(section(), section_timeout_s=0.000001)) == [Found(hits("a"))]


def test_engine_that_lists_the_newest_is_asked_for_just_those_unless_something_is_excluded(scripted: Any) -> None:
    asked: list[tuple[ListRequest, int]] = []

    class Newest(scripted):  # type: ignore[misc]  # as above
        def newest(self, request: ListRequest, window: int) -> tuple[Hit, ...]:
            asked.append((request, window))
            return hits("n")

    engine = Newest(listing=lambda _: ListPage(items=hits("l")))
    plain = recall_of(section(3, Latest()))
    assert gather(engine, plain) == [Found(hits("n"))]
    assert asked == [(ListRequest(filter=DOCUMENTS, limit=3), 5000)]
    for excluding in ({"exclude_ids": ("x",)}, {"exclude_thread": ThreadWindow(thread_id="t")}):
        assert gather(engine, plain.model_copy(update=excluding)) == [Found(hits("l"))]
    assert len(asked) == 1
