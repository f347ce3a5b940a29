"""The books outlive what happens to them on the way: an upgrade that is killed, and a loss of power."""

import random
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from pipeline.state.database import Database

FIRST_VERSION = Path(__file__).with_name("state_v1.sql")


def downgraded(world: Any) -> None:
    """Make the books of a world those of the first version, with all that they said."""
    now, before = world.folder / "state.db", world.folder / "before.db"
    old = apsw.Connection(str(before))
    old.execute(FIRST_VERSION.read_text(encoding="utf-8"))
    old.execute("ATTACH ? AS now", (str(now),))
    for (table,) in old.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        if table != "sqlite_sequence":
            columns = ", ".join(row[1] for row in old.execute(f"PRAGMA main.table_info({table})"))
            old.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM now.{table}")  # noqa: S608 - our tables
    old.close()
    for left in world.folder.glob("state.db*"):
        left.unlink()
    before.rename(now)


class UpgradeKilled(BaseException):
    """The process dies between two statements."""


def killed_upgrades(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Let the next upgrade die before the statement of a number."""
    migrate = Database._migrate

    def arm(at: int) -> None:
        def dying(self: Database, version: int) -> None:
            left = at

            def trace(*statement: object) -> bool:
                nonlocal left
                left -= 1
                if left == 0:
                    self._connection.set_exec_trace(None)  # the rollback is SQLite's, when the file is opened again
                    raise UpgradeKilled(statement)
                return True

            self._connection.set_exec_trace(trace)
            migrate(self, version)
            self._connection.set_exec_trace(None)

        monkeypatch.setattr(Database, "_migrate", dying)

    return arm


def test_an_upgrade_killed_at_any_statement_is_made_by_the_next_sync(
    make_world: Callable[..., Any], scenario: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    calm = make_world("reference", scenario.first_documents())
    calm.run()
    scenario.change(calm.connector)
    calm.run()
    arm = killed_upgrades(monkeypatch)
    for at in range(1, 100):
        world = make_world("reference", scenario.first_documents())
        arm(0)
        world.run()
        downgraded(world)
        scenario.change(world.connector)
        arm(at)
        try:
            world.run()
        except UpgradeKilled:
            arm(0)
            world.run()
            assert world.dump() == calm.dump(), f"killed at statement {at} of the upgrade"
        else:
            break
    assert at > 8, "an upgrade has more statements than that"


@pytest.mark.parametrize("kind", ["lists", "feeds", "confirms"])
def test_an_older_state_beside_a_fuller_engine_is_made_true_again(
    kind: str, make_world: Callable[..., Any], scenario: Any
) -> None:
    calm = make_world("local", scenario.first_documents(kind))
    world = make_world("local", scenario.first_documents(kind))
    for each in (calm, world):
        each.run()
    state = world.folder / "state.db"
    older = state.read_bytes()
    for each in (calm, world):
        each.connector.put("x/passing.md", "# Passing\n\nStored and gone before the copy comes back.")
        each.run()
        each.connector.remove("x/passing.md")
        each.built()
        each.run()
    assert "x/passing.md" not in str(calm.dump())
    state.write_bytes(older)
    for left in ("state.db-wal", "state.db-shm"):
        (world.folder / left).unlink(missing_ok=True)
    world.connector.put("x/passing.md", "# Passing\n\nStored and gone before the copy comes back.")
    world.run()  # the engine has it, the copy knows nothing of it
    world.connector.remove("x/passing.md")
    state.write_bytes(older)
    world.run()
    for part in ("engine", "records", "doomed", "intents"):
        assert world.dump()[part] == calm.dump()[part], part
    assert world.run()["sources"][0]["stored"] == 0


@pytest.mark.slow
def test_a_sync_that_loses_power_at_any_moment_is_finished_by_the_next(
    make_world: Callable[..., Any], scenario: Any, recorder: Any
) -> None:
    world = make_world("local", scenario.first_documents(), durable=True)
    world.run()
    world.built()
    begun = len(recorder.log)
    scenario.change(world.connector)
    world.run()
    ended, wanted = len(recorder.log), world.dump()
    chance = random.Random(7)  # noqa: S311 - the same cuts every time
    cuts = sorted(chance.sample(range(begun, ended + 1), 40))
    for end in cuts:
        survivor = make_world("local", world.connector)
        for name, content in recorder.cut(end, chance).items():
            (survivor.folder / name).write_bytes(content)
        survivor.run()
        assert survivor.dump() == wanted, f"power lost after operation {end - begun} of {ended - begun}"
    sys.stdout.write(f"\npower cuts of a sync: {len(cuts)} of {len(cuts)} ended as an undisturbed sync\n")
