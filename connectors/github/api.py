"""A repository's files over GitHub's REST API: head, tree, blobs and archive."""

import base64
import json
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from urllib.parse import quote

from connectors.errors import AuthError, ConnectorError, DocumentError, DocumentRefused, Unavailable
from connectors.github.archive import ArchiveRefused, unpack
from connectors.github.blobs import is_blob
from connectors.github.errors import ENDING, BudgetSpent, EmptyRepository, NotThere
from connectors.github.identity import name_in_address, number_in_address, number_in_node
from connectors.github.sending import Sender, understood
from connectors.github.spool import BlobSpool
from connectors.github.transport import Head, Repo
from connectors.github.tree import FOLDER_MODE, Entry, Tree, is_sane
from connectors.http.errors import Stopped

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
        """Find a ref: by the repository's number once it is known, so that a stranger under its name is not read."""
        try:
            return self._head(repo, ref, known)
        except NotThere:
            if repo.number is None:
                raise
        found = self._head(Repo(repo.name, repo.current), ref, known)  # not every server finds them by number
        if found.repo.number not in {None, repo.number}:
            raise DocumentRefused(
                f"another repository lies at {repo.now} now; the one that was mirrored is gone, or not to be seen",
                "take it out of the configuration to forget its documents; add it anew to mirror the other",
            )
        return found

    def _head(self, repo: Repo, ref: str, known: Head | None) -> Head:
        path = f"{repo.api}/commits/{quote(ref, safe='')}"
        etag = known.etag if known else None
        try:
            if repo.number is None:
                return self._first_head(repo, path, known)
            answer = self._sender.get(path, repo.now, etag=etag, accept="application/vnd.github.sha")
        except EmptyRepository:
            return Head("", None, repo)
        if answer.unchanged and known is not None:
            return Head(known.commit, etag, repo, unchanged=True)
        with understood(repo.now):
            told = str(answer.json()["sha"]) if answer.text.startswith("{") else answer.text.strip()
        commit = _commit(told)
        same = known is not None and known.commit == commit  # a server without validators
        return Head(commit, answer.headers.get("etag"), repo, unchanged=same)

    def _first_head(self, repo: Repo, path: str, known: Head | None) -> Head:
        """Find a ref of a repository known by name only, and its number on the way where the server tells it."""
        etag = known.etag if known else None
        answer = self._sender.get(path, repo.now, etag=etag, params={"per_page": 1})
        number = number_in_address(answer.url, answer.headers.get("link", ""))
        if answer.unchanged and known is not None:
            return Head(known.commit, etag, replace(repo, number=number), unchanged=True)
        with understood(repo.now):
            told = answer.json()
            commit, node_id = _commit(str(told["sha"])), str(told.get("node_id"))
        number = number or number_in_node(node_id, commit)
        validator = f'"{commit}"' if number else answer.headers.get("etag")  # what asking by number is answered with
        same = known is not None and known.commit == commit
        return Head(commit, validator, replace(repo, number=number), unchanged=same)

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
            except ENDING:
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
        with understood(f"{repo.now}/{folder}"):
            if answer.get("truncated"):
                return False
            tree.full_name = name_in_address(str(answer.get("url"))) or tree.full_name
            found = [(str(one["path"]), str(one["mode"]), str(one["sha"]), one.get("size")) for one in answer["tree"]]
        for name, mode, blob, size in found:
            path = f"{folder}/{name}" if folder else name
            if is_sane(path) and _SHA.fullmatch(blob):
                tree.entries[path] = Entry(path, mode, blob, size if isinstance(size, int) else None)
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


def _commit(text: str) -> str:
    """Check that it is a commit's id.

    Raises:
        Unavailable: It is none.
    """
    if not _SHA.fullmatch(text):
        raise Unavailable("what answers for GitHub is not its api; check base_url and the network")
    return text


def _parent(path: str, inside: str) -> bool:
    return path.startswith(inside) and "/" not in path[len(inside) :]


def _unwrapped(data: bytes) -> bytes:
    """A blob in JSON, from a server that knows no raw media type."""
    with suppress(ValueError, KeyError, TypeError):
        told = json.loads(data)
        if told["encoding"] == "base64":
            return base64.b64decode(told["content"])
    return data
