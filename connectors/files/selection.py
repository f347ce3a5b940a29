"""Which names of a folder are documents: the defaults, the hidden rule and the patterns, asked in that order."""

import os
from collections.abc import Collection, Iterable

from connectors.files.defaults import MARKED_FOLDERS, is_skipped_file, is_skipped_folder
from connectors.files.filesystem import is_marked_hidden
from connectors.globs import Globs


class Selection:
    """What a person means by "my documents" in one folder tree.

    Args:
        include: Patterns of the files wanted (`connectors.globs`).
        exclude: Patterns of the files and folders not wanted; stronger than *include*.
        hidden: Also take what a leading dot hides.

    Raises:
        ConfigError: A pattern cannot be read.
    """

    def __init__(self, include: Iterable[str], exclude: Iterable[str], *, hidden: bool) -> None:
        self._include = Globs.compile(include)
        self._exclude = Globs.compile(exclude)
        self._named = self._include.named
        self._everything = self._include.everything
        self.hidden = hidden

    def is_hidden(self, name: str) -> bool:
        """Whether a dot hides the name and nobody asked for it."""
        return name[0] == "." and not self.hidden and name not in self._named

    def is_hidden_by_mark(self, name: str, status: os.stat_result) -> bool:
        """Whether the system's own mark hides the entry and nobody asked for it."""
        return not self.hidden and is_marked_hidden(status) and name not in self._named

    def takes_file(self, name: str, key: str) -> bool:
        """Whether the file is wanted; *name* is the last part of *key*. The folders above it are not asked."""
        if is_skipped_file(name) and name not in self._named:
            return False
        if not self._everything and not self._include.match(key):
            return False
        return not self._exclude.patterns or not self._exclude.match(key)

    def takes_folder(self, name: str, key: str, siblings: Collection[str] = ()) -> bool:
        """Whether the folder is entered; *siblings* are the names beside it."""
        if name not in self._named and is_skipped_folder(name, siblings):
            return False
        if self._exclude.patterns and self._exclude.match_folder(key):
            return False
        return self._everything or self._include.may_match_below(key)

    def leaves_content(self, name: str, content: Collection[str]) -> bool:
        """Whether the folder called *name* says by what it holds that it is a cache or a Python environment."""
        return any(mark in content for mark in MARKED_FOLDERS) and name not in self._named

    def reaches(self, key: str, *, folder: bool) -> bool:
        """Whether a walk from the root comes by *key* itself: nothing on the way is hidden, skipped or excluded."""
        if not key:
            return True
        parts = key.split("/")
        if any(self.is_hidden(part) for part in parts):
            return False
        folders = range(1, len(parts) + folder)
        if not all(self.takes_folder(parts[i - 1], "/".join(parts[:i])) for i in folders):
            return False
        return folder or self.takes_file(parts[-1], key)
