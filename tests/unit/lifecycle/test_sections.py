import pytest

from corebrain.errors import InvalidRequest
from corebrain.layout import MemoryLayout
from corebrain.lifecycle import BRAIN_SCOPES_PER_TURN, CoreScope, RecallPolicy
from corebrain.lifecycle.sections import dropped_turns, resumed_thread, standard_sections
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Namespace, Reach
from corebrain.recall import Answer, Fetch, Latest

ROOT = Namespace.ROOT
ACME = Namespace.parse("ws:acme")
HIVE = Namespace.parse("ws:acme/team:hive")
LAYOUT = MemoryLayout(HIVE)
HISTORY = LAYOUT.conversations_filter("coder")


def test_policy_defaults_are_those_of_the_reference() -> None:
    assert RecallPolicy().to_dict() == {
        "budget_tokens": 1200,
        "learnings_limit": 8,
        "brain_limit": 6,
        "history_limit": 6,
        "team_limit": 3,
        "build_beliefs_every": 10,
    }
    assert RecallPolicy().section_timeout_s is None
    assert BRAIN_SCOPES_PER_TURN == 4


@pytest.mark.parametrize(
    "fields",
    [
        {"learnings_limit": -1},
        {"brain_limit": -1},
        {"history_limit": -1},
        {"team_limit": -1},
        {"build_beliefs_every": -1},
        {"section_timeout_s": 0},
    ],
)
def test_policy_refuses_what_makes_no_sense(fields: dict[str, int]) -> None:
    with pytest.raises(InvalidRequest):
        RecallPolicy(**fields)


def test_standard_sections_in_their_order_with_their_scopes_and_limits() -> None:
    sections = standard_sections(LAYOUT, "coder", RecallPolicy(), ())
    assert [(each.heading, each.filter, each.limit, each.max_scopes) for each in sections] == [
        ("Learnings", LAYOUT.learnings_filter(), 8, None),
        ("Brain", LAYOUT.brain_filter(), 6, 4),
        ("This agent's history", LAYOUT.conversations_filter("coder"), 6, None),
        ("Team conversations", LAYOUT.conversations_filter(), 3, None),
    ]
    assert all(each.query == Fetch() for each in sections)


def test_core_scopes_stand_between_learnings_and_brain_in_configured_order() -> None:
    core = (CoreScope(ROOT, "Core"), CoreScope(ACME, "Company", limit=2))
    sections = standard_sections(LAYOUT, "coder", RecallPolicy(), core)
    assert [each.heading for each in sections] == [
        "Learnings",
        "Core",
        "Company",
        "Brain",
        "This agent's history",
        "Team conversations",
    ]
    company = sections[2]
    assert (company.limit, company.max_scopes) == (2, None)
    assert company.filter == MetaFilter(reach=Reach.exact(ACME), kinds=(ItemKind.LEARNING, ItemKind.DOCUMENT))


def test_zero_limits_leave_sections_out() -> None:
    policy = RecallPolicy(learnings_limit=0, brain_limit=0, history_limit=0, team_limit=0)
    assert standard_sections(LAYOUT, "coder", policy, (CoreScope(ROOT, "Core", limit=0),)) == []


def test_limit_of_one_keeps_its_section() -> None:
    policy = RecallPolicy(learnings_limit=1, brain_limit=1, history_limit=1, team_limit=1)
    sections = standard_sections(LAYOUT, "coder", policy, (CoreScope(ROOT, "Core", limit=1),))
    assert [each.limit for each in sections] == [1] * 5


def test_pooled_layout_has_no_team_section() -> None:
    pooled = LAYOUT.with_pooled_conversations(Namespace.parse("ws:main"))
    sections = standard_sections(pooled, "coder", RecallPolicy(), ())
    assert [each.heading for each in sections] == ["Learnings", "Brain", "This agent's history"]
    assert sections[2].filter.agent_id == "coder"


def test_resumed_thread_is_its_newest_turns() -> None:
    section = resumed_thread(HISTORY, "t1", RecallPolicy(history_limit=0))
    assert (section.heading, section.limit, section.query) == ("Earlier in this thread", 1, Latest())
    assert section.filter == HISTORY.model_copy(update={"thread_id": "t1"})
    assert resumed_thread(HISTORY, "t1", RecallPolicy()).limit == 6


@pytest.mark.parametrize(("history", "dropped", "limit"), [(6, 0, 6), (6, 9, 9), (6, 99, 24), (0, 0, 1), (50, 2, 24)])
def test_compaction_summary_rests_on_as_many_turns_as_were_dropped_within_bounds(
    history: int, dropped: int, limit: int
) -> None:
    section = dropped_turns(HISTORY, "t1", RecallPolicy(history_limit=history), dropped)
    assert (section.heading, section.limit) == ("Earlier in this conversation", limit)
    assert isinstance(section.query, Answer)
    assert section.query.fallback_to_fetch
    assert section.query.instructions is not None
    assert "bullets" in section.query.instructions
    assert section.filter.thread_id == "t1"
