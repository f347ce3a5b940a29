"""How much of each scope an agent recalls, and how often beliefs are built (spec 03 section 3)."""

from typing import ClassVar

from pydantic import Field

from corebrain.model.value import Value
from corebrain.recall.types import DEFAULT_BUDGET, check_timeout

BRAIN_SCOPES_PER_TURN = 4
"""Scopes of the brain that an engine which ranks scopes apart reads for one pack."""


class RecallPolicy(Value):
    """Limits of an agent's packs; a limit of 0 leaves its section out.

    Attributes:
        budget_tokens: Size of a pack, at four characters a token; 0 is `InvalidRequest` at the read.
        learnings_limit: Items of the Learnings section.
        brain_limit: Items of the Brain section.
        history_limit: Items of the agent's own history.
        team_limit: Items of every agent's conversations.
        build_beliefs_every: Turns between the belief builds `post_turn` hands back; none or 0 for never.
        section_timeout_s: Seconds an engine that takes deadlines has for each section; none waits.
    """

    omitted: ClassVar[frozenset[str]] = frozenset({"section_timeout_s"})
    budget_tokens: int = DEFAULT_BUDGET
    learnings_limit: int = Field(default=8, ge=0)
    brain_limit: int = Field(default=6, ge=0)
    history_limit: int = Field(default=6, ge=0)
    team_limit: int = Field(default=3, ge=0)
    build_beliefs_every: int | None = Field(default=10, ge=0)
    section_timeout_s: float | None = None

    def __init__(self, **fields: object) -> None:
        super().__init__(**fields)
        check_timeout(self.section_timeout_s)
