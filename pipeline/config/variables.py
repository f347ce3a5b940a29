"""Fills `${VAR}`, `${VAR:-default}` and `${file:/path}` into the fields that may hold them. Reads the environment."""

import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import get_args

from pydantic import BaseModel, SecretStr
from pydantic.fields import FieldInfo

from pipeline.errors import SetupError

_VARIABLE = re.compile(r"\$\{([^{}]*)\}")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE = "file:"
_LONGEST = 64 * 1024
"""Bytes of a `${file:}`: far above any secret."""


def environment() -> Mapping[str, str]:
    """Return the environment of this process."""
    return os.environ


def holds_variables(field: FieldInfo) -> bool:
    """Tell whether a field may hold `${VAR}`: a secret, or one whose schema says `variables`."""
    extra = field.json_schema_extra
    declared = isinstance(extra, Mapping) and bool(extra.get("variables"))
    return declared or is_secret(field.annotation)


def is_secret(annotation: object) -> bool:
    """Tell whether a type is `SecretStr`, alone or among others."""
    return annotation is SecretStr or any(is_secret(part) for part in get_args(annotation))


def expanded(
    table: Mapping[str, object],
    models: Iterable[type[BaseModel]],
    where: Callable[[str], str],
    variables: Mapping[str, str] | None = None,
) -> dict[str, object]:
    """Return *table* with the variables of its declared fields filled in, one pass: a value's own `${…}` stays.

    Args:
        table: Keys and values as written.
        models: What declares the fields.
        where: Names a key in an error.
        variables: The environment, unless a test brings its own.

    Raises:
        SetupError: A variable or file is missing; it is named with its field, its value never shown.
    """
    held = environment() if variables is None else variables
    fields = {name for model in models for name, field in model.model_fields.items() if holds_variables(field)}
    return {key: _filled(value, where(key), held) if key in fields else value for key, value in table.items()}


def asked_in(table: Mapping[str, object]) -> list[str]:
    """Return the variables that the text of *table* asks for and has no default for, each once, in order."""
    inside = (inner for value in table.values() if isinstance(value, str) for inner in _VARIABLE.findall(value))
    return list(dict.fromkeys(inner for inner in inside if _NAME.fullmatch(inner)))


def _filled(value: object, where: str, variables: Mapping[str, str]) -> object:
    if isinstance(value, str):
        return _VARIABLE.sub(lambda match: _value(match[1], where, variables), value)
    if isinstance(value, list):
        return [_filled(part, where, variables) for part in value]
    if isinstance(value, dict):
        return {key: _filled(part, where, variables) for key, part in value.items()}
    return value


def _value(inner: str, where: str, variables: Mapping[str, str]) -> str:
    if inner.startswith(_FILE):
        return _from_file(inner.removeprefix(_FILE), where)
    name, has_default, default = inner.partition(":-")
    if not _NAME.fullmatch(name):
        raise SetupError(
            f"{where}: ${{{inner}}} names no variable; write ${{NAME}}, ${{NAME:-default}} or ${{file:/path}}"
        )
    found = variables.get(name)
    if found:
        return found
    if has_default:
        return default
    state = "is empty" if found == "" else "is not set"
    raise SetupError(f"{where}: the variable {name} {state}; set it, or write ${{{name}:-default}}")


def _from_file(path: str, where: str) -> str:
    try:
        with Path(path).expanduser().open("rb") as file:
            raw = file.read(_LONGEST + 1)
        text = raw.decode()
    except (OSError, RuntimeError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise SetupError(f"{where}: cannot read {path}: {reason.lower()}; make the file or correct its path") from None
    except UnicodeDecodeError:
        raise SetupError(f"{where}: {path} is not text; name the file that holds the secret") from None
    if len(raw) > _LONGEST:
        raise SetupError(f"{where}: {path} is over 64 KiB; name the file that holds the secret") from None
    return text.rstrip("\r\n")
