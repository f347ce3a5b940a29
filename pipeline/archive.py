"""A whole brain in one file: the engine's memory and the state of one moment, and back.

The file is a zip of `memory.db`, `state.db`, `folders.json` (when folders were synced by path) and `backup.json`, which
says what brain it is of.
"""

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from corebrain.engines.local.backup import Snapshot, check
from corebrain.engines.local.copies import sync_folder
from corebrain.engines.local.engine import LocalEngine
from pipeline.assembly import STATE_FILE, OpenBrain
from pipeline.config.engine_tables import MEMORY_FILE, LocalEngineTable
from pipeline.config.models import Config
from pipeline.errors import SetupError, StateError
from pipeline.folders import FILE_NAME as FOLDERS_FILE
from pipeline.folders import remembered
from pipeline.process import is_alive
from pipeline.state.copies import binding_of, copy_state, empty_state, held_back, pour_state, refuse_leases
from pipeline.state.sqlite import SqliteState
from pipeline.when import printed

MANIFEST = "backup.json"
FORMAT = 1
_BEGINS = "backup-"  # of temporary folders in the data folder; one that a crash left is swept by the next call

_BROKEN = (zipfile.BadZipFile, zlib.error, KeyError, ValueError, TypeError, EOFError, RuntimeError)
"""What reading a file that is no whole backup raises."""


@dataclass(frozen=True, slots=True)
class Restored:
    """What a restore did.

    Attributes:
        made: When the backup was made.
        kept: Where what was there before is kept.
    """

    made: str
    kept: tuple[Path, ...]


def back_up(brain: OpenBrain, file: Path, now: float) -> int:
    """Write *brain* as it is now to *file* (0600), whole or not at all; return its bytes.

    Raises:
        SetupError: The engine keeps nothing, or *file* cannot be written.
        CorebrainError: The engine's disk failed or is full.
    """
    engine = brain.engine
    if not isinstance(engine, LocalEngine):
        raise SetupError(f"the {engine.descriptor.id} engine keeps no file here: back up what holds its memory")
    if file.is_dir():
        raise SetupError(f"{file} is a folder; name the file to write in it")
    data = brain.config.data
    with _workshop(data) as folder, _written(file):
        with ExitStack() as held:
            snapshots: list[Snapshot] = []
            take = engine.snapshot
            copy_state(data / STATE_FILE, folder / STATE_FILE, lambda: snapshots.append(held.enter_context(take())))
            snapshots[0].copy_to(folder / MEMORY_FILE)
        if (data / FOLDERS_FILE).exists():
            shutil.copy(data / FOLDERS_FILE, folder / FOLDERS_FILE)
        manifest = {"format": FORMAT, "made": printed(now), "root": str(brain.config.root_of())}
        (folder / MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
        return _pack(folder, file)


def _pack(folder: Path, file: Path) -> int:
    fresh = file.with_name(f"{file.name}.part")
    try:
        with (
            os.fdopen(os.open(fresh, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o600), "w+b") as raw,
            zipfile.ZipFile(raw, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as packed,
        ):
            for name in (MANIFEST, STATE_FILE, MEMORY_FILE, FOLDERS_FILE):
                if (folder / name).exists():
                    packed.write(folder / name, name)
            packed.close()
            raw.flush()
            os.fsync(raw.fileno())
        fresh.replace(file)
    finally:
        fresh.unlink(missing_ok=True)
    sync_folder(file.absolute().parent)
    return file.stat().st_size


def restore(config: Config, file: Path, now: float) -> Restored:
    """Make the brain of *config* hold what the backup *file* holds; what was there is kept beside it.

    The state is emptied first and filled last: a crash in between leaves a state that the next sync rebuilds, never one
    that believes in what memory does not hold.

    Raises:
        SetupError: *file* is no backup, damaged, newer, or of another root; or the engine keeps nothing here. Nothing
            was changed.
        AlreadyRunning: A sync, or `brain run`, is under way; nothing was changed.
        CorebrainError: The engine's file cannot be replaced.
    """
    if not isinstance(config.engine, LocalEngineTable):
        raise SetupError(f"the {config.engine.kind} engine keeps no file here: restore what holds its memory")
    with _written(config.data), _workshop(config.data) as folder:
        made = _unpacked(file, folder, config)
        state, memory = config.data / STATE_FILE, config.data / MEMORY_FILE
        is_new = not state.exists()
        aside = _made_usable(state, now)
        with held_back(state, [*config.sources, *remembered(config)], now):
            if aside is None and not is_new:
                aside = _emptied(state, now)
            kept = LocalEngine.restore(folder / MEMORY_FILE, memory)
            pour_state(folder / STATE_FILE, state)
            if (folder / FOLDERS_FILE).exists():
                (folder / FOLDERS_FILE).replace(config.data / FOLDERS_FILE)
            else:
                (config.data / FOLDERS_FILE).unlink(missing_ok=True)
    return Restored(made, tuple(path for path in (kept, aside) if path is not None))


def _unpacked(file: Path, folder: Path, config: Config) -> str:
    """Lay out the checked parts of a backup in *folder*; return when it was made."""
    try:
        with zipfile.ZipFile(file) as packed:
            manifest = json.loads(packed.read(MANIFEST))
            if manifest["format"] > FORMAT:
                raise SetupError(f"{file} was written by a newer corebrain; upgrade corebrain")
            for name in (STATE_FILE, MEMORY_FILE, FOLDERS_FILE):
                if name in packed.namelist():
                    packed.extract(name, folder)
            made = str(manifest["made"])
    except FileNotFoundError:
        raise SetupError(f"there is no {file}; name what `brain backup` wrote") from None
    except _BROKEN as error:
        raise SetupError(f"{file} is no whole backup; name what `brain backup` wrote") from error
    for name in (STATE_FILE, MEMORY_FILE):
        if not (folder / name).exists():
            raise SetupError(f"{file} is no whole backup: {name} is missing; use another one")
    check(folder / MEMORY_FILE)
    bound = binding_of(folder / STATE_FILE)
    if bound is not None and bound.root != str(config.root_of()):
        raise SetupError(
            f"{file} is of a brain at {bound.root}, this one is at {config.root_of()}; correct [brain] root"
        )
    return made


def emptied(state: Path, now: float) -> Path:
    """Empty the state in *state* for a rebuild; return where what it held is kept.

    Raises:
        AlreadyRunning: A sync, or `brain run`, is under way.
        StateError: It cannot be written.
    """
    return _made_usable(state, now, also_newer=True) or _emptied(state, now)


def _made_usable(state: Path, now: float, *, also_newer: bool = False) -> Path | None:
    """Make or bring up to date the state; one that cannot be read is moved away with its log, and where is returned.

    One of a newer version is moved away only when *also_newer* says so; else it is refused.
    """
    aside = None
    try:
        if state.exists():
            binding_of(state)
    except StateError as error:
        if "newer" in error.message:
            if not also_newer:
                raise
            refuse_leases(state, now)
        aside = _free_name(state)
        for suffix in ("", "-wal", "-shm"):
            part = state.with_name(state.name + suffix)
            if part.exists():
                part.replace(aside.with_name(aside.name + suffix))
    SqliteState(state).close()
    return aside


def _emptied(state: Path, now: float) -> Path:
    aside = _free_name(state)
    empty_state(state, now, kept=aside)
    return aside


def _free_name(file: Path) -> Path:
    number = 1
    while (aside := file.with_name(f"{file.name}.before-{number}")).exists():
        number += 1
    return aside


@contextmanager
def _workshop(data: Path) -> Iterator[Path]:
    """Lend a private folder beside the data; leftovers of a call that died are swept first."""
    data.mkdir(mode=0o700, parents=True, exist_ok=True)
    for left in data.glob(f"{_BEGINS}*"):
        pid = left.name.removeprefix(_BEGINS).partition("-")[0]
        if pid.isdigit() and not is_alive(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    with TemporaryDirectory(prefix=f"{_BEGINS}{os.getpid()}-", dir=data) as folder:
        yield Path(folder)


@contextmanager
def _written(file: Path) -> Iterator[None]:
    """Turn what the file system refuses into a typed error."""
    try:
        yield
    except OSError as error:
        where = error.filename or file
        reason = (error.strerror or str(error)).lower()
        raise SetupError(f"cannot write {where}: {reason}; free space, or name another place") from error
