"""The objects that GitHub's API answers with, whole as its schema wants them; made up where git knows nothing."""

import base64
from typing import Any
from urllib.parse import quote

from connectors.testing.github_repository import Commit, Repository

Obj = dict[str, Any]

WEB = "https://github.com"
MADE_AT = "2026-12-01T09:00:00Z"

_USER_LINKS = (
    *("followers", "following{/other_user}", "gists{/gist_id}", "starred{/owner}{/repo}", "subscriptions"),
    *("orgs", "repos", "events{/privacy}", "received_events"),
)
_REPOSITORY_LINKS = (
    *("{archive_format}{/ref}", "assignees{/user}", "git/blobs{/sha}", "branches{/branch}"),
    *("collaborators{/collaborator}", "comments{/number}", "commits{/sha}", "compare/{base}...{head}"),
    *("contents/{+path}", "contributors", "deployments", "downloads", "events", "forks", "git/commits{/sha}"),
    *("git/refs{/sha}", "git/tags{/sha}", "hooks", "issues/comments{/number}", "issues/events{/number}"),
    *("issues{/number}", "keys{/key_id}", "labels{/name}", "languages", "merges", "milestones{/number}"),
    *("notifications{?since,all,participating}", "pulls{/number}", "releases{/id}", "stargazers"),
    *("statuses/{sha}", "subscribers", "subscription", "tags", "teams", "git/trees{/sha}"),
)
_ODD_NAMES = {
    "{archive_format}{/ref}": "archive_url",
    "git/commits{/sha}": "git_commits_url",
    "git/refs{/sha}": "git_refs_url",
    "git/tags{/sha}": "git_tags_url",
    "issues/comments{/number}": "issue_comment_url",
    "issues/events{/number}": "issue_events_url",
    "orgs": "organizations_url",
}
_COUNTS = ("forks", "open_issues", "stargazers", "watchers")


def user(login: str) -> Obj:
    """Return somebody's object; the login alone makes it."""
    number = sum(login.encode())
    at = f"https://api.github.com/users/{quote(login)}"
    return {
        "login": login,
        "id": number,
        "node_id": legacy_node("User", str(number)),
        "avatar_url": f"https://avatars.githubusercontent.com/u/{number}?v=4",
        "gravatar_id": "",
        "url": at,
        "html_url": f"{WEB}/{quote(login)}",
        "type": "User",
        "site_admin": False,
        **_links(at, _USER_LINKS),
    }


def repository(repo: Repository, base: str, *, whole: bool = True) -> Obj:
    """Return the repository's object: the whole, or what a listing shows."""
    at, page = f"{base}/repos/{repo.full_name}", f"{WEB}/{repo.full_name}"
    listed: Obj = {
        "id": repo.number,
        "node_id": legacy_node("Repository", str(repo.number)),
        "name": repo.name,
        "full_name": repo.full_name,
        "private": False,
        "owner": {**user(repo.owner), "type": "Organization"},
        "html_url": page,
        "url": at,
        "description": None,
        "fork": False,
        "archived": False,
        "disabled": False,
        "default_branch": repo.default_branch,
        "topics": [],
        "pushed_at": MADE_AT,
        **_links(at, _REPOSITORY_LINKS),
        **repo.traits,
    }
    if not whole:
        return listed
    return {
        "created_at": MADE_AT,
        "updated_at": MADE_AT,
        "clone_url": f"{page}.git",
        "git_url": f"git://github.com/{repo.full_name}.git",
        "ssh_url": f"git@github.com:{repo.full_name}.git",
        "svn_url": page,
        "mirror_url": None,
        "homepage": None,
        "language": None,
        "license": None,
        "size": 1,
        "network_count": 0,
        "subscribers_count": 0,
        **{f"has_{what}": False for what in ("issues", "projects", "wiki", "pages", "discussions")},
        **{f"{what}_count": 0 for what in _COUNTS},
        **{what: 0 for what in _COUNTS if what != "stargazers"},
        **listed,
    }


def commit(repo: Repository, made: Commit, base: str) -> Obj:
    """Return a commit's object, without the files it changes."""
    at = f"{base}/repos/{repo.full_name}"
    person = {"name": made.author, "email": "person@example.com", "date": made.date}
    return {
        "sha": made.sha,
        "node_id": object_node("C", repo.number, made.sha),
        "url": f"{at}/commits/{made.sha}",
        "html_url": f"{WEB}/{repo.full_name}/commit/{made.sha}",
        "comments_url": f"{at}/commits/{made.sha}/comments",
        "commit": {
            "url": f"{at}/git/commits/{made.sha}",
            "author": person,
            "committer": person,
            "message": made.message,
            "comment_count": 0,
            "tree": {"sha": made.tree, "url": f"{at}/git/trees/{made.tree}"},
            "verification": {
                "verified": False,
                "reason": "unsigned",
                **dict.fromkeys(("signature", "payload", "verified_at")),
            },
        },
        "author": user("ada"),
        "committer": user("ada"),
        "parents": [
            {
                "sha": sha,
                "url": f"{at}/commits/{sha}",
                "html_url": f"{WEB}/{repo.full_name}/commit/{sha}",
            }
            for sha in made.parents
        ],
    }


def installation(login: str, base: str) -> Obj:
    """Return the installation of an app for an account."""
    return {
        "id": 7,
        "account": user(login),
        "app_id": 5,
        "app_slug": "mirror",
        "target_id": user(login)["id"],
        "target_type": "Organization",
        "single_file_name": None,
        "repository_selection": "all",
        "access_tokens_url": f"{base}/app/installations/7/access_tokens",
        "repositories_url": f"{base}/installation/repositories",
        "html_url": f"{WEB}/organizations/{login}/settings/installations/7",
        "permissions": {"contents": "read", "metadata": "read"},
        "events": [],
        "created_at": MADE_AT,
        "updated_at": MADE_AT,
        "suspended_by": None,
        "suspended_at": None,
    }


def legacy_node(kind: str, name: str) -> str:
    """Return a node id as GitHub made them until 2021."""
    return base64.b64encode(f"{len(kind):02d}:{kind}{name}".encode()).decode()


def object_node(kind: str, repository_number: int, sha: str) -> str:
    """Return the node id of a git object as GitHub makes them now: msgpack of `[0, repository, sha]`."""
    packed = b"\x93\x00\xce" + repository_number.to_bytes(4, "big") + b"\xd9" + bytes([len(sha)]) + sha.encode()
    return f"{kind}_{base64.urlsafe_b64encode(packed).decode().rstrip('=')}"


def _links(at: str, templates: tuple[str, ...]) -> Obj:
    return {_name_of(template): f"{at}/{template}" for template in templates}


def _name_of(template: str) -> str:
    return _ODD_NAMES.get(template) or f"{template.partition('{')[0].strip('/').rpartition('/')[2]}_url"
