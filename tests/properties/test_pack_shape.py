"""Whatever an engine answers, a pack keeps its budget, lists an item once and hides what is excluded."""

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from corebrain.errors import EngineError
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.meta import ItemKind, MemoryMeta, TurnRange
from corebrain.model.requests import Citation, Hit, RecallAnswer
from corebrain.recall import Answer, HolisticRecall, Latest, ScopeSection, ThreadWindow
from corebrain.recall.reads import Answered, Found, Read
from corebrain.recall.render import Block, tokens
from corebrain.recall.settle import bullet, settle, shorten

WORDS = st.text(st.sampled_from("ab ü日\n\t\u2003…#\x1c"), max_size=40)
TEXTS = WORDS | st.tuples(WORDS, st.integers(1, 90)).map(lambda pair: pair[0] * pair[1])
IDS = st.sampled_from("abcdefgh")
METAS = st.builds(
    MemoryMeta,
    thread_id=st.sampled_from([None, "t", "u"]),
    turns=st.none() | st.integers(0, 4).map(lambda turn: TurnRange(first=turn, last=turn)),
    observed_at=st.none() | st.integers(-(10**18), 10**18).map(Instant),
)
HITS = st.builds(
    Hit,
    id=IDS,
    kind=st.sampled_from(ItemKind),
    text=TEXTS,
    meta=METAS,
    confidence=st.none() | st.floats(0, 1),
)
CITATIONS = st.builds(Citation, id=IDS, kind=st.sampled_from(ItemKind), snippet=TEXTS, meta=METAS)
LISTS = st.lists(HITS, max_size=8).map(tuple)
READS = (
    st.builds(Found, LISTS, LISTS)
    | st.builds(EngineError, st.just("away"))
    | st.builds(RecallAnswer, answer=TEXTS.filter(str.strip), citations=st.lists(CITATIONS, max_size=4).map(tuple)).map(
        Answered
    )
)


@st.composite
def gathered(draw: st.DrawFn) -> tuple[HolisticRecall, list[Read]]:
    reads: list[Read] = draw(st.lists(READS, max_size=5))
    sections = tuple(
        ScopeSection(
            heading=draw(st.text(st.sampled_from("AB "), min_size=1, max_size=9).filter(str.strip)),
            filter=MetaFilter(kinds=draw(st.lists(st.sampled_from(ItemKind), max_size=2, unique=True).map(tuple))),
            limit=draw(st.integers(1, 6)),
            query=Answer(question="q") if isinstance(read, Answered) else Latest(),
        )
        for read in reads
    )
    window = draw(st.none() | st.builds(ThreadWindow, thread_id=st.just("t"), from_turn=st.integers(0, 4)))
    excluded = tuple(draw(st.lists(IDS, max_size=2)))
    budget = draw(st.integers(1, 500))
    return HolisticRecall(sections=sections, budget_tokens=budget, exclude_ids=excluded, exclude_thread=window), reads


@given(gathered())
def test_settled_sections_show_each_item_once_within_limits_kinds_and_exclusions(drawn: Any) -> None:
    recall, reads = drawn
    settled = settle(recall, reads)
    shown = [hit.id for found, _ in settled.filled if found.answer is None for hit in found.hits]
    assert len(shown) == len(set(shown))
    assert len(settled.filled) + len(settled.skipped) == len(recall.sections)
    for found, bullets in settled.filled:
        if found.answer is not None:
            assert bullets == ()
            continue
        assert not any(recall.excludes(hit) for hit in found.hits)
        assert bullets == tuple(map(bullet, found.hits))
        admitting = [each for each in recall.sections if each.heading == found.heading]
        assert any(
            len(found.hits) <= each.limit and all(each.filter.admits_kind(hit.kind) for hit in found.hits)
            for each in admitting
        )


@given(gathered())
def test_block_never_exceeds_its_budget_and_trimming_only_takes_away(drawn: Any) -> None:
    recall, reads = drawn
    filled = settle(recall, reads).filled
    block = Block(recall.title, filled)
    whole, all_refs = block.markdown(), block.refs()
    assert block.characters() == len(whole)
    block.fit(recall.budget_tokens)
    markdown = block.markdown()
    assert block.characters() == len(markdown)
    assert tokens(len(markdown)) <= recall.budget_tokens
    assert set(block.refs()) <= set(all_refs)
    if tokens(len(whole)) <= recall.budget_tokens:
        assert markdown == whole
    if markdown:
        assert markdown.startswith("# Memory\n\n## ")
        assert markdown.endswith("\n")


@given(gathered(), st.integers(1, 500))
def test_smaller_budget_cites_no_more(drawn: Any, less: int) -> None:
    recall, reads = drawn
    filled = settle(recall, reads).filled
    wide, narrow = Block("Memory", filled), Block("Memory", filled)
    wide.fit(recall.budget_tokens)
    narrow.fit(min(less, recall.budget_tokens))
    assert set(narrow.refs()) <= set(wide.refs())


@given(HITS)
def test_bullet_is_one_line_of_at_most_601_characters(hit: Hit) -> None:
    line = bullet(hit)
    assert len(line) <= 601
    assert line == line.strip(" ")
    assert not set(line) & set("\n\t\r\u2003\u2028")
    assert "  " not in line


@given(TEXTS, st.integers(0, 100))
def test_shortened_text_is_a_beginning_and_an_ellipsis(text: str, keep: int) -> None:
    short = shorten(text, keep)
    assert short.endswith("…")
    assert len(short) <= keep + 1
    assert text.startswith(short[:-1])
