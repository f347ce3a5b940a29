"""Many blobs in one private file: a file for each would take longer than reading them."""

import hashlib
import tempfile
from contextlib import suppress
from typing import IO

_CHUNK = 2**20


class BlobSpool:
    """Keeps blobs until they are taken, each once; nothing is left on disk when it is closed or forgotten.

    Not safe for threads: its user has a lock.
    """

    def __init__(self) -> None:
        self._file: IO[bytes] | None = None
        self._held: dict[str, tuple[int, int]] = {}
        self._end = 0

    def __contains__(self, sha: object) -> bool:
        return sha in self._held

    def add(self, source: IO[bytes], size: int, sha: str) -> bool:
        """Keep the *size* bytes of *source* when they are those of the blob *sha*; tell whether they are."""
        if self._file is None:
            self._file = tempfile.TemporaryFile(prefix="corebrain-github-")  # noqa: SIM115 - closed by close
        digest = hashlib.sha256() if len(sha) == 64 else hashlib.sha1(usedforsecurity=False)
        digest.update(b"blob %d\0" % size)
        self._file.seek(self._end)
        while piece := source.read(_CHUNK):
            digest.update(piece)
            self._file.write(piece)
        if digest.hexdigest() != sha:
            return False
        self._held[sha] = (self._end, size)
        self._end += size
        return True

    def take(self, sha: str) -> bytes | None:
        """Give a blob away; `None` when it is not held."""
        place = self._held.pop(sha, None)
        if place is None or self._file is None:
            return None
        self._file.seek(place[0])
        data = self._file.read(place[1])
        if not self._held:
            self.close()
        return data

    def close(self) -> None:
        """Throw everything away."""
        self._held.clear()
        if self._file is not None:
            with suppress(OSError):
                self._file.close()
            self._file = None
        self._end = 0

    def __del__(self) -> None:
        self.close()
