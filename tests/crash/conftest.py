"""A world that can be stopped at every step: books on disk, an engine, and a source under a script."""

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw
import pytest

from connectors.contract import Blob
from connectors.testing.scripted import Behaviour, ConfirmingConnector, ScriptedConnector
from corebrain.brain import Brain
from corebrain.conformance.wrappers import WholeEngine
from corebrain.contract import (
    Item,
    MemoryEngine,
    Receipts,
)
from corebrain.engines.reference import ReferenceEngine
from corebrain.model.requests import (
    ForgetReport,
    ForgetTarget,
    ListRequest,
)
from pipeline.host import Host
from pipeline.options import SyncOptions
from pipeline.report import SyncReport
from pipeline.source import Source
from pipeline.state.database import Database
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all

Operation = tuple[str, str, int, bytes]
SECTOR = 512


class Recorder(apsw.VFS):
    """Passes everything on to the disk, and keeps every write, truncation, sync and deletion in `log`.

    A cut after any of them can be played: what was synced stands, and of what was not, each sector is there or not, at
    random. The method is that of SQLite's own crash tests (sqlite.org/testing.html, section 3.3).
    """

    def __init__(self) -> None:
        self.log: list[Operation] = []
        self.name = "recorder"
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "RecordedFile":  # noqa: N802  # SQLite's name
        return RecordedFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  # SQLite's name
        self.log.append(("delete", Path(filename).name, int(syncdir), b""))
        super().xDelete(filename, syncdir)

    def cut(self, end: int, chance: random.Random) -> dict[str, bytes]:
        """Return the files as a power loss after the first *end* operations may leave them."""
        log = self.log[:end]
        synced = {file: at for at, (what, file, _, _) in enumerate(log) if what == "sync"}
        files: dict[str, bytearray] = {}
        for at, (what, file, place, data) in enumerate(log):
            durable = at <= synced.get(file, -1)
            content = files.setdefault(file, bytearray())
            if what == "write":
                for start in range(0, len(data), SECTOR):
                    if durable or chance.random() < 0.5:
                        sector = data[start : start + SECTOR]
                        end = place + start + len(sector)
                        content.extend(bytes(max(0, end - len(content))))
                        content[place + start : end] = sector
            elif what == "truncate" and (durable or chance.random() < 0.5):
                del content[place:]
            elif what == "delete":
                files.pop(file)
        return {name: bytes(content) for name, content in files.items() if not name.endswith("-shm")}


class RecordedFile(apsw.VFSFile):
    def __init__(self, recorder: Recorder, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.recorder = recorder
        held = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self.file = Path(held).name
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # SQLite's name
        self.recorder.log.append(("write", self.file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802  # SQLite's name
        self.recorder.log.append(("truncate", self.file, newsize, b""))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
        self.recorder.log.append(("sync", self.file, 0, b""))
        super().xSync(flags)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """Every connection of engine and books runs on the recorder, and the engine's log moves into its file often."""
    made = Recorder()
    monkeypatch.setattr("corebrain.engines.local.connection.VFS", made.name)
    monkeypatch.setattr("corebrain.engines.local.connection.CHECKPOINT_PAGES", 40)
    monkeypatch.setattr("pipeline.state.database.VFS", made.name)
    yield made
    made.unregister()


class Crash(BaseException):
    """The process dies here: nothing catches it but the test."""


@dataclass
class Tripwire:
    """Counts steps and dies at one of them, for good: nothing is written afterwards. 0 never dies.

    Attributes:
        at: The step to die at.
        steps: Steps so far.
        named: What the steps wrote, in order: `intent`, `store`, `record`, `forget`, `cursor`, `lease`, …
    """

    at: int = 0
    steps: int = 0
    named: list[str] = field(default_factory=list)

    def step(self, *what: str) -> None:
        self.steps += 1
        self.named += what
        if self.at and self.steps >= self.at:
            raise Crash


class TrippedEngine(WholeEngine):
    """An engine with a step before and after each write."""

    def __init__(self, inner: MemoryEngine, wire: Tripwire) -> None:
        super().__init__(inner)
        self._wire = wire

    def store_many(self, items: Sequence[Item]) -> Receipts:
        self._wire.step("store")
        receipts = super().store_many(items)
        self._wire.step("store")
        return receipts

    def forget(self, target: ForgetTarget) -> ForgetReport:
        self._wire.step("forget")
        report = super().forget(target)
        self._wire.step("forget")
        return report


Work = Callable[[Source, SqliteState, Host], SyncReport]


def _synced(source: Source, state: SqliteState, host: Host) -> SyncReport:
    return sync_all([source], state, host)


@dataclass
class World:
    """One brain and its source. `run` opens everything anew, as a new process would.

    Attributes:
        folder: Where books and engine lie.
        engine_kind: `reference` or `local`.
        connector: The source.
        options: How it is synced.
        durable: Whether every commit waits for the disk; a process that dies does not need it.
    """

    folder: Path
    engine_kind: str
    connector: ScriptedConnector
    options: SyncOptions = field(default_factory=SyncOptions)
    kept: ReferenceEngine = field(default_factory=ReferenceEngine)
    durable: bool = False

    def engine(self) -> MemoryEngine:
        if self.engine_kind == "reference":
            return self.kept
        from corebrain.engines.local.engine import LocalEngine  # noqa: PLC0415 - needs SQLite, which half the worlds do not

        return LocalEngine(self.folder / "memory.db", durability="power" if self.durable else "process")

    def state(self) -> SqliteState:
        """Open the books."""
        if self.durable:
            return SqliteState(self.folder / "state.db")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr("pipeline.state.database.SYNCHRONOUS", "off")
            return SqliteState(self.folder / "state.db")

    def run(self, wire: Tripwire | None = None, work: Work | None = None) -> dict[str, Any]:
        """Sync once, or do other *work*; the report as a dict."""
        wire = wire or Tripwire()
        engine = self.engine()
        state = self.state()
        try:
            with tripped_writes(wire):
                source = Source("scripted", self.connector, Brain(TrippedEngine(engine, wire)), self.options)
                return (work or _synced)(source, state, Host(now=lambda: 1_000.0, chance=lambda: 0.5)).to_dict()
        finally:
            state.close()
            engine.close()

    def built(self) -> None:
        """Run the jobs that wait, as far as the books know."""
        state = self.state()
        for number, _ in state.jobs():
            state.drop_job(number)
        state.close()

    def dump(self) -> dict[str, Any]:
        """What engine and books hold, canonically."""
        engine = self.engine()
        state = self.state()
        try:
            ledger = state.ledger("scripted")
            items = engine.export(ListRequest(limit=1_000)).items
            records = {
                record.ref.key: (record.token, record.raw, record.filed, record.pinned, [f.id for f in record.facts])
                for record in ledger.records()
            }
            return {
                "engine": {exported.id: exported.item.to_json() for exported in sorted(items, key=lambda one: one.id)},
                "records": records,
                "aside": [aside.key for aside in ledger.asides()],
                "doomed": ledger.doomed(1_000),
                "intents": ledger.intents(),
                "row": (ledger.row().cursor, ledger.row().split, ledger.row().complete, ledger.row().error),
                "owed": ledger.is_touched(),
                "jobs": [body for _, body in state.jobs()],
            }
        finally:
            state.close()
            engine.close()


BOOKED = {
    "lease": "lease",
    "intent": "intent",
    "INTO document": "record",
    "FROM document": "record",
    "UPDATE document": "record",
    "FROM intent": "record",
    "doomed": "forget",
    "aside": "aside",
    "UPDATE source": "cursor",
    "INTO source": "cursor",
    "work": "plan",
    "job": "job",
    "run": "run",
}
"""What a write of the books is called, by the first of these words that its statement holds."""


def booked(sql: str) -> str | None:
    """Name what a statement writes; `None` when it only reads."""
    if not sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE")):
        return None
    return next((name for word, name in BOOKED.items() if word in sql), "other")


@contextmanager
def tripped_writes(wire: Tripwire) -> Iterator[None]:
    """Make the moments before and after every commit of the books steps; before one, everything is rolled back."""
    transaction, rows, many = Database.transaction, Database.rows, Database.many
    written: list[str] = []

    @contextmanager
    def stepped(self: Database) -> Iterator[None]:
        outer = not self._in_transaction
        with transaction(self):
            written.clear() if outer else None
            yield
            if outer and written:
                wire.step(*written)
        if outer and written:
            wire.step(*written)

    def stepped_rows(self: Database, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        what = booked(sql)
        if what is None:
            return rows(self, sql, values)
        written.append(what)
        if not self._in_transaction:
            wire.step(what)
        found = rows(self, sql, values)
        if not self._in_transaction:
            wire.step(what)
        return found

    def stepped_many(self: Database, sql: str, each: Iterable[Sequence[Any]]) -> None:
        with self.transaction():
            written.append(booked(sql) or "other")
            many(self, sql, each)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "transaction", stepped)
        patch.setattr(Database, "rows", stepped_rows)
        patch.setattr(Database, "many", stepped_many)
        patch.setattr("pipeline.state.leases.is_alive", lambda _pid: False)  # the owner of a left lease is dead
        yield


def source_of(kind: str) -> ScriptedConnector:
    """An empty source of a kind: one that lists everything, feeds changes, crawls, confirms, or names contents."""
    if kind == "confirms":
        return ConfirmingConnector()
    behaviours = {
        "feeds": Behaviour(deltas=True, checkpoint_every=3),
        "crawls": Behaviour(tokens=False, in_listing=True),
        "names contents": Behaviour(contents=True),
    }
    return ScriptedConnector(behaviour=behaviours.get(kind, Behaviour(checkpoint_every=3)))


def first_documents(kind: str = "lists") -> ScriptedConnector:
    """Twins, parts of folders, a document with a part of its own, a pinned one, one that cannot be read."""
    source = source_of(kind)
    for key, text in {
        "a/one.md": "# One\n\nThe first.",
        "a/two.md": "# Two\n\nThe second.",
        "a/twin.md": "# Twin\n\nThe same.",
        "b/twin.md": "# Twin\n\nThe same.",
        "b/gone.md": "# Gone\n\nTo be removed.",
        "b/renamed.md": "# Renamed\n\nUnder another name soon.",
        "b/vouched.md": "# Vouched\n\nThe source will say that it is gone.",
        "c/empty.md": "",
        "top.md": "# Top\n\nAt the top.",
    }.items():
        source.put(key, text)
    source.put("c/mail.md", "# Mail\n\nWith terms.", parts=(Blob(b"# Terms\n\nThirty days.", filename="terms.md"),))
    pin(source, "c1")
    return source


def pin(source: ScriptedConnector, head: str) -> None:
    """Show a document at a head of its repository, its bytes and token as ever."""
    url = f"https://git.example/acme/blob/{head}/pinned.md"
    source.put("pinned.md", "# Pinned\n\nText.", token="same", commit=head, url=url)


def change(source: ScriptedConnector) -> None:
    """Every kind of change at once."""
    source.put("a/one.md", "# One\n\nThe other.")
    source.put("a/two.md", "# Two\n\nThe second.")  # touched: new token, same bytes
    source.put("a/twin.md", "# Twin\n\nNot the same any more.")
    source.remove("b/twin.md")
    source.remove("b/gone.md")
    source.remove("b/vouched.md", tombstone=True)
    source.rename("b/renamed.md", "d/new name.md")
    source.put("d/new.md", "# New\n\nBrand new.")
    source.put("c/mail.md", "# Mail\n\nWith other terms.", parts=(Blob(b"# Terms\n\nSixty.", filename="terms.md"),))
    source.rename("top.md", "a/top.md")
    pin(source, "c2")


def change_again(source: ScriptedConnector) -> None:
    """What happens to the source between a kill and the next run: nothing that the kill left half done stays true."""
    source.put("a/one.md", "# One\n\nA third text.")
    source.remove("d/new.md")
    source.rename("d/new name.md", "e/again.md")
    source.put("b/gone.md", "# Gone\n\nBack again.")
    source.put("c/mail.md", "# Mail\n\nWithout terms.")
    pin(source, "c3")


@pytest.fixture
def make_world(tmp_path: Path) -> Callable[..., World]:
    """Make a world in a folder of its own."""
    made = 0

    def make(engine_kind: str, source: ScriptedConnector, *, durable: bool = False, **options: Any) -> World:
        nonlocal made
        made += 1
        folder = tmp_path / str(made)
        folder.mkdir()
        return World(folder, engine_kind, source, SyncOptions(threads=1, **options), durable=durable)

    return make


@pytest.fixture
def scenario() -> "Scenario":
    return Scenario()


class Scenario:
    """Hands the building blocks to tests, which cannot import this module."""

    crash = Crash
    tripwire = Tripwire
    first_documents = staticmethod(first_documents)
    change = staticmethod(change)
    change_again = staticmethod(change_again)
