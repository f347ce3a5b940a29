from collections.abc import Callable

import pytest

from corebrain.engines.local import ranking
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Document, Learning
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchMode, FetchRequest, Hit, ListRequest, RecallRequest

Find = Callable[..., list[Hit]]


def test_only_keyword_is_declared_and_other_modes_are_refused_first(engine: LocalEngine) -> None:
    assert engine.descriptor.fetch_modes == (FetchMode.KEYWORD,)
    with pytest.raises(Unsupported, match="local does not offer hybrid"):
        engine.fetch(FetchRequest(query="", mode=FetchMode.HYBRID))


def test_the_best_match_comes_first_with_positive_scores(
    engine: LocalEngine, document: Callable[..., Document], find: Find
) -> None:
    engine.store_many([document("Refunds take five days."), document("Refunds."), document("Days pass by.")])
    hits = find(engine, "how many days do refunds take")
    assert hits[0].text == "Refunds take five days."
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert all(hit.score > 0 for hit in hits)


def test_a_title_weighs_more_than_a_mention(engine: LocalEngine, document: Callable[..., Document], find: Find) -> None:
    engine.store(document("See the page on parental matters, leave it be, and so on and on."))
    engine.store(document("Twelve weeks are paid, see the handbook.", title="Parental leave"))
    assert find(engine, "parental leave")[0].text.startswith("# Parental leave")


def test_a_long_document_answers_with_its_best_passage_page_and_section(
    engine: LocalEngine, document: Callable[..., Document], find: Find
) -> None:
    pages = ["# Intro\n\n" + "alpha beta. " * 200, "## Second\n\n" + "gamma delta. " * 100 + "The zebra lives here."]
    text = "\f".join(pages)
    engine.store(document(text, title="Animals", tags=("own",)))
    (hit,) = find(engine, "zebra")
    assert hit.text.startswith("# Animals\n\n")
    assert hit.text.endswith("The zebra lives here.")
    assert len(hit.text) < 1_600
    assert hit.meta.tags == ("own", "page:2", "section:Second")
    (stored,) = engine.list(ListRequest()).items
    assert stored.text == f"# Animals\n\n{text}"
    assert stored.meta.tags == ("own",)


def test_a_document_of_many_matching_passages_is_one_hit(
    engine: LocalEngine, document: Callable[..., Document], find: Find
) -> None:
    engine.store(document("zebra " * 60_000))
    engine.store_many([document(f"A zebra, number {n}, and other animals of that kind.") for n in range(9)])
    hits = find(engine, "zebra", limit=10)
    assert len({hit.id for hit in hits}) == 10


def test_following_cursors_visits_every_hit_once(engine: LocalEngine, document: Callable[..., Document]) -> None:
    engine.store_many([document(f"same words, number {n}", at=f"source:s{n % 20}") for n in range(90)])
    seen: list[str] = []
    cursor = None
    while True:
        request = FetchRequest(query="same words", mode=FetchMode.KEYWORD, limit=7, cursor=cursor)
        page = engine.fetch(request)
        seen += [hit.id for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 90


@pytest.mark.parametrize("cursor", ["", "7", "zz.000000000000", "0.", "1.0123456789ab", "-1.0123456789ab"])
def test_a_foreign_cursor_is_refused(engine: LocalEngine, cursor: str) -> None:
    with pytest.raises(InvalidRequest):
        engine.fetch(FetchRequest(query="x", mode=FetchMode.KEYWORD, cursor=cursor))
    with pytest.raises(InvalidRequest):
        engine.list(ListRequest(cursor=cursor))


def test_a_cursor_of_another_filter_is_refused(engine: LocalEngine, document: Callable[..., Document]) -> None:
    engine.store_many([document(f"text {n}") for n in range(3)])
    cursor = engine.list(ListRequest(limit=1)).next_cursor
    other = MetaFilter(kinds=(ItemKind.DOCUMENT,))
    with pytest.raises(InvalidRequest, match="another request"):
        engine.list(ListRequest(limit=1, cursor=cursor, filter=other))


def test_scores_of_different_tables_compare(
    engine: LocalEngine, document: Callable[..., Document], learning: Callable[..., Learning], find: Find
) -> None:
    """A lone learning that says it all outranks documents that touch on it, though its own table holds nothing else."""
    texts = ["Travel by train.", *(f"Note {n} on the garden and the weather." for n in range(9))]
    for number in range(8):
        engine.store_many([document(f"{text} {number}", at="source:a") for text in texts])
    engine.store(learning("Travel costs need approval"))
    engine.store(document("Approval of garden plans.", at="agent:x"))
    hits = find(engine, "approval of travel costs", limit=3)
    assert hits[0].text == "Travel costs need approval"


def test_a_sandbox_is_entered_only_from_inside(
    engine: LocalEngine, document: Callable[..., Document], find: Find
) -> None:
    engine.store_many(
        [document("secret news", at=at) for at in ("team:t/service:s", "team:t/service:s/agent:x", "team:t")]
    )

    def nodes(reach: Reach | None) -> set[str]:
        return {str(hit.meta.namespace) for hit in find(engine, "news", reach=reach)}

    team, service = Namespace.parse("team:t"), Namespace.parse("team:t/service:s")
    assert nodes(None) == nodes(Reach.subtree(team)) == {"team:t"}
    assert nodes(Reach.subtree(service)) == {"team:t/service:s", "team:t/service:s/agent:x"}
    assert nodes(Reach.exact(service)) == {"team:t/service:s"}
    assert nodes(Reach.of(service)) == {"team:t", "team:t/service:s"}


@pytest.mark.parametrize(
    "query", ['"', "AND OR NOT", "a" * 100_000, "(" * 500, "\0", "\ud800", "🎉", "body:x NEAR(a b)", "* ^ -x", "the of"]
)
def test_a_hostile_query_is_answered(
    engine: LocalEngine, document: Callable[..., Document], find: Find, query: str
) -> None:
    engine.store(document("The AND of all things, a body: x."))
    assert len(find(engine, query)) <= 1


def test_recall_quotes_its_hits_and_cites_what_list_finds(
    engine: LocalEngine, document: Callable[..., Document], learning: Callable[..., Learning]
) -> None:
    engine.store_many([document("Refunds take five days."), learning("Refunds are reviewed"), document("Other.")])
    wanted = MetaFilter(kinds=(ItemKind.DOCUMENT,))
    answer = engine.recall(RecallRequest(question="refunds", filter=wanted, limit=5))
    assert [citation.snippet for citation in answer.citations] == ["Refunds take five days."]
    assert "Refunds take five days." in answer.answer
    found = {hit.id for hit in engine.list(ListRequest(filter=wanted)).items}
    assert {citation.id for citation in answer.citations} <= found


def test_recall_without_hits_says_so(engine: LocalEngine) -> None:
    answer = engine.recall(RecallRequest(question="anything"))
    assert answer.answer.strip()
    assert answer.citations == ()


def test_a_limit_beyond_every_number_is_served(
    engine: LocalEngine, document: Callable[..., Document], find: Find
) -> None:
    engine.store(document("one"))
    assert len(find(engine, "one", limit=2**70)) == 1
    assert len(engine.list(ListRequest(limit=2**70)).items) == 1


def test_a_word_whose_lower_case_is_longer_is_still_found(
    engine: LocalEngine, document: Callable[..., Document], find: Find
) -> None:
    engine.store(document("İstanbul ve ÇEŞME"))
    assert len(find(engine, "İstanbul")) == len(find(engine, "çeşme")) == 1


def test_the_first_hits_are_the_same_however_many_are_asked_for(
    engine: LocalEngine, document: Callable[..., Document], find: Find
) -> None:
    """A long document that fills the first look into its table hides no better item of the same table."""
    engine.store(document("zebra zebra zebra\n\n" * 9_000, at="source:a"))
    engine.store_many([document(f"zebra, zebra and gnu {n}", at="source:a") for n in range(8)])
    filler = "with very many other words that have nothing to do with it at all " * 4
    for batch in range(2):
        engine.store_many([document(f"a zebra {filler} {batch} {n}", at="source:b") for n in range(80)])
    assert find(engine, "zebra", limit=5) == find(engine, "zebra", limit=400)[:5]


def test_a_broad_read_ranks_by_every_word_though_few_choose(
    engine: LocalEngine, document: Callable[..., Document], find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine.store_many([document(f"The kettle stands on shelf {n}.") for n in range(60)])
    engine.store_many([document(f"The kettle of zinc stands on shelf {n}.") for n in range(60, 64)])
    engine.store_many([document(f"A pan of zinc, with lid {n} and a long story about lids.") for n in range(3)])
    narrow = find(engine, "kettle zinc shelf", limit=5)
    monkeypatch.setattr(ranking, "BROAD", 10)
    monkeypatch.setattr(ranking, "CHOSEN", 6)
    broad = find(engine, "kettle zinc shelf", limit=5)
    assert [hit.id for hit in broad] == [hit.id for hit in narrow]
    assert [hit.score for hit in broad] == pytest.approx([hit.score for hit in narrow])
    assert {hit.text for hit in find(engine, "kettle zinc", limit=4)} == {
        f"The kettle of zinc stands on shelf {n}." for n in range(60, 64)
    }
    assert len(find(engine, "kettle", limit=50)) == 50  # the only word chooses, however many hold it


def test_a_broad_read_is_chosen_by_as_many_words_as_fill_it(
    engine: LocalEngine, document: Callable[..., Document], find: Find, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ranking, "BROAD", 10)
    monkeypatch.setattr(ranking, "CHOSEN", 6)
    engine.store_many([document(f"The kettle stands on shelf {n}.") for n in range(60)])
    engine.store(document("Only zinc here."))
    assert find(engine, "kettle zinc", limit=1)[0].text == "Only zinc here."
    assert len(find(engine, "kettle zinc", limit=10)) == 10
