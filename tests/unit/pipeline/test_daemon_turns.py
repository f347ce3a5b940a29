"""Whose turn it is, and for what."""

from hypothesis import given
from hypothesis import strategies as st

from pipeline.report import SourceReport
from pipeline.schedule import Every
from pipeline.turns import GATHER_S, LONGEST_RETRY_S, MANY_SCOPES, SOON_S, Turn

GOOD = SourceReport(name="s", source="files")
BAD = SourceReport(name="s", source="files", error="down")


def turn(every: float | None = 100.0, kept: float | None = None, now: float = 1000.0) -> Turn:
    return Turn(Every(every) if every else None, kept, now, 0.5)


def test_a_source_that_never_ran_is_due_at_once() -> None:
    assert turn().due() == 1000.0


def test_a_kept_time_is_waited_for() -> None:
    assert turn(kept=1050.0).due() == 1050.0


def test_a_kept_time_that_passed_is_one_run_now() -> None:
    late = turn(kept=5.0)
    assert late.due() == 5.0
    assert late.begin(1000.0, 0.5) == ()
    late.end(GOOD, 1001.0, 0.5)
    assert late.due() == 1100.0


def test_a_schedule_that_was_made_shorter_counts_at_once() -> None:
    assert turn(every=10.0, kept=90_000.0).due() == 1010.0


def test_without_a_schedule_only_hints_count() -> None:
    watched = turn(every=None)
    assert watched.due() is None
    watched.hint("a.md", 1000.0)
    assert watched.due() == 1000.0 + GATHER_S  # so that what belongs together comes together
    watched.hint("b.md", 1000.1)
    assert watched.due() == 1000.0 + GATHER_S
    assert watched.begin(1000.0, 0.5) == ("a.md", "b.md")


def test_nothing_begins_while_it_runs_and_hints_become_one_more_run() -> None:
    watched = turn(every=None)
    watched.hint("a.md", 1000.0)
    watched.begin(1000.0, 0.5)
    watched.hint("b.md", 1000.0)
    watched.hint("c.md", 1000.0)
    assert watched.due() is None
    watched.end(GOOD, 1001.0, 0.5)
    assert watched.begin(1001.0, 0.5) == ("b.md", "c.md")


def test_a_hint_for_everything_is_a_whole_sync_and_moves_the_schedule_on() -> None:
    both = turn(kept=1050.0)
    both.hint("a.md", 1000.0)
    both.hint("", 1000.0)
    assert both.begin(1000.0, 0.5) == ()
    assert both.next_run == 1100.0


def test_a_scoped_sync_leaves_the_schedule_alone() -> None:
    both = turn(kept=1050.0)
    both.hint("a.md", 1000.0)
    assert both.begin(1000.0, 0.5) == ("a.md",)
    assert both.next_run == 1050.0


def test_very_many_scopes_become_everything() -> None:
    watched = turn(every=None)
    for number in range(MANY_SCOPES + 1):
        watched.hint(f"{number}.md", 1000.0)
    assert watched.begin(1000.0, 0.5) == ()


def test_a_failure_is_tried_again_with_growing_pauses_up_to_an_hour() -> None:
    failing = turn(every=None)
    failing.hint("a.md", 1000.0)
    now, pauses = 1000.0, []
    for _ in range(9):
        assert failing.begin(now, 0.5) == ("a.md",)
        failing.end(BAD, now, 0.5)
        due = failing.due()
        assert due is not None
        pauses.append(due - now)
        now = due
    assert pauses[:3] == [60.0, 120.0, 240.0]
    assert pauses[-1] == LONGEST_RETRY_S
    failing.begin(now, 0.5)
    failing.end(GOOD, now, 0.5)
    assert (failing.attempts, failing.due()) == (0, None)


def test_a_source_is_left_alone_for_as_long_as_it_asks() -> None:
    failing = turn()
    failing.begin(1000.0, 0.5)
    failing.end(BAD.model_copy(update={"retry_after_s": 7200.0}), 1000.0, 0.5)
    assert failing.due() == 8200.0
    assert failing.next_whole == 8200.0


def test_a_source_that_asks_for_no_pause_gets_a_short_one() -> None:
    failing = turn()
    failing.begin(1000.0, 0.5)
    failing.end(BAD.model_copy(update={"retry_after_s": 0.0}), 1000.0, 0.5)
    assert failing.due() == 1000.0 + SOON_S


def test_the_back_off_outlasts_the_schedule() -> None:
    failing = turn(every=10.0)
    failing.begin(1000.0, 0.5)
    failing.end(BAD, 1000.0, 0.5)
    assert failing.due() == 1060.0


def test_a_hint_for_everything_shortens_the_back_off() -> None:
    failing = turn(every=None)
    failing.hint("", 1000.0)
    failing.begin(1000.0, 0.5)
    failing.end(BAD, 1000.0, 0.5)
    failing.hint("a.md", 1010.0)
    assert failing.due() == 1060.0
    failing.hint("", 1010.0)
    assert failing.due() == 1015.0


def test_a_clock_that_went_back_strands_nothing() -> None:
    ahead = turn(every=100.0, kept=None, now=1e9)
    ahead.begin(1e9, 0.5)
    ahead.end(BAD, 1e9, 0.5)
    ahead.clock_went_back(5000.0, 0.5)
    due = ahead.due()
    assert due is not None
    assert due <= 5000.0 + LONGEST_RETRY_S


@given(st.lists(st.tuples(st.sampled_from(["hint", "whole", "ok", "fail"]), st.floats(0, 500)), max_size=60))
def test_no_hint_is_ever_lost(steps: list[tuple[str, float]]) -> None:
    now, one = 1000.0, turn(every=None)
    wanted: set[str] = set()
    for step, passed in steps:
        now += passed
        if step in {"hint", "whole"}:
            scope = f"{now}.md" if step == "hint" else ""
            one.hint(scope, now)
            wanted.add(scope)
            continue
        due = one.due()
        if due is None:
            assert not wanted
            continue
        now = max(now, due)
        asked = one.begin(now, 0.5)
        assert not asked or wanted == set(asked)
        one.end(GOOD if step == "ok" else BAD, now, 0.5)
        wanted = set() if step == "ok" else set(asked or ("",))
    assert (one.due() is not None) == bool(wanted)
