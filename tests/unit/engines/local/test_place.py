import os
import stat
import struct
import sys
from pathlib import Path

import apsw
import pytest

from corebrain.engines.local import place
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import ConfigError, EngineError


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_file_folder_and_log_are_for_their_owner_only(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with LocalEngine(tmp_path / "brain" / "memory.db") as engine:
            assert engine.path == tmp_path / "brain" / "memory.db"
            assert mode(tmp_path / "brain") == 0o700
            found = {path.name: mode(path) for path in (tmp_path / "brain").iterdir()}
    finally:
        os.umask(before)
    assert found == {"memory.db": 0o600, "memory.db-wal": 0o600, "memory.db-shm": 0o600}


def test_a_folder_means_memory_db_in_it(tmp_path: Path) -> None:
    with LocalEngine(tmp_path) as engine:
        assert engine.path == tmp_path / "memory.db"


@pytest.mark.parametrize("content", [b"hello, this is a text file", b"x" * 4096, b"SQLite format 3\0"])
def test_a_foreign_file_is_refused_untouched(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "notes.txt"
    file.write_bytes(content)
    with pytest.raises(ConfigError, match="not a corebrain memory"):
        LocalEngine(file)
    assert file.read_bytes() == content
    assert [path.name for path in tmp_path.iterdir()] == ["notes.txt"]


def test_another_programs_database_is_refused_untouched(tmp_path: Path) -> None:
    file = tmp_path / "other.db"
    other = apsw.Connection(str(file))
    other.execute("CREATE TABLE theirs(x)")
    other.close()
    content = file.read_bytes()
    with pytest.raises(ConfigError, match="another program"):
        LocalEngine(file)
    assert file.read_bytes() == content


def test_a_file_cut_short_is_told(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    LocalEngine(file).close()
    os.truncate(file, file.stat().st_size - 4096)
    with pytest.raises(EngineError, match="cut short"):
        LocalEngine(file)


def test_a_damaged_file_is_told(tmp_path: Path) -> None:
    file = tmp_path / "memory.db"
    LocalEngine(file).close()
    content = bytearray(file.read_bytes())
    content[100:4000] = b"\xff" * 3900
    file.write_bytes(content)
    with pytest.raises(EngineError, match="damaged"):
        LocalEngine(file)


def test_a_folder_in_the_files_place_is_refused(tmp_path: Path) -> None:
    (tmp_path / "memory.db").mkdir()
    (tmp_path / "memory.db" / "memory.db").mkdir()
    with pytest.raises(ConfigError, match="not an ordinary file"):
        LocalEngine(tmp_path / "memory.db")


@pytest.mark.parametrize("place_name", ["memory.db", "new/memory.db"])
def test_a_place_without_permission_is_told(tmp_path: Path, place_name: str) -> None:
    tmp_path.chmod(0o500)
    read_end, write_end = os.pipe()
    child = os.fork()
    if child == 0:  # pragma: no cover  # the child reports through the pipe
        if os.geteuid() == 0:
            os.setuid(65_534)  # root may write anywhere
        try:
            LocalEngine(tmp_path / place_name)
        except ConfigError as error:
            os.write(write_end, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(write_end)
    told = os.read(read_end, 4096).decode()
    os.close(read_end)
    tmp_path.chmod(0o700)
    assert "permission denied; name a place this user may write" in told


def test_a_path_through_a_file_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError, match="cannot use"):
        LocalEngine(tmp_path / "file" / "memory.db")


def test_a_network_disk_is_refused_with_its_name(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="lies on NFS"):
        place.prepare(tmp_path / "memory.db", file_system=lambda _: "NFS")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("kind", "name"), [(0x6969, "NFS"), (0xFE534D42, "SMB"), (0xEF53, None), (0xFF534D42, "CIFS")])
def test_network_disks_are_known_by_their_magic(kind: int, name: str | None) -> None:
    assert place.named_network(struct.pack("=q", kind) + bytes(100), "linux") == name


def test_macos_says_itself_what_is_local() -> None:
    raw = bytearray(200)
    raw[72:77] = b"smbfs"
    assert place.named_network(bytes(raw), "darwin") == "SMBFS"
    struct.pack_into("=I", raw, 64, 0x1000)
    assert place.named_network(bytes(raw), "darwin") is None


@pytest.mark.skipif(sys.platform not in {"linux", "darwin"}, reason="asks the system's own statfs")
def test_a_local_disk_is_told_from_a_missing_one(tmp_path: Path) -> None:
    assert place.network_file_system(tmp_path) is None
    assert place.network_file_system(tmp_path / "missing") is None
