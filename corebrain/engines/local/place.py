"""Where a memory file may lie: its folder and modes, local disks only, and what its header says unopened."""

import ctypes
import os
import stat
import struct
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from corebrain.errors import ConfigError

FILE_NAME = "memory.db"
_HEADER = 100  # bytes of a SQLite file header (sqlite.org/fileformat2.html, section 1.3)
_MAGIC = b"SQLite format 3\x00"
_NETWORK_LINUX = {  # statfs(2), f_type
    0x6969: "NFS",
    0x517B: "SMB",
    0xFE534D42: "SMB",
    0xFF534D42: "CIFS",
    0x01021997: "9P",
    0x5346414F: "AFS",
    0x00C36400: "Ceph",
    0x0BD00BD0: "Lustre",
}
_STATFS_BYTES = 4096  # more than any platform's struct statfs
_DARWIN_FLAGS = 64  # offset of f_flags in struct statfs of macOS
_DARWIN_TYPE_NAME = slice(72, 88)
_DARWIN_LOCAL = 0x1000  # MNT_LOCAL


@dataclass(frozen=True, slots=True)
class Header:
    """What the first bytes of a SQLite file say: schema version, owner and the size it should have in bytes."""

    user_version: int
    application_id: int
    size: int | None


def resolve(path: str | os.PathLike[str]) -> Path:
    """Return the file meant by *path*: itself, or `memory.db` in it when it is a folder.

    Raises:
        ConfigError: this user may not look there.
    """
    place = Path(path).expanduser().absolute()
    try:
        return place / FILE_NAME if place.is_dir() else place
    except OSError as error:
        raise _unusable(place, error) from error


def prepare(file: Path, *, file_system: Callable[[Path], str | None] | None = None) -> None:
    """Create the folder (0700) and the file (0600) unless they exist.

    WAL and shared-memory files take the mode of the database file.

    Raises:
        ConfigError: the folder cannot be made or written, lies on a network disk, or *file* is no ordinary file.
    """
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        network = (file_system or network_file_system)(file.parent)
        if network is not None:
            raise ConfigError(
                f"{file} lies on {network}, where SQLite cannot lock safely: keep the memory on a local disk"
            )
        if not file.exists():  # an existing file is not opened: closing it would drop SQLite's locks on it
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
    except OSError as error:
        raise _unusable(file, error) from error
    if not stat.S_ISREG(file.stat().st_mode):
        raise ConfigError(f"{file} is not an ordinary file")


def _unusable(place: Path, error: OSError) -> ConfigError:
    reason = error.strerror or "it cannot be opened"
    return ConfigError(f"cannot use {place}: {reason.lower()}; name a place this user may write")


def read_header(file: Path) -> Header | None:
    """Return the header of *file*, `None` for an empty file.

    Never for a file this process has open in SQLite: closing it here drops the locks held there (POSIX).

    Raises:
        ConfigError: the file is not a SQLite database.
    """
    with file.open("rb") as opened:
        raw = opened.read(_HEADER)
    if not raw:
        return None
    if len(raw) < _HEADER or not raw.startswith(_MAGIC):
        raise ConfigError(f"{file} is not a corebrain memory: name another file, or move this one away")
    user_version, application_id = struct.unpack(">I", raw[60:64])[0], struct.unpack(">I", raw[68:72])[0]
    (page,) = struct.unpack(">H", raw[16:18])
    (pages,) = struct.unpack(">I", raw[28:32])
    size_is_kept = raw[24:28] == raw[92:96]
    size = pages * (65536 if page == 1 else page) if size_is_kept else None
    return Header(user_version=user_version, application_id=application_id, size=size)


def is_truncated(file: Path, header: Header) -> bool:
    """Tell whether *file* is shorter than its header says and no write-ahead log holds the rest."""
    log = file.with_name(file.name + "-wal")
    if header.size is None or (log.exists() and log.stat().st_size > 0):
        return False
    return file.stat().st_size < header.size


def network_file_system(folder: Path) -> str | None:
    """Return the name of the network file system *folder* lies on; `None` on a local disk or when nobody can tell."""
    if sys.platform not in {"linux", "darwin"}:
        return None
    room = ctypes.create_string_buffer(_STATFS_BYTES)
    libc = ctypes.CDLL(None, use_errno=True)
    call = getattr(libc, "statfs64" if sys.platform == "linux" else "statfs", None) or libc.statfs
    if call(os.fsencode(folder), room) != 0:
        return None
    return named_network(room.raw, sys.platform)


def named_network(raw: bytes, platform: str) -> str | None:
    """Read the network file system's name from the bytes of a `struct statfs`."""
    if platform == "darwin":
        (flags,) = struct.unpack_from("=I", raw, _DARWIN_FLAGS)
        return (
            None if flags & _DARWIN_LOCAL else raw[_DARWIN_TYPE_NAME].rstrip(b"\0").decode("ascii", "replace").upper()
        )
    (kind,) = struct.unpack_from("=l", raw)
    return _NETWORK_LINUX.get(kind & 0xFFFFFFFF)
