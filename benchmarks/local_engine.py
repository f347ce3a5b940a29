"""What the local engine costs: python benchmarks/local_engine.py [ITEMS …] [--growth] [--folder DIR].

With --growth only what must not grow with the store is measured, for each size in turn: a page of a listing at any
depth, facet counts and keyword search of a hundredth of it, forgetting and erasing that hundredth. A million items and
more lie below 100 roots.
"""

import argparse
import os
import random
import shutil
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw

from benchmarks.made_up import Words
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, TurnRange
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    EraseRequest,
    ExploreRequest,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
)

Item = Document | Conversation | Learning
BATCH = 100


class Stock:
    """Items as scenario S has them: documents in sources and collections, agents' turns, a few learnings."""

    def __init__(self, count: int, root: str = "") -> None:
        self.count = count
        self.root = f"{root}/" if root else ""
        self.random = random.Random(7)  # noqa: S311  # the same made-up tree every time
        self.words = Words(7)
        self.text_bytes = 0

    def items(self) -> list[Item]:
        made: list[Item] = []
        for number in range(self.count):
            part = number % 20
            if part < 10:
                made.append(self.document(number))
            elif part < 19:
                made.append(self.turn(number))
            else:
                made.append(self.learning(number))
        return made

    def document(self, number: int) -> Item:
        source, collection = self.random.choice("abcd"), self.random.randrange(25)
        text = self.words(110)
        self.text_bytes += len(text)
        meta = MemoryMeta(
            namespace=Namespace.parse(f"{self.root}source:{source}/project:c{collection}"),
            folder=f"f{number % 50}",
            file_path=f"f{number % 50}/{number}.md",
            source=SourceRef(kind=SourceKind.FILE, id=f"source-{source}"),
        )
        return Document(title=self.words(4), body=Body(text=text), mime="text/markdown", meta=meta)

    def turn(self, number: int) -> Item:
        agent = self.random.randrange(50)
        text = self.words(25)
        self.text_bytes += len(text)
        turn = number // 1000
        meta = MemoryMeta(
            namespace=Namespace.parse(f"{self.root}agent:a{agent}"),
            thread_id=f"thread-{agent}-{number % 100}",
            turns=TurnRange(first=turn, last=turn),
            agent_id=f"a{agent}",
            source=SourceRef(kind=SourceKind.CONVERSATION, id=f"thread-{agent}"),
        )
        return Conversation(turns=(Turn(role=Role.USER, text=text),), meta=meta)

    def learning(self, number: int) -> Item:
        text = self.words(14) + f" {number}"
        self.text_bytes += len(text)
        meta = MemoryMeta(namespace=Namespace.parse(self.root.strip("/") or "root"), tags=(f"t{number % 9}",))
        return Learning(text=text, kind=LearningKind.FACT, confidence=0.8, meta=meta)


def as_it_comes(item: Item) -> tuple[str, str, int]:
    """Order items as syncs and imports bring them: one source after another, one thread after another."""
    first = item.meta.namespace.segments[:1]
    turns = item.meta.turns
    return (str(Namespace(first)), item.meta.thread_id or "", turns.first if turns else 0)


def measured(run: Callable[[], object], times: int) -> tuple[float, float]:
    """Median and 95th percentile in milliseconds."""
    run()
    taken = []
    for _ in range(times):
        start = time.perf_counter()
        run()
        taken.append((time.perf_counter() - start) * 1e3)
    taken.sort()
    return statistics.median(taken), taken[int(len(taken) * 0.95)]


def one_sync(folder: Path) -> float:
    """Median milliseconds of writing 4 KiB and fdatasync, the floor of any durable write."""
    handle = os.open(folder / "sync", os.O_CREAT | os.O_RDWR)
    try:
        return measured(lambda: _write_through(handle), 50)[0]
    finally:
        os.close(handle)


def _write_through(handle: int) -> None:
    os.pwrite(handle, b"x" * 4096, 0)
    os.fdatasync(handle)


def plain_inserts(folder: Path, texts: list[str]) -> float:
    """Items a second that SQLite takes as bare rows, same batches and durability: the ceiling of any engine on it."""
    connection = apsw.Connection(str(folder / "plain.db"))
    connection.execute("PRAGMA journal_mode = wal; PRAGMA synchronous = full").fetchall()
    connection.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, x)")
    start = time.perf_counter()
    for at in range(0, len(texts), BATCH):
        with connection:
            connection.executemany("INSERT INTO t(x) VALUES (?)", [(text,) for text in texts[at : at + BATCH]])
    taken = time.perf_counter() - start
    connection.close()
    return len(texts) / taken


def reads(engine: LocalEngine, stock: Stock, ids: list[str]) -> dict[str, tuple[float, float]]:
    collection = Reach.subtree(Namespace.parse("source:a/project:c1"))
    agent = Reach.exact(Namespace.parse("agent:a7"))
    documents = (ItemKind.DOCUMENT,)

    def fetch(**wanted: Any) -> Callable[[], object]:
        def run() -> object:
            query = stock.words(10)
            return engine.fetch(FetchRequest(query=query, mode=FetchMode.KEYWORD, filter=MetaFilter(**wanted)))

        return run

    deep = ListRequest(filter=MetaFilter(kinds=documents), limit=50)
    page = engine.list(deep)
    for _ in range(min(200, len(ids) // 2 // 60)):
        page = engine.list(deep.model_copy(update={"cursor": page.next_cursor}))
    deep = deep.model_copy(update={"cursor": page.next_cursor})
    scoped = ListRequest(filter=MetaFilter(reach=collection), limit=50)
    return {
        "fetch, 1 agent's turns": measured(fetch(reach=agent), 60),
        "fetch, 1 collection": measured(fetch(reach=collection, kinds=documents), 60),
        "fetch, 1 source": measured(fetch(reach=Reach.subtree(Namespace.parse("source:a")), kinds=documents), 40),
        "fetch, learnings": measured(fetch(kinds=(ItemKind.LEARNING,)), 40),
        "fetch, all turns": measured(fetch(kinds=(ItemKind.CONVERSATION,)), 20),
        "fetch, all documents": measured(fetch(kinds=documents), 20),
        "fetch, everything": measured(fetch(), 20),
        "get by id": measured(lambda: engine.get(GetRequest(ids=(stock.random.choice(ids),))), 500),
        "list 50, 1 collection": measured(lambda: engine.list(scoped), 100),
        "list 50, deep, documents": measured(lambda: engine.list(deep), 100),
        "explore 1 collection": measured(
            lambda: engine.explore(ExploreRequest(facet=Facet.FOLDER, filter=MetaFilter(reach=collection))), 100
        ),
        "explore everything": measured(lambda: engine.explore(ExploreRequest(facet=Facet.KIND)), 30),
    }


def writes(engine: LocalEngine, stock: Stock) -> dict[str, tuple[float, float]]:
    numbers = iter(range(10**7, 10**8))
    mixed = [
        [make(next(numbers)) for make in (stock.turn, stock.document) for _ in range(BATCH // 2)] for _ in range(21)
    ]
    batches = iter(mixed)
    taken = {"store 100 of many branches": measured(lambda: engine.store_many(next(batches)), 20)}
    taken |= {"store one turn": measured(lambda: engine.store(stock.turn(next(numbers))), 100)}
    collection = Reach.subtree(Namespace.parse("source:b/project:c2"))
    agent = Reach.exact(Namespace.parse("agent:a3"))
    for name, reach in {"forget 1 collection": collection, "forget 1 agent": agent}.items():
        start = time.perf_counter()
        forgotten = engine.forget(ForgetTarget.of_filter(MetaFilter(reach=reach))).forgotten
        spent = (time.perf_counter() - start) * 1e3
        taken[f"{name} ({forgotten})"] = (spent, spent)
    return taken


def document_ratio(folder: Path, stock: Stock) -> float:
    """Bytes of the file per byte of text, for documents alone."""
    engine = LocalEngine(folder / "documents.db", durability="process")
    stock.text_bytes = 0
    for _ in range(20):
        engine.store_many([stock.document(number) for number in range(BATCH)])
    long = StoreItem.document("\n\n".join(stock.words(120) for _ in range(200)))
    stock.text_bytes += len(long.text)
    engine.store(long)
    engine.close()
    return (folder / "documents.db").stat().st_size / stock.text_bytes


def grown(folder: Path, count: int) -> str:
    """Fill a store with *count* items and print what must not grow with it; return the line of the summary."""
    roots = 100 if count >= 1_000_000 else 1
    engine = LocalEngine(folder / f"{count}.db", durability="process")
    start = time.perf_counter()
    for number in range(roots):
        stock = Stock(count // roots, f"team:r{number}" if roots > 1 else "")
        items = sorted(stock.items(), key=as_it_comes)
        for at in range(0, len(items), BATCH):
            engine.store_many(items[at : at + BATCH])
    print(f"{count:,} items below {roots} roots, stored in {time.perf_counter() - start:.0f} s")
    start = time.perf_counter()
    engine.maintain(600)  # as hosts and `brain run` do when idle
    print(f"upkeep {time.perf_counter() - start:.1f} s")
    hundredth = "team:r{}" if roots > 1 else "agent:a{}"
    reach = Reach.subtree(Namespace.parse(hundredth.format(7)))
    taken = {f"list 50 at {depth:.0%}": listed_at(engine, count, depth) for depth in (0, 0.25, 0.5, 0.95)}
    for facet in (Facet.KIND, Facet.FOLDER, Facet.TAG):
        request = ExploreRequest(facet=facet, filter=MetaFilter(reach=reach))
        taken[f"facet counts of 1 %, {facet.value}"] = measured(lambda r=request: engine.explore(r), 100)  # type: ignore[misc]  # a lambda's default has no type

    for kinds in ((), *((kind,) for kind in ItemKind)):
        wanted = MetaFilter(reach=reach, kinds=kinds)

        def search(wanted: MetaFilter = wanted) -> object:
            return engine.fetch(FetchRequest(query=stock.words(10), mode=FetchMode.KEYWORD, filter=wanted))

        taken[f"keyword search of 1 %, {kinds[0].value if kinds else 'all kinds'}"] = measured(search, 100)
    for name, act in {"forget": _forget, "erase": _erase}.items():
        doomed = Reach.subtree(Namespace.parse(hundredth.format(len(name))))
        start = time.perf_counter()
        gone = act(engine, doomed)
        spent = (time.perf_counter() - start) * 1e3
        taken[f"{name} 1 % ({gone})"] = (spent, spent)
    for name, (middle, high) in taken.items():
        print(f"{name:38} p50 {middle:8.3f} ms   p95 {high:8.3f} ms")
    engine.close()
    return f"{count:,}: " + ", ".join(f"{name} {middle:.2f}" for name, (middle, _) in taken.items())


def listed_at(engine: LocalEngine, count: int, depth: float) -> tuple[float, float]:
    """Measure a page of 50 at a share of the whole listing; cursors belong to the filter, not to a page's size."""
    request = ListRequest(limit=500)
    for _ in range(int(count * depth) // 500):
        request = request.model_copy(update={"cursor": engine.list(request).next_cursor})
    page = request.model_copy(update={"limit": 50})
    return measured(lambda: engine.list(page), 100)


def _forget(engine: LocalEngine, reach: Reach) -> int:
    return engine.forget(ForgetTarget.of_filter(MetaFilter(reach=reach))).forgotten


def _erase(engine: LocalEngine, reach: Reach) -> str:
    return f"{engine.erase(EraseRequest(reach=reach)).erased_scopes} scopes"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("items", type=int, nargs="*", default=[100_000])
    parser.add_argument("--growth", action="store_true", help="measure what must not grow, for each size")
    parser.add_argument("--folder", type=Path, help="where the files are written (default: a temporary folder)")
    arguments = parser.parse_args()
    summary = []
    for count in arguments.items:
        folder = Path(tempfile.mkdtemp(dir=arguments.folder))
        try:
            if arguments.growth:
                summary.append(grown(folder, count))
            else:
                run(folder, count)
        finally:
            shutil.rmtree(folder)
    if summary:
        print("ms at p50; " + "; ".join(summary))


def run(folder: Path, count: int) -> None:
    stock = Stock(count)
    items = sorted(stock.items(), key=as_it_comes)
    text = stock.text_bytes
    engine = LocalEngine(folder / "memory.db")
    start, busy = time.perf_counter(), time.process_time()
    ids = []
    for at in range(0, count, BATCH):
        ids += [receipt.id for receipt in engine.store_many(items[at : at + BATCH])]
    rate, cpu = count / (time.perf_counter() - start), (time.process_time() - busy) / count * 1e6
    ceiling = plain_inserts(folder, [item.render_text() for item in items[:20_000]])
    sync = one_sync(folder)
    print(f"{count:,} items, {text / 1e6:.1f} MB of text; fdatasync {sync:.2f} ms")
    slower = f"{ceiling / rate:.1f}x below bare rows, {cpu:.0f} us of CPU an item"
    print(f"{'ingest, batches of 100, power-safe':36} {rate:10,.0f} items/s   {slower}")
    for name, (middle, high) in {**reads(engine, stock, ids), **writes(engine, stock)}.items():
        print(f"{name:38} p50 {middle:8.3f} ms   p95 {high:8.3f} ms   {middle / sync:7.2f} fdatasync")
    start = time.perf_counter()
    left = engine.maintain(60).left
    print(f"{'maintain':36} {time.perf_counter() - start:8.2f} s   left {left}")
    engine.close()
    whole = (folder / "memory.db").stat().st_size / text
    ratio = document_ratio(folder, stock)
    print(f"ingest {rate:,.0f}/s, file {whole:.2f}x the text, {ratio:.2f}x for documents alone")


if __name__ == "__main__":
    main()
