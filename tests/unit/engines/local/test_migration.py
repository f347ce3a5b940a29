"""A file of every older version opens, complete: kept whole in tests/golden/local, made by the version it names."""

import gzip
from pathlib import Path

import pytest

from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Learning, LearningKind
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import BeliefsRequest, FetchMode, FetchRequest, ListRequest

KEPT = Path(__file__).parents[3] / "golden" / "local"


@pytest.fixture
def version_1(tmp_path: Path) -> Path:
    """Five documents (one of several passages), three turns of a thread, one in a sandbox, a learning, three beliefs.

    A last item, the highest number, was forgotten, and the file optimized.
    """
    file = tmp_path / "memory.db"
    file.write_bytes(gzip.decompress((KEPT / "memory-v1.db.gz").read_bytes()))
    return file


def found(engine: LocalEngine, query: str, reach: Reach | None = None) -> list[str]:
    request = FetchRequest(query=query, mode=FetchMode.KEYWORD, filter=MetaFilter(reach=reach), limit=20)
    return [hit.text for hit in engine.fetch(request).hits]


def test_a_store_of_version_1_is_proved_after_it_was_brought_up(version_1: Path) -> None:
    with LocalEngine(version_1) as engine:
        assert engine.verify(deep=True) == []
        assert len(engine.list(ListRequest(limit=50)).items) == 9
    assert version_1.with_name("memory.db.v1").exists()


def test_version_1_is_found_as_before(version_1: Path) -> None:
    with LocalEngine(version_1) as engine:
        assert found(engine, "tea over coffee") == ["Prefer tea over coffee"]
        assert len(found(engine, "kettle")) == 5
        assert len(found(engine, "kettle", Reach.subtree(Namespace.parse("source:files/project:a")))) == 1
        assert found(engine, "sandbox secret") == []
        assert found(engine, "sandbox secret", Reach.exact(Namespace.parse("agent:a/service:s"))) == [
            "a sandbox secret"
        ]
        assert len(found(engine, "remark harbour")) == 3
        beliefs = engine.beliefs(BeliefsRequest(reach=Reach.subtree(Namespace.parse("source:files")), query="kettle"))
        assert len(beliefs) == 3


def test_a_number_that_was_used_in_version_1_is_not_used_again(version_1: Path) -> None:
    with LocalEngine(version_1) as engine:
        before = engine.list(ListRequest(filter=MetaFilter(kinds=(ItemKind.LEARNING,)), limit=1))
        learning = Learning(
            text="later", kind=LearningKind.FACT, confidence=0.5, meta=MemoryMeta(namespace=Namespace.ROOT)
        )
        engine.store(learning)
        assert before.next_cursor is None
        with engine._database.reading() as connection:  # numbers show nowhere else
            assert connection.execute("SELECT max(item) FROM items").get == 12


def test_a_page_of_a_wide_subtree_is_walked_in_its_area(tmp_path: Path) -> None:
    with LocalEngine(tmp_path / "memory.db", durability="process") as engine:
        for team in ("x", "y"):
            for number in range(40):
                at = Namespace.parse(f"team:{team}/agent:a{number}")
                meta = MemoryMeta(namespace=at)
                engine.store(Learning(text=f"fact {number}", kind=LearningKind.FACT, confidence=0.5, meta=meta))
        engine.store(Learning(text="of all", kind=LearningKind.FACT, confidence=0.5, meta=MemoryMeta()))
        for reach, expected in {
            Reach.subtree(Namespace.parse("team:x")): 40,
            Reach(at=Namespace.parse("team:x"), inherit=True, descendants=True): 41,
            Reach.subtree(Namespace.ROOT): 81,
        }.items():
            texts: list[str] = []
            request = ListRequest(filter=MetaFilter(reach=reach), limit=7)
            while True:
                page = engine.list(request)
                texts += [f"{hit.meta.namespace} {hit.text}" for hit in page.items]
                if page.next_cursor is None:
                    break
                request = request.model_copy(update={"cursor": page.next_cursor})
            assert len(texts) == len(set(texts)) == expected
