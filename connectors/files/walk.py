"""The walk over a folder tree: one `lstat` an entry, one folder in memory at a time, every fault a value.

Folders are walked depth first, the entries of a folder in byte order of their names, files and folders mixed; the
content of its subfolders follows. What cannot be listed or looked at is `Failed` with its scope and costs only that.
"""

import os
import stat
from collections.abc import Generator, Iterator
from dataclasses import replace

from connectors.contract import Checkpoint, Event, Failed, Seen, within
from connectors.errors import Unavailable
from connectors.files.filesystem import MARKS_HIDDEN, Disk, is_link
from connectors.files.folder import Folder, named
from connectors.files.links import Links
from connectors.files.placeholders import has_stubs, with_originals
from connectors.files.selection import Selection

_TYPE = 0o170000
_REGULAR = stat.S_IFREG
CHECKPOINT_EVERY = 10_000
"""Documents between two checkpoints."""


class Walk:
    """One walk of one root.

    Args:
        root: Path of the folder.
        selection: Which names are documents.
        disk: What is listed and looked at.
        follow_links: Whether symbolic links are followed as `connectors.files.links` says, or all left out.
        scope: What to walk, as `connectors.contract.within` reads it.
        mounted: Keys of folders that were mounted volumes at the last full walk.

    Attributes:
        mounts: Keys of the mounted volumes met, complete after the walk.
    """

    def __init__(
        self, root: str, selection: Selection, disk: Disk, *, follow_links: bool, scope: str, mounted: frozenset[str]
    ) -> None:
        self._root = root
        self._selection = selection
        self._disk = disk
        self._links = Links(root, selection) if follow_links else None
        self._scope = scope
        self._mounted = mounted
        self._seen = 0
        self.mounts: list[str] = []

    def events(self) -> Iterator[Event]:
        """Yield `Seen`, `Failed` and `Checkpoint`; never `Complete`, which is the caller's to say.

        Raises:
            Unavailable: The root itself cannot be looked at.
        """
        try:
            pending = [Folder.root(self._root)]
        except OSError as error:
            raise self._failed("", self._root, error).error from error
        while pending:
            found: list[Folder] = []
            yield from self._list(pending.pop(), found)
            pending.extend(reversed(found))

    def _list(self, folder: Folder, found: list[Folder]) -> Iterator[Event]:
        try:
            names = self._disk.list_names(folder.path)
        except OSError as error:
            yield self._failed(folder.key, folder.path, error)
            return
        if folder.key and self._selection.leaves_content(folder.name, names):
            return
        if not names and folder.key in self._mounted and not folder.is_mounted:
            self.mounts.append(folder.key)
            yield Failed(folder.key, Unavailable(f"{folder.key} was a mounted volume and nothing is mounted there now"))
            return
        vanished = yield from self._entries(folder, names, found)
        if vanished and not folder.is_still_there():
            yield self._failed(folder.key, folder.path, FileNotFoundError("the folder changed while it was listed"))

    def _entries(self, folder: Folder, names: list[str], found: list[Folder]) -> Generator[Event, None, bool]:
        """Yield the documents of one folder, collect its subfolders, return whether something vanished meanwhile."""
        look_at, vanished = self._disk.look_at, False
        wanted = self._wanted(folder.key)
        pairs = with_originals(named(names, ""), wanted) if has_stubs(names) else named(names, wanted)
        for name, own_key in pairs:
            if own_key[0] == "." and self._selection.is_hidden(own_key):
                continue
            path = folder.path + name
            try:
                status = look_at(path)
                if status.st_mode & _TYPE == _REGULAR:
                    taken = self._takes_file(folder, own_key, path, status)
                else:
                    status, taken = self._other(folder, name, own_key, status, names, found)
            except FileNotFoundError:
                vanished = True
                continue
            except OSError as error:
                yield self._failed(folder.key + own_key, path, error)
                yield self._failed(f"{folder.key}{own_key}/", path, error)
                continue
            if taken:
                yield Seen(folder.ref(name, own_key, status))
                self._seen += 1
                if not self._seen % CHECKPOINT_EVERY:
                    yield Checkpoint(None)
        return vanished

    def _takes_file(self, folder: Folder, own_key: str, path: str, status: os.stat_result) -> bool:
        """Whether the regular file is a document to be listed here."""
        key = folder.key + own_key
        if not self._selection.takes_file(own_key, key) or (self._scope and not within(self._scope, key)):
            return False
        if MARKS_HIDDEN and self._selection.is_hidden_by_mark(own_key, status):
            return False
        return not folder.linked or self._links is None or self._links.take(status, path)

    def _other(
        self, folder: Folder, name: str, own_key: str, status: os.stat_result, names: list[str], found: list[Folder]
    ) -> tuple[os.stat_result, bool]:
        """Look at what is no regular file: collect a folder, follow a link, leave the rest.

        Returns:
            The status of the file itself or of what a link leads to, and whether that is a document to be listed here.
        """
        path = folder.path + name
        linked = is_link(status)
        if linked:
            target = self._links.target(path) if self._links else None
            if target is None:
                return status, False
            status = target
        if stat.S_ISDIR(status.st_mode):
            inner = self._inner(folder, name, own_key, status, names, linked=linked)
            if inner is not None:
                found.append(inner)
            return status, False
        if not stat.S_ISREG(status.st_mode):
            return status, False
        return status, self._takes_file(replace(folder, linked=True), own_key, path, status)

    def _inner(
        self, folder: Folder, name: str, own_key: str, status: os.stat_result, names: list[str], *, linked: bool
    ) -> Folder | None:
        """Return the subfolder when it is to be listed."""
        inner = folder.inner(name, own_key, status, linked=linked)
        if self._scope and not within(self._scope, inner.key) and not self._scope.startswith(inner.key):
            return None
        if not self._selection.takes_folder(own_key, inner.key[:-1], names) or inner.is_circular:
            return None
        if MARKS_HIDDEN and self._selection.is_hidden_by_mark(own_key, status):
            return None
        if inner.linked and self._links and not self._links.take(status, inner.path):
            return None
        if inner.is_mounted:
            self.mounts.append(inner.key)
        return inner

    def _wanted(self, prefix: str) -> str:
        """The one name to look at in a folder on the way to the scope; empty for every name."""
        return self._scope[len(prefix) :].partition("/")[0] if self._scope.startswith(prefix) else ""

    def _failed(self, scope: str, path: str, error: OSError) -> Failed:
        what = (error.strerror or str(error)).lower()
        advice = "; let the user that runs this read it, or exclude it" if isinstance(error, PermissionError) else ""
        scope = scope if within(self._scope, scope) else self._scope
        return Failed(
            scope, Unavailable(f"cannot look at {os.fsencode(path).decode('utf-8', 'replace')}: {what}{advice}")
        )
