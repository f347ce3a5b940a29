"""Holistic recall: several scopes read at once, rendered as one token-budgeted block (spec 03 section 1)."""

from corebrain.contract import MemoryEngine
from corebrain.recall.gather import gather
from corebrain.recall.render import Block, tokens
from corebrain.recall.settle import settle
from corebrain.recall.types import ContextPack, HolisticRecall


def holistic_recall(engine: MemoryEngine, recall: HolisticRecall) -> ContextPack:
    """Read, settle and render *recall*.

    A section that fails or finds nothing is reported in the pack's `skipped` and fails nothing else. No read runs
    any more when this returns. No model runs unless the engine's `recall` runs one for an answered section.

    Raises:
        InvalidRequest: *recall* is malformed: a zero budget or limit, a blank title, heading or question.
    """
    recall.validate()
    settled = settle(recall, gather(engine, recall))
    block = Block(recall.title, settled.filled)
    block.fit(recall.budget_tokens)
    markdown = block.markdown()
    return ContextPack(
        markdown=markdown,
        tokens=tokens(len(markdown)),
        refs=block.refs(),
        sections=tuple(found for found, _ in settled.filled),
        skipped=settled.skipped,
        engine=engine.descriptor.id,
    )
