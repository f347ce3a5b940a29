"""A repository's files over GitHub's REST API: head, tree, blobs and archive."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from urllib.parse import quote

from connectors.errors import AuthError, ConnectorError, DocumentError, DocumentRefused, Unavailable
from connectors.github.archive import ArchiveRefused, unpack
from connectors.github.blobs import is_blob
from connectors.github.errors import BudgetSpent, EmptyRepository
from connectors.github.sending import Sender
from connectors.github.spool import BlobSpool
from connectors.github.transport import Head, Repo
from connectors.github.tree import FOLDER_MODE, Entry, Tree, is_sane
from connectors.http.errors import Stopped, Unreachable

_BY_NUMBER = re.compile(r"/repositories/(\d+)(?:/|$)")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")
_FEW = 4  # blobs fewer than these are asked for singly: an archive takes two requests
_MANY = 50  # from here on even a large archive is worth it
_SMALL_ARCHIVE = 64 * 2**20
_LARGE_ARCHIVE = 2 * 2**30


class ApiTransport:
    """Files over the REST API.

    Args:
        sender: Sends the requests.
    """

    def __init__(self, sender: Sender) -> None:
        self._sender = sender

    @property
    def requests(self) -> int:
        """Requests sent so far."""
        return self._sender.requests

    def head(self, repo: Repo, ref: str, known: Head | None) -> Head:
        path = f"{repo.api}/commits/{quote(ref, safe='')}"
        etag = known.etag if known else None
        try:
            answer = self._sender.get(path, repo.now, etag=etag, accept="application/vnd.github.sha")
        except EmptyRepository:
            return Head("", None, repo)
        found = self._renamed(repo, answer.url)
        if answer.unchanged and known is not None:
            return Head(known.commit, etag, found, unchanged=True)
        text = answer.text.strip()
        commit = str(answer.json().get("sha")) if text.startswith("{") else text  # not all servers know the type
        if not _SHA.fullmatch(commit):
            raise Unavailable("what answers for GitHub is not its api; check base_url and the network")
        same = known is not None and known.commit == commit  # a server without validators
        return Head(commit, answer.headers.get("etag"), found, unchanged=same)

    def tree(self, repo: Repo, commit: str, enters: Callable[[str], bool]) -> Tree:
        tree = Tree()
        if not self._listed(repo, commit, "", tree, recursive=True):
            self._walk(repo, commit, tree, enters)
        return tree

    def _walk(self, repo: Repo, commit: str, tree: Tree, enters: Callable[[str], bool]) -> None:
        """List folder by folder: the whole was cut, and what was cut proves nothing."""
        tree.entries.clear()
        todo = [("", commit, False)]
        while todo:
            folder, sha, recursive = todo.pop()
            try:
                whole = self._listed(repo, sha, folder, tree, recursive=recursive)
            except (AuthError, BudgetSpent, Unreachable):
                raise
            except ConnectorError as error:
                tree.missing[folder] = error
                continue
            if not whole and not recursive:
                tree.missing[folder] = DocumentError(f"{repo.now}/{folder} has more entries than GitHub lists")
            elif not whole:
                todo.append((folder, sha, False))
            elif not recursive:
                inside = f"{folder}/" if folder else ""
                below = [entry for path, entry in tree.entries.items() if _parent(path, inside)]
                folders = [entry for entry in below if entry.mode == FOLDER_MODE and enters(entry.path)]
                todo += [(entry.path, entry.sha, True) for entry in folders]

    def _listed(self, repo: Repo, sha: str, folder: str, tree: Tree, *, recursive: bool) -> bool:
        """Add a listing's entries; False when it was cut and none were added."""
        params: dict[str, str | int] = {"recursive": 1} if recursive else {}
        answer = self._sender.get(f"{repo.api}/git/trees/{sha}", f"{repo.now}/{folder}", params=params).json()
        if answer.get("truncated"):
            return False
        for one in answer["tree"]:
            path = f"{folder}/{one['path']}" if folder else str(one["path"])
            if is_sane(path):
                tree.entries[path] = Entry(path, str(one["mode"]), str(one["sha"]), one.get("size"))
            else:
                tree.missing[path] = DocumentRefused(f"{path!r} is no name a file can have", "rename it")
        return True

    def prepare(self, repo: Repo, commit: str, wanted: Mapping[str, Entry], whole: Tree, spool: BlobSpool) -> None:
        size = whole.size
        pays = size <= _SMALL_ARCHIVE if len(wanted) < _MANY else size <= _LARGE_ARCHIVE
        if len(wanted) < _FEW or not pays or whole.missing:
            return
        try:
            archive = self._sender.download(
                f"{repo.api}/tarball/{commit}",
                f"the archive of {repo.now}",
                accept="application/vnd.github+json",
                max_bytes=max(size * 2, _SMALL_ARCHIVE),
            )
        except (AuthError, BudgetSpent, Stopped):
            raise
        except ConnectorError:
            return  # whatever is wrong with the archive, the blobs may be had
        try:
            with suppress(ArchiveRefused):
                unpack(archive, wanted.values(), whole.entries, spool)
        finally:
            archive.unlink(missing_ok=True)

    def blob(self, repo: Repo, entry: Entry, max_bytes: int) -> bytes:
        what = f"{repo.now}/{entry.path}"
        raw = "application/vnd.github.raw+json"
        data = self._sender.fetch(f"{repo.api}/git/blobs/{entry.sha}", what, accept=raw, max_bytes=max_bytes)
        if data.startswith(b"{") and not is_blob(data, entry.sha):
            data = _unwrapped(data)
        if not is_blob(data, entry.sha):
            raise DocumentError(f"{what} came with other bytes than its id says; it is read again at the next sync")
        return data

    def _renamed(self, repo: Repo, url: str) -> Repo:
        """The repository by its number, when it was that which answered in the place of its name."""
        found = _BY_NUMBER.search(url)
        if found is None or repo.number == int(found[1]):
            return repo
        number = int(found[1])
        named = self._sender.get(f"/repositories/{number}", repo.now).json()
        return Repo(repo.name, str(named["full_name"]), number)


def _parent(path: str, inside: str) -> bool:
    return path.startswith(inside) and "/" not in path[len(inside) :]


def _unwrapped(data: bytes) -> bytes:
    """A blob in JSON, from a server that knows no raw media type."""
    with suppress(ValueError, KeyError, TypeError):
        told = json.loads(data)
        if told["encoding"] == "base64":
            return base64.b64decode(told["content"])
    return data
