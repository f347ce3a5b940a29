"""`context.md` of a brain or of one agent, and writing it to a file that agents read."""

import os
from pathlib import Path

from corebrain import context
from corebrain.context import ContextDoc, ContextSpec
from corebrain.contract import MemoryEngine
from corebrain.layout import MemoryLayout
from corebrain.model.namespace import Reach
from pipeline.errors import SetupError


def brief(
    engine: MemoryEngine, layout: MemoryLayout, *, agent: str | None = None, budget: int = context.DEFAULT_BUDGET
) -> ContextDoc:
    """Return the `context.md` of everything below the layout root, or of one agent.

    An agent's holds what lies at its own node and what is shared above it, so what other agents were told is not in it.

    Args:
        engine: Where memory is kept.
        layout: The tree.
        agent: The host's id of the agent.
        budget: Tokens of the whole document, at four characters a token.
    """
    reach = Reach.subtree(layout.root)
    if agent is not None:
        reach = Reach.of(layout.conversations(agent)).model_copy(update={"descendants": True})
    return context.compile(engine, ContextSpec(budget_tokens=budget, reach=reach))


def write(document: ContextDoc, file: Path) -> None:
    """Replace *file* (0600) by the document, whole or not at all; a symbolic link stays one.

    Raises:
        SetupError: It cannot be written.
    """
    place = Path(os.path.realpath(file))
    fresh = place.with_name(f".{place.name}.new")
    try:
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as out:
            out.write(document.markdown)
        fresh.replace(place)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SetupError(f"cannot write {file}: {reason}; name a place this user may write") from error
    finally:
        fresh.unlink(missing_ok=True)
