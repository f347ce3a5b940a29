"""The peak memory of this process."""

import resource
import sys
from pathlib import Path

_STATUS = Path("/proc/self/status")


def peak_mb() -> float:
    """Return the most memory this process has held so far, in MB.

    From proc(5) where it is: `ru_maxrss` begins with what the process that started this one held.
    """
    if _STATUS.exists():
        held = next(line for line in _STATUS.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(held.split()[1]) / 1e3
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most / (1e6 if sys.platform == "darwin" else 1e3)
