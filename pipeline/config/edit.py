"""Adds a source to `brain.toml`; its comments, order and mode stay."""

import stat
from collections.abc import Mapping
from pathlib import Path

import tomlkit
from tomlkit.exceptions import TOMLKitError
from tomlkit.items import Table

from pipeline.config.load import check_name, parsed
from pipeline.config.models import Config
from pipeline.errors import SetupError


def with_source(content: str, name: str, keys: Mapping[str, object]) -> str:
    """Return the text of a configuration with one more source at its end.

    Raises:
        SetupError: The name cannot be used or is taken, or the text cannot be read.
    """
    check_name(name, "the new source")
    try:
        document = tomlkit.parse(content)
    except TOMLKitError as error:
        raise SetupError(f"the configuration cannot be read: {error}; correct it first") from None
    sources = document.get("sources")
    if sources is None:
        sources = tomlkit.table(is_super_table=True)
        document.append("sources", sources)
    if name in sources:
        raise SetupError(f"there is a source {name!r} already; choose another with --name")
    table: Table = tomlkit.table()
    for key, value in keys.items():
        table.add(key, value)
    sources.append(name, table)
    return tomlkit.dumps(document)


def write(content: str, file: Path) -> Config:
    """Replace a configuration by checked *content*, in one step.

    Raises:
        SetupError: It would not be valid, or cannot be written; the file is as before.
    """
    checked = parsed(content, file)
    fresh = file.with_name(f".{file.name}.new")
    try:
        fresh.write_text(content, encoding="utf-8")
        fresh.chmod(stat.S_IMODE(file.stat().st_mode))
        fresh.replace(file.resolve())
    except OSError as error:
        fresh.unlink(missing_ok=True)
        raise SetupError(f"cannot write {file}: {(error.strerror or str(error)).lower()}; check its folder") from error
    return checked
