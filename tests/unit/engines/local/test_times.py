import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.engines.local.times import period
from corebrain.model.instant import Instant

NOW = Instant.parse("2026-12-01T14:30:00Z")  # a Tuesday


@pytest.mark.parametrize(
    ("question", "first", "after"),
    [
        ("what did we decide yesterday?", "2026-11-30", "2026-12-01"),
        ("the day before yesterday", "2026-11-29", "2026-11-30"),
        ("what happened last week", "2026-11-23", "2026-11-30"),
        ("last weekend", "2026-11-28", "2026-11-30"),
        ("last month", "2026-11-01", "2026-12-01"),
        ("last year", "2025-01-01", "2026-01-01"),
        ("since last Friday", "2026-11-27", "2026-11-28"),
        ("two weeks ago", "2026-11-16", "2026-11-23"),
        ("a few days ago", "2026-11-28", "2026-11-29"),
        ("in the last 3 days", "2026-11-28", "2026-12-02"),
        ("what was said in May 2023", "2023-05-01", "2023-06-01"),
        ("in May", "2026-05-01", "2026-06-01"),
        ("during December", "2026-12-01", "2027-01-01"),
        ("on 7 May 2023", "2023-05-07", "2023-05-08"),
        ("May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("on the 24th of December", "2025-12-24", "2025-12-25"),
        ("the log of 2023-05-07", "2023-05-07", "2023-05-08"),
        ("in 2022", "2022-01-01", "2023-01-01"),
        ("this week", "2026-11-30", "2026-12-07"),
        ("today", "2026-12-01", "2026-12-02"),
    ],
)
def test_a_time_is_read_from_a_question(question: str, first: str, after: str) -> None:
    found = period(question, NOW)
    assert found is not None
    assert (str(found.since)[:10], str(found.until)[:10]) == (first, after)


@pytest.mark.parametrize(
    "question",
    ["may I ask", "what comes next week", "tomorrow", "version 2023-13-45", "0000-01-01", "order 20230507", ""],
)
def test_what_names_no_time_that_has_been_has_none(question: str) -> None:
    assert period(question, NOW) is None


def test_a_relative_time_leaves_the_question_and_a_date_stays() -> None:
    relative, dated = period("What broke yesterday?", NOW), period("What broke on 7 May 2023?", NOW)
    assert relative is not None
    assert dated is not None
    assert relative.without("What broke yesterday?") == "What broke  ?"
    assert dated.without("What broke on 7 May 2023?") == "What broke on 7 May 2023?"


def test_today_is_no_question_for_a_time() -> None:
    found = period("can you help me today", NOW)
    assert found is not None
    assert not found.is_asked


@given(st.text(st.sampled_from("0123456789- thlasweekmondyayg,MJof")), st.integers(-62135596800, 253402300799))
def test_any_question_at_any_time_is_read_without_an_error(question: str, seconds: int) -> None:
    found = period(question, Instant(seconds * 1_000_000_000))
    assert found is None or found.since < found.until
