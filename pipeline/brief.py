"""`context.md` of a brain or of one agent, and keeping it in a file that agents read."""

import os
from collections.abc import Callable, Mapping
from math import inf
from pathlib import Path

from connectors.contract import Connector
from connectors.files.connector import FilesConnector
from corebrain import context
from corebrain.context import ContextDoc, ContextSpec
from corebrain.contract import EngineDescriptor, MemoryEngine
from corebrain.errors import CorebrainError
from corebrain.layout import MemoryLayout
from corebrain.model.namespace import Reach
from pipeline.config.models import ContextTable
from pipeline.errors import SetupError
from pipeline.schedule import span_of


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


DEFAULT_EVERY_S = 900.0
"""How old a kept brief may grow on an engine of this machine."""


def _every_s(table: ContextTable, engine: EngineDescriptor) -> float:
    if table.every is not None:
        return span_of(table.every)
    return inf if engine.hosted or engine.needs_endpoint else DEFAULT_EVERY_S


def check_place(file: Path, connectors: Mapping[str, Connector]) -> None:
    """Refuse a place where a source would read the brief back as a document, and brief agents on it.

    Raises:
        SetupError: Names the source.
    """
    for name, connector in connectors.items():
        if isinstance(connector, FilesConnector) and connector.reaches(file):
            raise SetupError(f"{file} lies in the source {name}, which would read it back: exclude it, or move it")


class KeptBrief:
    """The file that `[context]` asks for, written anew when it is due.

    Args:
        engine: Where memory is kept.
        layout: The tree.
        table: What is asked for.
        file: Where it is written.
        now: Seconds since the epoch.
        say: Called with a line for people, once for each new trouble.
    """

    def __init__(
        self,
        engine: MemoryEngine,
        layout: MemoryLayout,
        table: ContextTable,
        file: Path,
        *,
        now: Callable[[], float],
        say: Callable[[str], None],
    ) -> None:
        self._engine = engine
        self._layout = layout
        self._table = table
        self._file = file
        self._now = now
        self._say = say
        self._every_s = _every_s(table, engine.descriptor)
        self._due_at = 0.0
        self._trouble = ""

    def is_due(self) -> bool:
        """Tell whether the file has grown old."""
        now = self._now()
        return now >= self._due_at or now < self._due_at - self._every_s  # the clock went back

    def write(self) -> None:
        """Write the file; one that is there stays when the engine cannot fill a section now."""
        trouble = ""
        try:
            document = brief(self._engine, self._layout, agent=self._table.agent, budget=self._table.budget)
            if document.failed:
                trouble = f"{document.failed[0].heading}: {document.failed[0].reason}"
            else:
                write(document, self._file)
        except (CorebrainError, SetupError) as error:
            trouble = error.message
        self._due_at = self._now() + self._every_s
        if trouble and trouble != self._trouble:
            self._say(f"{self._file} was not refreshed: {trouble}")
        self._trouble = trouble
