"""A world that can be stopped at every step: books on disk, an engine, and a source under a script."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from connectors.contract import Blob
from connectors.testing.scripted import ScriptedConnector
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


class Crash(BaseException):
    """The process dies here: nothing catches it but the test."""


@dataclass
class Tripwire:
    """Counts steps and crashes at one of them; 0 never crashes."""

    at: int = 0
    steps: int = 0

    def step(self) -> None:
        self.steps += 1
        if self.steps == self.at:
            raise Crash


class TrippedEngine(WholeEngine):
    """An engine with a step before and after each write."""

    def __init__(self, inner: MemoryEngine, wire: Tripwire) -> None:
        super().__init__(inner)
        self._wire = wire

    def store_many(self, items: Sequence[Item]) -> Receipts:
        self._wire.step()
        receipts = super().store_many(items)
        self._wire.step()
        return receipts

    def forget(self, target: ForgetTarget) -> ForgetReport:
        self._wire.step()
        report = super().forget(target)
        self._wire.step()
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
    """

    folder: Path
    engine_kind: str
    connector: ScriptedConnector
    options: SyncOptions = field(default_factory=SyncOptions)
    kept: ReferenceEngine = field(default_factory=ReferenceEngine)

    def engine(self) -> MemoryEngine:
        if self.engine_kind == "reference":
            return self.kept
        from corebrain.engines.local.engine import LocalEngine  # noqa: PLC0415 - needs SQLite, which half the worlds do not

        return LocalEngine(self.folder / "memory.db")

    def run(self, wire: Tripwire | None = None, work: Work | None = None) -> dict[str, Any]:
        """Sync once, or do other *work*; the report as a dict."""
        wire = wire or Tripwire()
        engine = self.engine()
        state = SqliteState(self.folder / "state.db")
        try:
            with tripped_commits(wire):
                source = Source("scripted", self.connector, Brain(TrippedEngine(engine, wire)), self.options)
                return (work or _synced)(source, state, Host(now=lambda: 1_000.0, chance=lambda: 0.5)).to_dict()
        finally:
            state.close()
            engine.close()

    def dump(self) -> dict[str, Any]:
        """What engine and books hold, canonically."""
        engine = self.engine()
        state = SqliteState(self.folder / "state.db")
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
            }
        finally:
            state.close()
            engine.close()


@contextmanager
def tripped_commits(wire: Tripwire) -> Iterator[None]:
    """Make the beginning and the end of every write of the books a step."""
    plain = Database.transaction

    @contextmanager
    def stepped(self: Database) -> Iterator[None]:
        outer = not self._in_transaction
        if outer:
            wire.step()
        with plain(self):
            yield
        if outer:
            wire.step()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Database, "transaction", stepped)
        patch.setattr("pipeline.state.sqlite.is_alive", lambda _pid: False)  # the owner of a left lease is dead
        yield


def letter(name: str, body: str) -> bytes:
    """A mail with one attachment: a document and its part."""
    return (
        f"From: a@acme.example\nSubject: {name}\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=x\n\n"
        f"--x\nContent-Type: text/plain\n\n{body}\n--x\nContent-Type: text/markdown\n"
        f'Content-Disposition: attachment; filename="terms.md"\n\n# Terms of {name}\n\nThirty days.\n--x--\n'
    ).encode()


def first_documents() -> ScriptedConnector:
    """Twins, parts of folders, a document with a part of its own, one that cannot be read."""
    source = ScriptedConnector(
        {
            "a/one.md": "# One\n\nThe first.",
            "a/two.md": "# Two\n\nThe second.",
            "a/twin.md": "# Twin\n\nThe same.",
            "b/twin.md": "# Twin\n\nThe same.",
            "b/gone.md": "# Gone\n\nTo be removed.",
            "b/renamed.md": "# Renamed\n\nUnder another name soon.",
            "c/empty.md": "",
            "top.md": "# Top\n\nAt the top.",
        }
    )
    source.put("c/mail.md", "# Mail\n\nWith terms.", parts=(Blob(b"# Terms\n\nThirty days.", filename="terms.md"),))
    return source


def change(source: ScriptedConnector) -> None:
    """Every kind of change at once."""
    source.put("a/one.md", "# One\n\nThe other.")
    source.put("a/two.md", "# Two\n\nThe second.")  # touched: new token, same bytes
    source.put("a/twin.md", "# Twin\n\nNot the same any more.")
    source.remove("b/twin.md")
    source.remove("b/gone.md")
    source.rename("b/renamed.md", "d/new name.md")
    source.put("d/new.md", "# New\n\nBrand new.")
    source.put("c/mail.md", "# Mail\n\nWith other terms.", parts=(Blob(b"# Terms\n\nSixty.", filename="terms.md"),))
    source.rename("top.md", "a/top.md")


@pytest.fixture
def make_world(tmp_path: Path) -> Callable[..., World]:
    """Make a world in a folder of its own."""
    made = 0

    def make(engine_kind: str, source: ScriptedConnector, **options: Any) -> World:
        nonlocal made
        made += 1
        folder = tmp_path / str(made)
        folder.mkdir()
        return World(folder, engine_kind, source, SyncOptions(threads=1, **options))

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
