"""When a host is asked, and asked again."""

from datetime import UTC, datetime

import pytest

from connectors.http import Pace, Pacer, RetryPolicy, retry_after, usual_limits

NOW = datetime(2026, 1, 1, 12, 0, 0, tzinfo=UTC)


def turns(pace: Pace, count: int) -> list[float]:
    pacer = Pacer(lambda: 0.0)
    return [pacer.reserve("h", pace) for _ in range(count)]


def test_turns_follow_each_other_at_the_interval() -> None:
    assert turns(Pace(0.5), 4) == [0.0, 0.5, 1.0, 1.5]


def test_burst_goes_at_once_and_the_average_holds() -> None:
    assert turns(Pace(1.0, burst=3), 5) == [0.0, 0.0, 0.0, 1.0, 2.0]


def test_hosts_do_not_wait_for_each_other() -> None:
    pacer = Pacer(lambda: 0.0)
    assert [pacer.reserve(host, Pace(9.0)) for host in ("a", "b", "a")] == [0.0, 0.0, 9.0]


def test_held_host_is_asked_after_the_hold_only() -> None:
    pacer = Pacer(lambda: 100.0)
    pacer.hold("h", 60)
    pacer.hold("h", 5)
    assert pacer.reserve("h", Pace()) == 60.0
    assert pacer.held_s("h") == 60.0
    assert pacer.held_s("other") == 0.0


@pytest.mark.parametrize(
    ("value", "seconds"),
    [
        ("0", 0.0),
        ("300", 300.0),
        ("1.5", 1.5),
        ("-3", 0.0),
        ("Thu, 01 Jan 2026 12:04:00 GMT", 240.0),
        ("Thu, 01 Jan 2026 11:00:00 GMT", 0.0),
        ("", None),
        ("soon", None),
        ("inf", None),
        ("nan", None),
    ],
)
def test_retry_after_is_read_as_seconds_or_date(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}, NOW) == seconds


def test_only_limits_ask_to_wait() -> None:
    headers = {"retry-after": "7"}
    assert [usual_limits(status, headers, NOW) for status in (200, 301, 403, 429, 503, 529)] == [
        None, None, None, 7.0, 7.0, 7.0,
    ]  # fmt: skip


def test_wait_doubles_up_to_a_most_and_keeps_half_of_it() -> None:
    policy = RetryPolicy(first_s=1.0, most_s=5.0)
    assert [policy.backoff(number, 0.0) for number in (1, 2, 3, 4, 90)] == [0.5, 1.0, 2.0, 2.5, 2.5]
    assert policy.backoff(1, 0.999) < 1.0


def test_what_may_not_be_sent_twice_is_repeated_at_429_only() -> None:
    policy = RetryPolicy()
    assert policy.repeats("GET", 503)
    assert not policy.repeats("POST", 503)
    assert policy.repeats("POST", 429)
    assert not policy.repeats("GET", 404)
