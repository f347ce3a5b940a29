"""What to scan again for a path that changed: the key of a file, the prefix of a folder, few of them for many paths."""

import os
from collections.abc import Iterable, Iterator

from connectors.files.keys import readable
from connectors.files.selection import Selection

MOST = 32
"""Scopes scanned one by one; of more, the deepest make way for the folders they lie in."""


class Scopes:
    """Turns paths below a root into scopes.

    Args:
        root: Resolved path of the folder.
        selection: Which names are documents; what it leaves out is of no interest.
    """

    def __init__(self, root: str, selection: Selection) -> None:
        self._root = os.path.join(root, "")
        self._selection = selection

    def of(self, path: str, *, folder: bool) -> str | None:
        """Return the scope of a path, there or gone; `None` when no document can be concerned.

        A name whose key depends on its neighbours (`connectors.files.keys`) widens the scope to the folder it is in.
        """
        if path + os.sep == self._root:
            return ""
        if not path.startswith(self._root):
            return None
        names = path[len(self._root) :].split(os.sep)
        key, parent = "", self._root
        for name in names:
            own = name if name.isascii() else self._own_key(parent, name)
            if own is None:
                return key
            key, parent = f"{key}{own}/", f"{parent}{name}{os.sep}"
        if not self._selection.reaches(key[:-1], folder=folder):
            return None
        return key if folder else key[:-1]

    def _own_key(self, parent: str, name: str) -> str | None:
        """Return the key of a name beyond ASCII; `None` when it takes the whole folder to tell."""
        plain = readable(name)
        try:
            names = os.listdir(parent)
        except OSError:
            return plain
        alike = [other for other in names if not other.isascii() and readable(other) == plain]
        return plain if alike == [name] or (not alike and plain == name) else None


def collapsed(scopes: Iterable[str], most: int = MOST) -> list[str]:
    """Return the fewest scopes that cover *scopes*, widened until there are at most *most*, in order.

    >>> collapsed(["a/b.md", "a/", "a/c/d.md", "e.md"])
    ['a/', 'e.md']
    """
    kept = _outermost(scopes)
    while len(kept) > most:
        deepest = max(map(_depth, kept))
        kept = _outermost(_parent(scope) if _depth(scope) == deepest else scope for scope in kept)
    return sorted(kept)


def _outermost(scopes: Iterable[str]) -> set[str]:
    wanted = set(scopes)
    return {scope for scope in wanted if not any(above in wanted for above in _above(scope))}


def _above(scope: str) -> Iterator[str]:
    while scope:
        scope = _parent(scope)
        yield scope


def _parent(scope: str) -> str:
    head, slash, _ = scope.rstrip("/").rpartition("/")
    return head + slash


def _depth(scope: str) -> int:
    return scope.rstrip("/").count("/") + 1 if scope else 0
