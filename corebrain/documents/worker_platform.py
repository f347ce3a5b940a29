"""What differs between operating systems in running a worker: limits, groups, memory figures.

Full strength on Linux, where the kernel also closes the file system (Landlock). macOS has no memory limit (its kernel
ignores RLIMIT_AS); there the recycling after a task is what bounds a leak. Windows has
neither process groups nor pollable pipes: the pool refuses to start there.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from corebrain.documents import landlock
from corebrain.documents.worker_limits import OFFICE, OPEN

_SPARE_S = 5.0
_FILE_BYTES = 1 << 30
_OPEN_FILES = 256

IS_SUPPORTED = sys.platform != "win32"


_SYSTEM = ("/usr", "/lib", "/lib64", "/lib32", "/bin", "/sbin", "/etc", "/opt", "/proc", "/sys", "/nix")
_STORES = ("/run/current-system", "/var/lib/libreoffice", "/var/spool/libreoffice")  # what programs keep elsewhere
_DEVICES = ("/dev/null", "/dev/zero", "/dev/random", "/dev/urandom", "/dev/full")

_SOCKETS = ("/tmp", "/var/tmp")  # noqa: S108 - where LibreOffice makes them, whatever TMPDIR says


def confine(folder: Path, mode: str) -> None:
    """In a worker, at its start: no core file, bounded files, no network, no file but programs and its own folder.

    The last and the network of foreign code are the kernel's doing, where it has Landlock; Python's own sockets are
    closed everywhere.

    Args:
        folder: The worker's own.
        mode: `closed`; `office` lets LibreOffice make the socket it insists on; `open` leaves all files open.
    """
    sys.addaudithook(_refuse_network)
    if mode != OPEN:
        _close_files(folder, _SOCKETS if mode == OFFICE else ())
    if sys.platform == "win32":
        return
    import resource  # noqa: PLC0415 - absent on Windows

    for limit, value in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, _FILE_BYTES),
        (resource.RLIMIT_NOFILE, _OPEN_FILES),
    ):
        _, hard = resource.getrlimit(limit)
        lowered = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(limit, (lowered, lowered))


def _close_files(folder: Path, sockets: Iterable[str]) -> None:
    ours = Path(__file__).parents[1]  # the package
    libraries = {Path(entry) for entry in sys.path if entry} - {ours.parent}
    pythons = {Path(prefix) for prefix in (sys.prefix, sys.base_prefix, sys.exec_prefix)}
    landlock.restrict(
        readable=[ours, *sorted(libraries | pythons), *map(Path, (*_SYSTEM, *_STORES))],
        writable=[folder, *map(Path, _DEVICES)],
        emptied=[folder.parent],  # where it removes its folder at its end
        sockets=map(Path, sockets),
    )


def limit_memory(budget: int) -> None:
    """In a worker, after its first import: it may grow by `budget` bytes from here; never raises the limit again."""
    if sys.platform != "linux":
        return
    import resource  # noqa: PLC0415 - absent on Windows

    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    if hard == resource.RLIM_INFINITY:
        ceiling = _statm(0) + budget
        resource.setrlimit(resource.RLIMIT_AS, (ceiling, ceiling))


def die_after(seconds: float) -> None:
    """In a worker, before a task: the kernel ends the process soon after the limit, even when no parent is left."""
    if sys.platform != "win32":
        signal.signal(signal.SIGALRM, signal.SIG_DFL)
        signal.setitimer(signal.ITIMER_REAL, seconds + _SPARE_S if seconds else 0.0)


def resident_bytes() -> int:
    """Memory this process holds now (its peak, where the system tells no more)."""
    if sys.platform == "linux":
        return _statm(1)
    elif sys.platform == "win32":  # noqa: RET505 - mypy tells platforms apart by elif only
        return 0
    else:
        import resource  # noqa: PLC0415 - absent on Windows

        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def has_exited(process: "subprocess.Popen[bytes]") -> bool:
    """Whether it ended, leaving it unreaped: its group id cannot be reused before `kill_group`."""
    if sys.platform != "linux":
        return False  # the end of its output tells, or the time limit
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def kill_group(process: "subprocess.Popen[bytes]") -> None:
    """SIGKILL to a worker and all it started; harmless when they are gone. Call it before the worker is reaped."""
    if sys.platform == "win32":
        process.kill()
        return
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):  # macOS answers EPERM for a group of zombies
        process.kill()


def _statm(field: int) -> int:
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[field]) * os.sysconf("SC_PAGE_SIZE")


def _refuse_network(event: str, args: tuple[object, ...]) -> None:
    if event in {"socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto", "socket.bind"}:
        raise PermissionError(f"a converter may not use the network ({event})")
    del args
