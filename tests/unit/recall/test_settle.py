from typing import Any

import pytest

from corebrain.errors import EngineError
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import Citation, Hit, RecallAnswer
from corebrain.recall import Answer, HolisticRecall, Latest, ScopeSection, SectionHits, SkippedSection, ThreadWindow
from corebrain.recall.reads import Answered, Found, Read
from corebrain.recall.settle import Settled, bullet, fold_beliefs, settle, shorten

LEARNINGS = MetaFilter.of_kinds(ItemKind.LEARNING)


def hit(name: str, kind: ItemKind = ItemKind.LEARNING, text: str | None = None, **meta: Any) -> Hit:
    return Hit(id=name, kind=kind, text=name if text is None else text, meta=MemoryMeta(**meta))


def hits(*names: str) -> tuple[Hit, ...]:
    return tuple(map(hit, names))


def section(heading: str = "H", limit: int = 5, wanted: MetaFilter = LEARNINGS, query: Any = None) -> ScopeSection:
    return ScopeSection(heading=heading, filter=wanted, limit=limit, query=query or Latest())


def settled(*pairs: tuple[ScopeSection, Read], **fields: Any) -> Settled:
    recall = HolisticRecall(sections=tuple(each for each, _ in pairs), **fields)
    return settle(recall, [read for _, read in pairs])


def ids(result: Settled) -> list[list[str]]:
    return [[each.id for each in found.hits] for found, _ in result.filled]


@pytest.mark.parametrize(
    ("text", "keep", "short"),
    [
        ("alpha beta gamma delta", 14, "alpha beta…"),
        ("abcdefghijkl mn", 14, "abcdefghijkl…"),
        ("ab cdefghijklmno", 14, "ab cdefghijklm…"),
        ("ab cd", 4, "ab c…"),
        ("ab  cd", 4, "ab…"),
        ("abcdef", 0, "…"),
        ("日本語 のの", 5, "日本語…"),
        ("éé bcd", 5, "éé…"),
        ("abcd ef", 5, "abcd…"),
        ("ab\u2003cdef", 5, "ab\u2003cd…"),
    ],
)
def test_shorten_cuts_at_the_last_space_unless_that_loses_half(text: str, keep: int, short: str) -> None:
    assert shorten(text, keep) == short


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("# Refunds\n\nThey take five days.", "Refunds: They take five days."),
        ("#   Refunds  \n\n  They take five days.", "Refunds: They take five days."),
        ("# Refunds\n\n# Refunds\n\nThey take five days.", "Refunds: They take five days."),
        ("# Refunds\n\n# Refunds", "Refunds:"),
        ("# Refunds\n\n# Refunds and returns\nx", "Refunds: # Refunds and returns x"),
        ("# Refunds\nThey take five days.", "# Refunds They take five days."),
        ("# \n\nbody", "# body"),
        ("no title\n\nat all", "no title at all"),
    ],
)
def test_document_bullet_is_led_by_its_title(text: str, line: str) -> None:
    assert bullet(hit("d", ItemKind.DOCUMENT, text)) == line


def test_title_of_a_learning_is_only_text() -> None:
    assert bullet(hit("l", ItemKind.LEARNING, "# A\n\nb")) == "# A b"


def test_conversation_bullet_is_led_by_its_time_in_utc() -> None:
    text = "user: when do refunds settle"
    dated = hit("c", ItemKind.CONVERSATION, text, observed_at="2026-09-15T11:01:59.9+02:00")
    assert bullet(dated) == "[2026-09-15 09:01] user: when do refunds settle"
    assert bullet(hit("c", ItemKind.CONVERSATION, text)) == text
    assert bullet(hit("l", ItemKind.LEARNING, "x", observed_at="2026-09-15T11:01:59Z")) == "x"


def test_bullet_collapses_every_kind_of_whitespace_and_only_that() -> None:
    assert bullet(hit("l", text=" a\u2003\n\tb\x0c\x1cc ")) == "a b \x1cc"


@pytest.mark.parametrize("filler", ["word ", " \n" * 5_000 + "word "])
def test_long_bullet_is_six_hundred_characters_and_an_ellipsis(filler: str) -> None:
    line = bullet(hit("l", text=filler * 300))
    assert line == ("word " * 120).rstrip() + "…"
    assert bullet(hit("l", text="x" * 600)) == "x" * 600
    assert bullet(hit("l", text="x" * 601)) == "x" * 600 + "…"


def test_item_is_listed_once_in_its_first_section() -> None:
    result = settled((section("A"), Found(hits("a", "b", "a"))), (section("B"), Found(hits("b", "c", "a"))))
    assert ids(result) == [["a", "b"], ["c"]]


def test_section_whose_items_are_all_shown_is_skipped_as_empty() -> None:
    result = settled((section("A"), Found(hits("a"))), (section("B"), Found(hits("a"))))
    assert result.skipped == (SkippedSection(heading="B", reason="empty"),)


def test_section_is_cut_to_its_limit_and_what_is_cut_may_show_below() -> None:
    result = settled((section("A", 1), Found(hits("a", "b"))), (section("B"), Found(hits("b"))))
    assert ids(result) == [["a"], ["b"]]


def test_kinds_the_filter_does_not_name_are_dropped() -> None:
    read = Found((hit("d", ItemKind.DOCUMENT), hit("l")))
    assert ids(settled((section(), read))) == [["l"]]
    assert ids(settled((section(wanted=MetaFilter()), read))) == [["d", "l"]]


def test_excluded_items_are_dropped_beliefs_too() -> None:
    turn = hit("t", thread_id="t1")
    read = Found((hit("a"), turn, hit("b")), (hit("x"), hit("y")))
    result = settled((section(), read), exclude_ids=("b", "x"), exclude_thread=ThreadWindow(thread_id="t1"))
    assert ids(result) == [["a", "y"]]


def test_answer_passes_untouched_and_does_not_hide_what_it_cites() -> None:
    citations = (Citation(id="a", kind=ItemKind.DOCUMENT, snippet="s", meta=MemoryMeta(), score=0.5),)
    answer = RecallAnswer(answer=" yes ", citations=citations)
    pairs = ((section("A", query=Answer(question="q")), Answered(answer)), (section("B"), Found(hits("a"))))
    result = settled(*pairs, exclude_ids=("z",))
    first, bullets = result.filled[0]
    cited = Hit(id="a", kind=ItemKind.DOCUMENT, text="s", meta=MemoryMeta(), score=0.5)
    assert first == SectionHits(heading="A", answer=" yes ", hits=(cited,))
    assert bullets == ()
    assert ids(result)[1] == ["a"]


def test_failed_and_empty_sections_are_skipped_with_their_reason() -> None:
    result = settled((section("A"), EngineError("away")), (section("B"), Found()), (section("C"), Found(hits("a"))))
    assert result.skipped == (
        SkippedSection(heading="A", reason="engine error: away"),
        SkippedSection(heading="B", reason="empty"),
    )
    assert ids(result) == [["a"]]


def test_beliefs_of_all_sections_merge_by_rank_and_fold_in_after_the_stored_at_each_rank() -> None:
    sections = (section("A"), section("B", wanted=MetaFilter.of_kinds(ItemKind.DOCUMENT)))
    folded = fold_beliefs(sections, [Found(hits("s1", "s2"), hits("b1", "b2")), Found(hits("d"), hits("b3", "b1"))])
    assert folded[0] == Found(hits("s1", "b1", "s2", "b3", "b2"))
    assert folded[1] == Found(hits("d"), hits("b3", "b1"))


def test_every_learnings_section_gets_the_beliefs_its_filter_admits() -> None:
    acme = Namespace.parse("team:acme")
    beliefs = (hit("ours", namespace=acme), hit("theirs", namespace="team:globex"))
    narrow = section("B", wanted=MetaFilter(reach=Reach.exact(acme)))
    folded = fold_beliefs((section("A"), narrow), [Found((), beliefs), Found(hits("s"))])
    assert folded == [Found(beliefs), Found((hit("s"), beliefs[0]))]


def test_failed_and_answered_sections_get_no_beliefs() -> None:
    error = EngineError("away")
    answered = section("B", query=Answer(question="q"))
    assert fold_beliefs((section("A"), answered), [error, Found((), hits("b"))]) == [error, Found((), hits("b"))]


def test_belief_that_is_stored_too_is_shown_once() -> None:
    assert ids(settled((section(), Found(hits("a", "b"), hits("b", "c"))))) == [["a", "b", "c"]]
