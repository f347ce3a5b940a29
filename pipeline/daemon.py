"""Keeps syncing until it is stopped: schedules, watches, and idle work in between.

One loop decides, threads work. A source is synced by one thread at a time, some sources side by side; what comes due
meanwhile is one more run. The loop never waits for a source, so its beats tell that schedules are kept.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from typing import TypeAlias

from connectors.contract import Speaks, Watches
from pipeline.errors import SetupError
from pipeline.health import EVERY_S
from pipeline.host import Host
from pipeline.report import SourceReport
from pipeline.schedule import Schedule
from pipeline.source import Source
from pipeline.state.contract import StateStore
from pipeline.syncing import AT_ONCE, sync_all
from pipeline.turns import Turn
from pipeline.upkeep import Upkeep
from pipeline.watch import Watcher
from pipeline.when import printed

GRACE_S = 4.0
"""Seconds that batches under way are given to end once it is stopped."""

IDLE_S = 5.0
"""Seconds without a sync before idle work begins, so that a burst of syncs is one belief build."""

_JUMP_S = 60.0
_TICK_S = 0.5
_IDLE = ""  # the name that idle work goes by; no source is called so


@dataclass(frozen=True, slots=True)
class Tended:
    """A source that is kept true.

    Attributes:
        source: What is synced.
        schedule: When; `None` for hints only.
        watched: Whether its hints are listened to.
    """

    source: Source
    schedule: Schedule | None = None
    watched: bool = False


@dataclass(frozen=True, slots=True)
class Hint:
    """Something may have changed below a scope of a source."""

    name: str
    scope: str


@dataclass(frozen=True, slots=True)
class Ended:
    """A sync of a source ended, or idle work (then `more` says whether some is left)."""

    name: str
    report: SourceReport | None = None
    more: bool = False


@dataclass(frozen=True, slots=True)
class Broke:
    """Something nobody foresaw ended a thread, or the state cannot be used any more; the loop raises it."""

    name: str
    error: BaseException


Message: TypeAlias = Hint | Ended | Broke


class Inbox:
    """Where threads leave word for the loop; a test puts its own clock behind it."""

    def __init__(self) -> None:
        self._queue: SimpleQueue[Message] = SimpleQueue()

    def put(self, message: Message) -> None:
        """Leave word."""
        self._queue.put(message)

    def get(self, timeout_s: float) -> Message | None:
        """Return the oldest word, waiting up to *timeout_s*, or for a moment so that a stop is noticed."""
        try:
            return self._queue.get(timeout=max(0.0, min(timeout_s, _TICK_S)))
        except Empty:
            return None


def _unheard(*said: object) -> None:
    """Nobody listens."""


@dataclass(frozen=True, slots=True)
class Listener:
    """Who is told what, by the loop's thread except for *say*.

    Attributes:
        say: A line for people, from any thread.
        reported: A sync that ended, and the scopes it was asked for.
        beat: The loop came by; called with the time, how the sources stand and which are synced, every 20 seconds.
    """

    say: Callable[[str], None] = _unheard
    reported: Callable[[SourceReport, tuple[str, ...]], None] = _unheard
    beat: Callable[[float, str, tuple[str, ...]], None] = _unheard


class Daemon:
    """Keeps sources true until `host.stop` is set.

    Args:
        tended: The sources.
        state: Their books; keeps the next run of each.
        host: Time, chance, stop and progress.
        listener: Who is told what.
        upkeep: Idle work; `None` does none.
        inbox: Where threads leave word.
        at_once: Sources synced at a time.

    Attributes:
        interrupted: Whether the stop came while a source was synced; the next run goes on there.

    Raises:
        SetupError: A source is to be watched that cannot be.
    """

    def __init__(
        self,
        tended: Sequence[Tended],
        state: StateStore,
        host: Host,
        *,
        listener: Listener | None = None,
        upkeep: Upkeep | None = None,
        inbox: Inbox | None = None,
        at_once: int = AT_ONCE,
    ) -> None:
        self._tended = {one.source.name: one for one in tended}
        self._state = state
        self._host = host
        self._listener = listener or Listener()
        self._upkeep = upkeep
        self._inbox = inbox or Inbox()
        self._at_once = at_once
        now = host.now()
        self._turns = {name: self._turn(one, now) for name, one in self._tended.items()}
        self._asked: dict[str, tuple[str, ...]] = {}
        self._threads: dict[str, threading.Thread] = {}
        for one in tended:
            self._hear(one)
        self._watchers = [self._watcher(one) for one in tended if one.watched]
        self._has_idle_work = upkeep is not None
        self._active_at = self._seen_at = now
        self._beat_at = 0.0
        self.interrupted = False

    @property
    def running(self) -> tuple[str, ...]:
        """Names of the sources that are synced, and the empty name for idle work."""
        return tuple(self._threads)

    def run(self) -> bool:
        """Keep everything true until it is stopped.

        Returns:
            Whether all work under way ended; otherwise some thread still hangs in a source, and the process should
            end without waiting for it. The next run goes on where this one was.

        Raises:
            SetupError: The state cannot be used any more.
        """
        for watcher in self._watchers:
            watcher.start()
        try:
            while not self._host.stop.is_set():
                self._round()
        finally:
            self._host.stop.set()
            ended = self._wind_down()
        return ended

    def _round(self) -> None:
        now = self._host.now()
        self._check_clock(now)
        if now - self._beat_at >= EVERY_S:
            self._beat_at = now
            self._listener.beat(now, self.line(now), self.running)
        for name, turn in self._turns.items():
            due = turn.due()
            if due is not None and due <= now and len(self._threads) < self._at_once:
                self._begin(name, now)
        self._begin_idle_work(now)
        message = self._inbox.get(self._pause_s(now))
        if message is not None:
            self._heed(message)

    def _check_clock(self, now: float) -> None:
        if now < self._seen_at - _JUMP_S:
            self._beat_at, self._active_at = 0.0, now
            for name, turn in self._turns.items():
                turn.clock_went_back(now, self._host.chance())
                self._keep(name)
        self._seen_at = now

    def _pause_s(self, now: float) -> float:
        """Return the seconds until something is to be done that no word comes for."""
        moments = [self._beat_at + EVERY_S]
        if len(self._threads) < self._at_once:
            moments += [due for turn in self._turns.values() if (due := turn.due()) is not None]
        if self._has_idle_work and not self._threads:
            moments.append(self._active_at + IDLE_S)
        return max(0.0, min(moments) - now)

    # -- work

    def _begin(self, name: str, now: float) -> None:
        scopes = self._turns[name].begin(now, self._host.chance())
        self._asked[name] = scopes
        source = self._tended[name].source
        options = replace(source.options, scopes=scopes)
        self._start(name, lambda: self._sync(replace(source, options=options)))

    def _sync(self, source: Source) -> Ended:
        try:
            report = sync_all([source], self._state, self._host)
        except SetupError:
            raise
        except Exception as error:  # a fault in one connector must not end the others
            logging.getLogger(__name__).exception("the sync of %s failed", source.name)
            told = f"failed unexpectedly, report this: {type(error).__name__}: {error}"
            return Ended(source.name, SourceReport(name=source.name, source=str(source.connector.source), error=told))
        return Ended(source.name, report.sources[0] if report.sources else None)

    def _begin_idle_work(self, now: float) -> None:
        upkeep = self._upkeep
        if upkeep is None or self._threads or now - self._active_at < IDLE_S:
            return
        if not self._has_idle_work and not upkeep.is_due():
            return
        self._start(_IDLE, lambda: Ended(_IDLE, more=upkeep.step()))

    def _start(self, name: str, work: Callable[[], Ended]) -> None:
        def run() -> None:
            try:
                self._inbox.put(work())
            except BaseException as error:  # noqa: BLE001 - carried to the loop, which raises it
                self._inbox.put(Broke(name, error))

        self._threads[name] = threading.Thread(target=run, name=f"run-{name or 'idle'}", daemon=True)
        self._threads[name].start()

    def _heed(self, message: Message) -> None:
        now = self._host.now()
        match message:
            case Hint(name, scope):
                self._turns[name].hint(scope, now)
            case Ended(name, report, more):
                self._threads.pop(name).join()
                if name == _IDLE:
                    self._has_idle_work = more
                elif report is not None:
                    self._take(name, report, now)
            case Broke(name, error):
                self._threads.pop(name, None)
                raise error

    def _take(self, name: str, report: SourceReport, now: float) -> None:
        self._turns[name].end(report, now, self._host.chance())
        if self._host.stop.is_set():  # what was interrupted stays due
            self.interrupted = True
        else:
            self._keep(name)
        self._active_at = now
        self._has_idle_work |= self._upkeep is not None and report.touched
        self._listener.reported(report, self._asked.pop(name))

    def _wind_down(self) -> bool:
        """Take what ends within the grace; the threads of sources that hang are left behind."""
        self.interrupted |= any(self._threads)
        deadline = self._host.monotonic() + GRACE_S
        while self._threads and (left := deadline - self._host.monotonic()) > 0:
            message = self._inbox.get(left)
            if isinstance(message, Ended):
                self._heed(message)
            elif isinstance(message, Broke):
                self._threads.pop(message.name, None)
        for watcher in self._watchers:
            watcher.join(max(0.1, deadline - self._host.monotonic()))
        return not self._threads

    # -- sources

    def _turn(self, tended: Tended, now: float) -> Turn:
        kept = self._state.ledger(tended.source.name).next_run()
        return Turn(tended.schedule, kept, now, self._host.chance())

    def _keep(self, name: str) -> None:
        self._state.ledger(name).set_next_run(self._turns[name].next_whole)

    def _hear(self, tended: Tended) -> None:
        connector, name, say = tended.source.connector, tended.source.name, self._listener.say
        if isinstance(connector, Speaks):
            connector.say = lambda line: say(f"{name}: {line}")

    def _watcher(self, tended: Tended) -> Watcher:
        connector = tended.source.connector
        name = tended.source.name
        if not isinstance(connector, Watches):
            raise SetupError(f"{name} cannot be watched; give it a schedule with every or cron instead")
        return Watcher(
            name,
            connector,
            self._host.stop,
            changed=lambda scope: self._inbox.put(Hint(name, scope)),
            say=self._listener.say,
            failed=lambda error: self._inbox.put(Broke(f"watch-{name}", error)),
        )

    def line(self, now: float) -> str:
        """Say in one line how the sources stand."""
        failing = sorted(name for name, turn in self._turns.items() if turn.attempts)
        following = min(
            ((turn.next_run, name) for name, turn in self._turns.items() if turn.next_run is not None), default=None
        )
        parts = [f"{len(self._turns)} source{'s' if len(self._turns) != 1 else ''}"]
        if self._watchers:
            parts.append(f"{len(self._watchers)} watched")
        if failing:
            parts.append(f"failing: {', '.join(failing)}")
        if following is not None:
            when = "now" if following[0] <= now else f"at {printed(following[0])}"
            parts.append(f"next {following[1]} {when}")
        return ", ".join(parts)
