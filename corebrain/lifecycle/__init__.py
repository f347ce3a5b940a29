"""An agent's memory at the moments of its turns."""

from corebrain.lifecycle.agent_memory import AgentMemory
from corebrain.lifecycle.core import DEFAULT_CORE_LIMIT, CoreScope
from corebrain.lifecycle.forgetting import forget_history
from corebrain.lifecycle.policy import BRAIN_SCOPES_PER_TURN, RecallPolicy
from corebrain.lifecycle.reports import PostTurnReport, TurnContext
from corebrain.lifecycle.turns import Moment

__all__ = [
    "BRAIN_SCOPES_PER_TURN",
    "DEFAULT_CORE_LIMIT",
    "AgentMemory",
    "CoreScope",
    "Moment",
    "PostTurnReport",
    "RecallPolicy",
    "TurnContext",
    "forget_history",
]
