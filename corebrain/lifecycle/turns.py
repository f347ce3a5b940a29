"""The stored form of one turn, and the gist of several (spec 03 section 3.2)."""

from collections.abc import Iterable
from datetime import datetime

from corebrain.errors import InvalidRequest
from corebrain.layout import MemoryLayout
from corebrain.model.instant import Instant
from corebrain.model.item import Conversation, Role, Turn
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.text import collapse, trim

Moment = Instant | datetime | str
"""A time as hosts have it: ours, an aware datetime, or RFC 3339 text."""

GIST = 600
LEAST_SHARE = 40


def instant(moment: Moment | None) -> Instant | None:
    """Return *moment* as ours; `InvalidRequest` for a naive datetime or text that is no time."""
    if isinstance(moment, datetime):
        return Instant.of(moment)
    return Instant.parse(moment) if isinstance(moment, str) else moment


def named_thread(thread_id: str) -> str:
    """Return the trimmed id; `InvalidRequest` when it is blank."""
    name = trim(thread_id)
    if not name:
        raise InvalidRequest("the thread id is blank")
    return name


def stored_turn(
    layout: MemoryLayout,
    agent_id: str,
    thread_id: str,
    turn_index: int,
    *,
    role: Role,
    text: str,
    at: Moment | None = None,
    tool_calls: Iterable[ToolCallRef] = (),
) -> Conversation:
    """Return the one-turn conversation under which a turn is kept at its agent's node.

    The same input gives the same id, so that a retried call is a replay; the turn's time counts for the id.

    Raises:
        InvalidRequest: a blank thread id or text, an index outside 0 to 4294967295, or a time without a zone.
    """
    name = named_thread(thread_id)
    said = trim(text)
    if not said:
        raise InvalidRequest(f"the text of turn {turn_index} is blank")
    seen = instant(at)
    meta = MemoryMeta(
        namespace=layout.conversations(agent_id),
        thread_id=name,
        turns=TurnRange(first=turn_index, last=turn_index),
        agent_id=agent_id,
        source=SourceRef(kind=SourceKind.CONVERSATION, id=name),
        observed_at=seen,
    )
    return Conversation(turns=(Turn(role=role, text=said, at=seen, tool_calls=tuple(tool_calls)),), meta=meta)


def gist(turns: Iterable[Turn]) -> str | None:
    """Return an equal share of the beginning of each turn, oldest first, 600 characters in all; none for no text."""
    texts = [text for text in (collapse(turn.text) for turn in turns) if text]
    if not texts:
        return None
    share = max(GIST // len(texts), LEAST_SHARE)
    return " ".join(text[:share] for text in texts)[:GIST]
