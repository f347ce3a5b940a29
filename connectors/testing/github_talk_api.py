"""GitHub's answers about what people say: issues, pull requests, comments, releases, discussions."""

from typing import Any

from connectors.testing.github_git_api import ApiError
from connectors.testing.github_repository import Repository
from connectors.testing.github_shapes import WEB, Obj, legacy_node, user

_PAGE = "https://github.com/acme/api"


def issue(number: int, title: str, body: str, updated: str, **more: Any) -> Obj:
    """Make an issue; with `pull_request={}` it is a pull request. Its comments lie in `_comments`."""
    return {
        "id": 1000 + number,
        "node_id": legacy_node("Issue", str(1000 + number)),
        "number": number,
        "title": title,
        "body": body,
        "state": "open",
        "html_url": f"{_PAGE}/issues/{number}",
        "user": user("ada"),
        "labels": [],
        "assignee": None,
        "milestone": None,
        "locked": False,
        "closed_at": None,
        "author_association": "NONE",
        "comments": len(more.get("_comments", [])),
        "created_at": updated,
        "updated_at": updated,
        **more,
    }


def comment(number: int, body: str, made: str, login: str = "grace") -> Obj:
    """Make a comment of an issue."""
    return {
        "id": number,
        "node_id": legacy_node("IssueComment", str(number)),
        "url": f"https://api.github.com/repos/acme/api/issues/comments/{number}",
        "html_url": f"{_PAGE}/issues/1#issuecomment-{number}",
        "issue_url": "https://api.github.com/repos/acme/api/issues/1",
        "body": body,
        "user": user(login),
        "author_association": "NONE",
        "created_at": made,
        "updated_at": made,
    }


def release(number: int, tag: str, body: str, published: str, **more: Any) -> Obj:
    """Make a release."""
    at = f"https://api.github.com/repos/acme/api/releases/{number}"
    return {
        "id": number,
        "node_id": legacy_node("Release", str(number)),
        "tag_name": tag,
        "target_commitish": "main",
        "name": "",
        "body": body,
        "draft": False,
        "prerelease": False,
        "author": user("ada"),
        "assets": [],
        "html_url": f"{_PAGE}/releases/tag/{tag}",
        "url": at,
        "assets_url": f"{at}/assets",
        "upload_url": f"https://uploads.github.com/repos/acme/api/releases/{number}/assets{{?name,label}}",
        "tarball_url": f"https://api.github.com/repos/acme/api/tarball/{tag}",
        "zipball_url": f"https://api.github.com/repos/acme/api/zipball/{tag}",
        "created_at": published,
        "published_at": published,
        **more,
    }


def discussion(number: int, title: str, body: str, updated: str, **more: Any) -> Obj:
    """Make a node of GraphQL."""
    return {
        "number": number,
        "title": title,
        "body": body,
        "url": f"{_PAGE}/discussions/{number}",
        "updatedAt": updated,
        "author": {"login": "ada"},
        "category": {"name": "Q&A"},
        "labels": {"nodes": []},
        "comments": {"nodes": []},
        **more,
    }


def answer(repo: Repository, rest: list[str], query: dict[str, str], base: str) -> Any:
    """Answer about issues, comments and releases."""
    at = f"{base}/repos/{repo.full_name}"
    match rest:
        case ["issues"]:
            since = query.get("since", "")
            order = "updated_at" if query.get("sort") == "updated" else "created_at"
            found = sorted((one for one in repo.issues if one["updated_at"] >= since), key=lambda one: one[order])
            return [_shown(one, at) for one in page_of(found, query)]
        case ["issues", number]:
            return _shown(_issue(repo, number), at)
        case ["issues", number, "comments"]:
            return page_of(_issue(repo, number).get("_comments", []), query)
        case ["releases"]:
            return page_of(repo.releases, query)
        case ["releases", number]:
            return _found(repo.releases, "id", number)
    raise ApiError(404, "Not Found")


def page_of(found: list[Obj], query: dict[str, str]) -> list[Obj]:
    """Return the page that a query asks for; 30 to a page when it does not say."""
    size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
    return found[(page - 1) * size : page * size]


def count(repo: Repository, rest: list[str], query: dict[str, str]) -> int:
    """Return how many things a list has, over all its pages."""
    match rest:
        case ["issues"]:
            return sum(one["updated_at"] >= query.get("since", "") for one in repo.issues)
        case ["issues", number, "comments"]:
            return len(_issue(repo, number).get("_comments", []))
        case ["releases"]:
            return len(repo.releases)
    return 0


def discussions(repositories: dict[str, Repository], asked: Obj) -> Obj:
    """Answer the GraphQL queries of the connector: discussions, newest change first; one of them; its later comments.

    Comments come 50 to a page, then 100.
    """
    given = asked["variables"]
    repo = repositories.get(f"{given['owner']}/{given['name']}")
    if repo is None or not repo.visible:
        return _unresolved(f"Repository with the name '{given['owner']}/{given['name']}'", {"repository": None})
    if "number" not in given:
        newest = sorted(repo.discussions, key=lambda one: one["updatedAt"], reverse=True)
        nodes, more = _cut(newest, given.get("after"), 25)
        page = {"nodes": [_shortened(one, None) for one in nodes], "pageInfo": more}
        return {"data": {"repository": {"discussions": page}}}
    one = next((one for one in repo.discussions if one["number"] == given["number"]), None)
    if one is None:
        return _unresolved(f"Discussion with the number of {given['number']}", {"repository": {"discussion": None}})
    return {"data": {"repository": {"discussion": _shortened(one, given.get("after"))}}}


def _shortened(one: Obj, after: str | None) -> Obj:
    nodes, more = _cut(one["comments"]["nodes"], after, 100 if after else 50)
    return {**one, "comments": {"nodes": nodes, "pageInfo": more}}


def _cut(things: list[Obj], after: str | None, size: int) -> tuple[list[Obj], Obj]:
    first = int(after or 0)
    last = first + size
    return things[first:last], {"hasNextPage": len(things) > last, "endCursor": str(last)}


def _unresolved(what: str, data: Obj) -> Obj:
    return {"data": data, "errors": [{"type": "NOT_FOUND", "message": f"Could not resolve to a {what}."}]}


def _issue(repo: Repository, number: str) -> Obj:
    return _found(repo.issues, "number", number)


def _found(things: list[Obj], key: str, value: str) -> Obj:
    found = next((one for one in things if str(one[key]) == value), None)
    if found is None:
        raise ApiError(404, "Not Found")
    return found


def _shown(one: Obj, at: str) -> Obj:
    here = f"{at}/issues/{one['number']}"
    links = {what: f"{here}/{what.removesuffix('_url')}" for what in ("comments_url", "events_url")}
    told = {key: value for key, value in one.items() if not key.startswith("_")}
    if "pull_request" in told:
        pull, page = f"{at}/pulls/{one['number']}", f"{WEB}/{at.partition('/repos/')[2]}/pull/{one['number']}"
        told["pull_request"] = {
            "url": pull,
            "html_url": page,
            "diff_url": f"{page}.diff",
            "patch_url": f"{page}.patch",
            "merged_at": None,
        } | told["pull_request"]
    labels = f"{here}/labels{{/name}}"
    return {"url": here, "repository_url": at, "labels_url": labels, **links, **told}
