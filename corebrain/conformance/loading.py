"""Somebody's engine by name: `module:factory`."""

import importlib
from functools import reduce

from corebrain.contract import MemoryEngine
from corebrain.errors import ConfigError


def load_engine(place: str) -> MemoryEngine:
    """Import `module:factory`, call the factory without arguments, and return the engine it makes.

    Args:
        place: As in `mybrain.engine:make`; the part after the colon may have dots.

    Raises:
        ConfigError: there is no such module or factory, or it makes no `MemoryEngine`.
    """
    module, colon, name = place.partition(":")
    if not (module and colon and name):
        raise ConfigError(f"{place[:60]!r} is not module:factory, as in mybrain.engine:make")
    try:
        loaded = importlib.import_module(module)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{module}.".startswith(f"{error.name}."):
            raise  # the module is there, and something it imports is not
        raise ConfigError(f"no module {module!r} to import; run where it can be, or install it") from error
    try:
        factory = reduce(getattr, name.split("."), loaded)
    except AttributeError as error:
        raise ConfigError(f"module {module} has no {name!r}") from error
    if not callable(factory):
        raise ConfigError(f"{place} cannot be called; name a function or class that makes the engine")
    engine = factory()
    if not isinstance(engine, MemoryEngine):
        raise ConfigError(f"{place} makes a {type(engine).__name__}, not a MemoryEngine")
    return engine
