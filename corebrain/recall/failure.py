"""What a foreign engine may raise, made one of our errors: its words may hold anything, a credential too."""

from corebrain.errors import CorebrainError, EngineError


def typed(error: Exception) -> CorebrainError:
    """Return *error* as one of ours; of a foreign one only its class is told."""
    if isinstance(error, CorebrainError):
        return error
    return EngineError(f"the engine raised {type(error).__name__}")
