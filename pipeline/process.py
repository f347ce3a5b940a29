"""What can be known of other processes; the one place where platforms differ."""

import os
import sys
from pathlib import Path

_BOOT = Path("/proc/sys/kernel/random/boot_id")
_START = 19  # place of the start time among the fields after the name in /proc/PID/stat (proc(5): the 22nd of all)


def identity_of(pid: int) -> str:
    """Return what tells a process from every other that ever had its number; empty where the system does not say.

    Linux: the boot, and the tick at which the process began.
    """
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()
        return f"{_BOOT.read_text(encoding='ascii')[:8]}-{fields[_START]}"
    except (OSError, IndexError):
        return ""


def is_alive(pid: int) -> bool:
    """Tell whether a process of this machine runs under *pid*; in doubt, yes."""
    if sys.platform == "win32":
        return True  # no harmless signal there: the lease's beats decide
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
