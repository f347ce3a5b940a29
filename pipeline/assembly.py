"""Puts a brain together from its configuration: the one place that names engine, state and connectors."""

from pathlib import Path
from types import TracebackType
from typing import Self

from connectors.contract import Closes
from corebrain.brain import Brain
from corebrain.contract import MemoryEngine
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import DocumentConverter
from corebrain.documents.worker_limits import Limits
from corebrain.engines.reference import ReferenceEngine
from corebrain.engines.registry import build_engine
from corebrain.layout import MemoryLayout
from corebrain.model.namespace import Namespace, SegmentKind
from corebrain.model.requests import GetRequest
from pipeline.config.engine_tables import MEMORY_FILE, LocalEngineTable, ReferenceEngineTable, RemoteEngineTable
from pipeline.config.models import Config
from pipeline.errors import SetupError, StateError
from pipeline.options import SyncOptions
from pipeline.source import Source
from pipeline.source_set import SourceSet
from pipeline.state.sqlite import SqliteState
from pipeline.state.values import Binding

STATE_FILE = "state.db"


def memory_file(config: Config) -> Path | None:
    """Return where the engine keeps its data on this machine; `None` when it keeps none."""
    return config.data / MEMORY_FILE if isinstance(config.engine, LocalEngineTable) else None


def state_file(config: Config) -> Path | None:
    """Return where the state lies; `None` beside an engine that keeps nothing either."""
    return None if isinstance(config.engine, ReferenceEngineTable) else config.data / STATE_FILE


def was_synced(config: Config) -> bool:
    """Tell whether there is a memory to read; one on another machine may be, whoever filled it."""
    file = memory_file(config)
    return isinstance(config.engine, RemoteEngineTable) or (file is not None and file.exists())


def binding(config: Config) -> Binding:
    """Return what the state of *config* belongs to."""
    return Binding(str(config.root_of()), config.engine.kind, config.engine.place)


def check_whole(config: Config) -> None:
    """Raise `StateError` when the state is there and the memory it speaks of is not: a sync would see no change."""
    memory, state = memory_file(config), state_file(config)
    if memory is not None and state is not None and state.exists() and not memory.exists():
        raise StateError(
            f"{memory} is gone, but not its state: run `brain restore` with a backup, or `brain verify --fix` to read"
            " everything again"
        )


class OpenBrain:
    """An open engine and state, and everything configured around them. Close it, or use it as a context.

    Args:
        sources: What is opened, and its configuration.
        trial: Open a brain that was never synced in memory, so that looking leaves no file behind.
        mending: Open a memory that is gone while its state is there, to fill it again.

    Raises:
        ConfigError: The engine's place cannot be used.
        SetupError: The state cannot be used, belongs to another root or engine, or its memory is gone.
    """

    def __init__(self, sources: SourceSet, *, trial: bool = False, mending: bool = False) -> None:
        config = sources.config
        if not trial and not mending:
            check_whole(config)
        self.config = config
        self.sources = sources
        kept = not trial or was_synced(config)
        self.engine = _engine(config, kept=kept)
        try:
            self.state = SqliteState(_kept_state(config, trial=trial) if kept else None)
            self._bind()
        except BaseException:
            self.engine.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Release the files and the connectors' connections; closing twice is safe."""
        for connector in self.sources.connectors.values():
            if isinstance(connector, Closes):
                connector.close()
        self.state.close()
        self.engine.close()

    def source(self, name: str, options: SyncOptions, converter: DocumentConverter) -> Source:
        """Return a source ready to be synced.

        Raises:
            SetupError: What was synced of it lies below another root.
        """
        configured = self.sources.by_name[name]
        brain = Brain(self.engine, self.sources.layout(configured))
        self._check_root(name, brain.layout)
        return Source(
            name,
            self.sources.connectors[name],
            brain,
            options,
            converter=converter,
            max_bytes=configured.keys.max_bytes or self.config.documents.max_bytes,
            scrub=self.config.brain.scrub,
        )

    def converter(self) -> RegistryConverter:
        """Return the converter as `[documents]` describes it; close it."""
        table = self.config.documents
        limits = Limits(wall_s=table.timeout_s)
        return RegistryConverter(
            workers=table.workers, limits=limits, choices=table.parsers, ocr=table.ocr, comments=table.comments
        )

    def books(self) -> list[str]:
        """Return the names of the sources that have books, configured or not."""
        return self.state.sources()

    def _bind(self) -> None:
        try:
            self.state.bind(binding(self.config))
        except BaseException:
            self.state.close()
            raise

    def held_node(self, name: str) -> Namespace | None:
        """Return the source node that what was synced of a source lies at; `None` when nothing was."""
        record = next(self.state.ledger(name).records(), None) if name in self.books() else None
        hits = self.engine.get(GetRequest(ids=(record.facts[0].id,))) if record and record.facts else []
        for hit in hits:
            segments = hit.meta.namespace.segments
            sources = [place for place, segment in enumerate(segments) if segment.kind is SegmentKind.SOURCE]
            if sources:
                return Namespace(segments[: sources[-1] + 1])
        return None

    def _check_root(self, name: str, layout: MemoryLayout) -> None:
        """Refuse a root that was changed after a sync: the documents would stay below the old one unseen."""
        held, wanted = self.held_node(name), layout.brain(self.sources.node(name))
        if held is not None and held != wanted:
            raise SetupError(
                f"{name} was synced to {held}, not to {wanted}: set its root back, or run `brain forget {name}` before"
                " it is synced to the new one"
            )


def _engine(config: Config, *, kept: bool) -> MemoryEngine:
    table = config.engine
    return build_engine(table.kind, **table.settings(config.data)) if kept else ReferenceEngine()


def _kept_state(config: Config, *, trial: bool) -> Path | None:
    """Return where the state lies; nowhere when it is only looked for beside a memory on another machine."""
    file = state_file(config)
    looked_for = trial and isinstance(config.engine, RemoteEngineTable)
    return None if looked_for and file is not None and not file.exists() else file
