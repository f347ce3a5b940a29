"""Forgetting people: erasing what one agent's conversations hold."""

from corebrain.errors import Unsupported
from corebrain.lifecycle.agent_memory import AgentMemory
from corebrain.lifecycle.turns import Moment, instant, named_thread
from corebrain.model.filter import MetaFilter
from corebrain.model.first_sentence import CONSOLIDATED_TAG
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Reach
from corebrain.model.requests import EraseRequest, ForgetReport, ForgetTarget, ListRequest

_PAGE = 200


def forget_history(
    agent: AgentMemory, thread: str | None = None, before: Moment | None = None, *, dry_run: bool = False
) -> ForgetReport:
    """Forget an agent's turns, and the learnings that builds distilled from them.

    Learnings the host or the agent stored itself stay, and so does the brain. When all of the agent's turns go and
    its node is its own, the engine is also asked to erase them for good; one that erases nothing has forgotten them.

    Args:
        agent: Whose history.
        thread: Only this conversation.
        before: Only turns observed before this time; turns without a time stay.
        dry_run: Only count.

    Returns:
        How many items were forgotten, or would be.

    Raises:
        InvalidRequest: a blank thread id, or a time without a zone.
        CorebrainError: the engine failed; run it again.
    """
    turns = _narrowed(agent, thread, before)
    distilled = turns.model_copy(update={"kinds": (ItemKind.LEARNING,), "tags_any": (CONSOLIDATED_TAG,)})
    if dry_run:
        return ForgetReport(forgotten=_count(agent, turns) + _count(agent, distilled))
    learnings = agent.engine.forget(ForgetTarget.of_filter(distilled)).forgotten
    forgotten = agent.engine.forget(ForgetTarget.of_filter(turns)).forgotten
    if thread is None and before is None and agent.layout.pool is None:
        _erase(agent)
    return ForgetReport(forgotten=forgotten + learnings)


def _narrowed(agent: AgentMemory, thread: str | None, before: Moment | None) -> MetaFilter:
    return agent.layout.conversations_filter(agent.agent_id).model_copy(
        update={
            "thread_id": None if thread is None else named_thread(thread),
            "observed_before": instant(before),
        }
    )


def _count(agent: AgentMemory, wanted: MetaFilter) -> int:
    count = 0
    cursor: str | None = None
    while True:
        page = agent.engine.list(ListRequest(filter=wanted, limit=_PAGE, cursor=cursor))
        count += len(page.items)
        cursor = page.next_cursor
        if cursor is None:
            return count


def _erase(agent: AgentMemory) -> None:
    kinds = (ItemKind.CONVERSATION,)
    try:
        agent.engine.erase(EraseRequest(reach=Reach.subtree(agent.namespace), kinds=kinds))
    except Unsupported:
        return
