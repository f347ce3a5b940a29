"""The pipeline's state in one SQLite file, or in memory beside an engine that keeps nothing either."""

from pathlib import Path
from tempfile import TemporaryDirectory

from pipeline.errors import StateError
from pipeline.state import age
from pipeline.state.database import MEMORY, Database
from pipeline.state.leases import SqliteLease
from pipeline.state.plan_table import SqliteLedger
from pipeline.state.values import Binding, Holding

_KEPT_RUNS = 100


class SqliteState:
    """A state store in the file *path*; `None` keeps it in memory.

    Raises:
        StateError: the file is damaged, newer, not a state, or cannot be written; nothing was touched.
    """

    def __init__(self, path: Path | None) -> None:
        self._database = Database(MEMORY if path is None else str(path))
        age.check(self._database)

    def bind(self, binding: Binding) -> None:
        wanted = {"root": binding.root, "engine": binding.engine, "place": binding.place}
        with self._database.transaction():
            held = dict(self._database.rows("SELECT name, value FROM meta"))
            for name, value in wanted.items():
                if held.setdefault(name, value) != value:
                    raise StateError(
                        f"this state belongs to {name} {held[name]!r}, not {value!r}; go back to that one, or run"
                        " `brain verify --fix` to rebuild the state for the new one"
                    )
            self._database.many("INSERT OR IGNORE INTO meta VALUES (?, ?)", wanted.items())

    def lease(self, name: str, now: float) -> "SqliteLease":
        return SqliteLease(self._database, name, now)

    def ledger(self, name: str) -> SqliteLedger:
        return SqliteLedger(self._database, name)

    def sources(self) -> list[str]:
        return [row[0] for row in self._database.rows("SELECT name FROM source ORDER BY name")]

    def holdings(self, prefix: str, limit: int) -> list[Holding]:
        rows = self._database.rows(  # "g" follows "f": ids are hex
            "SELECT item.id, source.name, document.key FROM item JOIN document ON document.id = item.document"
            " JOIN source ON source.id = document.source WHERE item.id >= ?1 AND item.id < ?1 || 'g'"
            " ORDER BY item.id, source.name, document.key LIMIT ?2",
            (prefix, limit),
        )
        return [Holding(*row) for row in rows]

    def add_job(self, body: str, now: float) -> None:
        self._database.many("INSERT OR REPLACE INTO job (body, added) VALUES (?, ?)", [(body, now)])

    def jobs(self) -> list[tuple[int, str]]:
        return [(row[0], row[1]) for row in self._database.rows("SELECT id, body FROM job ORDER BY id")]

    def drop_job(self, number: int) -> None:
        self._database.many("DELETE FROM job WHERE id = ?", [(number,)])

    def log_run(self, name: str, started: float, report: str) -> None:
        with self._database.transaction():
            self._database.rows("INSERT INTO run (name, started, report) VALUES (?, ?, ?)", (name, started, report))
            self._database.rows(
                "DELETE FROM run WHERE name = ?1 AND id NOT IN"
                " (SELECT id FROM run WHERE name = ?1 ORDER BY id DESC LIMIT ?2)",
                (name, _KEPT_RUNS),
            )

    def runs(self, name: str, limit: int) -> list[tuple[float, str]]:
        rows = self._database.rows(
            "SELECT started, report FROM run WHERE name = ? ORDER BY id DESC LIMIT ?", (name, limit)
        )
        return [(row[0], row[1]) for row in rows]

    def scratch(self) -> "SqliteState":
        return ScratchState(self._database)

    def close(self) -> None:
        self._database.close()


class ScratchState(SqliteState):
    """A copy of a state in a temporary folder, gone when it is closed."""

    def __init__(self, original: Database) -> None:
        self._folder = TemporaryDirectory(prefix="corebrain-plan-")
        path = Path(self._folder.name) / "state.db"
        original.copy_to(str(path))
        super().__init__(path)

    def close(self) -> None:
        super().close()
        self._folder.cleanup()
