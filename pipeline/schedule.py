"""When a source is synced by itself: at an interval, or by a cron expression in a time zone.

Cron is cronsim's, which follows Debian's: a time that the spring change skips runs right after it, one that the autumn
change repeats runs once, hours are real hours, Monday is 1, and of two restricted day fields either one suffices.
"""

import re
from dataclasses import dataclass, field
from datetime import datetime
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from pipeline.errors import SetupError

JITTER = 0.1
"""Share of an interval by which a run comes earlier or later, so that many sources do not call at once."""

SHORTEST_S = 1.0
LONGEST_S = 366 * 86_400.0

_UNITS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
_SPAN = re.compile(r"(?:\d+[smhd])+")
_FIELDS = 5


class Schedule(Protocol):
    """When a source is synced."""

    def next_after(self, moment: float, chance: float) -> float:
        """Return the next time after *moment*, both seconds since the epoch; *chance* from 0 to 1 spreads it."""
        ...


@dataclass(frozen=True, slots=True)
class Every:
    """A run every so many seconds, up to a tenth more or less."""

    seconds: float

    def next_after(self, moment: float, chance: float) -> float:
        return moment + self.seconds * (1 - JITTER + 2 * JITTER * chance)


@dataclass(frozen=True, slots=True)
class Cron:
    """Runs at the times of a cron expression.

    Attributes:
        expression: Minute, hour, day of month, month, day of week.
        zone: Where its hours are read.
    """

    expression: str
    zone: ZoneInfo = field(default_factory=lambda: ZoneInfo("UTC"))

    def next_after(self, moment: float, chance: float) -> float:
        del chance  # a time that was named is kept
        return next(CronSim(self.expression, datetime.fromtimestamp(moment, self.zone))).timestamp()


def schedule_of(every: str | None, cron: str | None, time_zone: str | None) -> Schedule | None:
    """Return the schedule of a source; `None` when it has none.

    Raises:
        SetupError: A value cannot be read, never comes, or two contradict each other.
    """
    if every is not None and cron is not None:
        raise SetupError("every and cron exclude each other; keep one of them")
    if time_zone is not None and cron is None:
        raise SetupError("time_zone says where the hours of cron are read; set cron, or remove it")
    if every is not None:
        return Every(span_of(every))
    return None if cron is None else cron_of(cron, time_zone)


def span_of(text: str) -> float:
    """Read `90s`, `15m`, `2h`, `1d` or several together (`1h30m`).

    Raises:
        SetupError: It is none, or is not between a second and a year.
    """
    if not _SPAN.fullmatch(text):
        raise SetupError(f"{text!r} is no interval; write a number and a unit, such as 90s, 15m, 2h or 1d")
    seconds = sum(int(number) * _UNITS[unit] for number, unit in re.findall(r"(\d+)([smhd])", text))
    if not SHORTEST_S <= seconds <= LONGEST_S:
        raise SetupError(f"the interval {text!r} is not between a second and a year")
    return float(seconds)


def cron_of(expression: str, time_zone: str | None = None) -> Cron:
    """Read a cron expression of five fields.

    Raises:
        SetupError: It cannot be read or never comes, or there is no such time zone.
    """
    try:
        zone = ZoneInfo(time_zone or "UTC")
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise SetupError(f"there is no time zone {time_zone!r}; write one such as Europe/Berlin") from None
    if len(expression.split()) != _FIELDS:
        raise SetupError(f"cron {expression!r} has not five fields: minute, hour, day of month, month, day of week")
    try:
        next(CronSim(expression, datetime(2024, 1, 1, tzinfo=zone)))
    except CronSimError as error:
        raise SetupError(f"cron {expression!r} cannot be read or never comes: {str(error).lower()}") from None
    except StopIteration:
        raise SetupError(f"cron {expression!r} never comes; correct its day and month") from None
    return Cron(expression, zone)
