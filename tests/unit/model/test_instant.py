"""Moments keep their nanoseconds, whatever text they came from."""

import copy
import pickle
from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from corebrain.errors import InvalidRequest
from corebrain.model.instant import Instant
from corebrain.model.item import Turn

SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("2026-01-02T03:04:05Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.5Z", "2026-01-02T03:04:05.500Z"),
        ("2026-01-02T03:04:05.000Z", "2026-01-02T03:04:05Z"),
        ("2026-01-02T03:04:05.000123Z", "2026-01-02T03:04:05.000123Z"),
        ("2026-01-02T03:04:05.0001Z", "2026-01-02T03:04:05.000100Z"),
        ("2026-01-02T03:04:05.000000001Z", "2026-01-02T03:04:05.000000001Z"),
        ("2026-01-02T03:04:05.1234567891Z", "2026-01-02T03:04:05.123456789Z"),
        ("2026-01-02T05:04:05.123456789+02:00", "2026-01-02T03:04:05.123456789Z"),
        ("2026-01-01T23:34:05-03:30", "2026-01-02T03:04:05Z"),
        ("2026-01-02t03:04:05z", "2026-01-02T03:04:05Z"),
        ("2026-01-02 03:04:05+0000", "2026-01-02T03:04:05Z"),
        ("2024-02-29T00:00:00+23:59", "2024-02-28T00:01:00Z"),
        ("1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.999999999Z"),
        ("0001-01-01T00:00:00Z", "0001-01-01T00:00:00Z"),
        ("9999-12-31T23:59:59.999999999Z", "9999-12-31T23:59:59.999999999Z"),
        ("2016-12-31T23:59:60Z", "2017-01-01T00:00:00Z"),
    ],
)
def test_text_is_read_and_written_in_the_fewest_digits(text: str, written: str) -> None:
    assert str(Instant.parse(text)) == written


@pytest.mark.parametrize(
    "text",
    [
        "",
        "2026-01-02",
        "2026-01-02T03:04:05",  # no zone
        "2026-01-02T03:04Z",
        "2026-13-02T03:04:05Z",
        "2026-02-30T03:04:05Z",
        "2026-01-02T24:00:00Z",
        "2026-01-02T03:60:05Z",
        "2026-01-02T03:04:61Z",
        "2026-01-02T03:04:05.Z",
        "2026-01-02T03:04:05+24:00",
        "2026-01-02T03:04:05+02:60",
        "2026-01-02T03:04:05Z ",
        "٢٠٢٦-01-02T03:04:05Z",
        "0000-01-01T00:00:00Z",
        "0001-01-01T00:00:00+01:00",
        "9999-12-31T23:59:59-01:00",
    ],
)
def test_what_is_no_moment_is_refused(text: str) -> None:
    with pytest.raises(InvalidRequest):
        Instant.parse(text)


def test_a_moment_counts_from_the_epoch() -> None:
    assert Instant.parse("1970-01-01T00:00:00Z").ns == 0
    assert Instant.parse("1970-01-01T00:00:01.5Z").ns == SECOND * 3 // 2
    assert Instant.parse("1969-12-31T23:59:59.999999999Z").ns == -1
    assert str(Instant(-1)) == "1969-12-31T23:59:59.999999999Z"


def test_the_years_one_to_9999_are_held_to_the_nanosecond() -> None:
    first, last = Instant.parse("0001-01-01T00:00:00Z"), Instant.parse("9999-12-31T23:59:59.999999999Z")
    assert str(Instant(last.ns)) == "9999-12-31T23:59:59.999999999Z"
    for beyond in (first.ns - 1, last.ns + 1):
        with pytest.raises(InvalidRequest, match="years"):
            Instant(beyond)


@pytest.mark.parametrize("count", [1.5, 1e18, "1", None, 10**30, -(10**30)])
def test_only_whole_nanoseconds_of_our_years_are_counted(count: object) -> None:
    with pytest.raises(InvalidRequest):
        Instant(count)  # type: ignore[arg-type]  # what a host without types passes


def test_an_aware_datetime_converts_both_ways() -> None:
    moment = datetime(2026, 1, 2, 5, 4, 5, 123456, tzinfo=timezone(timedelta(hours=2)))
    assert str(Instant.of(moment)) == "2026-01-02T03:04:05.123456Z"
    assert Instant.of(moment).to_datetime() == moment
    assert Instant.parse("2026-01-02T03:04:05.123456789Z").to_datetime() == datetime(
        2026, 1, 2, 3, 4, 5, 123456, tzinfo=UTC
    )
    assert Instant(-1).to_datetime() == datetime(1969, 12, 31, 23, 59, 59, 999999, tzinfo=UTC)


class Nowhere(tzinfo):
    """A zone that does not know its offset, which makes a datetime naive."""

    def utcoffset(self, _: datetime | None) -> None:
        return None

    def dst(self, _: datetime | None) -> None:
        return None

    def tzname(self, _: datetime | None) -> None:
        return None


@pytest.mark.parametrize("zone", [None, Nowhere()])
def test_a_time_without_a_zone_is_refused(zone: tzinfo | None) -> None:
    with pytest.raises(InvalidRequest, match="zone"):
        Instant.of(datetime(2026, 1, 2, tzinfo=zone))


def test_moments_are_ordered_immutable_values() -> None:
    early, late = Instant(1), Instant(2)
    assert early < late
    assert late >= early
    assert {early: 1}[Instant(1)] == 1
    assert early != 1
    with pytest.raises(TypeError):
        assert early < 1
    with pytest.raises(AttributeError):
        early.ns = 5
    assert copy.deepcopy(early) == early
    assert pickle.loads(pickle.dumps(early)) == early  # noqa: S301  # our own bytes
    assert repr(Instant(0)) == "Instant(1970-01-01T00:00:00Z)"


def test_a_field_takes_text_a_datetime_or_a_moment_and_nothing_else() -> None:
    expected = Instant.parse("2026-01-02T03:04:05Z")
    moment = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    for given in (expected, moment, "2026-01-02T03:04:05Z"):
        assert Turn.from_dict({"role": "user", "text": "hi", "at": given}).at == expected
    for bad in (0, 1.5, True, "yesterday", datetime(2026, 1, 2)):  # noqa: DTZ001  # naive on purpose
        with pytest.raises(InvalidRequest):
            Turn.from_dict({"role": "user", "text": "hi", "at": bad})
