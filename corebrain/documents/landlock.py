"""Landlock: a process gives up, for good, the files and ports it does not need (Linux 5.13 and later).

Called by number, for the C library has no wrappers: the numbers are equal on every architecture. Structures and flags
are those of the kernel's `include/uapi/linux/landlock.h`.
"""

import ctypes
import os
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

_CREATE, _ADD_RULE, _RESTRICT = 444, 445, 446
_VERSION_FLAG: Final = 1
_PATH_BENEATH: Final = 1
_PR_SET_NO_NEW_PRIVS: Final = 38

_EXECUTE, _WRITE_FILE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REMOVE_DIR, _REMOVE_FILE, _MAKE_SOCKET = 1 << 4, 1 << 5, 1 << 9
_TRUNCATE, _IOCTL_DEVICE = 1 << 14, 1 << 15
_OF_FILES: Final = _EXECUTE | _WRITE_FILE | _READ_FILE | _TRUNCATE | _IOCTL_DEVICE
_READ: Final = _EXECUTE | _READ_FILE | _READ_DIR
# Rights known to each version of the interface; a right the kernel does not know is refused by it.
_FILE_RIGHTS: Final = {1: (1 << 13) - 1, 2: (1 << 14) - 1, 3: (1 << 15) - 1, 4: (1 << 15) - 1, 5: (1 << 16) - 1}
_TCP: Final = 0b11  # to bind and to connect, from version 4
_SCOPES: Final = 0b11  # abstract sockets and signals of others, from version 6


class _Ruleset(ctypes.Structure):
    _fields_ = (("files", ctypes.c_uint64), ("network", ctypes.c_uint64), ("scopes", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed", ctypes.c_uint64), ("parent", ctypes.c_int32))


def version() -> int:
    """The kernel's version of Landlock, 0 when it has none or it is switched off."""
    if not sys.platform.startswith("linux"):
        return 0
    return max(0, _call(_CREATE, None, ctypes.c_size_t(0), ctypes.c_uint32(_VERSION_FLAG)))


def restrict(
    *, readable: Iterable[Path], writable: Iterable[Path], emptied: Iterable[Path] = (), sockets: Iterable[Path] = ()
) -> bool:
    """Take from this thread and all it starts every file but these, and TCP (from version 4 on).

    Afterwards nothing can give it back. Open files stay open.

    Args:
        readable: Files and folders that may be read, listed and executed; those not there are passed over.
        writable: Folders and files that may also be written, made and removed.
        emptied: Folders of which empty folders may be removed.
        sockets: Folders in which sockets may be made, and files and sockets removed.

    Returns:
        Whether the kernel did it.
    """
    known = version()
    if not known:
        return False
    handled = _FILE_RIGHTS[min(known, max(_FILE_RIGHTS))]
    wanted = _Ruleset(handled, _TCP if known >= 4 else 0, _SCOPES if known >= 6 else 0)
    size = 24 if known >= 6 else 16 if known >= 4 else 8
    ruleset = _call(_CREATE, ctypes.byref(wanted), ctypes.c_size_t(size), ctypes.c_uint32(0))
    if ruleset < 0:
        return False
    try:
        for path in readable:
            _allow(ruleset, path, handled & _READ)
        for path in writable:
            _allow(ruleset, path, handled)
        for path in emptied:
            _allow(ruleset, path, _REMOVE_DIR)
        for path in sockets:
            _allow(ruleset, path, _REMOVE_FILE | _MAKE_SOCKET | _READ_DIR)
        unprivileged = ctypes.CDLL(None).prctl(_PR_SET_NO_NEW_PRIVS, *map(ctypes.c_ulong, (1, 0, 0, 0))) == 0
        return unprivileged and _call(_RESTRICT, ctypes.c_int(ruleset), ctypes.c_uint32(0)) == 0
    finally:
        os.close(ruleset)


def _allow(ruleset: int, path: Path, rights: int) -> None:
    try:
        parent = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        if not path.is_dir():
            rights &= _OF_FILES
        rule = _PathBeneath(rights, parent)
        _call(_ADD_RULE, ctypes.c_int(ruleset), ctypes.c_int(_PATH_BENEATH), ctypes.byref(rule), ctypes.c_uint32(0))
    finally:
        os.close(parent)


def _call(number: int, *arguments: object) -> int:
    return int(ctypes.CDLL(None, use_errno=True).syscall(ctypes.c_long(number), *arguments))
