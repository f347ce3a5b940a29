"""Whose turn it is: when a source is synced next, and which part of it."""

from pipeline.backoff import delay_s
from pipeline.report import SourceReport
from pipeline.schedule import Schedule

LONGEST_RETRY_S = 3_600.0
"""A failing source is tried again at least this often."""

SOON_S = 5.0
"""Soonest a failing source is tried again, whatever it says itself."""

GATHER_S = 0.2
"""Seconds in which hints come together: a move is one only when both its names are looked at in one sync."""

MANY_SCOPES = 200
"""Scopes that wait at most; of more, everything is synced."""


class Turn:
    """What is due of one source. Holds no clock: every moment is given, in seconds since the epoch.

    Args:
        schedule: When it is synced whole; `None` waits for hints.
        next_run: When that is next, as it was kept; `None` for now, if there is a schedule.
        now: This moment.
        chance: From 0 to 1, for jitter.

    Attributes:
        next_run: When the schedule syncs it next.
        is_running: Whether it is synced right now.
        attempts: Failures in a row.
        retry_at: Nothing is begun before.
    """

    def __init__(self, schedule: Schedule | None, next_run: float | None, now: float, chance: float) -> None:
        self._schedule = schedule
        self._scopes: set[str] = set()
        self._gathered_at = 0.0
        self._asked: tuple[str, ...] = ()
        self.next_run: float | None = None
        if schedule is not None:  # a schedule that was made shorter meanwhile counts at once
            self.next_run = now if next_run is None else min(next_run, schedule.next_after(now, chance))
        self.is_running = False
        self.attempts = 0
        self.retry_at = 0.0

    @property
    def next_whole(self) -> float | None:
        """When it is synced whole next, as far as a schedule says."""
        return self.retry_at if self.next_run is not None and self.attempts and "" in self._scopes else self.next_run

    def hint(self, scope: str, now: float) -> None:
        """Take a scope that may have changed; `""` is everything, and worth a try even of a failing source."""
        if not self._scopes:
            self._gathered_at = now + GATHER_S
        self._scopes.add(scope)
        if len(self._scopes) > MANY_SCOPES:
            self._scopes = {""}
        if not scope:
            self.retry_at = min(self.retry_at, now + SOON_S)

    def due(self) -> float | None:
        """Return when it is to be synced, in the past for at once; `None` while it runs or nothing waits."""
        if self.is_running or (not self._scopes and self.next_run is None):
            return None
        moments = [self._gathered_at] if self._scopes else []
        moments += [self.next_run] if self.next_run is not None else []
        return max(min(moments), self.retry_at)

    def begin(self, now: float, chance: float) -> tuple[str, ...]:
        """Begin a sync; returns its scopes, none for everything. What was missed meanwhile is one run."""
        whole = "" in self._scopes or (self.next_run is not None and self.next_run <= now)
        self._asked = () if whole else tuple(sorted(self._scopes))
        self._scopes.clear()
        self.is_running = True
        if whole and self._schedule is not None:
            self.next_run = self._schedule.next_after(now, chance)
        return self._asked

    def end(self, report: SourceReport, now: float, chance: float) -> None:
        """Take the outcome; what failed is asked for again, after a pause that grows or that the source asked for."""
        self.is_running = False
        if report.error is None:
            self.attempts, self.retry_at = 0, 0.0
            return
        self.attempts += 1
        if report.retry_after_s is not None:
            pause = max(SOON_S, report.retry_after_s)
        else:
            pause = min(LONGEST_RETRY_S, delay_s(self.attempts, chance))
        self.retry_at = now + pause
        self._scopes |= set(self._asked or ("",))

    def clock_went_back(self, now: float, chance: float) -> None:
        """Take moments that the clock has put out of reach nearer again."""
        if self._schedule is not None and self.next_run is not None:
            self.next_run = min(self.next_run, self._schedule.next_after(now, chance))
        self.retry_at = min(self.retry_at, now + LONGEST_RETRY_S)
        self._gathered_at = min(self._gathered_at, now)
