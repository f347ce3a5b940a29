"""Where symbolic links may lead: inside the root, to what nothing else lists, once per target.

A link to a file or folder that the walk reaches by itself is left out, since its target is listed under its own key. A
link to what is inside the root but not walked (a hidden store, a folder outside the include patterns) is followed; of
several the first in walking order counts. Links that lead out of the root, into nothing or in a circle are left out.
"""

import os
import stat

from connectors.files.filesystem import is_inside
from connectors.files.keys import readable
from connectors.files.selection import Selection


class Links:
    """The links of one walk, and what has been reached through them.

    Memory grows with the number of entries reached through links, not with the source.
    """

    def __init__(self, root: str, selection: Selection) -> None:
        self._root = os.path.realpath(root)
        self._selection = selection
        self._taken: set[tuple[int, int] | str] = set()

    def target(self, path: str) -> os.stat_result | None:
        """Return the status of what the link leads to, when it may be listed here.

        Raises:
            OSError: The target exists and cannot be looked at.
        """
        try:
            target = os.stat(path)
        except OSError as error:
            if isinstance(error, FileNotFoundError | NotADirectoryError) or _is_circle(path):
                return None
            raise
        real = os.path.realpath(path)
        if not is_inside(self._root, real) or self._reached_anyway(real, target):
            return None
        return target

    def take(self, status: os.stat_result, path: str) -> bool:
        """Count an entry reached through a link as listed; False when it already was."""
        identity: tuple[int, int] | str = (status.st_dev, status.st_ino) if status.st_ino else os.path.realpath(path)
        if identity in self._taken:
            return False
        self._taken.add(identity)
        return True

    def _reached_anyway(self, real: str, target: os.stat_result) -> bool:
        if real == self._root:
            return True
        names = os.path.relpath(real, self._root).split(os.sep)
        return self._selection.reaches("/".join(map(readable, names)), folder=stat.S_ISDIR(target.st_mode))


def _is_circle(path: str) -> bool:
    """Whether the links from *path* on lead back to themselves: resolving then stops at a link."""
    return os.path.islink(os.path.realpath(path))
