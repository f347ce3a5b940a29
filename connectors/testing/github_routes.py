"""Which of GitHub's answers a path gets."""

import json
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, urlencode

from connectors.testing import github_git_api as git_api
from connectors.testing import github_shapes as shapes
from connectors.testing import github_talk_api as talk
from connectors.testing.github_git_api import ApiError
from connectors.testing.github_repository import Repository
from connectors.testing.loopback import Reply, Request

if TYPE_CHECKING:
    from connectors.testing.github_server import GitHubServer


def download(owner: "GitHubServer", path: str) -> Reply:
    """Answer as the host of archives does."""
    _, _, account, name, sha = path.split("/")
    data = owner.archive_of(owner.find(f"{account}/{name}"), sha)
    return Reply(200, data, {"Content-Type": "application/x-gzip"})


def routed(owner: "GitHubServer", asked: Request) -> Reply:
    """Answer as the API does.

    Raises:
        ApiError: The answer is no success.
    """
    parts = [unquote(part) for part in asked.path.strip("/").split("/")]
    match parts:
        case ["graphql"]:
            return Reply.json(talk.discussions(owner.repositories, json.loads(asked.body)))
        case ["rate_limit"]:
            return Reply.json(owner.budget.overview())
        case ["app", "installations", *_] | ["users" | "orgs", _, "installation"]:
            return _installation(owner, parts)
        case ["orgs" | "users", login, "repos"]:
            return _listing(owner, login, asked)
        case ["repositories", number, *rest]:
            return _of_repository(owner, owner.numbered(number), rest, asked)
        case [*_, "lfs", "objects", "batch"] if asked.method == "POST":
            return _lfs_batch(owner, json.loads(asked.body))
        case ["lfs", oid]:
            return Reply(200, owner.lfs[oid], {"Content-Type": "application/octet-stream"})
        case ["repos", account, name, *rest]:
            full_name = f"{account}/{name}"
            if full_name in owner.moved and full_name not in owner.repositories:
                return _moved(owner, owner.moved[full_name], asked)
            return _of_repository(owner, owner.find(full_name), rest, asked)
    raise ApiError(404, "Not Found")


def _of_repository(owner: "GitHubServer", repo: Repository, rest: list[str], asked: Request) -> Reply:
    base, query, accept = owner.url, asked.query, asked.headers.get("Accept") or ""
    match rest:
        case []:
            return Reply.json(shapes.repository(repo, base))
        case ["commits"]:
            return Reply.json(git_api.commits(repo, query, base))
        case ["commits", *ref] if "github.sha" in accept:
            sha = git_api.head(repo, "/".join(ref))
            return Reply(200, sha.encode(), {"Content-Type": "application/vnd.github.sha", "ETag": f'"{sha}"'})
        case ["commits", *ref]:
            return Reply.json(git_api.one_commit(repo, git_api.head(repo, "/".join(ref)), base))
        case ["git", "blobs", sha] if "raw" in accept:
            return Reply(200, git_api.blob(repo, sha), {"Content-Type": "application/vnd.github.raw"})
        case ["tarball", sha] if owner.archives:
            return Reply(302, b"", {"Location": f"{base}/codeload/{repo.full_name}/{sha}"})
    return Reply.json(_of_git(repo, rest, query, base), headers=_next_page(owner, repo, rest, asked))


def _of_git(repo: Repository, rest: list[str], query: dict[str, str], base: str) -> Any:
    match rest:
        case ["git", "trees", sha]:
            return git_api.tree(repo, sha, recursive="recursive" in query, base=base)
        case ["git", "blobs", sha]:
            return git_api.blob_json(repo, sha, base)
        case ["contents", *path]:
            return git_api.contents(repo, "/".join(path), query.get("ref", "HEAD"), base)
        case ["compare", *basehead]:
            return git_api.compared(repo, "/".join(basehead), base)
        case ["branches"]:
            return git_api.branches(repo, base)
        case ["branches", *name]:
            return git_api.branch(repo, "/".join(name), base)
        case ["tags"]:
            return git_api.tags(repo, base)
    return talk.answer(repo, rest, query, base)


def _next_page(owner: "GitHubServer", repo: Repository, rest: list[str], asked: Request) -> dict[str, str]:
    """The header that tells where a list goes on: by the repository's number, as GitHub's does."""
    size, page = int(asked.query.get("per_page", 30)), int(asked.query.get("page", 1))
    if talk.count(repo, rest, asked.query) <= page * size:
        return {}
    query = urlencode({**asked.query, "page": page + 1})
    return {"Link": f'<{owner.url}/repositories/{repo.number}/{"/".join(rest)}?{query}>; rel="next"'}


def _moved(owner: "GitHubServer", repo: Repository, asked: Request) -> Reply:
    rest = "/".join(["", *asked.path.strip("/").split("/")[3:]])
    query = f"?{urlencode(asked.query)}" if asked.query else ""
    where = f"{owner.url}/repositories/{repo.number}{rest}{query}"
    told = {"message": "Moved Permanently", "url": where, "documentation_url": "https://docs.github.com/rest"}
    return Reply.json(told, 301, {"Location": where})


def _listing(owner: "GitHubServer", login: str, asked: Request) -> Reply:
    found = [repo for repo in owner.repositories.values() if repo.owner == login and repo.visible]
    if not found:
        raise ApiError(404, "Not Found")
    size, page = int(asked.query.get("per_page", 30)), int(asked.query.get("page", 1))
    shown = found[(page - 1) * size : page * size]
    more = {}
    if len(found) > page * size:
        more["Link"] = f'<{owner.url}{asked.path}?per_page={size}&page={page + 1}>; rel="next"'
    return Reply.json([shapes.repository(repo, owner.url, whole=False) for repo in shown], headers=more)


def _installation(owner: "GitHubServer", parts: list[str]) -> Reply:
    if parts[-1] == "installation":
        return Reply.json(shapes.installation(parts[1], owner.url))
    expires = datetime.fromtimestamp(time.time() + 3600, UTC).isoformat()
    return Reply.json({"token": owner.new_token(), "expires_at": expires}, 201)


def _lfs_batch(owner: "GitHubServer", asked: Any) -> Reply:
    objects = []
    for one in asked["objects"]:
        oid = one["oid"]
        if oid in owner.lfs:
            objects.append({**one, "actions": {"download": {"href": f"{owner.url}/lfs/{oid}"}}})
        else:
            objects.append({**one, "error": {"code": 404, "message": "Object does not exist"}})
    return Reply.json({"transfer": "basic", "objects": objects})


def side_door(owner: "GitHubServer", asked: Request) -> Reply:
    """Answer outside the API: the log, and faults to play with."""
    if asked.path == "/_log":
        return Reply.json(list(owner.log))
    if asked.path == "/_fail" and asked.method == "POST":
        try:
            owner.fail(**json.loads(asked.body))
        except (TypeError, ValueError) as error:
            return Reply.json({"error": repr(error)}, 400)
        return Reply.json({"armed": json.loads(asked.body)})
    return Reply.json({"error": "there is GET /_log and POST /_fail"}, 404)
