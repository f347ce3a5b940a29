"""Puts a brain together from its configuration: the one place that names engine, state and connectors."""

import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Self

from connectors import registry
from connectors.contract import Connector
from corebrain.brain import Brain
from corebrain.contract import MemoryEngine
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import DocumentConverter
from corebrain.documents.worker_limits import Limits
from corebrain.engines.local.engine import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest
from corebrain.layout import BrainSource, MemoryLayout
from corebrain.model.namespace import Namespace, SegmentKind
from corebrain.model.requests import GetRequest
from pipeline import folders
from pipeline.config.models import Config, LocalEngineTable, SourceConfig
from pipeline.errors import SetupError
from pipeline.options import SyncOptions
from pipeline.source_sync import Source
from pipeline.state.contract import Binding
from pipeline.state.sqlite import SqliteState

MEMORY_FILE = "memory.db"
STATE_FILE = "state.db"
SPLIT_DEPTH = 6
"""Deepest layout root below which a source node and its collections fit."""

SOURCE_IDS = ("files", "pdf", "markdown", "notion", "github", "web")


def memory_file(config: Config) -> Path | None:
    """Return where the engine keeps its data on this machine; `None` when it keeps none."""
    return config.data / MEMORY_FILE if isinstance(config.engine, LocalEngineTable) else None


def state_file(config: Config) -> Path | None:
    """Return where the state lies; `None` beside an engine that keeps nothing either."""
    return config.data / STATE_FILE if isinstance(config.engine, LocalEngineTable) else None


def was_synced(config: Config) -> bool:
    """Tell whether there is a memory to read."""
    file = memory_file(config)
    return file is not None and file.exists()


def connectors_of(sources: Mapping[str, SourceConfig], folder: Path) -> dict[str, Connector]:
    """Make the connectors of configured sources; nothing is read or connected yet.

    Raises:
        ConfigError: A connector refuses its keys.
        SetupError: Two sources are one place, or a name is another kind's.
    """
    made = {name: registry.make(source.keys.kind, name, source.values, base=folder) for name, source in sources.items()}
    _check_names(made)
    _check_places(made)
    return made


def place_of(connector: Connector) -> str | None:
    """Return the folder a connector reads, symbolic links resolved; `None` when it reads none."""
    root = getattr(connector, "root", None)
    return os.path.realpath(root) if isinstance(root, str) else None


def _check_names(made: Mapping[str, Connector]) -> None:
    for name, connector in made.items():
        if name.lower() in SOURCE_IDS and name.lower() != str(connector.source):
            raise SetupError(f"a {connector.source} source cannot be called {name!r}: that is another kind; rename it")


def _check_places(made: Mapping[str, Connector]) -> None:
    taken: dict[str, str] = {}
    for name, connector in made.items():
        place = place_of(connector)
        if place is None:
            continue
        first = taken.setdefault(place, name)
        if first != name:
            raise SetupError(f"the sources {first} and {name} are the same folder, {place}; remove one of them")


class OpenBrain:
    """An open engine and state, and everything configured around them. Close it, or use it as a context.

    Args:
        config: What is opened.
        trial: Open a brain that was never synced in memory, so that looking leaves no file behind.

    Raises:
        ConfigError: The engine's place, or a source's keys, cannot be used.
        SetupError: The configuration contradicts itself, or the state belongs to another root or engine.
    """

    def __init__(self, config: Config, *, trial: bool = False) -> None:
        self.config = config
        self.folders = folders.remembered(config)
        self.sources: dict[str, SourceConfig] = {**config.sources, **self.folders}
        self.connectors = connectors_of(self.sources, config.folder)
        for source in self.sources.values():
            self.layout(source)
        kept = not trial or was_synced(config)
        self.engine = _engine(config, kept=kept)
        try:
            self.state = SqliteState(state_file(config) if kept else None)
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
        """Release the files; closing twice is safe."""
        self.state.close()
        self.engine.close()

    def layout(self, source: SourceConfig | None = None) -> MemoryLayout:
        """Return the layout a source is filed in, or the brain's own.

        Raises:
            SetupError: Its root leaves no room below.
        """
        root = self.config.root_of(source)
        try:
            layout = MemoryLayout(root)
        except InvalidRequest as error:
            raise SetupError(f"{error.message}; choose a root nearer to the top") from error
        if source is not None and source.keys.split != "never" and root.depth > SPLIT_DEPTH:
            raise SetupError(
                f"the root {root} is {root.depth} deep, and a source that may split needs room for its collections:"
                f' choose one at most {SPLIT_DEPTH} deep, or set split = "never" in [sources.{source.name}]'
            )
        return layout

    def add_folder(self, source: SourceConfig) -> None:
        """Take a folder that was named by path into this brain, for good.

        Raises:
            SetupError: As the constructor; the brain stays as it was.
        """
        wanted = {**self.sources, source.name: source}
        self.connectors = connectors_of(wanted, self.config.folder)
        self.sources = wanted
        self.folders[source.name] = source

    def source(self, name: str, options: SyncOptions, converter: DocumentConverter) -> Source:
        """Return a source ready to be synced.

        Raises:
            SetupError: What was synced of it lies below another root.
        """
        configured = self.sources[name]
        brain = Brain(self.engine, self.layout(configured))
        self._check_root(name, brain.layout)
        return Source(
            name,
            self.connectors[name],
            brain,
            options,
            converter=converter,
            max_bytes=configured.keys.max_bytes or self.config.documents.max_bytes,
            spool=self.config.data / "spool" if was_synced(self.config) else None,
        )

    def node(self, name: str) -> BrainSource:
        """Return the source node of a configured source."""
        return self.connectors[name].source

    def converter(self) -> RegistryConverter:
        """Return the converter as `[documents]` describes it; close it."""
        table = self.config.documents
        return RegistryConverter(workers=table.workers, limits=Limits(wall_s=table.timeout_s), choices=table.parsers)

    def books(self) -> list[str]:
        """Return the names of the sources that have books, configured or not."""
        return self.state.sources()

    def _bind(self) -> None:
        engine = self.engine.descriptor.id
        place = MEMORY_FILE if isinstance(self.config.engine, LocalEngineTable) else ""
        try:
            self.state.bind(Binding(str(self.config.root_of()), engine, place))
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
        held, wanted = self.held_node(name), layout.brain(self.node(name))
        if held is not None and held != wanted:
            raise SetupError(
                f"{name} was synced to {held}, not to {wanted}: set its root back, or run `brain forget {name}` before"
                " it is synced to the new one"
            )


def _engine(config: Config, *, kept: bool) -> MemoryEngine:
    if kept and isinstance(config.engine, LocalEngineTable):
        return LocalEngine(config.data / MEMORY_FILE, durability=config.engine.durability)
    return ReferenceEngine()
