"""Runs parsers in worker processes, so that a file that hangs, crashes or fills memory costs only itself.

```python
with ParserPool() as pool:
    document = pool.convert(parser, raw, "pdf")
```
"""

import errno
import os
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from time import monotonic
from types import TracebackType
from typing import Self

from corebrain import errors
from corebrain.documents.crew import Crew, Lane
from corebrain.documents.registry import LIGHT, UNSTRUCTURED, Parser
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.documents.wire import Message
from corebrain.documents.worker_limits import CLOSED, OFFICE, OPEN, Limits
from corebrain.documents.worker_process import Died, Flooded, Stuck, WorkerProcess
from corebrain.documents.worker_reply import ParserMissing, read_reply

_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})

__all__ = ["Limits", "ParserMissing", "ParserPool"]


class ParserPool:
    """Workers for parsers; safe to use from several threads at once. No process starts before the first document.

    Args:
        workers: How many documents are converted at once; by default two, or one on a single core.
        limits: What each worker may use.
    """

    def __init__(self, workers: int | None = None, limits: Limits = Limits()) -> None:  # noqa: B008 - frozen
        self._workers = workers or min(2, os.cpu_count() or 1)
        self.limits = limits
        self._crew = Crew()
        self._finalizer = weakref.finalize(self, self._crew.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Kill all workers, at work or not; afterwards none runs, and `convert` refuses. May be called twice."""
        self._crew.close()

    def convert(
        self,
        parser: Parser,
        raw: RawDocument,
        format: str,  # noqa: A002 - the contract's word
        *,
        wall_s: float | None = None,
        spent: Callable[[float], None] | None = None,
    ) -> ConvertedDocument:
        """Convert in a worker of the parser's lane; a worker that dies is replaced and the document tried once more.

        Args:
            parser: Which module converts.
            raw: The document; the worker gets a copy.
            format: Passed on to the module.
            wall_s: Seconds for this document, instead of the pool's limit.
            spent: Told the seconds it took, the starts of workers included and the wait for a free one not.

        Raises:
            Refusal: Why this document cannot be converted; `TimedOut` and `ParserDied` when the worker is to blame.
            ParserMissing: The module cannot be imported.
            EngineError: The pool is closed.
            Unavailable: No process or no room for temporary files is to be had now; try again later.
        """
        seconds = self.limits.wall_s if wall_s is None else wall_s
        lane = self._lane(parser.lane)
        with lane.slots:
            began = monotonic()
            try:
                return self._attempt(lane, parser, raw, format, seconds)
            except errors.ParserDied as death:
                left = seconds - (monotonic() - began)
                if left <= 0:
                    raise
                try:
                    return self._attempt(lane, parser, raw, format, left, fresh=True)
                except errors.TimedOut:
                    raise death from None  # little time was left: the death is what there is to tell
            finally:
                if spent is not None:
                    spent(monotonic() - began)

    def _attempt(
        self,
        lane: Lane,
        parser: Parser,
        raw: RawDocument,
        format: str,  # noqa: A002 - the contract's word
        seconds: float,
        *,
        fresh: bool = False,
    ) -> ConvertedDocument:
        limits = self.limits
        worker = self._crew.take(lane, lambda: self._start(parser.lane), fresh=fresh)
        keep = False
        try:
            task = _task(parser, raw, format, worker.folder)
            reply = worker.ask({**task, "memory": limits.memory}, seconds=seconds, load_seconds=limits.load_s)
            keep = "memory" not in reply and worker.tasks < limits.tasks and worker.resident < limits.resident
            return read_reply(reply, worker.folder, limits)
        except Stuck:
            raise errors.TimedOut(f"the {parser.name} parser did not finish within {seconds:g} s") from None
        except Flooded:
            raise errors.TooLarge(f"the converted text is over {limits.reply // 1_000_000} MB") from None
        except Died as died:
            if self._crew.closed.is_set():
                raise errors.EngineError("the parser pool was closed") from None
            raise errors.ParserDied(f"the {parser.name} parser died: {died}") from None
        finally:
            self._crew.give_back(lane, worker, keep=keep)

    def _start(self, lane: str = LIGHT) -> WorkerProcess:
        closed = OFFICE if lane == OFFICE else CLOSED
        try:
            return WorkerProcess(self.limits.reply, closed if self.limits.confined else OPEN)
        except OSError as error:
            raise errors.Unavailable(f"cannot start a parser worker: {error.strerror}") from error

    def _lane(self, kind: str) -> Lane:
        if self._crew.owner != os.getpid():  # a forked child
            self._crew.abandon()
            self._finalizer.detach()
            self._crew = Crew()
            self._finalizer = weakref.finalize(self, self._crew.close)
        # unstructured takes seconds and hundreds of megabytes to start: one is enough
        return self._crew.lane(kind, 1 if kind in {UNSTRUCTURED, OFFICE} else self._workers)


def _task(parser: Parser, raw: RawDocument, format: str, folder: Path) -> Message:  # noqa: A002 - the contract's word
    """The task for a worker, which gets a copy of the document in its own folder, never the user's path."""
    path = folder / "document"
    try:
        if isinstance(raw.data, bytes):
            path.write_bytes(raw.data)
        else:
            shutil.copyfile(raw.data, path)
    except OSError as error:
        if error.errno not in _NO_ROOM:
            raise  # the file itself: its owner knows what that means
        raise errors.Unavailable(f"no room for temporary files: {error.strerror}") from error
    return {
        "argument": parser.argument,
        "module": parser.module,
        "format": format,
        "path": str(path),
        "filename": raw.filename,
        "mime": raw.mime,
        "origin": raw.origin,
        "password": raw.password,
    }
