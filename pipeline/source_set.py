"""The sources of one brain: those of its configuration, and the folders that were synced by path."""

import json
import os
from collections.abc import Mapping
from pathlib import Path

from pydantic import SecretStr

from connectors import registry
from connectors.contract import Connector
from corebrain.errors import InvalidRequest
from corebrain.layout import BrainSource, MemoryLayout
from pipeline import folders
from pipeline.config.models import Config, SourceConfig
from pipeline.errors import SetupError

SPLIT_DEPTH = 6
"""Deepest layout root below which a source node and its collections fit."""

SOURCE_IDS = ("files", "pdf", "markdown", "notion", "github", "web")
"""The six source nodes every brain knows; only a source of that kind may be called so."""


def connectors_of(sources: Mapping[str, SourceConfig], folder: Path) -> dict[str, Connector]:
    """Make the connectors of configured sources; nothing is read or connected yet.

    Raises:
        ConfigError: A connector refuses its keys.
        SetupError: Two sources are one place, or a name is another kind's.
    """
    made = {name: registry.make(source.keys.kind, name, source.values, base=folder) for name, source in sources.items()}
    _check_names(made)
    _check_places(made)
    _check_keys(sources)
    return made


def _check_keys(sources: Mapping[str, SourceConfig]) -> None:
    """Refuse two sources that read the same things: each document would be held twice."""
    taken: dict[str, str] = {}
    for name, source in sources.items():
        own = source.own.model_dump()
        shown = {key: value for key, value in own.items() if not isinstance(value, SecretStr)}
        first = taken.setdefault(json.dumps([source.keys.kind, shown], sort_keys=True, default=str), name)
        if first != name and source.keys.kind != "files":  # folders are compared by what they resolve to
            raise SetupError(
                f"the sources {first} and {name} read the same: their keys are equal; remove one of them, or name what"
                " each of them is to read"
            )


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


class SourceSet:
    """Every source of a brain, checked; nothing is read or connected.

    Args:
        config: What is configured.

    Raises:
        ConfigError: A connector refuses its keys.
        SetupError: The configuration contradicts itself.
    """

    def __init__(self, config: Config) -> None:
        self.config = config
        self.folders = folders.remembered(config)
        self.by_name: dict[str, SourceConfig] = {**config.sources, **self.folders}
        self.connectors = connectors_of(self.by_name, config.folder)
        for source in self.by_name.values():
            self.layout(source)

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
        """Take a folder that was named by path into this set.

        Raises:
            SetupError: As the constructor; the set stays as it was.
        """
        wanted = {**self.by_name, source.name: source}
        self.connectors = connectors_of(wanted, self.config.folder)
        self.by_name = wanted
        self.folders[source.name] = source

    def node(self, name: str) -> BrainSource:
        """Return the source node of a configured source."""
        return self.connectors[name].source
