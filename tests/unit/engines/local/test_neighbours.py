from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Conversation
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import EraseRequest, ForgetTarget, Hit

Turns = Callable[..., Conversation]
Index = Callable[[LocalEngine], dict[str, tuple[int, int]]]


def test_a_turn_is_found_by_the_words_around_it(
    engine: LocalEngine, turn: Turns, find: Callable[..., list[Hit]]
) -> None:
    engine.store_many([turn(text, n) for n, text in enumerate(["Shall we meet in Lisbon?", "Yes.", "Good.", "Fine."])])
    hits = find(engine, "Lisbon")
    assert hits[0].text == "user: Shall we meet in Lisbon?"
    assert {hit.text for hit in hits} == {"user: Shall we meet in Lisbon?", "user: Yes.", "user: Good."}


def test_neighbours_share_node_and_thread(engine: LocalEngine, turn: Turns, index_of: Index) -> None:
    engine.store(turn("alpha", 0))
    engine.store(turn("beta", 1, thread="u"))
    engine.store(turn("gamma", 1, at="agent:b"))
    engine.store(turn("delta", 1))
    assert index_of(engine) == {"alpha": (2, 2), "delta": (2, 2), "beta": (1, 1), "gamma": (1, 1)}


def test_forgetting_a_turn_takes_its_words_out_of_its_neighbours(
    engine: LocalEngine, turn: Turns, index_of: Index
) -> None:
    ids = [
        receipt.id for receipt in engine.store_many([turn(word, n) for n, word in enumerate(("a1", "b1", "c1", "d1"))])
    ]
    engine.forget(ForgetTarget.of_ids(ids[1]))
    assert index_of(engine) == {"a1": (3, 3), "c1": (3, 3), "d1": (3, 3)}
    engine.erase(EraseRequest(reach=Reach.exact(Namespace.parse("agent:a"))))
    assert index_of(engine) == {}


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_the_index_is_as_if_only_what_is_left_had_been_stored(data: st.DataObject) -> None:
    """However turns came and went, in whatever order, the index equals one built at once from what is left."""
    order = data.draw(st.permutations(range(8)))
    gone = data.draw(st.sets(st.integers(0, 7), max_size=5))
    cut = data.draw(st.integers(1, 7))

    def make(number: int) -> Conversation:
        return _turn(f"word{number} common", number)

    with TemporaryDirectory() as folder:
        with LocalEngine(Path(folder) / "a.db", durability="process") as engine:
            engine.store_many([make(n) for n in order[:cut]])
            for n in order[cut:]:
                engine.store(make(n))
            if gone:
                engine.forget(ForgetTarget.of_ids(*(make(n).fingerprint() for n in gone)))
            left = _index(engine)
        with LocalEngine(Path(folder) / "b.db", durability="process") as engine:
            if rest := [make(n) for n in range(8) if n not in gone]:
                engine.store_many(rest)
            assert _index(engine) == left


def _turn(text: str, number: int) -> Conversation:
    data = {
        "turns": [{"role": "user", "text": text}],
        "meta": {"namespace": "agent:a", "thread_id": "t", "turns": {"first": number, "last": number}},
    }
    return Conversation.from_dict(data)


def _index(engine: LocalEngine) -> list[tuple[str, int, int]]:
    with engine._database.reading() as connection:
        shards = [row[0] for row in connection.execute("SELECT shard FROM shards")]
        return [
            row
            for shard in shards
            for row in connection.execute(f"SELECT term, doc, cnt FROM words_{shard} ORDER BY term")  # noqa: S608  # a number
        ]


def test_turns_without_a_range_follow_the_order_of_storing(engine: LocalEngine, turn: Turns, index_of: Index) -> None:
    for word in ("a1", "b1", "c1", "d1"):
        bare = turn(word, 0)
        engine.store(bare.with_meta(bare.meta.model_copy(update={"turns": None})))
    assert index_of(engine) == {"a1": (3, 3), "b1": (4, 4), "c1": (4, 4), "d1": (3, 3)}
    engine.forget(ForgetTarget.of_filter(MetaFilter(thread_id="t")))
    assert index_of(engine) == {}
