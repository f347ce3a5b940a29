"""When a source is synced by itself."""

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline.errors import SetupError
from pipeline.schedule import JITTER, Every, cron_of, schedule_of, span_of

BERLIN = ZoneInfo("Europe/Berlin")
MOMENTS = st.floats(1e9, 4e9, allow_nan=False)
CHANCES = st.floats(0, 1)


def berlin(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=BERLIN).timestamp()


def runs(expression: str, start: str, count: int, zone: str | None = "Europe/Berlin") -> list[str]:
    schedule, moment, found = cron_of(expression, zone), berlin(start), []
    for _ in range(count):
        moment = schedule.next_after(moment, 0.5)
        found.append(datetime.fromtimestamp(moment, BERLIN).strftime("%m-%d %H:%M %Z"))
    return found


@pytest.mark.parametrize(
    ("text", "seconds"), [("90s", 90), ("15m", 900), ("2h", 7200), ("1d", 86400), ("1h30m", 5400), ("366d", 31622400)]
)
def test_intervals_are_read(text: str, seconds: float) -> None:
    assert span_of(text) == seconds


@pytest.mark.parametrize("text", ["", "15", "-15m", "1.5h", "0s", "0m", "m", "15 m", "367d", "1w", "٣m"[:1] + "x"])
def test_what_is_no_interval_is_refused(text: str) -> None:
    with pytest.raises(SetupError, match=r"interval"):
        span_of(text)


@given(MOMENTS, CHANCES)
def test_an_interval_comes_within_a_tenth_of_its_length(moment: float, chance: float) -> None:
    wait = Every(900.0).next_after(moment, chance) - moment
    assert 900 * (1 - JITTER) - 1e-3 <= wait <= 900 * (1 + JITTER) + 1e-3


def test_chance_spreads_intervals() -> None:
    assert Every(100.0).next_after(0.0, 0.0) < Every(100.0).next_after(0.0, 1.0)


def test_cron_reads_its_hours_in_the_zone() -> None:
    assert runs("0 9 * * *", "2026-12-01T08:00", 1) == ["12-01 09:00 CET"]
    assert runs("0 9 * * *", "2026-12-01T08:00", 1, None) == ["12-01 10:00 CET"]


def test_a_daily_time_that_the_autumn_change_repeats_runs_once() -> None:
    assert runs("30 2 * * *", "2026-10-24T12:00", 2) == ["10-25 02:30 CEST", "10-26 02:30 CET"]


def test_a_daily_time_that_the_spring_change_skips_runs_right_after() -> None:
    assert runs("30 2 * * *", "2026-03-28T12:00", 2) == ["03-29 03:00 CEST", "03-30 02:30 CEST"]


def test_every_real_hour_of_the_change_has_its_hourly_run() -> None:
    assert runs("0 * * * *", "2026-10-25T01:30", 3) == ["10-25 02:00 CEST", "10-25 02:00 CET", "10-25 03:00 CET"]
    assert runs("0 * * * *", "2026-03-29T00:30", 2) == ["03-29 01:00 CET", "03-29 03:00 CEST"]


def test_weekday_one_is_monday() -> None:
    assert runs("0 9 * * 1", "2026-12-01T00:00", 1) == ["12-07 09:00 CET"]


def test_either_of_two_restricted_day_fields_suffices() -> None:
    assert runs("0 9 13 * 5", "2026-12-01T00:00", 3) == ["12-04 09:00 CET", "12-11 09:00 CET", "12-13 09:00 CET"]


@given(MOMENTS, st.sampled_from(["* * * * *", "0 0 29 2 *", "*/7 3 * * 1-5", "30 2 * * *"]))
def test_the_next_time_lies_ahead(moment: float, expression: str) -> None:
    assert cron_of(expression, "Europe/Berlin").next_after(moment, 0.0) > moment


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        ("0 0 30 2 *", "never comes"),
        ("0 0 31 4,6 *", "never comes"),
        ("61 * * * *", "cannot be read"),
        ("hourly", "five fields"),
        ("0 * * * * *", "five fields"),
        ("", "five fields"),
    ],
)
def test_a_cron_that_cannot_be_kept_is_refused(expression: str, why: str) -> None:
    with pytest.raises(SetupError, match=why):
        cron_of(expression)


@pytest.mark.parametrize("zone", ["Berlin", "../etc/passwd", "Europe/Nowhere"])
def test_a_zone_that_does_not_exist_is_refused(zone: str) -> None:
    with pytest.raises(SetupError, match="no time zone"):
        cron_of("0 * * * *", zone)


def test_a_source_has_one_schedule_or_none() -> None:
    assert schedule_of(None, None, None) is None
    assert schedule_of("15m", None, None) == Every(900.0)
    with pytest.raises(SetupError, match="exclude each other"):
        schedule_of("15m", "0 * * * *", None)
    with pytest.raises(SetupError, match="time_zone"):
        schedule_of("15m", None, "UTC")


def test_utc_is_the_zone_of_a_cron_without_one() -> None:
    noon = datetime(2026, 7, 1, 12, tzinfo=UTC).timestamp()
    assert cron_of("30 12 * * *").next_after(noon, 0.0) == noon + 1800
