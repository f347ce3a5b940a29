"""What the live calls of an agent's turn answer (spec 03 section 3.2)."""

from corebrain.jobs import BuildBeliefs
from corebrain.model.requests import StoreReceipt
from corebrain.model.value import Value
from corebrain.recall.types import ContextPack


class TurnContext(Value):
    """What to put before the model, and whether the turn was logged: `logged` or else `log_error` is set."""

    pack: ContextPack
    logged: StoreReceipt | None = None
    log_error: str | None = None


class PostTurnReport(Value):
    """The reply's receipt, and the belief build that is due, if one is; running it is the host's choice."""

    receipt: StoreReceipt
    jobs: tuple[BuildBeliefs, ...] = ()
