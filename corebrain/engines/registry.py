"""The one list of engines: kind -> how it is made. An engine is imported when it is asked for, not before."""

import importlib
import inspect
from collections.abc import Mapping
from types import MappingProxyType

from corebrain.contract import MemoryEngine
from corebrain.errors import ConfigError

ENGINES: Mapping[str, str] = MappingProxyType(
    {
        "cortexdb": "corebrain.engines.cortexdb.engine:CortexEngine",
        "local": "corebrain.engines.local:LocalEngine",
        "reference": "corebrain.engines.reference:ReferenceEngine",
        "tinyhumans": "corebrain.engines.cortexdb.hosted:TinyHumansEngine",
    }
)
"""Kind -> `module:class`. A new engine is one line here."""


def list_engines() -> list[str]:
    """Return the kinds that `build_engine` knows, sorted."""
    return sorted(ENGINES)


def build_engine(kind: str, **settings: object) -> MemoryEngine:
    """Make an engine of this kind.

    Args:
        kind: One of `list_engines()`.
        settings: What its class is constructed with: `path="brain.db"` for `local`, for instance.

    Raises:
        ConfigError: the kind is unknown, a setting is unknown or missing, or the engine refuses its place.
        EngineError: what the engine finds at its place is damaged.
    """
    place = ENGINES.get(kind)
    if place is None:
        raise ConfigError(f"unknown engine {kind[:60]!r}, known are {', '.join(list_engines())}")
    module, _, name = place.partition(":")
    made: type[MemoryEngine] = getattr(importlib.import_module(module), name)
    try:
        inspect.signature(made).bind(**settings)
    except TypeError as error:
        raise ConfigError(f"engine {kind}: {error}") from error
    return made(**settings)
