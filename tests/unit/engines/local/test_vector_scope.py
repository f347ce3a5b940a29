"""Large reaches: what the signs look over and exact comparison confirms; what is kept in memory, and what is not."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.embed.letters import Letters
from corebrain.engines.local import LocalEngine, vector_search
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Conversation, Document
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchMode, FetchRequest, Hit

np = pytest.importorskip("numpy")
codes = pytest.importorskip("corebrain.engines.local.vector_codes")
groups = pytest.importorskip("corebrain.engines.local.vector_groups")
mixtures = pytest.importorskip("corebrain.engines.local.vector_mixture")
sketches = pytest.importorskip("corebrain.engines.local.vector_sketch")

COUNT = 600
WORDS = ("green tea", "black tea", "iron ore", "wool coat", "river bank", "bank note", "paper mill", "wind mill")


class Dense(Letters):
    """Letters on fewer axes that all count, as a model's numbers do."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "dense letters"
        self._axes = np.random.default_rng(1).standard_normal((256, 192))

    def embed(self, texts: Any) -> Any:
        return np.array(super().embed(texts)) @ self._axes


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[LocalEngine]:
    with LocalEngine(tmp_path / "memory.db", durability="process", embedder=Dense()) as opened:
        yield opened


def fill(engine: LocalEngine, items: list[Any]) -> None:
    for start in range(0, len(items), 100):
        engine.store_many(items[start : start + 100])
    while engine.maintain(1.0).left:
        pass


def ask(engine: LocalEngine, query: str, limit: int = 10, **wanted: Any) -> list[Hit]:
    request = FetchRequest(query=query, mode=FetchMode.VECTOR, filter=MetaFilter(**wanted), limit=limit)
    return list(engine.fetch(request).hits)


@pytest.fixture
def look_over(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let every reach of more than 50 vectors count as large."""

    def large() -> None:
        monkeypatch.setattr(vector_search, "EXACT", 50)
        monkeypatch.setattr(vector_search, "LOOKED_AT", 200)

    return large


def test_a_large_reach_answers_as_if_all_were_compared(
    memory: LocalEngine, document: Callable[..., Document], look_over: Callable[[], None]
) -> None:
    fill(memory, [document(f"{WORDS[n % 8]} {n}", at=f"source:files/project:p{n % 7}") for n in range(COUNT)])
    exact = {word: [(hit.id, hit.score) for hit in ask(memory, word)] for word in WORDS}
    look_over()
    for word, found in exact.items():
        looked = [(hit.id, hit.score) for hit in ask(memory, word)]
        assert [item for item, _ in looked] == [item for item, _ in found]
        assert [score for _, score in looked] == pytest.approx([score for _, score in found], abs=1e-5)


def test_turns_of_a_large_reach_keep_their_neighbours(
    memory: LocalEngine, turn: Callable[..., Conversation], look_over: Callable[[], None]
) -> None:
    fill(
        memory, [turn(f"{WORDS[n % 8]} {n}", n % 40, thread=f"t{n // 40}", at=f"agent:a{n % 3}") for n in range(COUNT)]
    )
    exact = {word: [(hit.id, hit.score) for hit in ask(memory, word)] for word in WORDS}
    look_over()
    for word, found in exact.items():
        looked = [(hit.id, hit.score) for hit in ask(memory, word)]
        assert [score for _, score in looked] == pytest.approx([score for _, score in found], abs=1e-5)
        assert len({item for item, _ in looked} & {item for item, _ in found}) >= 9  # equals may change places


def test_what_few_admit_is_found_in_a_large_reach(
    memory: LocalEngine, document: Callable[..., Document], look_over: Callable[[], None]
) -> None:
    fill(memory, [document(f"{WORDS[n % 8]} {n}", tags=("rare",) if n % 200 == 3 else ()) for n in range(COUNT)])
    look_over()
    assert len(ask(memory, "green tea", tags_any=("rare",))) == 3
    assert len(ask(memory, "green tea", limit=COUNT)) == COUNT


def test_what_finds_no_room_in_memory_is_read_each_time(memory: LocalEngine, document: Callable[..., Document]) -> None:
    fill(memory, [document(f"{WORDS[n % 8]} {n}", at=f"source:files/project:p{n % 4}") for n in range(80)])
    found = [hit.id for hit in ask(memory, "green tea")]
    assert memory._meaning is not None
    held = memory._meaning._groups
    one = next(iter(held._held.values()))
    memory._meaning._groups = small = groups.VectorGroups(room=2 * one.size)
    assert [hit.id for hit in ask(memory, "green tea")] == found
    assert len(small._held) == 2
    assert small._size <= 2 * one.size
    memory._meaning._groups = none = groups.VectorGroups(room=0)
    assert [hit.id for hit in ask(memory, "green tea")] == found
    assert len(none._held) == 0


def test_rows_that_came_are_read_and_no_others(memory: LocalEngine, document: Callable[..., Document]) -> None:
    fill(memory, [document(f"{WORDS[n % 8]} {n}") for n in range(40)])
    ask(memory, "tea")
    fill(memory, [document("the newest of all")])
    assert memory._meaning is not None
    with memory._database.reading() as connection:
        (stamp,), model = groups.reached(connection, MetaFilter())
        held = memory._meaning._groups._held[stamp.grp]
        seen: list[Any] = []

        def note(_: object, sql: str, values: Any) -> bool:
            if "FROM vectors" in sql:
                seen.append(values)
            return True

        connection.set_exec_trace(note)
        memory._meaning._groups.load(connection, [stamp], model[1])
        connection.set_exec_trace(None)
    assert seen == [(stamp.grp, held.stamp.last)]
    assert held.stamp.last == 40


def test_a_large_reach_of_several_groups_is_put_together_once(
    memory: LocalEngine, document: Callable[..., Document]
) -> None:
    fill(memory, [document(f"{WORDS[n % 8]} {n}", at=f"source:files/project:p{n % 4}") for n in range(80)])
    assert memory._meaning is not None
    ask(memory, "tea")
    (before,) = memory._meaning._groups._scopes.values()
    ask(memory, "coat")
    (after,) = memory._meaning._groups._scopes.values()
    assert before is after
    fill(memory, [document("the newest of all", at="source:files/project:p1")])
    assert ask(memory, "newest", limit=1)[0].text == "the newest of all"


@given(
    st.lists(st.floats(-1, 1, width=32), min_size=3, max_size=70).filter(lambda row: any(abs(x) > 0.01 for x in row))
)
def test_a_vector_comes_back_from_its_bytes(row: list[float]) -> None:
    unit = np.array(row, np.float32)
    unit /= np.linalg.norm(unit)
    scales, rows = codes.decoded([codes.encoded(unit)], len(row))
    assert np.abs(rows[0] * scales[0] - unit).max() <= scales[0] / 2 + 1e-6
    assert codes.cosines(scales, rows, unit)[0] == pytest.approx(1.0, abs=0.02)


def test_only_so_many_reaches_are_kept_side_by_side(
    memory: LocalEngine, document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(memory, [document(f"{WORDS[n % 8]} {n}", at=f"source:files/project:p{n % 10}") for n in range(80)])
    assert memory._meaning is not None
    held = memory._meaning._groups
    reaches = [Reach.exact(Namespace.parse(f"source:files/project:p{n}")) for n in range(10)]
    for limit, rows, kept in ((4, 1_000, 4), (64, 20, 2), (64, 3, 1)):
        monkeypatch.setattr(groups, "_REACHES", limit)
        monkeypatch.setattr(groups, "_SIDE_BY_SIDE", rows)
        for reach in reaches:
            assert len(ask(memory, "green tea", reach=reach)) == 8
        assert len(held._scopes) == kept


def test_a_vector_of_zeros_comes_back() -> None:
    scales, rows = codes.decoded([codes.encoded(np.zeros(8, np.float32))], 8)
    assert rows.tolist() == [[0] * 8]
    assert scales[0] > 0


@given(st.integers(1, 200), st.integers(0, 2**32 - 1))
def test_signs_tell_angles(dimension: int, seed: int) -> None:
    drawn = np.random.default_rng(seed)
    query = drawn.standard_normal(dimension).astype(np.float32)
    rows = np.stack([query, -query, drawn.standard_normal(dimension).astype(np.float32)])
    scales, held = codes.decoded(
        [codes.encoded(row) for row in rows / np.linalg.norm(rows, axis=1)[:, None]], dimension
    )
    centre = np.zeros(dimension, np.float32)
    told = sketches.estimated(sketches.sketched(scales, held, centre), held[0] * scales[0], centre)
    assert told[0] == pytest.approx(1.0)
    assert told[1] <= told[2] <= told[0]


@given(
    st.lists(st.tuples(st.sampled_from([None, "a", "b"]), st.integers(0, 6)), min_size=1, max_size=25),
    st.integers(0, 9),
)
def test_a_mixture_is_that_of_the_vectors_themselves(rows: list[tuple[str | None, int]], seed: int) -> None:
    drawn = np.random.default_rng(seed)
    vectors = drawn.standard_normal((len(rows), 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scales, held = codes.decoded([codes.encoded(row) for row in vectors], 16)
    vectors = held * scales[:, None]
    query = drawn.standard_normal(16).astype(np.float32)
    mixture = mixtures.Mixture.made(mixtures.Threads.of(rows, np.arange(len(rows))), scales, held)
    expected = []
    for place, (thread, _) in enumerate(rows):
        mates = sorted((n for n in range(len(rows)) if rows[n][0] == thread), key=lambda n: (rows[n][1], n))
        at = mates.index(place)
        mixed = vectors[place].copy()
        for distance, weight in ((1, 0.5), (2, 0.25)):
            for near in (at - distance, at + distance):
                if thread is not None and 0 <= near < len(mates):
                    mixed += weight * vectors[mates[near]]
        expected.append(mixed @ query / max(np.linalg.norm(mixed), 1e-6))
    assert mixture.of(vectors @ query) == pytest.approx(np.array(expected), abs=1e-3)
