"""Finds, reads and checks `brain.toml`."""

import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import tomlkit
from pydantic import BaseModel, ValidationError

from connectors import registry
from connectors.errors import ConfigError
from corebrain.documents.registry import PARSERS, check_choices
from corebrain.errors import CorebrainError
from pipeline.config.complaints import Text, explained, nearest
from pipeline.config.engine_tables import ENGINES, EngineTable
from pipeline.config.models import (
    BrainTable,
    Config,
    ContextTable,
    DocumentsTable,
    SourceConfig,
    SourceTable,
)
from pipeline.config.variables import expanded
from pipeline.errors import SetupError

FILE_NAME = "brain.toml"
TABLES = ("brain", "engine", "context", "documents", "sources")
MAX_NAME = 64
_NAME = re.compile(rf"[^\W_][\w.\-]{{0,{MAX_NAME - 1}}}")
_MODEL = TypeVar("_MODEL", bound=BaseModel)


def found_from(folder: Path) -> Path | None:
    """Return the nearest `brain.toml` in *folder* or above it."""
    return next((file for above in (folder, *folder.parents) if (file := above / FILE_NAME).is_file()), None)


def load(file: Path | None, *, variables: Mapping[str, str] | None = None) -> Config:
    """Read and check a configuration; relative paths in it start at its folder.

    Args:
        file: The file; `None` looks upwards from the working directory and takes the defaults when there is none.
        variables: The environment, unless a test brings its own.

    Raises:
        SetupError: It cannot be read, or something in it is wrong: file, line and key are named, and the nearest known
            word for an unknown one.
    """
    if file is None:
        file = found_from(Path.cwd())
        if file is None:
            return Config(None, Path.cwd())
    return parsed(_read(file), file, variables=variables)


def reading_only(file: Path | None) -> Config:
    """Read a configuration without its sources, for who only reads memory and has none of their secrets.

    Raises:
        SetupError: As `load`, but for what stands in `[sources]`.
    """
    file = file or found_from(Path.cwd())
    return Config(None, Path.cwd()) if file is None else parsed(tomlkit.dumps(without_sources(file)), file)


def without_sources(file: Path) -> dict[str, Any]:
    """Return what is written in *file*, unchecked and variables not filled in, but for `[sources]`.

    Raises:
        SetupError: It cannot be read, or is no TOML.
    """
    try:
        held = tomllib.loads(_read(file))
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{_shown(file)} is not valid TOML: {str(error)[:1].lower()}{str(error)[1:]}") from None
    held.pop("sources", None)
    return held


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise SetupError(f"{file} is not UTF-8 text; save it as UTF-8") from None
    except FileNotFoundError:
        raise SetupError(f"there is no {file}; run `brain init` to write one, or correct --config") from None
    except OSError as error:
        raise SetupError(f"cannot read {file}: {(error.strerror or str(error)).lower()}; check --config") from None


def parsed(content: str, file: Path, *, variables: Mapping[str, str] | None = None) -> Config:
    """Check the text of a configuration that is, or will be, in *file*. Raises `SetupError` as `load`."""
    text = Text(_shown(file), content)
    try:
        written = tomllib.loads(content)
    except tomllib.TOMLDecodeError as error:
        raise SetupError(f"{text.file} is not valid TOML: {str(error)[:1].lower()}{str(error)[1:]}") from None
    for name, value in written.items():
        if name not in TABLES:
            raise SetupError(f"{text.at(name)} is no known table; {nearest(name, TABLES)}")
        if not isinstance(value, dict):
            raise SetupError(f"{text.at('', name)} is a table; write [{name}] above its keys")
    brain = _checked(BrainTable, written.get("brain", {}), text, "brain", variables)
    documents = _documents(written.get("documents", {}), text)
    return Config(
        file=file,
        folder=file.absolute().parent,
        brain=brain,
        engine=_engine(written.get("engine", {}), text, variables),
        context=_checked(ContextTable, written.get("context", {}), text, "context", variables),
        documents=documents,
        sources={
            name: _source(name, table, documents, text, variables) for name, table in written.get("sources", {}).items()
        },
        written=written,
    )


def _shown(file: Path) -> Path:
    """Return a path as people know it: relative when it lies below the working directory."""
    full = file.absolute()
    return full.relative_to(Path.cwd()) if full.is_relative_to(Path.cwd()) else full


def _checked(
    model: type[_MODEL], table: Mapping[str, Any], text: Text, name: str, variables: Mapping[str, str] | None
) -> _MODEL:
    filled = expanded(table, [model], lambda key: text.at(name, key), variables)
    try:
        return model.model_validate(filled)
    except ValidationError as error:
        raise SetupError(explained(error, model.model_fields, text, name)) from None  # its text holds the values
    except CorebrainError as error:
        raise SetupError(f"{text.at(name)}: {error.message}") from None


def _engine(table: Mapping[str, Any], text: Text, variables: Mapping[str, str] | None) -> EngineTable:
    kind = table.get("kind", "local")
    model = ENGINES.get(kind) if isinstance(kind, str) else None
    if model is None:
        raise SetupError(f"{text.at('engine', 'kind')}: there is no engine {kind!r}; {nearest(str(kind), ENGINES)}")
    return _checked(model, table, text, "engine", variables)


def _documents(table: Mapping[str, Any], text: Text) -> DocumentsTable:
    try:
        found = DocumentsTable.model_validate(table)
    except ValidationError as error:
        known = [name for name in DocumentsTable.model_fields if name != "parsers"] + list(PARSERS)
        raise SetupError(explained(error, known, text, "documents")) from None
    try:
        check_choices(found.parsers)
    except CorebrainError as error:
        raise SetupError(f"{text.at('documents')}: {error.message}") from None
    return found


def _source(
    name: str, table: object, documents: DocumentsTable, text: Text, variables: Mapping[str, str] | None
) -> SourceConfig:
    where = f"sources.{name}"
    check_name(name, text.at(where))
    if not isinstance(table, dict):
        raise SetupError(f"{text.at('sources', name)} is no table; write [sources.{name}] above its keys")
    own_model = _kind_model(table, text, where)
    ours = {key: value for key, value in table.items() if key in SourceTable.model_fields}
    theirs = {key: value for key, value in table.items() if key not in ours}
    if "max_bytes" in own_model.model_fields:
        theirs["max_bytes"] = ours.get("max_bytes", documents.max_bytes)
    keys = _checked(SourceTable, ours, text, where, variables)
    filled = expanded(theirs, [own_model], lambda key: text.at(where, key), variables)
    try:
        own = own_model.model_validate(filled)
    except ValidationError as error:
        known = [*SourceTable.model_fields, *own_model.model_fields]
        raise SetupError(explained(error, known, text, where)) from None
    return SourceConfig(name, keys, own, values=filled, written=table)


def _kind_model(table: Mapping[str, Any], text: Text, where: str) -> type[BaseModel]:
    kind = table.get("kind")
    if not isinstance(kind, str):
        raise SetupError(f"{text.at(where)} needs the key kind; {_one_of(registry.kinds())}")
    try:
        return registry.config_model(kind)
    except ConfigError as error:
        raise SetupError(f"{text.at(where, 'kind')}: {error}") from None


def _one_of(words: Iterable[str]) -> str:
    return f"it is one of {', '.join(words)}"


def check_name(name: str, where: str) -> None:
    """Refuse what cannot name a source.

    Raises:
        SetupError: Says what a name may be; *where* comes first.
    """
    if not _NAME.fullmatch(name):
        raise SetupError(
            f"{where}: {name[:80]!r} cannot name a source; use letters, digits, '_', '-' and '.', at most {MAX_NAME},"
            " and begin with a letter or digit"
        )
