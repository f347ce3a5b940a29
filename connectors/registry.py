"""Which kinds of sources there are, and how one is made from its configuration.

Built in are the kinds of `BUILT_IN`. A third party adds its own by an entry point of the group `corebrain.connectors`,
whose name is the kind and whose object is a `Kind`:

```toml
[project.entry-points."corebrain.connectors"]
gmail = "acme_gmail.connector:KIND"
```

Modules are imported when their kind is asked for, never before.
"""

import difflib
import importlib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from connectors.contract import Connector
from connectors.errors import ConfigError

BUILT_IN: Mapping[str, str] = {
    "files": "connectors.files.kind:KIND",
    "github": "connectors.github.kind:KIND",
    "notion": "connectors.notion.kind:KIND",
    "web": "connectors.web.kind:KIND",
}
"""Kind -> `module:attribute` of its `Kind`."""

GROUP = "corebrain.connectors"
"""Entry point group of third parties' kinds; a built-in kind cannot be replaced."""


@dataclass(frozen=True, slots=True)
class Kind:
    """What the registry needs to know of a kind of source.

    Attributes:
        config: Model of the keys a source of this kind takes; frozen, unknown keys refused, secrets as `SecretStr`.
        make: Called as `make(config, name, base)` with a validated instance of *config*, the source's name and the
            folder that relative paths start from. It reads nothing and connects to nothing.
    """

    config: type[BaseModel]
    make: Callable[[Any, str, Path], Connector]


def kinds() -> tuple[str, ...]:
    """Return the names of all kinds, built-in ones first, third parties' in alphabetical order."""
    return (*BUILT_IN, *sorted(set(_third_parties()) - set(BUILT_IN)))


def config_model(kind: str) -> type[BaseModel]:
    """Return the model of a kind's configuration; its fields are the keys a source may have, its schema their form.

    Raises:
        ConfigError: There is no such kind, or its package cannot be loaded.
    """
    return _kind(kind).config


def make(kind: str, name: str, config: Mapping[str, object], *, base: Path | None = None) -> Connector:
    """Make the connector of one configured source; nothing is read or connected yet.

    Args:
        kind: One of `kinds()`.
        name: The source's name, the `source.id` of its documents.
        config: The keys of its table that belong to the kind, variables expanded; the pipeline's own keys (`kind`,
            `every`, `split`, …) are taken out before.
        base: Folder that relative paths start from; the working directory when left out.

    Raises:
        ConfigError: There is no such kind, a key is unknown (the nearest known one is named), missing or has a wrong
            value. The message never holds a value.
    """
    found = _kind(kind)
    try:
        checked = found.config.model_validate(dict(config))
    except ValidationError as error:
        raise ConfigError(f"source {name}: {_complaints(error, found.config)}") from None  # its text holds the values
    try:
        return found.make(checked, name, base or Path.cwd())
    except ConfigError as error:
        raise ConfigError(f"source {name}: {error}") from error


def _third_parties() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=GROUP)}


def _kind(kind: str) -> Kind:
    where = BUILT_IN.get(kind)
    if where is not None:
        module, _, attribute = where.partition(":")
        found = getattr(importlib.import_module(module), attribute)
    else:
        found = _load(kind)
    if not isinstance(found, Kind):
        raise ConfigError(
            f"the source kind {kind!r} is no connectors.registry.Kind; its package is made for another version"
        )
    return found


def _load(kind: str) -> object:
    point = _third_parties().get(kind)
    if point is None:
        raise ConfigError(f"there is no source kind {kind!r}; {_nearest(kind, kinds())}")
    try:
        return point.load()
    except (ImportError, AttributeError) as error:
        package = point.dist.name if point.dist else point.value
        raise ConfigError(f"the source kind {kind!r} of {package} cannot be loaded: {error}; reinstall it") from error


def _nearest(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest known word, else list them all."""
    words = sorted(known)
    close = difflib.get_close_matches(word, words, n=1)
    return f"did you mean {close[0]!r}?" if close else f"known are {', '.join(words)}"


def _complaints(error: ValidationError, model: type[BaseModel]) -> str:
    """Say what is wrong with which key; no value is shown, for it may be a secret."""
    said = []
    for fault in error.errors(include_input=False, include_url=False, include_context=False):
        key = ".".join(str(part) for part in fault["loc"])
        if fault["type"] == "extra_forbidden":
            said.append(f"unknown key {key!r}, {_nearest(key, model.model_fields)}")
        elif fault["type"] == "missing":
            said.append(f"the key {key!r} is missing")
        else:
            said.append(f"{key}: {fault['msg'][:1].lower()}{fault['msg'][1:]}")
    return "; ".join(said)
