"""GitHub's answers about what people say: issues, pull requests, comments, releases, discussions."""

from typing import Any

from connectors.testing.github_git_api import ApiError
from connectors.testing.github_repository import Repository

Obj = dict[str, Any]


def issue(number: int, title: str, body: str, updated: str, **more: Any) -> Obj:
    """Make an issue; with `pull_request={}` it is a pull request. Its comments lie in `_comments`."""
    return {
        "id": 1000 + number,
        "number": number,
        "title": title,
        "body": body,
        "state": "open",
        "html_url": f"https://github.com/acme/api/issues/{number}",
        "user": {"login": "ada"},
        "labels": [],
        "comments": len(more.get("_comments", [])),
        "created_at": updated,
        "updated_at": updated,
        **more,
    }


def answer(repo: Repository, rest: list[str], query: dict[str, str], base: str) -> tuple[Any, int]:
    """Answer about issues, comments and releases."""
    del base
    match rest:
        case ["issues"]:
            since = query.get("since", "")
            found = sorted(
                (one for one in repo.issues if one["updated_at"] >= since), key=lambda one: one["updated_at"]
            )
            size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
            return [_shown(one) for one in found[(page - 1) * size : page * size]], 200
        case ["issues", number]:
            return _shown(_issue(repo, number)), 200
        case ["issues", number, "comments"]:
            return _issue(repo, number).get("_comments", []), 200
        case ["releases"]:
            size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
            return repo.releases[(page - 1) * size : page * size], 200
    raise ApiError(404, "Not Found")


def discussions(repositories: dict[str, Repository], asked: Obj) -> Obj:
    """Answer the one GraphQL query of the connector: the discussions of a repository, newest change first."""
    given = asked["variables"]
    repo = repositories.get(f"{given['owner']}/{given['name']}")
    if repo is None or not repo.visible:
        message = f"Could not resolve to a Repository with the name '{given['owner']}/{given['name']}'."
        return {"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "message": message}]}
    page = {"nodes": repo.discussions, "pageInfo": {"hasNextPage": False, "endCursor": None}}
    return {"data": {"repository": {"discussions": page}}}


def _issue(repo: Repository, number: str) -> Obj:
    found = next((one for one in repo.issues if str(one["number"]) == number), None)
    if found is None:
        raise ApiError(404, "Not Found")
    return found


def _shown(one: Obj) -> Obj:
    return {key: value for key, value in one.items() if not key.startswith("_")}
