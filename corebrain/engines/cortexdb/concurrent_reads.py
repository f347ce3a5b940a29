"""Several requests at once, on threads that end with the call."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

_In = TypeVar("_In")
_Out = TypeVar("_Out")
SCOPES_AT_ONCE = 4


def each(read: Callable[[_In], _Out], inputs: Iterable[_In], at_once: int = SCOPES_AT_ONCE) -> list[_Out]:
    """Return `read` of every input in order, *at_once* at once; the first failure is raised."""
    listed = list(inputs)
    if len(listed) < 2:
        return [read(one) for one in listed]
    with ThreadPoolExecutor(min(len(listed), at_once), thread_name_prefix="cortexdb") as pool:
        running = [pool.submit(read, one) for one in listed]
        try:
            return [one.result() for one in running]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
