"""A real git repository on disk, as the stand-in of GitHub serves it."""

import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_IDENTITY = {
    "GIT_AUTHOR_NAME": "Ada Example",
    "GIT_AUTHOR_EMAIL": "ada@example.com",
    "GIT_COMMITTER_NAME": "Ada Example",
    "GIT_COMMITTER_EMAIL": "ada@example.com",
    "GIT_AUTHOR_DATE": "2026-12-01T09:00:00Z",
    "GIT_COMMITTER_DATE": "2026-12-01T09:00:00Z",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_SYSTEM": os.devnull,
}


class GitFailed(Exception):
    """A git command failed."""


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """Run git in *folder* as a made-up person at a made-up time, and return what it said.

    Raises:
        GitFailed: It said no.
    """
    command = ["git", "-c", "core.quotePath=false", "-c", "gc.auto=0", *arguments]
    ran = subprocess.run(  # noqa: S603 - our own arguments
        command, cwd=folder, input=stdin, capture_output=True, check=False, env={**os.environ, **_IDENTITY}
    )
    if ran.returncode:
        raise GitFailed(ran.stderr.decode(errors="replace").strip())
    return ran.stdout


@dataclass(frozen=True, slots=True)
class Commit:
    """What git knows of a commit.

    Attributes:
        sha: Its id.
        tree: The id of its tree.
        parents: The ids of those before it.
        author: The author's name.
        date: The committer's, in ISO 8601.
        message: Whole.
    """

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: str
    date: str
    message: str


@dataclass(slots=True)
class Repository:
    """A repository with what GitHub knows beside git.

    Attributes:
        owner: Login of its owner.
        name: Without the owner.
        path: Its work tree or bare folder.
        number: GitHub's id of it.
        default_branch: What HEAD is.
        visible: False answers 404, as a deleted repository and one without access do.
        truncate: Entries after which recursive trees are cut.
        traits: `archived`, `fork`, `private`, `description`, `topics` … as in GitHub's answer.
        issues: GitHub's issue objects, pull requests included, newest change last; comments in `_comments`.
        releases: GitHub's release objects.
        discussions: GraphQL nodes.
    """

    owner: str
    name: str
    path: Path
    number: int
    default_branch: str = "main"
    visible: bool = True
    truncate: int = 100_000
    traits: dict[str, Any] = field(default_factory=dict)
    issues: list[dict[str, Any]] = field(default_factory=list)
    releases: list[dict[str, Any]] = field(default_factory=list)
    discussions: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def create(cls, folder: Path, full_name: str, number: int = 1, **more: Any) -> "Repository":
        """Make an empty repository in `folder/owner/name`."""
        owner, _, name = full_name.partition("/")
        path = folder / owner / name
        path.mkdir(parents=True)
        git(path, "init", "-q", "-b", "main")
        git(path, "config", "uploadpack.allowFilter", "true")
        git(path, "config", "uploadpack.allowAnySHA1InWant", "true")
        return cls(owner, name, path, number, **more)

    @property
    def full_name(self) -> str:
        """`owner/name`."""
        return f"{self.owner}/{self.name}"

    def git(self, *arguments: str, stdin: bytes = b"") -> bytes:
        """Run git in the repository."""
        return git(self.path, *arguments, stdin=stdin)

    def put(self, files: Mapping[str, str | bytes], message: str = "Edit") -> str:
        """Write files, commit everything, and return the commit."""
        for name, content in files.items():
            path = self.path / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return self.commit(message)

    def commit(self, message: str = "Edit") -> str:
        """Commit whatever changed in the work tree, and return the commit."""
        self.git("add", "-A", "-f")
        self.git("commit", "-q", "--allow-empty", "-m", message)
        return self.head(self.default_branch) or ""

    def head(self, ref: str) -> str | None:
        """Return the commit that a branch, tag, commit or `HEAD` is; `None` when there is none."""
        wanted = self.default_branch if ref == "HEAD" else ref
        try:
            return self.git("rev-parse", "-q", "--verify", "--end-of-options", f"{wanted}^{{commit}}").decode().strip()
        except GitFailed:
            return None

    def commits(self, *arguments: str) -> list[Commit]:
        """Return the commits that `git log` shows for *arguments*."""
        said = self.git("log", "-z", "--format=%H%x01%T%x01%P%x01%an%x01%cI%x01%B", *arguments).decode()
        parts = (one.split("\x01") for one in said.split("\0") if one)
        return [
            Commit(sha, tree, tuple(parents.split()), author, date, message.strip())
            for sha, tree, parents, author, date, message in parts
        ]
