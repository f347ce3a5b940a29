"""A repository's files over git itself: partial clones, which cost nothing of the API's budget.

A fetch of depth 1 with `--filter=blob:none` brings the trees, then one fetch by id brings exactly the blobs that are
wanted (gitprotocol-v2, `allow-any-sha1-in-want`, which GitHub allows). The program git must be installed.
"""

import os
import re
import shutil
import subprocess
import tempfile
import threading
import weakref
from collections.abc import Callable, Mapping
from pathlib import Path

from connectors.errors import AuthError, ConfigError, DocumentError, Unavailable
from connectors.github.blobs import is_blob
from connectors.github.errors import NotThere, RefMissing
from connectors.github.spool import BlobSpool
from connectors.github.transport import Head, Repo
from connectors.github.tree import FOLDER_MODE, Entry, Tree, is_sane

_SCHEMES = ("https://", "file://", "http://127.0.0.1", "http://localhost")
_WAIT_S = 600
_QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",
    "HOME": os.devnull,
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_NO_LAZY_FETCH": "1",
    "LC_ALL": "C",
}
_REFUSED = re.compile(r"Authentication failed|could not read Username|terminal prompts disabled|403|401", re.IGNORECASE)
_MISSING = re.compile(r"not found|does not exist|does not appear to be a git repository|404", re.IGNORECASE)


class GitTransport:
    """Files over git; keeps a bare partial clone of each repository while it lives.

    Args:
        git_url: What `owner/name.git` is appended to.
        authorisation: Gives the headers that prove the source.

    Raises:
        ConfigError: The address is of a kind that git would run a program for, or git is not installed.
    """

    def __init__(self, git_url: str, authorisation: Callable[[], dict[str, str]]) -> None:
        if not git_url.startswith(_SCHEMES):
            raise ConfigError("git_url must start with https:// or file://")
        program = shutil.which("git")
        if program is None:
            raise ConfigError("git is not installed, which transport = 'git' needs; install it, or use the api")
        self._program = program
        self._git_url = git_url.rstrip("/")
        self._authorisation = authorisation
        self._folder: Path | None = None
        self._lock = threading.RLock()
        self.requests = 0

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
        listed = self._run("ls-tree", "-r", "-t", "-z", commit, at=clone).decode("utf-8", "replace")
        tree = Tree()
        for line in listed.split("\0"):
            head, _, path = line.partition("\t")
            if head and is_sane(path):
                mode, _, sha = head.split()
                tree.entries[path] = Entry(path, FOLDER_MODE if mode == "040000" else mode, sha)
        return tree

    def prepare(self, repo: Repo, commit: str, wanted: Mapping[str, Entry], whole: Tree, spool: BlobSpool) -> None:
        del commit, whole, spool
        self._bring(repo, wanted)  # they lie in the clone from now on

    def blob(self, repo: Repo, entry: Entry, max_bytes: int) -> bytes:
        clone = self._clone(repo)
        with self._lock:
            if not self._has(clone, entry.sha):
                self._bring(repo, [entry.sha])
        size = int(self._run("cat-file", "-s", entry.sha, at=clone))
        if size > max_bytes:
            from connectors.github.listing import too_large  # noqa: PLC0415 - listing needs the transports' types

            raise too_large(f"{repo.name}/{entry.path}", size, max_bytes)
        data = self._run("cat-file", "blob", entry.sha, at=clone)
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
        return self._ran("cat-file", "-e", sha, at=clone).returncode == 0

    def _clone(self, repo: Repo) -> Path:
        with self._lock:
            if self._folder is None:
                self._folder = Path(tempfile.mkdtemp(prefix="corebrain-git-"))
                weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
            clone = self._folder / f"{repo.name.replace('/', '+')}.git"
            if not clone.exists():
                self._run("init", "-q", "--bare", str(clone), at=self._folder)
                for key, value in (("url", self._url(repo)), ("promisor", "true"), ("partialclonefilter", "blob:none")):
                    self._run("config", f"remote.origin.{key}", value, at=clone)
            return clone

    def _url(self, repo: Repo) -> str:
        return f"{self._git_url}/{repo.now}.git"

    def _remote(self, repo: Repo, *arguments: str, at: Path | None = None, stdin: bytes = b"") -> bytes:
        """Run a command that asks the server.

        Raises:
            AuthError: The credential is refused.
            NotThere: There is no such repository.
            Unavailable: It cannot be reached.
        """
        with self._lock:
            self.requests += 1
        ran = self._ran(*arguments, at=at, stdin=stdin)
        if ran.returncode == 0:
            return ran.stdout
        said = ran.stderr.decode(errors="replace")
        if _MISSING.search(said):
            raise NotThere(f"{repo.now} is not there: deleted, or the credential may not see it")
        if _REFUSED.search(said):
            raise AuthError(f"git is refused for {repo.now}; check the credential and what it may read")
        raise Unavailable(f"git cannot read {repo.now} (exit {ran.returncode}); it is tried again at the next sync")

    def _run(self, *arguments: str, at: Path) -> bytes:
        ran = self._ran(*arguments, at=at)
        if ran.returncode:
            said = ran.stderr.decode(errors="replace").strip()[:200]
            raise DocumentError(f"git {arguments[0]} failed: {said}")
        return ran.stdout

    def _ran(self, *arguments: str, at: Path | None = None, stdin: bytes = b"") -> "subprocess.CompletedProcess[bytes]":
        """Run git without anybody's settings; the credential goes where other users cannot see it."""
        secret = self._authorisation() if not self._git_url.startswith("file://") else {}
        given = {f"GIT_CONFIG_VALUE_{i}": f"{name}: {value}" for i, (name, value) in enumerate(secret.items())}
        names = {f"GIT_CONFIG_KEY_{i}": f"http.{self._git_url}/.extraHeader" for i in range(len(secret))}
        path = f"{Path(self._program).parent}{os.pathsep}{os.defpath}"
        environment = {"PATH": path, **_QUIET, **given, **names, "GIT_CONFIG_COUNT": str(len(secret))}
        try:
            return subprocess.run(  # noqa: S603 - our own arguments; names are checked where they are configured
                [self._program, *arguments],
                cwd=at,
                input=stdin,
                capture_output=True,
                check=False,
                env=environment,
                timeout=_WAIT_S,
            )
        except subprocess.TimeoutExpired:
            raise Unavailable(f"git took more than {_WAIT_S} s; it is tried again at the next sync") from None
