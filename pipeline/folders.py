"""Folders that were synced by path, without a configuration: remembered beside the state, so that names stay true."""

import json
import os
import re
from collections.abc import Iterable
from pathlib import Path

from connectors.files.kind import FilesConfig
from pipeline.config.load import MAX_NAME
from pipeline.config.models import Config, SourceConfig, SourceTable
from pipeline.errors import SetupError

FILE_NAME = "folders.json"
_FOREIGN = re.compile(r"[^\w.\-]+")


def remembered(config: Config) -> dict[str, SourceConfig]:
    """Return the folders synced by path in this brain, by name; a configured source of the same name comes first.

    Raises:
        SetupError: The file that holds them cannot be read.
    """
    file = config.data / FILE_NAME
    try:
        held = json.loads(file.read_text(encoding="utf-8"))
        folders = {str(name): str(path) for name, path in held.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, AttributeError) as error:
        raise SetupError(f"cannot read {file}: {error}; delete it and sync the folders by path again") from error
    return {name: folder_source(name, path) for name, path in folders.items() if name not in config.sources}


def remember(config: Config, sources: Iterable[SourceConfig]) -> None:
    """Replace what is remembered by *sources*.

    Raises:
        SetupError: The data folder cannot be written.
    """
    folders = {source.name: source.values["path"] for source in sources}
    file = config.data / FILE_NAME
    fresh = file.with_suffix(".new")
    try:
        file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        fresh.write_text(json.dumps(folders, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
        fresh.replace(file)
    except OSError as error:
        raise SetupError(
            f"cannot write {file}: {(error.strerror or str(error)).lower()}; free space or permit"
        ) from error


def folder_source(name: str, path: str) -> SourceConfig:
    """Return the source of a folder, as `[sources.NAME] kind = "files"` would give it."""
    written = {"kind": "files", "path": path}
    return SourceConfig(name, SourceTable(kind="files"), FilesConfig(path=path), {"path": path}, written)


def name_for(folder: Path, reserved: Iterable[str]) -> str:
    """Return the name of a folder as a source: its own, made valid, and none of the *reserved*."""
    name = _FOREIGN.sub("-", Path(os.path.realpath(folder)).name).strip("-._")[:MAX_NAME] or "folder"
    return f"{name[: MAX_NAME - 7]}-folder" if name.lower() in set(reserved) else name
