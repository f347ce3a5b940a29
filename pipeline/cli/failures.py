"""Which errors a command foresees, what it says of them, and the exit status of each."""

from connectors.errors import ConfigError as SourceConfigError
from connectors.errors import ConnectorError
from corebrain.errors import ConfigError, CorebrainError, InvalidRequest, Refusal
from pipeline.errors import PipelineError, SetupError

FORESEEN = (PipelineError, ConnectorError, CorebrainError, OSError)
"""Anything else is a fault of ours and shows its traceback."""

_SETUP = (SetupError, SourceConfigError, ConfigError, InvalidRequest)


def status_of(error: Exception) -> int:
    """Return 2 when command, configuration or state are wrong, 1 when a source, the engine or the system failed."""
    return 2 if isinstance(error, _SETUP) else 1


def told(error: Exception) -> str:
    """Return what is said of an error, on one line."""
    if isinstance(error, Refusal):
        return f"{error.message}; {error.advice}"
    if isinstance(error, CorebrainError):
        return error.message
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        return f"{error.filename}: {reason}; check the path and its permissions" if error.filename else reason
    return str(error)
