"""A repository's files over git itself: partial clones, which cost nothing of the API's budget.

A fetch of depth 1 with `--filter=blob:none` brings the trees, then one fetch by id brings exactly the blobs that are
wanted (gitprotocol-v2, `allow-any-sha1-in-want`, which GitHub allows). The program git must be installed.
"""

import io
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import IO
from urllib.parse import urlsplit

from connectors.document import MAX_BYTES
from connectors.errors import ConfigError, DocumentError
from connectors.github.blobs import is_blob
from connectors.github.errors import RefMissing
from connectors.github.git_program import GitProgram
from connectors.github.spool import BlobSpool
from connectors.github.transport import Head, Repo
from connectors.github.tree import FOLDER_MODE, Entry, Tree, is_sane

_HERE = frozenset({"127.0.0.1", "localhost", "::1"})
_FEW = 4  # blobs fewer than these are got as they are asked for


class GitTransport:
    """Files over git; keeps a bare partial clone of each repository while it lives.

    Args:
        git_url: What `owner/name.git` is appended to.
        authorisation: Gives the headers that prove the source.
        proxy: Address of a proxy; empty goes without one.
        ca: File of certificates to trust beside the usual ones.

    Raises:
        ConfigError: The address is of a kind that git would run a program for, or git is not installed.
    """

    def __init__(
        self, git_url: str, authorisation: Callable[[], dict[str, str]], *, proxy: str = "", ca: Path | None = None
    ) -> None:
        parts = urlsplit(git_url)
        if parts.scheme not in {"https", "file"} and (parts.scheme != "http" or parts.hostname not in _HERE):
            raise ConfigError("git_url must start with https:// or file://")
        self._git_url = git_url.rstrip("/")
        self._git = GitProgram(self._git_url, authorisation, proxy=proxy, ca=ca)
        self._folder: Path | None = None
        self._lock = threading.RLock()
        self.requests = 0

    def heed(self, stop: threading.Event) -> None:
        """End what runs within a second once *stop* is set."""
        self._git.stop = stop

    def head(self, repo: Repo, ref: str, known: Head | None) -> Head:
        wanted = [ref] if ref == "HEAD" else [f"refs/heads/{ref}", f"refs/tags/{ref}", f"refs/tags/{ref}^{{}}"]
        said = self._remote(repo, "ls-remote", self._url(repo), *wanted)
        found = {name: sha for sha, _, name in (line.partition("\t") for line in said.decode().splitlines())}
        if not found and ref != "HEAD":
            raise RefMissing(
                f"{repo.now} has no branch or tag {ref!r}", "correct the branch in the configuration, or leave it out"
            )
        commit = next((found[name] for name in (wanted[0], *reversed(wanted)) if name in found), "")
        return Head(commit, None, repo, unchanged=known is not None and known.commit == commit and bool(commit))

    def tree(self, repo: Repo, commit: str, enters: Callable[[str], bool]) -> Tree:
        del enters  # the whole comes at once
        clone = self._clone(repo)
        self._remote(repo, "fetch", "--depth=1", "--filter=blob:none", "--no-tags", "origin", commit, at=clone)
        listed = self._git.run("ls-tree", "-r", "-t", "-z", commit, at=clone).decode("utf-8", "replace")
        tree = Tree()
        for line in listed.split("\0"):
            head, _, path = line.partition("\t")
            if head and is_sane(path):
                mode, _, sha = head.split()
                tree.entries[path] = Entry(path, FOLDER_MODE if mode == "040000" else mode, sha)
        return tree

    def prepare(self, repo: Repo, commit: str, wanted: Mapping[str, Entry], whole: Tree, spool: BlobSpool) -> None:
        del commit, whole
        if len(wanted) < _FEW:
            return
        self._bring(repo, wanted)
        asked = "".join(f"{sha}\n" for sha in wanted).encode()
        with tempfile.TemporaryFile(prefix="corebrain-git-") as read:
            self._git.tried("cat-file", "--batch", at=self._clone(repo), stdin=asked, into=read)
            read.seek(0)
            for sha, size in _headers(read):
                if size <= MAX_BYTES:
                    spool.add(io.BytesIO(read.read(size)), size, sha)
                else:
                    read.seek(size, io.SEEK_CUR)
                read.seek(1, io.SEEK_CUR)

    def blob(self, repo: Repo, entry: Entry, max_bytes: int) -> bytes:
        clone = self._clone(repo)
        with self._lock:
            if not self._has(clone, entry.sha):
                self._bring(repo, [entry.sha])
        size = int(self._git.run("cat-file", "-s", entry.sha, at=clone))
        if size > max_bytes:
            from connectors.github.listing import too_large  # noqa: PLC0415 - listing needs the transports' types

            raise too_large(f"{repo.name}/{entry.path}", size, max_bytes)
        data = self._git.run("cat-file", "blob", entry.sha, at=clone)
        if not is_blob(data, entry.sha):
            raise DocumentError(f"{repo.now}/{entry.path} came with other bytes than its id says")
        return data

    def _bring(self, repo: Repo, shas: "Mapping[str, Entry] | list[str]") -> None:
        """Fetch blobs in one go, as git itself does for a checkout of a partial clone."""
        clone = self._clone(repo)
        missing = [sha for sha in shas if not self._has(clone, sha)] if len(shas) < 50 else list(shas)
        if missing:
            options = ("--no-tags", "--no-write-fetch-head", "--filter=blob:none", "--stdin")
            asked = "".join(f"{sha}\n" for sha in missing).encode()
            command = ("-c", "fetch.negotiationAlgorithm=noop", "fetch", *options, "origin")
            self._remote(repo, *command, at=clone, stdin=asked)

    def _has(self, clone: Path, sha: str) -> bool:
        return self._git.tried("cat-file", "-e", sha, at=clone).returncode == 0

    def _clone(self, repo: Repo) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="corebrain-git-"))
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            clone = self._folder / f"{repo.name.replace('/', '+')}.git"
            if not clone.exists():
                self._git.run("init", "-q", "--bare", str(clone), at=self._folder)
                for key, value in (("url", self._url(repo)), ("promisor", "true"), ("partialclonefilter", "blob:none")):
                    self._git.run("config", f"remote.origin.{key}", value, at=clone)
            return clone

    def _url(self, repo: Repo) -> str:
        return f"{self._git_url}/{repo.now}.git"

    def _remote(self, repo: Repo, *arguments: str, at: Path | None = None, stdin: bytes = b"") -> bytes:
        with self._lock:
            self.requests += 1
        return self._git.ask(repo.now, *arguments, at=at, stdin=stdin)


def _headers(stream: IO[bytes]) -> Iterator[tuple[str, int]]:
    """Yield id and size of each blob of `git cat-file --batch`; its bytes and a line end are read by the caller."""
    while line := stream.readline():
        sha, kind, *size = line.decode().split()
        if kind == "blob":
            yield sha, int(size[0])
