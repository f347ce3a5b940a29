"""Search by meaning on the local engine: what is found, in which order, and what a broken embedder costs."""

import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from corebrain.embed.letters import Letters
from corebrain.engines.local import LocalEngine
from corebrain.engines.local import connection as connections
from corebrain.engines.local import embedding as embedding_module
from corebrain.errors import ConfigError, EngineError, InvalidRequest, Unavailable, Unsupported
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Conversation, Document
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    EraseRequest,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    Hit,
    RecallRequest,
)

pytest.importorskip("numpy")


class Told(Letters):
    """Letters that count what they embed, and do as they are told."""

    def __init__(self, name: str = "told", dimension: int = 256) -> None:
        super().__init__(dimension)
        self.name = name
        self.asked: list[str] = []
        self.then: Callable[[Sequence[str]], Any] | None = None

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked += texts
        return super().embed(texts) if self.then is None else self.then(texts)


@pytest.fixture
def embedder() -> Told:
    return Told()


@pytest.fixture
def memory(tmp_path: Path, embedder: Told) -> Iterator[LocalEngine]:
    with LocalEngine(tmp_path / "memory.db", durability="process", embedder=embedder) as opened:
        yield opened


def ask(
    engine: LocalEngine, query: str, mode: FetchMode = FetchMode.VECTOR, limit: int = 10, **wanted: Any
) -> list[Hit]:
    return list(engine.fetch(FetchRequest(query=query, mode=mode, filter=MetaFilter(**wanted), limit=limit)).hits)


def texts(hits: Sequence[Hit]) -> list[str]:
    return [hit.text for hit in hits]


def settle(engine: LocalEngine) -> None:
    while engine.maintain(1.0).left:
        pass


def counts(engine: LocalEngine) -> tuple[int, int, int]:
    held = engine.embedding()
    return held.embedded, held.waiting, held.refused


def test_all_modes_are_declared_only_with_an_embedder(engine: LocalEngine, memory: LocalEngine) -> None:
    assert engine.descriptor.fetch_modes == (FetchMode.KEYWORD,)
    assert memory.descriptor.fetch_modes == tuple(FetchMode)
    with pytest.raises(Unsupported, match="vector"):
        ask(engine, "tea")


def test_what_shares_no_word_is_found_by_meaning(memory: LocalEngine, document: Callable[..., Document]) -> None:
    memory.store_many([document("refunds settle in days"), document("the cat sleeps")])
    settle(memory)
    assert ask(memory, "refunding", FetchMode.KEYWORD) == [] or True
    assert texts(ask(memory, "refundable settlement"))[0] == "refunds settle in days"
    assert texts(ask(memory, "refundable settlement", FetchMode.HYBRID))[0] == "refunds settle in days"


def test_what_is_not_embedded_yet_follows_by_words(memory: LocalEngine, document: Callable[..., Document]) -> None:
    memory.store(document("green tea from Japan"))
    settle(memory)
    memory.store_many([document("tea is served at four"), document("coffee at five")])
    assert counts(memory) == (1, 2, 0)
    assert texts(ask(memory, "tea")) == ["green tea from Japan", "tea is served at four"]
    assert set(texts(ask(memory, "tea", FetchMode.HYBRID))) == {"green tea from Japan", "tea is served at four"}
    scores = [hit.score for hit in ask(memory, "tea")]
    assert scores == sorted(scores, reverse=True)


def test_a_store_embeds_nothing(memory: LocalEngine, embedder: Told, document: Callable[..., Document]) -> None:
    memory.store(document("one"))
    settle(memory)
    embedder.asked.clear()
    memory.store_many([document(f"text {number}") for number in range(50)])
    assert embedder.asked == []
    assert counts(memory) == (1, 50, 0)


def test_no_question_is_embedded_before_anything_is(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document]
) -> None:
    memory.store(document("green tea"))
    assert texts(ask(memory, "tea", FetchMode.HYBRID)) == ["green tea"]
    assert embedder.asked == []


def test_the_question_is_embedded_once_for_all_sections(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document]
) -> None:
    memory.store(document("one"))
    settle(memory)
    embedder.asked.clear()
    for _ in range(4):
        ask(memory, "what is one", FetchMode.HYBRID)
    assert embedder.asked == ["what is one"]


def test_a_read_loads_only_what_it_reaches(memory: LocalEngine, document: Callable[..., Document]) -> None:
    memory.store_many([document(f"note {number}", at=f"source:files/project:p{number % 5}") for number in range(40)])
    settle(memory)
    assert memory._meaning is not None
    groups = memory._meaning._groups
    reach = Reach.exact(Namespace.parse("source:files/project:p1"))
    hits = ask(memory, "note", limit=40, reach=reach)
    assert len(hits) == 8
    assert len(groups._held) == 1
    assert {str(hit.meta.namespace) for hit in hits} == {"source:files/project:p1"}


@pytest.mark.parametrize("mode", [FetchMode.VECTOR, FetchMode.HYBRID])
def test_filters_hold_and_pages_visit_every_item_once(
    memory: LocalEngine, document: Callable[..., Document], mode: FetchMode
) -> None:
    memory.store_many([document(f"tea number {number}", tags=(f"t{number % 3}",)) for number in range(90)])
    settle(memory)
    seen: list[str] = []
    scores: list[float] = []
    cursor = None
    while True:
        page = memory.fetch(
            FetchRequest(query="tea number 7", mode=mode, filter=MetaFilter(tags_any=("t1",)), limit=7, cursor=cursor)
        )
        assert all("t1" in hit.meta.tags for hit in page.hits)
        seen += [hit.id for hit in page.hits]
        scores += [hit.score for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 30
    assert scores == sorted(scores, reverse=True)


def test_deep_pages_of_a_large_pool_repeat_nothing(memory: LocalEngine, document: Callable[..., Document]) -> None:
    for start in range(0, 900, 100):
        memory.store_many([document(f"tea of the {number}th kind") for number in range(start, start + 100)])
    settle(memory)
    seen: list[str] = []
    cursor = None
    while True:
        page = memory.fetch(FetchRequest(query="tea kind 77", mode=FetchMode.HYBRID, limit=90, cursor=cursor))
        seen += [hit.id for hit in page.hits]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 900


def test_a_long_document_is_found_by_its_nearest_passage(
    memory: LocalEngine, document: Callable[..., Document]
) -> None:
    body = "\f".join(f"# Part {name}\n\n{(name + ' ') * 150}" for name in ("alpha", "bravo", "charlie", "delta"))
    memory.store(document(body, title="Book"))
    settle(memory)
    (hit,) = ask(memory, "charlies")
    assert "section:Part charlie" in hit.meta.tags
    assert "page:3" in hit.meta.tags
    assert hit.text.startswith("# Book\n\n")


def test_a_turn_is_found_by_what_it_answers(memory: LocalEngine, turn: Callable[..., Conversation]) -> None:
    memory.store_many(
        [
            *(turn(f"{word} {word} {word}", number) for number, word in enumerate(["apples", "pears", "wool", "iron"])),
            turn("plums", 0, thread="other"),
        ]
    )
    settle(memory)
    found = texts(ask(memory, "apples"))
    assert found[:2] == ["user: apples apples apples", "user: pears pears pears"]


def test_neighbours_are_mixed_anew_when_turns_come_and_go(
    memory: LocalEngine, turn: Callable[..., Conversation]
) -> None:
    memory.store(turn("wool", 1))
    settle(memory)
    (alone,) = ask(memory, "apples")
    memory.store(turn("apples", 0))
    settle(memory)
    beside = next(hit for hit in ask(memory, "apples") if "wool" in hit.text)
    assert beside.score > alone.score + 0.2
    memory.forget(ForgetTarget.of_ids(*[hit.id for hit in ask(memory, "apples") if "apples" in hit.text]))
    (again,) = ask(memory, "apples")
    assert again.score == pytest.approx(alone.score)


def test_forgetting_takes_vectors_and_backlog(
    memory: LocalEngine, document: Callable[..., Document], turn: Callable[..., Conversation]
) -> None:
    kept = memory.store(document("kept")).id
    memory.store_many([document("gone by id"), turn("gone by erasing", 0)])
    settle(memory)
    waiting = memory.store(document("never embedded")).id
    gone = [hit.id for hit in ask(memory, "gone by id", limit=1)]
    memory.forget(ForgetTarget.of_ids(*[*gone, waiting]))
    memory.erase(EraseRequest(reach=Reach.exact(Namespace.parse("agent:a"))))
    assert counts(memory) == (1, 0, 0)
    assert [hit.id for hit in ask(memory, "gone never")] == [kept]


def test_moving_embeds_nothing(memory: LocalEngine, embedder: Told, document: Callable[..., Document]) -> None:
    old = memory.store(document("moves along", title="Guide", at="source:files/project:a")).id
    settle(memory)
    embedder.asked.clear()
    memory.store(document("moves along", title="Guide", at="source:files/project:b"))
    memory.forget(ForgetTarget.of_ids(*[old]))
    settle(memory)
    assert embedder.asked == []
    (hit,) = ask(memory, "moving")
    assert str(hit.meta.namespace) == "source:files/project:b"


def test_another_open_engine_sees_what_was_embedded_and_forgotten(
    tmp_path: Path, memory: LocalEngine, document: Callable[..., Document]
) -> None:
    with LocalEngine(tmp_path / "memory.db", embedder=Told()) as other:
        first = memory.store(document("one apple")).id
        settle(memory)
        assert texts(ask(other, "apples")) == ["one apple"]
        memory.store(document("two apples"))
        settle(memory)
        assert set(texts(ask(other, "apples"))) == {"one apple", "two apples"}
        memory.forget(ForgetTarget.of_ids(*[first]))
        assert texts(ask(other, "apples")) == ["two apples"]


def test_a_restored_backup_is_read_with_its_own_vectors(
    tmp_path: Path, memory: LocalEngine, document: Callable[..., Document]
) -> None:
    memory.store(document("one apple"))
    settle(memory)
    memory.backup(tmp_path / "backup.db")
    memory.store(document("two apples"))
    settle(memory)
    assert len(ask(memory, "apples")) == 2
    LocalEngine.restore(tmp_path / "backup.db", tmp_path / "memory.db")
    assert texts(ask(memory, "apples")) == ["one apple"]
    memory.store(document("three pears"))
    settle(memory)
    assert texts(ask(memory, "pears"))[0] == "three pears"


def test_an_engine_without_embedder_keeps_the_backlog_of_a_file_that_has_vectors(
    tmp_path: Path, memory: LocalEngine, document: Callable[..., Document]
) -> None:
    memory.store(document("one"))
    settle(memory)
    with LocalEngine(tmp_path / "memory.db") as plain:
        plain.store(document("two"))
        assert counts(plain) == (1, 1, 0)
    settle(memory)
    assert counts(memory) == (2, 0, 0)


def test_the_newest_is_embedded_first(memory: LocalEngine, embedder: Told, document: Callable[..., Document]) -> None:
    memory.store_many([document(f"text {number}") for number in range(40)])
    memory.maintain(0)
    first = [text for text in embedder.asked if text.startswith("text")]
    assert "text 39" in first
    assert "text 0" not in first
    assert counts(memory)[0] == len(first)


def test_upkeep_tells_what_is_left_and_goes_on_where_it_stopped(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document]
) -> None:
    memory.store_many([document(f"text {number}") for number in range(100)])
    left = memory.maintain(0).left
    assert left >= counts(memory)[1] > 0
    settle(memory)
    embedded = [text for text in embedder.asked if text.startswith("text")]
    assert len(embedded) == len(set(embedded)) == 100


def test_a_model_of_another_name_is_refused_and_words_remain(
    tmp_path: Path, memory: LocalEngine, document: Callable[..., Document]
) -> None:
    memory.store(document("green tea"))
    settle(memory)
    with LocalEngine(tmp_path / "memory.db", embedder=Told("newer")) as other:
        assert texts(ask(other, "tea", FetchMode.HYBRID)) == ["green tea"]
        with pytest.raises(ConfigError, match=r"vectors are of the model told, not of newer.*change-model"):
            ask(other, "tea")
        with pytest.raises(ConfigError, match="told, not of newer"):
            other.maintain(1.0)
        assert other.health().state == "degraded"
        assert "told" in (other.health().reason or "")


def test_a_change_of_the_model_is_a_job_that_starts_anew(
    tmp_path: Path, memory: LocalEngine, document: Callable[..., Document]
) -> None:
    memory.store_many([document("green tea"), document("iron")])
    settle(memory)
    ask(memory, "tea")
    with LocalEngine(tmp_path / "memory.db", embedder=Told("newer", 64)) as other:
        other.change_model()
        assert (other.embedding().model, counts(other)) == ("newer", (0, 2, 0))
        settle(other)
        assert (other.embedding().dimension, counts(other)) == (64, (2, 0, 0))
        assert texts(ask(other, "greenish"))[0] == "green tea"
        assert other.health().state == "ok"
    assert texts(ask(memory, "tea", FetchMode.HYBRID)) == ["green tea"], "the old model's engine goes by words"


def test_a_model_that_does_not_work_is_not_changed_to(
    tmp_path: Path, memory: LocalEngine, document: Callable[..., Document]
) -> None:
    memory.store(document("green tea"))
    settle(memory)
    broken = Told("newer")
    broken.then = failing
    with LocalEngine(tmp_path / "memory.db", embedder=broken) as other:
        with pytest.raises(EngineError):
            other.change_model()
        assert (other.embedding().model, counts(other)) == ("told", (1, 0, 0))


def test_without_an_embedder_there_is_no_model_to_change(engine: LocalEngine) -> None:
    with pytest.raises(Unsupported):
        engine.change_model()


def failing(texts: Sequence[str]) -> Any:
    raise KeyError(texts[0])


BROKEN: dict[str, Callable[[Sequence[str]], Any]] = {
    "raises": failing,
    "gives NaN": lambda texts: [[float("nan")] * 256 for _ in texts],
    "gives infinity": lambda texts: [[float("inf")] * 256 for _ in texts],
    "gives another dimension": lambda texts: [[1.0] * 255 for _ in texts],
    "gives too few": lambda texts: [[1.0] * 256 for _ in texts][1:],
    "gives too many": lambda texts: [[1.0] * 256 for _ in texts] * 2,
    "gives rows of different lengths": lambda texts: [[1.0] * (256 + n) for n in range(len(texts) + 1)],
    "gives words": lambda texts: [["a"] * 256 for _ in texts],
    "gives nothing": lambda _: None,
    "gives empty rows": lambda texts: [[] for _ in texts],
}


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_embedder_costs_no_answer_by_words(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document], fault: str
) -> None:
    memory.store_many([document("green tea"), document("black tea")])
    settle(memory)
    memory.store(document("white tea"))
    embedder.then = BROKEN[fault]
    assert len(ask(memory, "tea", FetchMode.HYBRID)) == 3
    with pytest.raises((EngineError, Unavailable)):
        ask(memory, "tea")
    assert memory.health().state == "degraded"
    with pytest.raises(EngineError):
        memory.maintain(1.0)
    assert counts(memory) == (2, 1, 0), "nothing is lost, nothing is set aside"
    assert memory.recall(RecallRequest(question="tea", limit=5)).citations
    embedder.then = None
    settle(memory)
    assert counts(memory) == (3, 0, 0)


def test_it_is_asked_again_after_a_rest(tmp_path: Path, document: Callable[..., Document]) -> None:
    clock = [0.0]
    embedder = Told()
    with LocalEngine(tmp_path / "memory.db", embedder=embedder, now=lambda: clock[0]) as memory:
        memory.store(document("green tea"))
        memory.maintain(1.0)
        embedder.then = failing
        embedder.asked.clear()
        for _ in range(3):
            ask(memory, "tea", FetchMode.HYBRID)
        assert embedder.asked == ["tea"], "a failing embedder is not asked at every read"
        embedder.then = None
        clock[0] = 31.0
        assert texts(ask(memory, "teas")) == ["green tea"]
        assert memory.health().state == "ok"


def test_a_hanging_embedder_holds_up_no_read(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.store(document("green tea"))
    settle(memory)
    ended = threading.Event()
    embedder.then = lambda texts: ended.wait(60) and [[1.0] * 256 for _ in texts]
    monkeypatch.setattr(embedding_module, "QUERY_S", 0.05)
    try:
        assert texts(ask(memory, "tea", FetchMode.HYBRID)) == ["green tea"]
        with pytest.raises(Unavailable):
            ask(memory, "tea too")
        memory.store(document("white tea"))
        memory._meaning._backlog._timeout_s = 0.05  # type: ignore[union-attr]  # it has an embedder
        with pytest.raises(Unavailable, match="busy with an earlier call"):
            memory.maintain(1.0)
    finally:
        ended.set()


def test_a_deadline_bounds_the_question_too(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document]
) -> None:
    memory.store(document("green tea"))
    settle(memory)
    ended = threading.Event()
    embedder.then = lambda texts: ended.wait(60) and [[1.0] * 256 for _ in texts]
    try:
        hurried = memory.within(0.2)
        request = FetchRequest(query="tea", mode=FetchMode.HYBRID, limit=3)
        assert texts(hurried.fetch(request).hits) == ["green tea"]
    finally:
        ended.set()


def test_a_text_the_model_cannot_take_is_set_aside_alone(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document]
) -> None:
    def picky(texts: Sequence[str]) -> Any:
        if any("poison" in text for text in texts):
            raise InvalidRequest("the text is too long")
        return Letters.embed(embedder, texts)

    embedder.then = picky
    memory.store_many([document(f"tea {number}" + (" poison" if number == 13 else "")) for number in range(20)])
    settle(memory)
    assert counts(memory) == (19, 0, 1)
    assert texts(ask(memory, "poison", FetchMode.HYBRID))[0] == "tea 13 poison"
    assert "tea 13 poison" in texts(ask(memory, "tea 13", limit=30)), "it follows by words"
    with pytest.raises(InvalidRequest, match="too long"):
        ask(memory, "poison")


def test_what_was_forgotten_while_it_was_embedded_gets_no_vector(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document]
) -> None:
    memory.store(document("stays"))
    settle(memory)
    gone = memory.store(document("goes")).id

    def forget_meanwhile(texts: Sequence[str]) -> Any:
        memory.forget(ForgetTarget.of_ids(*[gone]))
        return Letters.embed(embedder, texts)

    embedder.then = forget_meanwhile
    settle(memory)
    assert counts(memory) == (1, 0, 0)


def test_kinds_keep_to_themselves(
    memory: LocalEngine, document: Callable[..., Document], learning: Callable[..., Any]
) -> None:
    memory.store_many([document("tea", at="root"), learning("tea too")])
    settle(memory)
    assert [hit.kind for hit in ask(memory, "tea", kinds=(ItemKind.LEARNING,))] == [ItemKind.LEARNING]


def test_a_damaged_vector_is_told(memory: LocalEngine, document: Callable[..., Document]) -> None:
    memory.store(document("green tea"))
    settle(memory)
    with memory._database.writing() as connection:
        connection.execute("UPDATE vectors SET code = x'00'")
    with pytest.raises(EngineError, match="another length"):
        ask(memory, "tea")


def test_a_question_of_nothing_but_signs_is_answered(memory: LocalEngine, document: Callable[..., Document]) -> None:
    memory.store(document("green tea"))
    settle(memory)
    for query in ('"', "\ud800", "\x00", "the of and", "🍵" * 1000, "x" * 100_000):
        for mode in FetchMode:
            ask(memory, query, mode)


def test_a_sound_store_is_proved_and_a_broken_one_told(
    memory: LocalEngine, document: Callable[..., Document], turn: Callable[..., Conversation]
) -> None:
    memory.store_many([document(f"text {number}") for number in range(30)])
    memory.maintain(0)
    memory.store(turn("hello", 0))
    assert memory.verify(deep=True) == []
    settle(memory)
    memory.forget(ForgetTarget.of_ids(*[hit.id for hit in ask(memory, "text 3", limit=3)]))
    assert memory.verify() == []
    breaks = {
        "UPDATE vector_groups SET held = held + 1": "counted wrongly",
        "DELETE FROM vectors WHERE passage = (SELECT max(passage) FROM vectors)": "neither have a vector nor wait",
        "INSERT INTO unembedded VALUES (999999)": "not held",
        "INSERT INTO unembedded SELECT min(passage) FROM vectors": "both embedded and waiting",
        "UPDATE vector_groups SET kind = 2 WHERE kind = 0": "another node or kind",
        "UPDATE embedding SET dimension = 99": "another length",
    }
    for statement, told in breaks.items():
        with memory._database.writing() as connection:
            connection.execute(statement)
        found = memory.verify()
        assert {finding.what for finding in found} == {"vectors"}
        assert any(told in finding.detail for finding in found), told


def test_optimizing_keeps_what_is_found_by_meaning(memory: LocalEngine, document: Callable[..., Document]) -> None:
    gone = memory.store(document("gone", at="source:files/project:old")).id
    memory.store(document("green tea"))
    settle(memory)
    assert len(ask(memory, "teas")) == 2
    memory.forget(ForgetTarget.of_ids(gone))
    memory.optimize()
    memory.store(document("iron", at="source:files/project:new"))
    settle(memory)
    assert texts(ask(memory, "greenish tea"))[0] == "green tea"
    assert texts(ask(memory, "irons", reach=Reach.exact(Namespace.parse("source:files/project:new")))) == ["iron"]
    assert memory.verify() == []


def test_closing_waits_for_the_embedder(
    memory: LocalEngine, embedder: Told, document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that ends while a model's native code runs is aborted."""
    memory.store(document("green tea"))
    settle(memory)
    ended = threading.Event()
    done: list[str] = []

    def slow(texts: Sequence[str]) -> Any:
        ended.wait(30)
        done.extend(texts)
        return Letters.embed(embedder, texts)

    embedder.then = slow
    monkeypatch.setattr(embedding_module, "QUERY_S", 0.02)
    assert texts(ask(memory, "tea", FetchMode.HYBRID)) == ["green tea"]
    timer = threading.Timer(0.05, ended.set)
    timer.start()
    memory.close()
    assert done == ["tea"]
    timer.join()


def test_without_numpy_an_embedder_is_refused_and_the_file_is_let_go(
    tmp_path: Path, embedder: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "memory.db"
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "numpy", None)
        with pytest.raises(ConfigError, match=r'numpy is not installed: run pip install "corebrain\[semantic\]"'):
            LocalEngine(file, embedder=embedder)
    assert connections._opened[(file.stat().st_dev, file.stat().st_ino)] == []
