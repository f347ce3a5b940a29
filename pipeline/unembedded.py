"""How many passages wait to be found by meaning."""

from corebrain.contract import MemoryEngine
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.requests import FetchMode


def unembedded(engine: MemoryEngine) -> int:
    """Return how many passages wait for the engine's embedder; 0 for an engine that has none to wait for."""
    if not isinstance(engine, LocalEngine) or not engine.descriptor.supports(FetchMode.HYBRID):
        return 0
    held = engine.embedding()
    return held.passages if held.model is None else held.waiting
