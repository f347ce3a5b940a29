"""The files connector: a folder of documents on this machine."""

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from itertools import accumulate
from pathlib import Path, PurePosixPath

from connectors.contract import Blob, Checkpoint, Complete, Event, Json, Notes, Ref, Unchanged
from connectors.errors import ConfigError, Unavailable
from connectors.files.filesystem import Disk
from connectors.files.keys import raw_path_of
from connectors.files.placeholders import is_as_known, is_placeholder, refusal, stubbed
from connectors.files.reading import read_below
from connectors.files.selection import Selection
from connectors.files.stamp import modified, stamp
from connectors.files.walk import Walk
from corebrain.layout import BrainSource

MAX_BYTES = 32 * 2**20
"""Largest file read unless told otherwise."""

_MOUNTS = "mounts"
_MOUNTS_LENGTH = 10_000  # characters of all keys together; escaped as JSON still below what a note may hold


class FilesConnector:
    """Everything in a folder that a person would call a document.

    Takes what *include* picks and *exclude* does not, without hidden files, folders of tools, caches, locks and
    temporary files (`connectors.files.defaults`); a name that a pattern spells out is taken all the same. Symbolic
    links are followed inside the folder only (`connectors.files.links`). Nothing is ever written into the folder.

    - A document's key is its path below the folder (`connectors.files.keys`), its token the file's stamp
      (`connectors.files.stamp`), its collection the top folder it lies in (`None` directly in the root).
    - Scanning costs one `lstat` an entry; a file over *max_bytes* is listed, and refused when fetched.
    - A subfolder that was a mounted volume at the last full scan and is empty now is `Failed`, not empty.
    - A folder that is missing, or changes while it is scanned, is `Unavailable`. Whether an *empty* root or one with
      another `root_identity` is believed is the pipeline's decision.

    Args:
        path: The folder; `~` is the user's, a relative path starts at the working directory of this moment. It need
            not exist yet.
        name: The source's name; the folder's own when left out.
        include: Patterns of the files wanted (`connectors.globs`).
        exclude: Patterns of the files and folders not wanted.
        max_bytes: Largest file read.
        hidden: Also take what a leading dot (on macOS and Windows: the system's mark) hides.
        follow_links: False leaves out every symbolic link.
        hydrate: Also read files that lie in the cloud only, which downloads them; else they are refused
            (`connectors.files.placeholders`).
        spool: Folder for the private copies of large files; the system's temporary folder when left out.

    Attributes:
        say: Told what a person should know once while it watches, such as that the folder is listed every half minute
            because its file system tells of no changes; set it to listen.

    Raises:
        ConfigError: The path is blank or a pattern cannot be read.
    """

    source = BrainSource.FILES

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        include: Iterable[str] = ("**/*",),
        exclude: Iterable[str] = (),
        max_bytes: int = MAX_BYTES,
        hidden: bool = False,
        follow_links: bool = True,
        hydrate: bool = False,
        spool: Path | None = None,
    ) -> None:
        self.root = _absolute(path)
        self.name = name or Path(self.root).resolve().name or str(self.source)
        self._selection = Selection(include, exclude, hidden=hidden)
        self._max_bytes = max_bytes
        self._follow_links = follow_links
        self._hydrate = hydrate
        self._spool = spool
        self._disk = Disk()
        self.say: Callable[[str], None] = _unheard

    def root_identity(self) -> tuple[int, int] | None:
        """Return (device, inode) of the folder as it is now; `None` when it is missing.

        Another pair than last time means another volume or folder in its place; a remount alone may change the device.
        """
        try:
            status = Path(self.root).stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def reaches(self, file: Path) -> bool:
        """Tell whether a scan takes the file at *file*, which need not exist, by its place and name."""
        root, place = Path(os.path.realpath(self.root)), Path(os.path.realpath(file))
        return place.is_relative_to(root) and self._selection.reaches(place.relative_to(root).as_posix(), folder=False)

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        """List the folder; always in full, for a folder has no cursor.

        Raises:
            Unavailable: The folder is missing or unreadable, or was unmounted or replaced meanwhile.
            ConfigError: The path is a file.
        """
        del cursor
        before = self._present()
        known = notes.get(_MOUNTS)
        mounted = frozenset(str(key) for key in known) if isinstance(known, list) else frozenset[str]()
        walk = Walk(
            self.root,
            self._selection,
            self._disk,
            follow_links=self._follow_links,
            scope=scope,
            mounted=mounted,
        )
        yield from walk.events()
        if self.root_identity() != before:
            raise Unavailable(f"the folder {self.root} was unmounted or replaced while it was listed; sync it again")
        mounts: list[Json] = [*_that_fit(walk.mounts)]
        if not scope and mounts != (known or []):
            notes.put(_MOUNTS, mounts)
            yield Checkpoint(None)
        yield Complete(scope)

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read one file, whole and unchanged meanwhile; over 4 MiB into a private copy that the caller deletes."""
        if self.root_identity() is None:
            raise self._missing()
        raw_path = raw_path_of(ref.locator, ref.key)
        away = self._placeholder(raw_path)
        if away is not None and is_as_known(away, known):
            return Unchanged(stamp(away))
        is_stub = stubbed(raw_path.rpartition("/")[2]) is not None and raw_path != ref.key
        if is_stub or (away is not None and not self._hydrate):
            raise refusal(ref.key, stub=is_stub)
        content = read_below(
            self.root, raw_path, ref.key, known=known, max_bytes=self._max_bytes, spool=self._spool, disk=self._disk
        )
        if content is None:
            return Unchanged(known)
        return Blob(
            data=content.data,
            filename=PurePosixPath(ref.key).name,
            token=stamp(content.status),
            modified=modified(content.status),
        )

    def _placeholder(self, raw_path: str) -> os.stat_result | None:
        """Return the status of a file whose bytes lie in the cloud; opening it would fetch them."""
        try:
            status = self._disk.look_at(os.path.join(self.root, raw_path))
        except (OSError, ValueError):
            return None  # reading it tells why
        return status if is_placeholder(status) else None

    def watch(self, stop: threading.Event) -> Iterator[str]:
        """Yield what to scan again, about a second after it changed (`connectors.files.watching`)."""
        from connectors.files.watching import FolderWatch  # noqa: PLC0415 - watchdog, for those who watch

        return FolderWatch(self.root, self._selection, self.say).scopes(stop)

    def _present(self) -> tuple[int, int]:
        """Return the root's identity once it can be listed."""
        identity = self.root_identity()
        if identity is None:
            raise self._missing()
        if not Path(self.root).is_dir():
            raise ConfigError(f"{self.root} is no folder; name the folder it lies in, and the file in include")
        try:
            with os.scandir(self.root):
                pass
        except OSError as error:
            raise Unavailable(
                f"cannot list the folder {self.root}: {(error.strerror or str(error)).lower()}"
            ) from error
        return identity

    def _missing(self) -> Unavailable:
        return Unavailable(f"the folder {self.root} is missing; mount or create it, or correct the path")


def _unheard(line: str) -> None:
    """Nobody listens."""


def _absolute(path: str | os.PathLike[str]) -> str:
    if not os.fspath(path).strip():
        raise ConfigError("the path of a files source is blank; name its folder")
    try:
        return str(Path(path).expanduser().absolute())
    except RuntimeError as error:  # what expanduser raises for the home of nobody
        raise ConfigError(f"the path {os.fspath(path)} names a home folder that does not exist") from error


def _that_fit(mounts: Iterable[str]) -> Iterator[str]:
    """Yield mount points in order while a note has room for them."""
    ordered = sorted(mounts)
    lengths = accumulate(map(len, ordered))
    return (key for key, length in zip(ordered, lengths, strict=True) if length <= _MOUNTS_LENGTH)
