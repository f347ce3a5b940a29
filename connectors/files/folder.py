"""A folder on its way through a walk, and the refs of the files in it."""

import os
from collections.abc import Iterable
from dataclasses import dataclass

from connectors.contract import Ref
from connectors.files.keys import locator_for, name_keys
from connectors.files.stamp import modified, stamp


@dataclass(frozen=True, slots=True)
class Folder:
    """A folder to be listed.

    Attributes:
        path: To open it, ending in the separator.
        key: Scope of what it holds: `""` for the root, else ending in `/`.
        raw: The same with the names as the system gave them; the same object when the two are equal.
        name: Its own key; empty for the root.
        collection: Top folder it lies in; `None` for the root.
        identities: (device, inode) of it and the folders above it, innermost first.
        linked: Whether a link led here.
    """

    path: str
    key: str
    raw: str
    name: str
    collection: str | None
    identities: tuple[tuple[int, int], ...]
    linked: bool

    @classmethod
    def root(cls, path: str) -> "Folder":
        """Return the root of a walk.

        Raises:
            OSError: It cannot be looked at.
        """
        status = os.stat(path)
        return cls(os.path.join(path, ""), "", "", "", None, (_identity(status),), linked=False)

    def inner(self, name: str, own_key: str, status: os.stat_result, *, linked: bool) -> "Folder":
        """Return the subfolder called *name*, whose key within this one is *own_key*."""
        key = f"{self.key}{own_key}/"
        return Folder(
            path=os.path.join(self.path, name, ""),
            key=key,
            raw=key if self.raw is self.key and name == own_key else f"{self.raw}{name}/",
            name=own_key,
            collection=self.collection or own_key,
            identities=(_identity(status), *self.identities),
            linked=linked or self.linked,
        )

    def ref(self, name: str, own_key: str, status: os.stat_result) -> Ref:
        """Return the ref of the file called *name*; positional, for there is one an entry."""
        key = self.key + own_key
        plain = self.raw is self.key and name is own_key
        locator = "" if plain else locator_for(self.raw + name, key)
        return Ref(key, stamp(status), None, self.collection, locator, "", "", "", status.st_size, modified(status))

    @property
    def is_circular(self) -> bool:
        """Whether it is one of the folders above it; never known where the file system numbers no files."""
        return self.identities[0][1] != 0 and self.identities[0] in self.identities[1:]

    @property
    def is_mounted(self) -> bool:
        """Whether it lies on another device than the folder above it."""
        return len(self.identities) > 1 and self.identities[0][0] != self.identities[1][0]

    def is_still_there(self) -> bool:
        """Whether the folder lies where it lay when it was found."""
        try:
            return _identity(os.stat(self.path)) == self.identities[0]
        except OSError:
            return False


def named(names: list[str], wanted: str) -> Iterable[tuple[str, str]]:
    """Pair the names of a folder with their keys in byte order; only the one whose key is *wanted*, if any is.

    Sorts *names* in place.
    """
    if all(map(str.isascii, names)):
        names.sort()
        pairs: Iterable[tuple[str, str]] = zip(names, names, strict=True)
    else:
        pairs = name_keys(names).items()
    return [pair for pair in pairs if pair[1] == wanted] if wanted else pairs


def _identity(status: os.stat_result) -> tuple[int, int]:
    return status.st_dev, status.st_ino
