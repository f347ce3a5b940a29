"""Files that a cloud drive shows and does not keep on this machine: reading one downloads it.

Told by what the system says, without opening anything:

- Windows (OneDrive, Dropbox, Google Drive, iCloud; Cloud Files API): the attributes RECALL_ON_OPEN,
  RECALL_ON_DATA_ACCESS and, of older drives, OFFLINE
  (learn.microsoft.com/windows/win32/fileio/file-attribute-constants).
- macOS 10.15 and later (File Provider: iCloud Drive, OneDrive, Dropbox): the flag SF_DATALESS of `stat.h`.
- iCloud Drive before macOS 14: a hidden stub `.name.icloud` in the place of `name`.

Linux has no such mark; its drives either download everything or show a network file system.
"""

import os
from collections.abc import Iterable, Iterator

from connectors.errors import DocumentRefused
from connectors.files.stamp import stamp

_OFFLINE, _RECALL_ON_OPEN, _RECALL_ON_DATA_ACCESS = 0x1000, 0x40000, 0x400000
_ELSEWHERE = _OFFLINE | _RECALL_ON_OPEN | _RECALL_ON_DATA_ACCESS
_SF_DATALESS = 0x40000000
_STUB = ".icloud"


def is_placeholder(status: os.stat_result) -> bool:
    """Whether the bytes of a file lie elsewhere and reading would download them."""
    return bool(getattr(status, "st_file_attributes", 0) & _ELSEWHERE or getattr(status, "st_flags", 0) & _SF_DATALESS)


def stubbed(name: str) -> str | None:
    """Return the name of the file that an iCloud stub stands for; `None` when *name* is no stub.

    >>> stubbed(".report.pdf.icloud")
    'report.pdf'
    """
    is_stub = name.startswith(".") and name.endswith(_STUB) and len(name) > len(_STUB) + 1
    return name[1 : -len(_STUB)] if is_stub else None


def has_stubs(names: Iterable[str]) -> bool:
    """Whether any name of a folder may be a stub."""
    return any(name.endswith(_STUB) for name in names)


def with_originals(pairs: Iterable[tuple[str, str]], wanted: str) -> Iterator[tuple[str, str]]:
    """Give every stub the key of its file, so that a file sent back to the cloud is not taken for deleted.

    Args:
        pairs: Names of a folder with their keys.
        wanted: Yield only what has this key; empty for everything.
    """
    pairs = list(pairs)
    keys = {key for _, key in pairs}
    for name, own_key in pairs:
        key = stubbed(own_key) or own_key
        if (key == own_key or key not in keys) and wanted in {"", key}:
            yield name, key


def is_as_known(status: os.stat_result, known: str | None) -> bool:
    """Whether a placeholder stands for the version of the stamp *known*: its size, mtime and inode are the same.

    Sending a file to the cloud moves its ctime only.
    """
    return known is not None and known.rpartition(".")[0] == stamp(status).rpartition(".")[0]


def refusal(label: str, *, stub: bool) -> DocumentRefused:
    """Return why a placeholder called *label* is not read."""
    reason = f"{label} is kept in the cloud and not on this machine"
    if stub:
        return DocumentRefused(reason, "download it in the Finder (or with `brctl download`), or exclude it")
    return DocumentRefused(
        reason, "keep it or its folder on this device, set hydrate = true of the source to download, or exclude it"
    )
