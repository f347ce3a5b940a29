"""Issues and pull requests with their comments: GitHub lists both as issues, and by what changed since."""

import json
from collections.abc import Callable, Collection, Iterator
from datetime import datetime, timedelta
from typing import Any

from connectors.contract import Blob, Complete, Event, Failed, Gone, Json, Notes, Ref, Seen, Unchanged
from connectors.errors import ConnectorError, DocumentGone
from connectors.github.errors import ENDING
from connectors.github.said import Obj, at, blob_of, moment, pages, ref_of, repo_in, written_for
from connectors.github.sending import Sender
from connectors.github.texts import issue_text
from connectors.github.transport import Repo

WHOLE_AFTER = timedelta(days=1)
"""How often everything is listed, to find what was deleted: a list of changes does not tell."""


class Issues:
    """Lists and reads them.

    Args:
        sender: Sends the requests.
        kinds: `issues`, `pulls` or both.
        now: The wall clock.
    """

    def __init__(self, sender: Sender, kinds: Collection[str], now: Callable[[], datetime]) -> None:
        self._sender = sender
        self._kinds = kinds
        self.now = now

    def scan(self, repo: Repo, notes: Notes, *, goes_on: bool) -> Iterator[Event]:
        """List what changed since the last scan; everything when it does not go on, and once a day.

        Raises:
            ConnectorError: They cannot be listed.
        """
        since, whole_at = _noted(notes.get(f"since:{repo.name}")) if goes_on else ("", None)
        whole = not since or whole_at is None or self.now() - whole_at >= WHOLE_AFTER
        # by creation nothing changes its place while the pages are read
        asked: dict[str, str | int] = {"state": "all", "direction": "asc", "per_page": 100}
        asked |= {"sort": "created"} if whole else {"sort": "updated", "since": since}
        newest = since
        for one in pages(self._sender, f"{repo.api}/issues", repo.now, asked):
            kind = "pulls" if "pull_request" in one else "issues"
            newest = max(newest, str(one["updated_at"]))
            if kind in self._kinds:
                ref = self._ref(repo, kind, one)
                yield Seen(ref, None if one.get("comments") else _blob(ref, one, []))
        listed = self.now() if whole else whole_at
        notes.put(f"since:{repo.name}", [newest, listed.isoformat() if listed else ""] if newest else None)
        if whole and goes_on:
            yield from (Complete(at(repo, kind)) for kind in self._kinds)

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read one as it is now.

        Raises:
            DocumentGone: It was deleted, or moved to another repository.
            ConnectorError: It cannot be read.
        """
        where = json.loads(ref.locator)
        repo, kind = repo_in(where), str(where["kind"])
        here = f"{repo.api}/issues/{where['number']}"
        one = self._one(repo, here, ref.key)
        fresh = self._ref(repo, kind, one)
        if known is not None and known == fresh.token:
            return Unchanged(known)
        return _blob(fresh, one, list(pages(self._sender, f"{here}/comments", ref.key, {"per_page": 100})))

    def confirm(self, ref: Ref) -> Seen | Gone | Failed:
        """Look at one that a whole listing did not show: a page may lack what moved while it was read.

        Raises:
            AuthError: The credential is refused.
            Unavailable: GitHub is out of reach, or a limit is reached.
        """
        where = json.loads(ref.locator)
        repo = repo_in(where)
        try:
            one = self._one(repo, f"{repo.api}/issues/{where['number']}", ref.key)
        except DocumentGone:
            return Gone(ref.key)
        except ENDING:
            raise
        except ConnectorError as error:
            return Failed(ref.key, error)
        return Seen(self._ref(repo, str(where["kind"]), one))

    def _one(self, repo: Repo, path: str, what: str) -> Obj:
        answer = self._sender.get(path, what)
        stays = path if repo.number is not None else path[path.rindex("/issues/") :]  # a renamed one redirects, too
        if answer.url and not answer.url.endswith(stays):
            raise DocumentGone(f"{what} was moved to another repository")
        found: dict[str, Any] = answer.json()
        return found

    def _ref(self, repo: Repo, kind: str, one: Obj) -> Ref:
        where = {**written_for(repo), "kind": kind, "number": int(one["number"])}
        token = f"{one['updated_at']} {one.get('comments', 0)}"
        return ref_of(repo, kind, str(one["number"]), token, one, json.dumps(where))


def _blob(ref: Ref, one: Obj, comments: list[Any]) -> Blob:
    return blob_of(ref, issue_text(one, comments), f"{one['number']}.md", one)


def _noted(note: Json) -> tuple[str, datetime | None]:
    if isinstance(note, list) and len(note) == 2:
        return str(note[0]), moment(note[1])
    return str(note or ""), None
