"""The workers of a pool: who is at rest, who is alive, and how all are stopped."""

import os
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

from corebrain.documents.worker_process import WorkerProcess
from corebrain.errors import EngineError


@dataclass(slots=True)
class Lane:
    """Workers of one kind: those at rest, and the right to use one more."""

    slots: threading.BoundedSemaphore
    idle: list[WorkerProcess] = field(default_factory=list)


@dataclass(slots=True)
class Crew:
    """All workers of a pool; outlives it long enough to be stopped when it is collected, or at exit."""

    owner: int = field(default_factory=os.getpid)
    closed: threading.Event = field(default_factory=threading.Event)
    changed: threading.Condition = field(default_factory=threading.Condition)
    live: set[WorkerProcess] = field(default_factory=set)
    lanes: dict[str, Lane] = field(default_factory=dict)

    def close(self) -> None:
        """Kill every worker and wait until each is reaped; nothing in a forked child."""
        if self.owner != os.getpid():
            return
        with self.changed:
            self.closed.set()
            resting = [worker for lane in self.lanes.values() for worker in lane.idle]
            for lane in self.lanes.values():
                lane.idle.clear()
            for worker in self.live:
                worker.kill()
        for worker in resting:
            self.dismiss(worker)
        with self.changed:
            self.changed.wait_for(lambda: not self.live, timeout=5)

    def dismiss(self, worker: WorkerProcess) -> None:
        """Stop a worker that the caller holds."""
        worker.stop()
        with self.changed:
            self.live.discard(worker)
            self.changed.notify_all()

    def lane(self, kind: str, size: int) -> Lane:
        """The lane of that kind, made with room for `size` workers when it is new."""
        with self.changed:
            if kind not in self.lanes:
                self.lanes[kind] = Lane(threading.BoundedSemaphore(size))
            return self.lanes[kind]

    def take(self, lane: Lane, start: Callable[[], WorkerProcess], *, fresh: bool) -> WorkerProcess:
        """A worker at rest, or a started one; with `fresh` always a started one, in the place of one at rest.

        Raises:
            EngineError: The crew is closed.
        """
        with self.changed:
            if self.closed.is_set():
                raise EngineError("the parser pool is closed")
            resting = lane.idle.pop() if lane.idle else None
        if resting and not fresh:
            return resting
        if resting:
            self.dismiss(resting)
        worker = start()
        with self.changed:
            self.live.add(worker)
            if self.closed.is_set():
                worker.kill()
        return worker

    def give_back(self, lane: Lane, worker: WorkerProcess, *, keep: bool) -> None:
        """Let a worker rest, or stop it when it is not worth keeping or the crew is closed."""
        if keep:
            worker.wipe()
            with self.changed:
                if not self.closed.is_set():
                    lane.idle.append(worker)
                    return
        self.dismiss(worker)

    def abandon(self) -> None:
        """In a forked child, where the workers are the parent's: let go of them without touching them."""
        for worker in self.live:
            worker.abandon()
