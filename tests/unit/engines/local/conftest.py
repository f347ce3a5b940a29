from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from corebrain.contract import Item, MemoryEngine
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import MemoryMeta, TurnRange
from corebrain.model.namespace import Namespace
from corebrain.model.requests import FetchMode, FetchRequest, Hit, ListRequest


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalEngine]:
    with LocalEngine(tmp_path / "brain" / "memory.db", durability="process") as opened:
        yield opened


@pytest.fixture
def document() -> Callable[..., Document]:
    def make(text: str, at: str = "source:files", *, title: str | None = None, **meta: Any) -> Document:
        return Document(title=title, body=Body(text=text), meta=MemoryMeta(namespace=Namespace.parse(at), **meta))

    return make


@pytest.fixture
def turn() -> Callable[..., Conversation]:
    def make(text: str, number: int, thread: str = "t", at: str = "agent:a") -> Conversation:
        meta = MemoryMeta(namespace=Namespace.parse(at), thread_id=thread, turns=TurnRange(first=number, last=number))
        return Conversation(turns=(Turn(role=Role.USER, text=text),), meta=meta)

    return make


@pytest.fixture
def learning() -> Callable[..., Learning]:
    def make(text: str, at: str = "root", confidence: float = 0.5, **meta: Any) -> Learning:
        return Learning(
            text=text,
            kind=LearningKind.PREFERENCE,
            confidence=confidence,
            meta=MemoryMeta(namespace=Namespace.parse(at), **meta),
        )

    return make


@pytest.fixture
def find() -> Callable[..., list[Hit]]:
    def run(engine: MemoryEngine, query: str, limit: int = 10, **wanted: Any) -> list[Hit]:
        request = FetchRequest(query=query, mode=FetchMode.KEYWORD, filter=MetaFilter(**wanted), limit=limit)
        return list(engine.fetch(request).hits)

    return run


@pytest.fixture
def listed() -> Callable[..., list[Hit]]:
    def run(engine: MemoryEngine, wanted: MetaFilter | None = None, page: int = 50) -> list[Hit]:
        hits: list[Hit] = []
        cursor = None
        while True:
            got = engine.list(ListRequest(filter=wanted or MetaFilter(), limit=page, cursor=cursor))
            hits += got.items
            cursor = got.next_cursor
            if cursor is None:
                return hits

    return run


@pytest.fixture
def index_of() -> Callable[[LocalEngine], dict[str, tuple[int, int]]]:
    """Every word the index holds, with in how many passages and how often, over all tables; tag tokens left out."""

    def read(engine: LocalEngine) -> dict[str, tuple[int, int]]:
        counts: dict[str, tuple[int, int]] = {}
        with engine._database.reading() as connection:
            for (shard,) in connection.execute("SELECT shard FROM shards").fetchall():
                for word, passages, times in connection.execute(f"SELECT term, doc, cnt FROM words_{shard}"):  # noqa: S608  # a number
                    if not word.startswith("\ue000"):
                        before = counts.get(word, (0, 0))
                        counts[word] = (before[0] + passages, before[1] + times)
        return counts

    return read


@pytest.fixture
def verified() -> Callable[[LocalEngine], None]:
    """Check a store against itself: integrity, counters against a recount, index rows against passages."""

    def check(engine: LocalEngine) -> None:
        with engine._database.apart() as connection:  # FTS5 reads its index through what a connection saw of it before
            assert connection.execute("PRAGMA integrity_check").get == "ok"
            (items,) = connection.execute("SELECT ifnull(sum(passages), 0), count(*) FROM items").fetchall()
            assert connection.execute("SELECT count(*) FROM passages").get == items[0]
            assert (connection.execute("SELECT sum(passages) FROM shards").get or 0) == items[0]
            for shard, passages in connection.execute("SELECT shard, passages FROM shards").fetchall():
                assert connection.execute(f"SELECT count(*) FROM text_{shard}").get == passages  # noqa: S608  # a number
            counted = connection.execute("SELECT sum(items) FROM facets WHERE facet = 'kind'").get or 0
            assert counted == items[1]
            assert connection.execute("SELECT count(*) FROM facets WHERE items <= 0").get == 0
            for table in ("passages", "tags", "beliefs", "distilled"):
                orphans = f"SELECT count(*) FROM {table} WHERE item NOT IN (SELECT item FROM items)"  # noqa: S608  # a constant
                assert connection.execute(orphans).get == 0
            beliefs = connection.execute("SELECT count(*) FROM beliefs").get
            assert connection.execute("SELECT count(*) FROM text_beliefs").get == beliefs

    return check


@pytest.fixture
def sample(
    document: Callable[..., Document], turn: Callable[..., Conversation], learning: Callable[..., Learning]
) -> list[Item]:
    return [
        document("Refunds take five business days.", title="Refunds", tags=("policy",)),
        turn("when do refunds settle", 0),
        turn("after five days", 1),
        learning("Customers prefer short answers", tags=("style", "style")),
        document("The service restarts at night.", at="service:news"),
    ]
