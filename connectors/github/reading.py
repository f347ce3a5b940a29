"""From a blob to a document: LFS files in the place of pointers, relative links as permalinks, pinned to a commit."""

import json
from collections.abc import Callable

from connectors.contract import Blob, Ref
from connectors.errors import DocumentRefused
from connectors.github.blobs import LfsPointer, lfs_pointer
from connectors.github.edits import Edits
from connectors.github.listing import MARKDOWN, suffix, too_large
from connectors.github.permalinks import Place, with_permalinks
from connectors.github.supply import Supply
from connectors.github.transport import Head, Repo
from connectors.github.tree import Entry

MAX_BYTES = 32 * 2**20

GetLfs = Callable[[Repo, str, LfsPointer, int], bytes]
"""Gets the file of a pointer."""


class Reading:
    """Makes documents of blobs.

    Args:
        supply: Gives the blobs.
        web: Where people see repositories.
        max_bytes: Largest file taken.
        lfs: Gets LFS files; `None` sets them aside.
        edits: Tells last edits; `None` leaves them out.
    """

    def __init__(
        self,
        supply: Supply,
        web: str,
        *,
        max_bytes: int = MAX_BYTES,
        lfs: GetLfs | None = None,
        edits: Edits | None = None,
    ) -> None:
        self._supply = supply
        self._web = web
        self._max_bytes = max_bytes
        self._lfs = lfs
        self._edits = edits

    def document(self, head: Head, ref: Ref, entry: Entry) -> Blob:
        """Return the document.

        Args:
            head: Where it is read.
            ref: As listed.
            entry: The file it is.

        Raises:
            DocumentRefused: It is too large, or lies in LFS out of reach.
            ConnectorError: It cannot be read.
        """
        if entry.size is not None and entry.size > self._max_bytes:
            raise too_large(ref.key, entry.size, self._max_bytes)
        repo = head.repo
        data = self._supply.take(repo, entry, self._max_bytes)
        pointer = lfs_pointer(data)
        if pointer is not None:
            data = self._large(repo, ref, entry, pointer)
        path = _own_path(ref, entry)
        place = Place(f"{self._web}/{repo.now}", head.commit, path)
        if suffix(path) in MARKDOWN:
            data = _linked(data, Place(place.web, head.commit, entry.path))
        edit = self._edits.last(repo, head.commit, path) if self._edits else None
        return Blob(
            data,
            media_type=ref.media_type,
            filename=path.rpartition("/")[2],
            token=ref.token,
            url=place.url,
            repo=repo.now,
            commit=head.commit,
            modified=edit.at if edit else None,
            tags=(f"by:{edit.by}",) if edit and edit.by else (),
        )

    def _large(self, repo: Repo, ref: Ref, entry: Entry, pointer: LfsPointer) -> bytes:
        if pointer.size > self._max_bytes:
            raise too_large(ref.key, pointer.size, self._max_bytes)
        if self._lfs is None:
            raise DocumentRefused(f"{ref.key} lies in LFS, which is off", "set lfs = true, or exclude the file")
        return self._lfs(repo, entry.path, pointer, self._max_bytes)


def _own_path(ref: Ref, entry: Entry) -> str:
    """The path the document lies at: the link's, where it is one."""
    return str(json.loads(ref.locator).get("link") or entry.path)


def _linked(data: bytes, place: Place) -> bytes:
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return data  # the converter finds out the charset; its links stay as they are
    return with_permalinks(text, place).encode()
