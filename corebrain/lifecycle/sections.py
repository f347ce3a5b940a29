"""The sections of an agent's packs, in order of priority (spec 03 section 3.1)."""

from collections.abc import Sequence

from corebrain.layout import MemoryLayout
from corebrain.lifecycle.core import CoreScope
from corebrain.lifecycle.policy import BRAIN_SCOPES_PER_TURN, RecallPolicy
from corebrain.model.filter import MetaFilter
from corebrain.recall.types import Answer, Latest, ScopeSection

MOST_CITED = 24
"""The most turns a compaction's summary rests on."""

_SO_FAR = "What has been talked over in this conversation so far, what was settled, and what is still open?"
_SO_FAR_STYLE = (
    "Answer with short bullets: facts given, decisions made, open points. Say only what the stored turns back."
)


def standard_sections(
    layout: MemoryLayout, agent_id: str, policy: RecallPolicy, core: Sequence[CoreScope]
) -> list[ScopeSection]:
    """Return the sections of every pack: learnings, core scopes, brain, own history, team; without those of limit 0."""
    rows: list[tuple[str, MetaFilter, int, int | None]] = [
        ("Learnings", layout.learnings_filter(), policy.learnings_limit, None),
        *((scope.heading, scope.filter(), scope.limit, None) for scope in core),
        ("Brain", layout.brain_filter(), policy.brain_limit, BRAIN_SCOPES_PER_TURN),
        ("This agent's history", layout.conversations_filter(agent_id), policy.history_limit, None),
    ]
    if layout.pool is None:  # pooled, every agent's turns share the history's node
        rows.append(("Team conversations", layout.conversations_filter(), policy.team_limit, None))
    return [
        ScopeSection(heading=heading, filter=wanted, limit=limit, max_scopes=max_scopes)
        for heading, wanted, limit, max_scopes in rows
        if limit > 0
    ]


def resumed_thread(history: MetaFilter, thread_id: str, policy: RecallPolicy) -> ScopeSection:
    """Return the newest turns of a thread that is taken up again."""
    wanted = history.model_copy(update={"thread_id": thread_id})
    limit = max(policy.history_limit, 1)
    return ScopeSection(heading="Earlier in this thread", filter=wanted, limit=limit, query=Latest())


def dropped_turns(history: MetaFilter, thread_id: str, policy: RecallPolicy, dropped: int) -> ScopeSection:
    """Return the summary of a thread whose oldest turns leave the prompt."""
    wanted = history.model_copy(update={"thread_id": thread_id})
    limit = min(max(policy.history_limit, dropped, 1), MOST_CITED)
    query = Answer(question=_SO_FAR, instructions=_SO_FAR_STYLE, fallback_to_fetch=True)
    return ScopeSection(heading="Earlier in this conversation", filter=wanted, limit=limit, query=query)
