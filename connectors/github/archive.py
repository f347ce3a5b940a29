"""Files out of a downloaded archive: streamed, bounded, and only those whose bytes are what the tree promised."""

import gzip
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from connectors.github.spool import BlobSpool
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


def unpack(archive: Path, wanted: Iterable[Entry], whole: Mapping[str, Entry], spool: BlobSpool) -> None:
    """Put files of a `tar.gz` whose members lie below one folder into *spool*.

    A file whose bytes are not those of its blob is left out: line ends may be converted, `$Format$` filled in or LFS
    files put in by attributes of the repository. Links, devices and names that nobody asked for are passed over.

    Args:
        archive: The download.
        wanted: Files to unpack.
        whole: All entries of the tree by path; their sizes bound what is unpacked at all.
        spool: Gets the blobs.

    Raises:
        ArchiveRefused: It cannot be read to its end. What was unpacked before is thrown away.
    """
    by_path = {entry.path: entry for entry in wanted}
    most = 2 * sum(entry.size or 0 for entry in whole.values()) + _PER_MEMBER * (len(whole) + 64) + 8 * _CHUNK
    try:
        with gzip.open(archive, "rb") as plain, _Bounded(plain, most) as bounded:
            for path, member, tar in _members(bounded):
                entry = by_path.get(path)
                if entry is None or entry.sha in spool or member.size != entry.size:
                    continue
                source = tar.extractfile(member)
                if source is not None:
                    spool.add(source, member.size, entry.sha)
    except (tarfile.TarError, OSError, EOFError, zlib.error, ArchiveRefused, ValueError) as error:
        spool.close()
        raise ArchiveRefused(f"the archive cannot be used: {error}") from error


def _members(stream: _Bounded) -> Iterator[tuple[str, tarfile.TarInfo, tarfile.TarFile]]:
    with tarfile.open(fileobj=stream, mode="r|", encoding="utf-8", errors="surrogateescape") as tar:
        while (member := tar.next()) is not None:
            tar.members = []  # type: ignore[attr-defined]  # the library keeps every member it has seen
            if member.isreg():
                yield member.name.partition("/")[2], member, tar
