"""An embedder that cannot harm who asks it: bounded in time, every number checked, asked again after a rest."""

import threading
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.embed import guarded as guarded_module
from corebrain.embed.guarded import REST_S, Guarded
from corebrain.errors import CorebrainError, EngineError, InvalidRequest, Unauthorized, Unavailable

np = pytest.importorskip("numpy")


class Told:
    name = "told"
    dimension = 2

    def __init__(self, answer: Callable[[Sequence[str]], Any]) -> None:
        self.answer = answer
        self.asked: list[Sequence[str]] = []

    def embed(self, texts: Sequence[str]) -> Any:
        self.asked.append(texts)
        return self.answer(texts)


class Asking(Told):
    def embed_query(self, query: str) -> Any:
        self.asked.append([f"? {query}"])
        return self.answer([query])


@given(
    st.lists(
        st.lists(st.floats(width=32, allow_nan=False, allow_infinity=False), min_size=3, max_size=3),
        min_size=1,
        max_size=5,
    )
)
def test_rows_are_of_unit_length_or_zero_whatever_their_size(rows: list[list[float]]) -> None:
    found = Guarded(Told(lambda _: rows)).texts(["a"] * len(rows), 5.0)
    lengths = np.linalg.norm(found, axis=1)
    for length, row in zip(lengths, rows, strict=True):
        assert length == pytest.approx(1.0, abs=1e-4) or max(map(abs, row)) < 1e-25


@pytest.mark.parametrize(
    "rows",
    [
        None,
        [],
        [1.0],
        [[1.0]],
        [[[1.0, 2.0]], [[1.0, 2.0]]],
        [["a", "b"]] * 2,
        [[1.0, float("nan")]] * 2,
        [[1.0], [1.0, 2.0]],
        "ab",
    ],
)
def test_what_are_no_rows_is_told(rows: Any) -> None:
    with pytest.raises(EngineError, match=r"^engine error: told gave"):
        Guarded(Told(lambda _: rows)).texts(["a", "b"], 5.0)


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        (Unavailable("down"), Unavailable),
        (Unauthorized("no"), Unauthorized),
        (InvalidRequest("long"), InvalidRequest),
        (ValueError("secret text"), EngineError),
        (KeyboardInterrupt(), EngineError),
        (MemoryError(), EngineError),
    ],
)
def test_what_it_raises_is_told_by_kind_and_without_its_words(
    raised: BaseException, told: type[CorebrainError]
) -> None:
    def fail(_: Sequence[str]) -> Any:
        raise raised

    with pytest.raises(told) as caught:
        Guarded(Told(fail)).texts(["a"], 5.0)
    assert "secret" not in str(caught.value)


def test_a_question_rests_after_a_failure_and_a_text_does_not() -> None:
    clock = [0.0]
    answers: list[Any] = []

    def answer(_: Sequence[str]) -> Any:
        if not answers:
            raise Unavailable("down")
        return answers

    embedder = Told(answer)
    guarded = Guarded(embedder, lambda: clock[0])
    with pytest.raises(Unavailable, match="down"):
        guarded.query("a", 5.0)
    with pytest.raises(Unavailable, match="a moment ago"):
        guarded.query("a", 5.0)
    assert len(embedder.asked) == 1
    answers.append([3.0, 4.0])
    assert guarded.texts(["a"], 5.0).tolist() == [[pytest.approx(0.6), pytest.approx(0.8)]]
    clock[0] = REST_S
    assert guarded.query("a", 5.0).tolist() == [pytest.approx(0.6), pytest.approx(0.8)]


def test_a_question_at_fault_silences_no_other() -> None:
    def answer(texts: Sequence[str]) -> Any:
        if texts == ["long"]:
            raise InvalidRequest("too long")
        return [[1.0, 0.0]]

    guarded = Guarded(Told(answer))
    with pytest.raises(InvalidRequest):
        guarded.query("long", 5.0)
    assert guarded.query("short", 5.0).tolist() == [1.0, 0.0]


def test_questions_are_asked_as_such_where_that_makes_a_difference() -> None:
    embedder = Asking(lambda _: [[1.0, 0.0]])
    Guarded(embedder).query("a", 5.0)
    assert embedder.asked == [["? a"]]


def test_a_call_that_hangs_is_left_behind_and_keeps_its_turn() -> None:
    ended = threading.Event()
    calls: list[str] = []

    def hang(texts: Sequence[str]) -> Any:
        calls.extend(texts)
        ended.wait(30)
        return [[1.0, 0.0]]

    guarded = Guarded(Told(hang))
    with pytest.raises(Unavailable, match="took longer"):
        guarded.texts(["a"], 0.01)
    with pytest.raises(Unavailable, match="busy with an earlier call"):
        guarded.texts(["b"], 0.01)
    ended.set()
    assert guarded.texts(["c"], 30.0).tolist() == [[1.0, 0.0]]
    assert calls == ["a", "c"]


def test_without_a_thread_it_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    guarded = Guarded(Told(lambda _: [[1.0, 0.0]]))

    def refuse(_: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refuse)
        with pytest.raises(Unavailable, match="cannot be asked"):
            guarded.texts(["a"], 5.0)
    assert guarded.texts(["a"], 5.0).tolist() == [[1.0, 0.0]]


def test_the_first_call_may_load_a_model_unless_somebody_is_in_a_hurry() -> None:
    loaded = threading.Event()

    def load(_: Sequence[str]) -> Any:
        loaded.wait(30)
        return [[1.0, 0.0]]

    guarded = Guarded(Told(load))
    with pytest.raises(Unavailable, match="took longer"):
        guarded.query("a", 0.01, in_a_hurry=True)
    loaded.set()
    patient = Guarded(Told(load))
    loaded.clear()
    timer = threading.Timer(0.1, loaded.set)
    timer.start()
    assert patient.query("a", 0.01).tolist() == [1.0, 0.0]
    timer.join()
    loaded.clear()
    with pytest.raises(Unavailable, match="took longer"):
        patient.query("b", 0.01)
    loaded.set()


def test_closing_waits_for_a_call_under_way_and_not_for_one_that_hangs(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()
    done: list[str] = []

    def slow(texts: Sequence[str]) -> Any:
        ended.wait(30)
        done.extend(texts)
        return [[1.0, 0.0]]

    guarded = Guarded(Told(slow))
    with pytest.raises(Unavailable):
        guarded.texts(["a"], 0.01)
    monkeypatch.setattr(guarded_module, "ENDING_S", 0.01)
    guarded.close()
    assert done == []
    monkeypatch.setattr(guarded_module, "ENDING_S", 30.0)
    timer = threading.Timer(0.05, ended.set)
    timer.start()
    guarded.close()
    assert done == ["a"]
    timer.join()
