"""Several requests at once, on threads that end with the call and know its deadline."""

from collections.abc import Callable, Hashable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from typing import TypeVar

_In = TypeVar("_In", bound=Hashable)
_Out = TypeVar("_Out")
SCOPES_AT_ONCE = 4


def each(read: Callable[[_In], _Out], inputs: Iterable[_In], at_once: int = SCOPES_AT_ONCE) -> list[_Out]:
    """Return `read` of every input in order, *at_once* at once; the first failure is raised."""
    listed = list(inputs)
    if len(listed) < 2:
        return [read(one) for one in listed]
    with ThreadPoolExecutor(min(len(listed), at_once), thread_name_prefix="cortexdb") as pool:
        running = [pool.submit(copy_context().run, read, one) for one in listed]
        try:
            return [one.result() for one in running]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def each_early(
    read: Callable[[_In], _Out],
    expected: Sequence[_In],
    settled: Callable[[], list[_In]],
    at_once: int = SCOPES_AT_ONCE,
) -> tuple[list[_In], list[_Out]]:
    """Return `settled()` and `read` of each of it, reading what is expected while that is being settled.

    What was expected and is not wanted is dropped, its failures too; what was not expected is read afterwards.
    """
    if not expected:
        wanted = settled()
        return wanted, each(read, wanted, at_once)
    with ThreadPoolExecutor(at_once, thread_name_prefix="cortexdb") as pool:
        early = {one: pool.submit(copy_context().run, read, one) for one in expected}
        try:
            wanted = settled()
            running = [early.get(one) or pool.submit(copy_context().run, read, one) for one in wanted]
            return wanted, [one.result() for one in running]
        finally:
            pool.shutdown(wait=True, cancel_futures=True)
