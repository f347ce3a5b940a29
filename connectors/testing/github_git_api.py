"""GitHub's answers about git data, from real repositories; shapes as in the recordings of hub4j and octokit."""

import base64
from typing import Any
from urllib.parse import quote

from connectors.testing.github_repository import GitFailed, Repository

Obj = dict[str, Any]

_TYPES = {"blob": "blob", "tree": "tree", "commit": "commit"}


class ApiError(Exception):
    """An answer that is no success.

    Attributes:
        status: Of the reply.
        message: GitHub's own words.
    """

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.message = message


def repository(repo: Repository, base: str) -> Obj:
    """Return the repository's object."""
    return {
        "id": repo.number,
        "name": repo.name,
        "full_name": repo.full_name,
        "private": False,
        "owner": {"login": repo.owner, "type": "Organization"},
        "html_url": f"https://github.com/{repo.full_name}",
        "url": f"{base}/repos/{repo.full_name}",
        "description": None,
        "fork": False,
        "archived": False,
        "disabled": False,
        "default_branch": repo.default_branch,
        "topics": [],
        "pushed_at": "2026-12-01T09:00:00Z",
        **repo.traits,
    }


def head(repo: Repository, ref: str) -> str:
    """Return the commit of a ref; 409 for an empty repository, 422 for what is no ref."""
    found = repo.head(ref)
    if found is None:
        if repo.head("HEAD") is None and not repo.git("rev-list", "-n1", "--all").strip():
            raise ApiError(409, "Git Repository is empty.")
        raise ApiError(422, f"No commit found for SHA: {ref}")
    return found


def tree(repo: Repository, sha: str, *, recursive: bool, base: str) -> Obj:
    """Return a tree; cut after `Repository.truncate` entries when it is recursive."""
    options = ["-r", "-t"] if recursive else []
    try:
        listed = repo.git("ls-tree", "-z", "-l", *options, sha)
    except GitFailed as error:
        raise ApiError(404, "Not Found") from error
    lines = [line for line in listed.decode("utf-8", "replace").split("\0") if line]
    entries = [_entry(line, f"{base}/repos/{repo.full_name}/git") for line in lines]
    truncated = recursive and len(entries) > repo.truncate
    return {
        "sha": sha,
        "url": f"{base}/repos/{repo.full_name}/git/trees/{sha}",
        "tree": entries[: repo.truncate] if truncated else entries,
        "truncated": truncated,
    }


def _entry(line: str, at: str) -> Obj:
    head, _, path = line.partition("\t")
    mode, kind, sha, size = head.split()
    entry: Obj = {"path": path, "mode": mode, "type": kind, "sha": sha, "url": f"{at}/{kind}s/{sha}"}
    return {**entry, "size": int(size)} if size != "-" else entry


def blob(repo: Repository, sha: str) -> bytes:
    """Return a blob's bytes."""
    try:
        return repo.git("cat-file", "blob", sha)
    except GitFailed as error:
        raise ApiError(404, "Not Found") from error


def blob_json(repo: Repository, sha: str) -> Obj:
    """Return a blob's object, as base64."""
    data = blob(repo, sha)
    return {"sha": sha, "size": len(data), "encoding": "base64", "content": base64.encodebytes(data).decode()}


def archive(repo: Repository, sha: str) -> bytes:
    """Return the tar.gz of a commit, below one folder, without what is export-ignored."""
    prefix = f"{repo.owner}-{repo.name}-{sha[:7]}/"
    return repo.git("archive", "--format=tar.gz", f"--prefix={prefix}", sha)


def last_commits(repo: Repository, sha: str, path: str) -> list[Obj]:
    """Return the last commit that touched a path."""
    said = repo.git("log", "-1", "--format=%H%x00%cI%x00%an", sha, "--", path).decode().strip()
    if not said:
        return []
    commit, date, name = said.split("\0")
    person = {"name": name, "email": "person@example.com", "date": date}
    return [{"sha": commit, "commit": {"author": person, "committer": person}, "author": {"login": quote(name)}}]
