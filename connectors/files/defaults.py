"""What nobody means by "my documents": names that the files connector skips by itself.

Three kinds: folders of tools and systems, caches that say so themselves, and files that programs leave beside the real
ones. A name that an include pattern spells out (`.github/**`, `target/*.md`) is not skipped by its name.
"""

from collections.abc import Collection

SKIPPED_FOLDERS = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", "_darcs", "CVS"),
        *("node_modules", "bower_components", "jspm_packages", "site-packages"),
        *("__pycache__", "venv", ".venv", "virtualenv", "target"),
        *(".tox", ".nox", ".cache", ".mypy_cache", ".pytest_cache", ".ruff_cache", ".ipynb_checkpoints"),
        *(".gradle", ".idea", ".vscode", ".terraform", ".next", ".nuxt", ".parcel-cache", ".yarn"),
        *(".Trash", ".Trashes", "$RECYCLE.BIN", "System Volume Information", "lost+found", "__MACOSX"),
        *(".Spotlight-V100", ".fseventsd", ".TemporaryItems", ".DocumentRevisions-V100", "@eaDir", "#recycle"),
        ".brain",
    }
)
"""Folder names that hold no documents, compared exactly."""

MARKED_FOLDERS = frozenset({"CACHEDIR.TAG", "pyvenv.cfg"})
"""A folder holding one of these is a cache (bford.info/cachedir) or a Python environment, whatever it is called."""

OUTPUT_FOLDERS: dict[str, frozenset[str]] = {
    "build": frozenset(
        {"pyproject.toml", "setup.py", "package.json", "CMakeLists.txt", "build.gradle", "build.gradle.kts"}
    ),
    "dist": frozenset({"pyproject.toml", "setup.py", "package.json"}),
    "out": frozenset({"package.json", "CMakeLists.txt"}),
    "vendor": frozenset({"go.mod", "composer.json"}),
}
"""Folders a build writes, skipped only beside the project file of that build: elsewhere the word means something."""

_SKIPPED_FILES = frozenset({"thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "4913", ".ds_store", "brain.toml"})
# Locks and copies: Office `~$x.docx`, LibreOffice `.~lock.x#`, Emacs `.#x` and `#x#`, network leftovers, AppleDouble.
_SKIPPED_STARTS = ("~$", ".~", ".#", "._", ".nfs", ".fuse_hidden", ".goutputstream-", ".syncthing.", "~syncthing~")
# Unfinished: swap files of vim, backups, downloads of browsers, temp files of Office and rsync-like tools.
_SKIPPED_ENDS = (
    *("~", ".swp", ".swo", ".swx", ".swn", ".tmp", ".temp", ".bak~", ".part", ".partial", ".crdownload", ".download"),
    *(".opdownload", ".!ut", ".aria2", ".pyc", ".pyo", ".lock~"),
)


def is_skipped_file(name: str) -> bool:
    """Whether a file of this name is a lock, a temporary or a system file; letter case does not count."""
    lower = name.lower()
    return (
        lower.endswith(_SKIPPED_ENDS)
        or lower.startswith(_SKIPPED_STARTS)
        or lower in _SKIPPED_FILES
        or (lower[0] == "#" and lower[-1] == "#" and len(lower) > 1)
    )


def is_skipped_folder(name: str, siblings: Collection[str]) -> bool:
    """Whether a folder of this name, lying beside *siblings*, is a tool's or a build's."""
    beside = OUTPUT_FOLDERS.get(name)
    return name in SKIPPED_FOLDERS or (beside is not None and any(mark in siblings for mark in beside))
