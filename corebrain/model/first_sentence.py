"""The deterministic belief of an item: one fact, its first sentence (spec 01 section 8)."""

import re

from corebrain.model.item import Conversation, Document, Learning, LearningKind, Role
from corebrain.model.text import collapse, is_blank, trim

CONSOLIDATED_TAG = "consolidated"
"""The tag of a learning that was distilled from an item."""

MAX_SENTENCE = 240
_END = re.compile(r"[.!?]")


def belief_of(item: Document | Conversation | Learning) -> Learning | None:
    """Return the fact a deterministic build draws from *item*; `None` when there is nothing to say.

    Confidence 0.5, evidence the item's fingerprint, metadata the item's with the tag `consolidated` added once.
    Learnings are never distilled, nor is an item whose `derive` is false.
    """
    if isinstance(item, Learning) or item.meta.derive is False:
        return None
    sentence = first_sentence(_prose(item))
    if not sentence:
        return None
    tags = item.meta.tags if CONSOLIDATED_TAG in item.meta.tags else (*item.meta.tags, CONSOLIDATED_TAG)
    return Learning(
        text=sentence,
        kind=LearningKind.FACT,
        confidence=0.5,
        evidence=item.fingerprint(),
        meta=item.meta.model_copy(update={"tags": tags}),
    )


def _prose(item: Document | Conversation) -> str:
    if isinstance(item, Document):
        return item.text
    return next((turn.text for turn in item.turns if turn.role is Role.USER), "")


def first_sentence(text: str) -> str:
    """Return the first sentence of *text*, at most 240 characters; headings count only when there is nothing else."""
    lines = [line for line in text.split("\n") if not is_blank(line)]
    prose = [line for line in lines if not trim(line).startswith("#")]
    if not prose:
        prose = [trim(line).lstrip("#") for line in lines]
    flat = collapse(" ".join(prose))
    end = _END.search(flat)
    return (flat[: end.end()] if end else flat)[:MAX_SENTENCE]
