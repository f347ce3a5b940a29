"""Moments over all of their range: text, offsets and datetimes lose nothing they can hold."""

from datetime import datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from corebrain.errors import InvalidRequest
from corebrain.model.instant import Instant

FIRST, LAST = Instant.parse("0001-01-01T00:00:00Z").ns, Instant.parse("9999-12-31T23:59:59.999999999Z").ns
COUNTS = st.integers(FIRST, LAST) | st.integers(-(10**10), 10**10)
MINUTES = st.integers(-23 * 60 - 59, 23 * 60 + 59)


@given(COUNTS)
def test_printed_and_parsed_it_is_the_same_moment(count: int) -> None:
    text = str(Instant(count))
    assert Instant.parse(text).ns == count
    fraction = text[19:-1]
    assert len(fraction) in {0, 4, 7, 10}
    assert not fraction or int(fraction[-3:]) != 0  # three digits fewer would lose something


@given(COUNTS, COUNTS)
def test_moments_are_ordered_as_their_counts(one: int, other: int) -> None:
    assert (Instant(one) < Instant(other)) == (one < other)
    assert (Instant(one) == Instant(other)) == (one == other)


@given(st.datetimes(datetime(2, 1, 1), datetime(9998, 12, 31)), MINUTES, st.integers(0, 999))  # noqa: DTZ001  # made aware below
def test_an_offset_shifts_and_nothing_else(local: datetime, minutes: int, nanoseconds: int) -> None:
    moment = local.replace(tzinfo=timezone(timedelta(minutes=minutes)))
    sign, size = "-" if minutes < 0 else "+", abs(minutes)
    text = f"{local:%m-%dT%H:%M:%S}.{local.microsecond:06d}{nanoseconds:03d}{sign}{size // 60:02d}:{size % 60:02d}"
    parsed = Instant.parse(f"{local.year:04d}-{text}")
    assert parsed.ns == Instant.of(moment).ns + nanoseconds
    assert parsed.to_datetime() == moment


@given(st.text("0123456789-:T.Z+ t", max_size=35))
def test_any_text_is_a_moment_that_prints_alike_or_refused(text: str) -> None:
    try:
        moment = Instant.parse(text)
    except InvalidRequest:
        return
    assert Instant.parse(str(moment)) == moment
