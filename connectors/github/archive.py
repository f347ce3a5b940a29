"""Files out of a downloaded archive: streamed, bounded, and only those whose bytes are what the tree promised."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from connectors.github.blobs import is_blob
from connectors.github.tree import Entry

_CHUNK = 2**20
_PER_MEMBER = 2048  # a header, its padding, a long name


class ArchiveRefused(Exception):
    """The archive is none, ends early or unpacks to more than its tree holds; its files are asked for singly."""


@dataclass(slots=True)
class _Bounded(io.RawIOBase):
    """Passes bytes on until they are more than the tree could hold."""

    inner: gzip.GzipFile
    left: int

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1, /) -> bytes:
        data = self.inner.read(_CHUNK if size < 0 else min(size, _CHUNK))
        self.left -= len(data)
        if self.left < 0:
            raise ArchiveRefused("the archive unpacks to more than the repository holds")
        return data


def unpack(archive: Path, wanted: Iterable[Entry], whole: Mapping[str, Entry], folder: Path) -> dict[str, Path]:
    """Unpack files of a `tar.gz` whose members lie below one folder.

    A file whose bytes are not those of its blob is left out: line ends may be converted, `$Format$` filled in or LFS
    files put in by attributes of the repository. Links, devices and names that nobody asked for are passed over.

    Args:
        archive: The download.
        wanted: Files to unpack.
        whole: All entries of the tree by path; their sizes bound what is unpacked at all.
        folder: Gets a file named by its SHA for each blob.

    Returns:
        The files by SHA.

    Raises:
        ArchiveRefused: It cannot be read to its end. What was unpacked before is thrown away.
    """
    by_path = {entry.path: entry for entry in wanted}
    most = 2 * sum(entry.size or 0 for entry in whole.values()) + _PER_MEMBER * (len(whole) + 64) + 8 * _CHUNK
    found: dict[str, Path] = {}
    try:
        with gzip.open(archive, "rb") as plain, _Bounded(plain, most) as bounded:
            for path, member, tar in _members(bounded):
                entry = by_path.get(path)
                if entry is not None and entry.sha not in found:
                    kept = _kept(tar, member, entry, folder)
                    found.update({entry.sha: kept} if kept else {})
    except (tarfile.TarError, OSError, EOFError, zlib.error, ArchiveRefused, ValueError) as error:
        for path_on_disk in found.values():
            path_on_disk.unlink(missing_ok=True)
        raise ArchiveRefused(f"the archive cannot be used: {error}") from error
    return found


def _members(stream: _Bounded) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as tar:
        while (member := tar.next()) is not None:
            tar.members = []  # type: ignore[attr-defined]  # the library keeps every member it has seen
            if member.isreg():
                yield member.name.partition("/")[2], member, tar


def _kept(tar: tarfile.TarFile, member: tarfile.TarInfo, entry: Entry, folder: Path) -> Path | None:
    """Write a member to disk; `None` when its bytes are not the blob's."""
    if member.size != entry.size:
        return None
    source = tar.extractfile(member)
    if source is None:
        return None
    path = folder / entry.sha
    with path.open("xb") as file:
        path.chmod(0o600)
        while piece := source.read(_CHUNK):
            file.write(piece)
    if is_blob(path, entry.sha):
        return path
    path.unlink()
    return None
