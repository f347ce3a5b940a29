"""What can be known of other processes; the one place where platforms differ."""

import os
import sys


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
