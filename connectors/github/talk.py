"""What is said about a repository: issues, pull requests, releases, discussions, its wiki, its own description.

Each kind is asked for by name and is a collection of its own, `owner/name/issues`; keys are `owner/name!issues/12`,
which no file can have. None of it is pinned to a commit.
"""

import hashlib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from connectors.contract import Blob, Complete, Event, Failed, Json, Notes, Ref, Seen, Unchanged, within
from connectors.errors import AuthError, ConnectorError
from connectors.github.errors import BudgetSpent
from connectors.github.sending import Sender
from connectors.github.texts import about_text, discussion_text, issue_text, release_text
from connectors.github.transport import Repo
from connectors.github.wiki import Wiki
from connectors.http.errors import Unreachable

KINDS = ("issues", "pulls", "releases", "discussions", "wiki", "about")
"""What can be asked for."""

_NEXT = re.compile(r'<([^<>]+)>;\s*rel="next"')
_ENDING = (AuthError, BudgetSpent, Unreachable)
_DISCUSSIONS = """query($owner: String!, $name: String!, $after: String) {
  repository(owner: $owner, name: $name) {
    discussions(first: 25, after: $after, orderBy: {field: UPDATED_AT, direction: DESC}) {
      pageInfo { hasNextPage endCursor }
      nodes {
        number title body url updatedAt author { login } category { name }
        labels(first: 20) { nodes { name } }
        comments(first: 50) { nodes { body createdAt author { login } replies(first: 20) { nodes { body createdAt author { login } } } } }
      }
    }
  }
}"""  # noqa: E501 - one line of the query

Obj = Mapping[str, Any]


class Talk:
    """Lists and reads it.

    Args:
        sender: Sends the requests.
        kinds: Of `KINDS`.
        wiki: Reads wikis, when they are wanted.
    """

    def __init__(self, sender: Sender, kinds: Iterable[str], wiki: Wiki | None = None) -> None:
        self._sender = sender
        self._wiki = wiki
        self.kinds = tuple(kind for kind in KINDS if kind in set(kinds))

    def owns(self, ref: Ref) -> bool:
        """Whether a ref is of these kinds and not a file."""
        return "!" in _repo_part(ref.key)

    def covers(self, repo: Repo, scope: str) -> bool:
        """Whether anything of a repository lies in *scope*."""
        return any(within(scope, _at(repo, kind)) or within(_at(repo, kind), scope) for kind in self.kinds)

    def scan(self, repo: Repo, notes: Notes, *, goes_on: bool, scope: str = "") -> Iterator[Event]:
        """List a repository's kinds; with *goes_on* what changed since, where GitHub can tell."""
        lists = {
            "releases": self._releases,
            "discussions": self._discussions,
            "about": self._about,
            "wiki": self._pages_of_wiki,
        }
        done = False
        for kind in self.kinds:
            at = _at(repo, kind)
            if scope and not within(scope, at) and not within(at, scope):
                continue
            if kind in {"issues", "pulls"} and done and not scope:
                continue  # GitHub lists both in one
            try:
                events = lists[kind](repo, notes, goes_on) if kind in lists else self._issues(repo, notes, goes_on)
                done = done or kind in {"issues", "pulls"}
                yield from (event for event in events if _in_scope(scope, event))
            except _ENDING:
                raise
            except ConnectorError as error:
                yield Failed(at if within(scope, at) else scope, error)

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read one of them; only issues and pull requests with comments are not read while listing."""
        if self._wiki is not None and _kind_of(ref.key) == "wiki":
            if known is not None and known == ref.token:
                return Unchanged(known)
            return self._wiki.fetch(Repo(_repo_part(ref.key).partition("!")[0]), ref)
        where = json.loads(ref.locator)
        repo = Repo(str(where["repo"]), number=where.get("id"))
        one = self._sender.get(f"{repo.api}/issues/{where['number']}", ref.key).json()
        if known is not None and known == _token(one):
            return Unchanged(known)
        comments = list(self._pages(f"{repo.api}/issues/{where['number']}/comments", ref.key, {}))
        return self._issue(one, comments)

    def _issues(self, repo: Repo, notes: Notes, goes_on: bool) -> Iterator[Event]:
        since = notes.get(f"since:{repo.name}") if goes_on else None
        newest = str(since or "")
        asked: dict[str, str | int] = {"state": "all", "sort": "updated", "direction": "asc", "per_page": 100}
        for one in self._pages(f"{repo.api}/issues", repo.now, asked | ({"since": newest} if newest else {})):
            kind = "pulls" if "pull_request" in one else "issues"
            newest = max(newest, str(one["updated_at"]))
            if kind in self.kinds:
                blob = None if one.get("comments") else self._issue(one, [])
                yield Seen(_ref(repo, kind, str(one["number"]), _token(one), one, json.dumps(_where(repo, one))), blob)
        notes.put(f"since:{repo.name}", newest or None)

    def _issue(self, one: Obj, comments: list[Any]) -> Blob:
        return Blob(
            issue_text(one, comments).encode(),
            "text/markdown",
            filename=f"{one['number']}.md",
            token=_token(one),
            title=str(one["title"]),
            url=str(one["html_url"]),
            modified=_time(one["updated_at"]),
            tags=tuple(str(label["name"]) for label in one.get("labels") or () if isinstance(label, dict)),
        )

    def _releases(self, repo: Repo, notes: Notes, goes_on: bool) -> Iterator[Event]:
        del notes, goes_on
        for one in self._pages(f"{repo.api}/releases", repo.now, {"per_page": 100}):
            if one.get("draft"):
                continue
            text, title = release_text(one), str(one.get("name") or one["tag_name"])
            token = _digest(title, text)
            ref = _ref(repo, "releases", str(one["id"]), token, {**one, "title": title}, "")
            yield Seen(ref, _blob(text, title, token, one))
        yield Complete(_at(repo, "releases"))

    def _about(self, repo: Repo, notes: Notes, goes_on: bool) -> Iterator[Event]:
        del notes, goes_on
        one = self._sender.get(repo.api, repo.now).json()
        text, token = about_text(one), _digest(about_text(one))
        if text:
            told = {"title": one["full_name"], "html_url": one["html_url"]}
            yield Seen(_ref(repo, "about", "repository", token, told, ""), _blob(text, repo.now, token, told))
        yield Complete(_at(repo, "about"))

    def _pages_of_wiki(self, repo: Repo, notes: Notes, goes_on: bool) -> Iterator[Event]:
        if self._wiki is not None:
            yield from self._wiki.scan(repo, notes, goes_on=goes_on)

    def _discussions(self, repo: Repo, notes: Notes, goes_on: bool) -> Iterator[Event]:
        since = str(notes.get(f"discussed:{repo.name}") or "") if goes_on else ""
        newest, after, whole = since, None, not since
        owner, _, name = repo.now.partition("/")
        while True:
            variables = {"owner": owner, "name": name, "after": after}
            found = self._sender.graphql(_DISCUSSIONS, variables, f"the discussions of {repo.now}")
            page = found["repository"]["discussions"]
            for one in page["nodes"]:
                if since and str(one["updatedAt"]) < since:
                    page = {"pageInfo": {"hasNextPage": False}}
                    break
                newest = max(newest, str(one["updatedAt"]))
                text, told = discussion_text(one), {**one, "html_url": one["url"], "updated_at": one["updatedAt"]}
                token = _digest(str(one["title"]), text)
                ref = _ref(repo, "discussions", str(one["number"]), token, told, "")
                yield Seen(ref, _blob(text, str(one["title"]), token, told))
            if not page["pageInfo"]["hasNextPage"]:
                break
            after = page["pageInfo"]["endCursor"]
        notes.put(f"discussed:{repo.name}", newest or None)
        if whole:
            yield Complete(_at(repo, "discussions"))

    def _pages(self, path: str, what: str, params: dict[str, str | int]) -> Iterator[Any]:
        asked: dict[str, str | int] | None = params
        while path:
            answer = self._sender.get(path, what, params=asked)
            yield from answer.json()
            link = _NEXT.search(answer.headers.get("link", ""))
            path, asked = (link[1] if link else ""), None


def _in_scope(scope: str, event: Event) -> bool:
    """Whether a scoped scan says it: its own `Complete` comes at its end, and what lies outside is not its matter."""
    if isinstance(event, Seen):
        return within(scope, event.ref.key)
    return not scope


def _ref(repo: Repo, kind: str, name: str, token: str, one: Obj, locator: str) -> Ref:
    return Ref(
        f"{_at(repo, kind)}{name}",
        token,
        collection=f"{repo.name}/{kind}",
        locator=locator,
        title=str(one.get("title") or ""),
        url=str(one["html_url"]),
        media_type="text/markdown",
        modified=_time(one.get("updated_at") or one.get("published_at")),
    )


def _blob(text: str, title: str, token: str, one: Obj) -> Blob:
    return Blob(
        text.encode(),
        "text/markdown",
        filename="text.md",
        token=token,
        title=title,
        url=str(one["html_url"]),
        modified=_time(one.get("updated_at") or one.get("published_at")),
    )


def _where(repo: Repo, one: Obj) -> dict[str, Json]:
    return {"repo": repo.name, "id": repo.number, "number": int(one["number"])}


def _token(one: Obj) -> str:
    return f"{one['updated_at']} {one.get('comments', 0)}"


def _digest(*texts: str) -> str:
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:32]


def _at(repo: Repo, kind: str) -> str:
    return f"{repo.name}!{kind}/"


def _repo_part(key: str) -> str:
    return "/".join(key.split("/", 2)[:2])


def _kind_of(key: str) -> str:
    return _repo_part(key).partition("!")[2]


def _time(text: object) -> datetime | None:
    return datetime.fromisoformat(str(text)) if text else None
