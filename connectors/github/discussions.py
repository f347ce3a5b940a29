"""Discussions with comments and replies, which only GraphQL lists."""

import json
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import Any

from connectors.contract import Blob, Complete, Event, Json, Notes, Ref, Seen, Unchanged
from connectors.github.errors import NotThere
from connectors.github.issues import WHOLE_AFTER
from connectors.github.said import Obj, at, blob_of, digest, moment, ref_of, repo_in, written_for
from connectors.github.sending import Sender
from connectors.github.texts import discussion_text
from connectors.github.transport import Repo

_COMMENTS = """pageInfo { hasNextPage endCursor } nodes { body createdAt author { login }
    replies(first: 100) { nodes { body createdAt author { login } } } }"""
_FIELDS = f"""number title body url updatedAt author {{ login }} category {{ name }}
    labels(first: 20) {{ nodes {{ name }} }} comments(first: 50) {{ {_COMMENTS} }}"""
_LIST = f"""query($owner: String!, $name: String!, $after: String) {{ repository(owner: $owner, name: $name) {{
  discussions(first: 25, after: $after, orderBy: {{field: UPDATED_AT, direction: DESC}}) {{
    pageInfo {{ hasNextPage endCursor }} nodes {{ {_FIELDS} }} }} }} }}"""
_ONE = f"""query($owner: String!, $name: String!, $number: Int!) {{ repository(owner: $owner, name: $name) {{
  discussion(number: $number) {{ {_FIELDS} }} }} }}"""
_MORE = f"""query($owner: String!, $name: String!, $number: Int!, $after: String!) {{
  repository(owner: $owner, name: $name) {{ discussion(number: $number) {{
    comments(first: 100, after: $after) {{ {_COMMENTS} }} }} }} }}"""


class Discussions:
    """Lists and reads them.

    Args:
        sender: Sends the requests.
        now: The wall clock.
    """

    def __init__(self, sender: Sender, now: Callable[[], datetime]) -> None:
        self._sender = sender
        self.now = now

    def scan(self, repo: Repo, notes: Notes, *, goes_on: bool) -> Iterator[Event]:
        """List what changed since the last scan; everything when it does not go on, and once a day.

        Raises:
            ConnectorError: They cannot be listed.
        """
        since, whole_at = _noted(notes.get(f"discussed:{repo.name}")) if goes_on else ("", None)
        whole = not since or whole_at is None or self.now() - whole_at >= WHOLE_AFTER
        newest = since
        for one in self._listed(repo):
            if not whole and str(one["updatedAt"]) < since:
                break
            newest = max(newest, str(one["updatedAt"]))
            ref, text = self._made(repo, one)
            yield Seen(ref, blob_of(ref, text, "text.md", _as_issue(one)))
        listed = self.now() if whole else whole_at
        notes.put(f"discussed:{repo.name}", [newest, listed.isoformat() if listed else ""] if newest else None)
        if whole:
            yield Complete(at(repo, "discussions"))

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read one as it is now.

        Raises:
            DocumentGone: It was deleted.
            ConnectorError: It cannot be read.
        """
        where = json.loads(ref.locator)
        repo = repo_in(where)
        found = self._asked(_ONE, repo, ref.key, number=where["number"])["discussion"]
        if found is None:
            raise NotThere(f"{ref.key} is not there: deleted, or the credential may not see it")
        fresh, text = self._made(repo, found)
        if known is not None and known == fresh.token:
            return Unchanged(known)
        return blob_of(fresh, text, "text.md", _as_issue(found))

    def _listed(self, repo: Repo) -> Iterator[Obj]:
        after: str | None = None
        while True:
            page = self._asked(_LIST, repo, f"the discussions of {repo.now}", after=after)["discussions"]
            yield from page["nodes"]
            if not page["pageInfo"]["hasNextPage"]:
                return
            after = page["pageInfo"]["endCursor"]

    def _made(self, repo: Repo, one: Obj) -> tuple[Ref, str]:
        comments = one.get("comments") or {}
        text = discussion_text({**one, "comments": {"nodes": [*comments.get("nodes", ()), *self._rest(repo, one)]}})
        where = {**written_for(repo), "number": int(one["number"])}
        token = digest(str(one["title"]), text)
        return ref_of(repo, "discussions", str(one["number"]), token, _as_issue(one), json.dumps(where)), text

    def _rest(self, repo: Repo, one: Obj) -> Iterator[Obj]:
        """The comments beyond the first page."""
        page = (one.get("comments") or {}).get("pageInfo") or {}
        what = f"the comments of {at(repo, 'discussions')}{one['number']}"
        while page.get("hasNextPage"):
            found = self._asked(_MORE, repo, what, number=one["number"], after=page["endCursor"])
            comments = found["discussion"]["comments"]
            yield from comments["nodes"]
            page = comments["pageInfo"]

    def _asked(self, query: str, repo: Repo, what: str, **more: Any) -> Any:
        owner, _, name = repo.now.partition("/")
        return self._sender.graphql(query, {"owner": owner, "name": name, **more}, what)["repository"]


def _as_issue(one: Obj) -> dict[str, Any]:
    """A node with the names that REST gives such things."""
    labels = (one.get("labels") or {}).get("nodes") or ()
    return {**one, "html_url": one["url"], "updated_at": one["updatedAt"], "labels": labels}


def _noted(note: Json) -> tuple[str, datetime | None]:
    if isinstance(note, list) and len(note) == 2:
        return str(note[0]), moment(note[1])
    return str(note or ""), None
