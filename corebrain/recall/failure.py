"""What a foreign engine may raise or answer, made one of our errors: its words may hold anything, a credential too."""

from typing import TypeVar

from corebrain.errors import CorebrainError, EngineError

_Answered = TypeVar("_Answered")


def typed(error: Exception) -> CorebrainError:
    """Return *error* as one of ours; of a foreign one only its class is told."""
    if isinstance(error, CorebrainError):
        return error
    return EngineError(f"the engine raised {type(error).__name__}")


def honest(kind: type[_Answered], value: object) -> _Answered:
    """Return what an engine answered once it is what it must be, so that nothing after the call can break on it."""
    if not isinstance(value, kind):
        raise EngineError(f"the engine answered with {type(value).__name__}, not with {kind.__name__}")
    return value
