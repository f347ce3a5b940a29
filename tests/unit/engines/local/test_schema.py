import struct
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from corebrain.contract import Item
from corebrain.engines.local import migration
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import ConfigError
from corebrain.model.requests import Hit


def upgraded(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE later(x)")


def failing(connection: apsw.Connection) -> None:
    connection.execute("CREATE TABLE half(x)")
    raise RuntimeError("the migration broke")


def tables(connection: apsw.Connection) -> set[str]:
    return {row[0] for row in connection.execute("SELECT name FROM sqlite_schema")}


def old_store(folder: Path, sample: list[Item]) -> Path:
    file = folder / "memory.db"
    with LocalEngine(file) as engine:
        engine.store_many(sample)
    return file


def test_a_migration_keeps_everything_and_leaves_a_backup(
    tmp_path: Path, sample: list[Item], listed: Callable[..., list[Hit]]
) -> None:
    file = old_store(tmp_path, sample)
    connection = apsw.Connection(str(file))
    migration.bring_up(connection, file, (*migration.STEPS, upgraded))
    assert connection.pragma("user_version") == migration.VERSION + 1
    assert "later" in tables(connection)
    connection.close()
    backup = tmp_path / f"memory.db.v{migration.VERSION}"
    assert backup.stat().st_mode & 0o777 == 0o600
    with LocalEngine(backup) as engine:
        assert len(listed(engine)) == len(sample) - 1


def test_a_failed_migration_leaves_the_old_schema(tmp_path: Path, sample: list[Item]) -> None:
    file = old_store(tmp_path, sample)
    connection = apsw.Connection(str(file))
    with pytest.raises(RuntimeError):
        migration.bring_up(connection, file, (*migration.STEPS, upgraded, failing))
    assert {"later", "half"} & tables(connection) == set()
    connection.close()
    LocalEngine(file).close()


def test_a_newer_schema_is_refused_untouched(tmp_path: Path, sample: list[Item]) -> None:
    file = old_store(tmp_path, sample)
    with file.open("r+b") as opened:
        opened.seek(60)
        opened.write(struct.pack(">I", 99))
    content = file.read_bytes()
    with pytest.raises(ConfigError, match=r"schema 99.*update corebrain"):
        LocalEngine(file)
    assert file.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["memory.db"]


def test_an_empty_file_becomes_a_memory(tmp_path: Path, sample: list[Item]) -> None:
    (tmp_path / "memory.db").touch()
    with LocalEngine(tmp_path / "memory.db") as engine:
        engine.store_many(sample)
