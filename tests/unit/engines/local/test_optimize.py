"""`optimize`: a small file, and no byte of what was forgotten."""

from collections.abc import Callable
from pathlib import Path

import pytest

from corebrain.contract import Item
from corebrain.engines.local import connection as connections
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Conversation, Document, Learning
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ConsolidateRequest, EraseRequest, ForgetTarget, Hit

CANARY = "Zyqqxov whispered vrelmwick to jobsthrop at midnight"
WORDS = (b"zyqqxov", b"vrelmwick", b"jobsthrop")


def held(folder: Path) -> set[bytes]:
    """Return which of the canary's words stand in any file of the folder, whatever the case."""
    raw = b"".join(path.read_bytes() for path in folder.iterdir()).lower()
    return {word for word in WORDS if word in raw or word[:-1] in raw}


def stock(engine: LocalEngine, document: Callable[..., Document], count: int) -> None:
    for start in range(0, count, 50):
        engine.store_many([document(f"ordinary text number {n} " * 20) for n in range(start, start + 50)])


def test_a_forgotten_sentence_is_in_no_byte_of_the_file(
    tmp_path: Path,
    document: Callable[..., Document],
    turn: Callable[..., Conversation],
    learning: Callable[..., Learning],
    verified: Callable[[LocalEngine], None],
    listed: Callable[..., list[Hit]],
) -> None:
    with LocalEngine(tmp_path / "memory.db", durability="process") as engine:
        stock(engine, document, 200)
        secrets: list[Item] = [
            document(f"{CANARY}. " * 400, title=CANARY, folder=CANARY, tags=(CANARY,)),
            turn(CANARY, 0),
            turn("an answer that stays", 1),
            learning(CANARY),
        ]
        ids = [receipt.id for receipt in engine.store_many(secrets)]
        engine.consolidate(ConsolidateRequest(reach=Reach.subtree(Namespace.ROOT)))
        stock(engine, document, 400)
        engine.forget(ForgetTarget.of_ids(ids[0], ids[1], ids[3]))
        assert held(tmp_path) == set(WORDS), "the test could not fail"
        done = engine.optimize()
        assert done.is_settled
        assert held(tmp_path) == set()
        assert done.after == engine.path.stat().st_size
        verified(engine)
        assert engine.verify(deep=True) == []
        assert len(listed(engine)) == 401
    assert held(tmp_path) == set()


def test_the_name_of_an_agent_that_was_erased_is_gone_too(
    tmp_path: Path, turn: Callable[..., Conversation], document: Callable[..., Document]
) -> None:
    with LocalEngine(tmp_path / "memory.db", durability="process") as engine:
        engine.store_many([turn("hello", 0, at="team:one/agent:zyqqxov"), turn("hello", 0, at="team:one/agent:other")])
        engine.store(document("kept"))
        engine.erase(EraseRequest(reach=Reach.subtree(Namespace.parse("team:one/agent:zyqqxov"))))
        assert held(tmp_path) == {b"zyqqxov"}
        engine.optimize()
        assert held(tmp_path) == set()
        with engine._database.reading() as connection:
            paths = {row[0] for row in connection.execute("SELECT path FROM nodes")}
        assert paths == {"root", "team:one", "team:one/agent:other", "source:files"}
        assert not engine.store(turn("hello again", 0, at="team:one/agent:zyqqxov")).replayed
        assert engine.verify(deep=True) == []


def test_the_file_shrinks_when_much_was_forgotten(engine: LocalEngine, document: Callable[..., Document]) -> None:
    stock(engine, document, 1000)
    engine.forget(ForgetTarget.of_filter(MetaFilter(reach=Reach.subtree(Namespace.ROOT))))
    done = engine.optimize()
    assert done.after * 3 < done.before


def test_another_engine_that_knew_the_nodes_writes_on_rightly(
    tmp_path: Path, turn: Callable[..., Conversation], find: Callable[..., list[Hit]]
) -> None:
    """Nodes are dropped and their numbers given anew: what an open writer remembers of them must not be used."""
    with LocalEngine(tmp_path, durability="process") as first, LocalEngine(tmp_path, durability="process") as second:
        first.store(turn("lasting words", 0, at="agent:a"))
        second.store(turn("passing words", 0, at="agent:b"))
        second.erase(EraseRequest(reach=Reach.subtree(Namespace.parse("agent:b"))))
        first.optimize()
        first.store(turn("words of the third", 0, at="agent:c"))
        second.store(turn("words come back", 0, at="agent:b"))
        for agent, text in {"a": "lasting words", "b": "words come back", "c": "words of the third"}.items():
            (hit,) = find(first, "words", reach=Reach.exact(Namespace.parse(f"agent:{agent}")))
            assert text in hit.text
        assert second.verify(deep=True) == []


def test_a_reader_in_the_way_is_told(tmp_path: Path, sample: list[Item], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "BUSY_MS", 20)
    with LocalEngine(tmp_path / "memory.db") as engine:
        engine.store_many(sample)
        with engine._database.reading() as connection:
            connection.execute("SELECT count(*) FROM items").fetchall()
            assert not engine.optimize().is_settled
        assert engine.optimize().is_settled


def test_optimizing_an_empty_store_is_nothing(engine: LocalEngine) -> None:
    assert engine.optimize().is_settled
    assert engine.verify(deep=True) == []


def test_what_is_deleted_while_the_file_is_written_anew_is_overwritten(engine: LocalEngine) -> None:
    with engine._database.rewriting() as connection:
        assert connection.pragma("secure_delete") == 1
        before = connection.pragma("temp_store")
    with engine._database.writing() as connection:
        assert connection.pragma("secure_delete") == 0, "storing does not pay for it"
        assert (before, connection.pragma("temp_store")) == (1, 2), "a copy of the whole file goes to disk"
