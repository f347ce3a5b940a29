"""Turns a missing optional package into an error that names the extra."""

from collections.abc import Iterator
from contextlib import contextmanager

from corebrain.errors import ConfigError


@contextmanager
def needs(extra: str) -> Iterator[None]:
    """Raise `ConfigError` with the install command for any package that an import of the block does not find."""
    try:
        yield
    except ImportError as error:
        raise not_installed(error.name or "a package", extra) from error


def not_installed(module: str, extra: str) -> ConfigError:
    """Return the error for a missing package, with the command that installs it."""
    return ConfigError(f'{module} is not installed: run pip install "corebrain[{extra}]"')
