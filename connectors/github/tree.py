"""The entries of a git tree as one listing, and where its symbolic links lead."""

import posixpath
import unicodedata
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from corebrain.model.text import fnv1a_32

FILE_MODES = frozenset({"100644", "100755", "100664"})
LINK_MODE = "120000"
SUBMODULE_MODE = "160000"
FOLDER_MODE = "040000"
_MOST_HOPS = 8


class Targets(Protocol):
    """Tells where symbolic links lead."""

    def target(self, sha: str) -> str:
        """Return what the link with that blob holds; empty when it can be no path."""
        ...


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry of a tree.

    Attributes:
        path: From the top of the repository, as git has it.
        mode: Six octal digits.
        sha: Of the blob, the tree or the submodule's commit.
        size: Bytes of a blob, when the listing says.
    """

    path: str
    mode: str
    sha: str
    size: int | None = None


@dataclass(slots=True)
class Tree:
    """All entries below one commit.

    Attributes:
        entries: By path.
        missing: Folders that could not be listed, each with its error; `""` is the top.
        full_name: `owner/name` of the repository now, where the listing tells it.
    """

    entries: dict[str, Entry] = field(default_factory=dict)
    missing: dict[str, Exception] = field(default_factory=dict)
    full_name: str = ""

    @property
    def size(self) -> int:
        """Bytes of all its blobs, as far as they are known."""
        return sum(entry.size or 0 for entry in self.entries.values())

    def files(self) -> Iterator[Entry]:
        """Yield regular files, in the order of their paths."""
        return (entry for _, entry in sorted(self.entries.items()) if entry.mode in FILE_MODES)

    def links(self) -> Iterator[Entry]:
        """Yield symbolic links, in the order of their paths."""
        return (entry for _, entry in sorted(self.entries.items()) if entry.mode == LINK_MODE)

    def submodules(self) -> list[str]:
        """Return the paths of submodules."""
        return sorted(path for path, entry in self.entries.items() if entry.mode == SUBMODULE_MODE)

    def resolve(self, path: str, links: Targets) -> Entry | None:
        """Follow the link at *path* to a file of the repository.

        Args:
            path: Of the link.
            links: Tells what links hold.

        Returns:
            The file; `None` when it leads out of the repository, in a circle, to a folder or to nothing.
        """
        for _ in range(_MOST_HOPS):
            entry = self._at(path, links)
            if entry is None or entry.mode in FILE_MODES:
                return entry
            target = links.target(entry.sha) if entry.mode == LINK_MODE else ""
            if not target or target.startswith("/"):
                return None
            path = posixpath.normpath(posixpath.join(posixpath.dirname(entry.path), target))
        return None

    def _at(self, path: str, links: Targets) -> Entry | None:
        """The entry at *path*, through links to folders on the way."""
        for _ in range(_MOST_HOPS):
            if path in self.entries:
                return self.entries[path]
            parts = path.split("/")
            heads = ("/".join(parts[:count]) for count in range(1, len(parts)))
            link = next((head for head in heads if getattr(self.entries.get(head), "mode", "") == LINK_MODE), None)
            target = links.target(self.entries[link].sha) if link else ""
            if not link or not target or target.startswith("/"):
                return None
            path = posixpath.normpath(posixpath.join(posixpath.dirname(link), target, path[len(link) + 1 :]))
        return None


def is_sane(path: str) -> bool:
    """Whether a path can be the path of a file in a tree; a server may send anything."""
    return bool(path) and not any(part in {"", ".", ".."} or part.lower() == ".git" for part in path.split("/"))


def keys_of(paths: Iterable[str]) -> dict[str, str]:
    """Give every path its key: NFC, each once. Of several that read alike the later, in byte order, gets `~` and hash.

    Args:
        paths: All paths of one repository, as git has them.
    """
    keys: dict[str, str] = {}
    taken: set[str] = set()
    for path in sorted(paths, key=lambda path: path.encode("utf-8", "surrogatepass")):
        key = unicodedata.normalize("NFC", path)
        while key in taken:
            key = f"{key}~{fnv1a_32(path.encode('utf-8', 'surrogatepass')):08x}"
        taken.add(key)
        keys[path] = key
    return keys
