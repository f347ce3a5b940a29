"""GitHub's answers about git data, from real repositories; shapes as in its schema and in recordings of others."""

import base64
import posixpath
from collections.abc import Iterable
from urllib.parse import quote

from connectors.testing.github_repository import GitFailed, Repository
from connectors.testing.github_shapes import WEB, Obj, commit, object_node

_CHANGES = {"A": "added", "M": "modified", "D": "removed", "R": "renamed", "C": "copied", "T": "changed"}
_COMPARED_FILES = 300
_ENCODED_BYTES = 2**20
"""Larger files come without their content (docs.github.com, "Get repository content")."""


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


def head(repo: Repository, ref: str) -> str:
    """Return the commit of a ref; 409 for an empty repository, 422 for what is no ref."""
    found = repo.head(ref)
    if found is None:
        if repo.head("HEAD") is None and not repo.git("rev-list", "-n1", "--all").strip():
            raise ApiError(409, "Git Repository is empty.")
        raise ApiError(422, f"No commit found for SHA: {ref}")
    return found


def one_commit(repo: Repository, sha: str, base: str) -> Obj:
    """Return a commit with the first of the files it changes."""
    (made,) = repo.commits("-1", sha)
    before = made.parents[0] if made.parents else _empty_tree(repo)
    files = _files(repo, before, sha, base)
    stats = {key: sum(one[key] for one in files) for key in ("additions", "deletions")}
    return {**commit(repo, made, base), "stats": {**stats, "total": sum(stats.values())}, "files": files}


def commits(repo: Repository, query: dict[str, str], base: str) -> list[Obj]:
    """Return the newest commits of a ref, of one path where the query names one."""
    paths = ["--", query["path"]] if "path" in query else []
    found = repo.commits(f"-{query.get('per_page', 30)}", head(repo, query.get("sha", "HEAD")), *paths)
    return [commit(repo, one, base) for one in found]


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
    entry: Obj = {"path": path, "mode": mode, "type": kind, "sha": sha}
    if kind != "commit":  # nobody knows where a submodule's commit lies
        entry["url"] = f"{at}/{kind}s/{sha}"
    return {**entry, "size": int(size)} if size != "-" else entry


def blob(repo: Repository, sha: str) -> bytes:
    """Return a blob's bytes."""
    try:
        return repo.git("cat-file", "blob", sha)
    except GitFailed as error:
        raise ApiError(404, "Not Found") from error


def blob_json(repo: Repository, sha: str, base: str) -> Obj:
    """Return a blob's object, as base64."""
    data = blob(repo, sha)
    return {
        "sha": sha,
        "node_id": object_node("B", repo.number, sha),
        "size": len(data),
        "url": f"{base}/repos/{repo.full_name}/git/blobs/{sha}",
        "encoding": "base64",
        "content": base64.encodebytes(data).decode(),
    }


def archive(repo: Repository, sha: str) -> bytes:
    """Return the tar.gz of a commit, below one folder, without what is export-ignored."""
    prefix = f"{repo.owner}-{repo.name}-{sha[:7]}/"
    return repo.git("archive", "--format=tar.gz", f"--prefix={prefix}", sha)


def contents(repo: Repository, path: str, ref: str, base: str) -> Obj | list[Obj]:
    """Return a file, or what lies in a folder; a link to a file of the repository is that file."""
    sha = head(repo, ref)
    entries = {one["path"]: one for one in tree(repo, sha, recursive=True, base=base)["tree"]}
    if path and path not in entries:
        raise ApiError(404, "Not Found")
    if not path or entries[path]["type"] == "tree":
        below = (one for key, one in entries.items() if posixpath.dirname(key) == path)
        return [_content(repo, one, sha, base, listed=True) for one in list(below)[:1000]]
    one = entries[path]
    if one["mode"] == "120000":
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), blob(repo, one["sha"]).decode()))
        one = {**entries.get(target, one), "path": path}
    return _content(repo, one, sha, base, listed=False)


def _content(repo: Repository, entry: Obj, commit_sha: str, base: str, *, listed: bool) -> Obj:
    path, kind = str(entry["path"]), _kind(entry)
    at = f"{base}/repos/{repo.full_name}/contents/{quote(path)}?ref={commit_sha}"
    page = f"{WEB}/{repo.full_name}/{'tree' if kind == 'dir' else 'blob'}/{commit_sha}/{quote(path)}"
    git = entry.get("url")
    raw = f"https://raw.githubusercontent.com/{repo.full_name}/{commit_sha}/{quote(path)}"
    told: Obj = {
        "name": posixpath.basename(path),
        "path": path,
        "sha": entry["sha"],
        "size": entry.get("size", 0),
        "url": at,
        "html_url": page,
        "git_url": git,
        "download_url": raw if kind in {"file", "symlink"} else None,
        "type": "file" if listed and kind == "submodule" else kind,  # as GitHub lists submodules to this day
        "_links": {"self": at, "git": git, "html": page},
    }
    if listed:
        return told
    if kind == "symlink":
        return {**told, "target": blob(repo, entry["sha"]).decode("utf-8", "replace")}
    if kind == "submodule":
        return {**told, "submodule_git_url": f"{WEB}/{repo.owner}/{told['name']}.git"}
    if told["size"] > _ENCODED_BYTES:
        return {**told, "encoding": "none", "content": ""}
    return {**told, "encoding": "base64", "content": base64.encodebytes(blob(repo, entry["sha"])).decode()}


def _kind(entry: Obj) -> str:
    if entry["mode"] == "120000":
        return "symlink"
    return {"tree": "dir", "commit": "submodule"}.get(entry["type"], "file")


def branches(repo: Repository, base: str) -> list[Obj]:
    """Return the branches, each with its head."""
    return [
        {
            "name": name,
            "commit": {"sha": sha, "url": f"{base}/repos/{repo.full_name}/commits/{sha}"},
            "protected": False,
        }
        for name, sha in _refs(repo, "refs/heads/")
    ]


def branch(repo: Repository, name: str, base: str) -> Obj:
    """Return one branch with its newest commit."""
    found = dict(_refs(repo, "refs/heads/"))
    if name not in found:
        raise ApiError(404, "Branch not found")
    at = f"{base}/repos/{repo.full_name}/branches/{quote(name)}"
    (made,) = repo.commits("-1", found[name])
    return {
        "name": name,
        "commit": commit(repo, made, base),
        "_links": {"self": at, "html": f"{WEB}/{repo.full_name}/tree/{quote(name)}"},
        "protected": False,
        "protection": {"enabled": False},
        "protection_url": f"{at}/protection",
    }


def tags(repo: Repository, base: str) -> list[Obj]:
    """Return the tags, each with the commit it is on."""
    at = f"{base}/repos/{repo.full_name}"
    return [
        {
            "name": name,
            "node_id": object_node("REF", repo.number, sha),
            "commit": {"sha": sha, "url": f"{at}/commits/{sha}"},
            "zipball_url": f"{at}/zipball/refs/tags/{quote(name)}",
            "tarball_url": f"{at}/tarball/refs/tags/{quote(name)}",
        }
        for name, sha in _refs(repo, "refs/tags/")
    ]


def compared(repo: Repository, basehead: str, base: str) -> Obj:
    """Return what lies between two refs, `base...head`; of the files at most 300."""
    old, _, new = basehead.partition("...")
    before, after = (_known(repo, ref) for ref in (old, new))
    try:
        middle = repo.git("merge-base", before, after).decode().strip()
    except GitFailed as error:
        raise ApiError(404, f"No common ancestor between {old} and {new}.") from error
    ahead = repo.commits("--reverse", f"{middle}..{after}")
    behind = repo.commits(f"{middle}..{before}")
    (first,), (shared,) = repo.commits("-1", before), repo.commits("-1", middle)
    status = "identical" if before == after else "diverged" if ahead and behind else "ahead" if ahead else "behind"
    at, page = f"{base}/repos/{repo.full_name}/compare/{basehead}", f"{WEB}/{repo.full_name}/compare/{basehead}"
    return {
        "url": at,
        "html_url": page,
        "permalink_url": page,
        "diff_url": f"{page}.diff",
        "patch_url": f"{page}.patch",
        "base_commit": commit(repo, first, base),
        "merge_base_commit": commit(repo, shared, base),
        "status": status,
        "ahead_by": len(ahead),
        "behind_by": len(behind),
        "total_commits": len(ahead),
        "commits": [commit(repo, one, base) for one in ahead[:250]],
        "files": _files(repo, middle, after, base)[:_COMPARED_FILES],
    }


def _known(repo: Repository, ref: str) -> str:
    found = repo.head(ref)
    if found is None:
        raise ApiError(404, "Not Found")
    return found


def _files(repo: Repository, before: str, after: str, base: str) -> list[Obj]:
    said = repo.git("diff", "-z", "-M", "--raw", "--no-abbrev", before, after).decode("utf-8", "replace")
    parts, found = iter(said.split("\0")), []
    for change in parts:
        if change:
            *_, sha, letter = change.split()
            names = [next(parts) for _ in range(2 if letter[0] in "RC" else 1)]
            found.append(_file(repo, after, names, sha, _CHANGES.get(letter[0], "changed"), base))
    return found


def _file(repo: Repository, commit_sha: str, names: Iterable[str], sha: str, status: str, base: str) -> Obj:
    *former, name = names
    page = f"{WEB}/{repo.full_name}"
    told: Obj = {
        "sha": sha,
        "filename": name,
        "status": status,
        "additions": 0,
        "deletions": 0,
        "changes": 0,
        "blob_url": f"{page}/blob/{commit_sha}/{quote(name)}",
        "raw_url": f"{page}/raw/{commit_sha}/{quote(name)}",
        "contents_url": f"{base}/repos/{repo.full_name}/contents/{quote(name)}?ref={commit_sha}",
    }
    return {**told, "previous_filename": former[0]} if former else told


def _refs(repo: Repository, below: str) -> list[tuple[str, str]]:
    said = repo.git("for-each-ref", "--format=%(refname) %(objectname) %(*objectname)", below).decode()
    rows = (line.split() for line in said.splitlines())
    return [(name.removeprefix(below), shas[-1]) for name, *shas in rows]


def _empty_tree(repo: Repository) -> str:
    return repo.git("mktree").decode().strip()
