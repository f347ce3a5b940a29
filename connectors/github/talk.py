"""What is said about a repository: issues, pull requests, releases, discussions, its wiki, its own description.

Each kind is asked for by name and is a collection of its own, `owner/name/issues`; keys are `owner/name!issues/12`,
which no file can have. None of it is pinned to a commit.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime

from connectors.contract import Blob, Complete, Event, Failed, Gone, Notes, Ref, Seen, Unchanged, within
from connectors.errors import ConnectorError, DocumentGone
from connectors.github.discussions import Discussions
from connectors.github.errors import ENDING
from connectors.github.issues import Issues
from connectors.github.said import Obj, at, blob_of, digest, pages, ref_of, repo_in, written_for
from connectors.github.sending import Sender, understood
from connectors.github.texts import about_text, release_text
from connectors.github.transport import Repo
from connectors.github.wiki import Wiki

KINDS = ("issues", "pulls", "releases", "discussions", "wiki", "about")
"""What can be asked for."""


class Talk:
    """Lists and reads it.

    Args:
        sender: Sends the requests.
        kinds: Of `KINDS`.
        wiki: Reads wikis, when they are wanted.
        now: The wall clock.
    """

    def __init__(
        self,
        sender: Sender,
        kinds: Iterable[str],
        wiki: Wiki | None = None,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._sender = sender
        self._wiki = wiki
        self.kinds = tuple(kind for kind in KINDS if kind in set(kinds))
        self.issues = Issues(sender, [kind for kind in self.kinds if kind in {"issues", "pulls"}], now)
        self.discussions = Discussions(sender, now)

    def covers(self, repo: Repo, scope: str) -> bool:
        """Whether anything of a repository lies in *scope*."""
        return any(within(scope, at(repo, kind)) or within(at(repo, kind), scope) for kind in self.kinds)

    def scan(self, repo: Repo, notes: Notes, *, goes_on: bool, scope: str = "") -> Iterator[Event]:
        """List a repository's kinds; with *goes_on* what changed since, where GitHub can tell."""
        done = False
        for kind in self.kinds:
            here = at(repo, kind)
            if scope and not within(scope, here) and not within(here, scope):
                continue
            if kind in {"issues", "pulls"} and done and not scope:
                continue  # GitHub lists both in one
            try:
                events = self._listed(kind, repo, notes, goes_on=goes_on)
                done = done or kind in {"issues", "pulls"}
                with understood(here):
                    yield from (event for event in events if _is_said(event, scope, goes_on=goes_on))
            except ENDING:
                raise
            except ConnectorError as error:
                yield Failed(here if within(scope, here) else scope, error)

    def _listed(self, kind: str, repo: Repo, notes: Notes, *, goes_on: bool) -> Iterator[Event]:
        if kind in {"issues", "pulls"}:
            return self.issues.scan(repo, notes, goes_on=goes_on)
        if kind == "discussions":
            return self.discussions.scan(repo, notes, goes_on=goes_on)
        if kind == "releases":
            return self._releases(repo)
        if kind == "about":
            return self._about(repo)
        return self._wiki.scan(repo, notes, goes_on=goes_on) if self._wiki is not None else iter(())

    def _releases(self, repo: Repo) -> Iterator[Event]:
        for one in pages(self._sender, f"{repo.api}/releases", repo.now, {"per_page": 100}):
            if not one.get("draft"):
                yield Seen(*_release(repo, one))
        yield Complete(at(repo, "releases"))

    def _about(self, repo: Repo) -> Iterator[Event]:
        one = self._sender.get(repo.api, repo.now).json()
        if about_text(one):
            yield Seen(*_own_words(repo, one))
        yield Complete(at(repo, "about"))

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read one of them as it is now; most were read by listing them.

        Raises:
            DocumentGone: It is not there any more.
            ConnectorError: It cannot be read.
        """
        with understood(ref.key):
            return self._fetched(kind_of(ref.key), ref, known)

    def _fetched(self, kind: str, ref: Ref, known: str | None) -> Blob | Unchanged:
        if kind == "wiki" and self._wiki is not None:
            return self._wiki.fetch(Repo(_repo_part(ref.key).partition("!")[0]), ref, known)
        if kind in {"issues", "pulls"}:
            return self.issues.fetch(ref, known)
        if kind == "discussions":
            return self.discussions.fetch(ref, known)
        where = json.loads(ref.locator)
        repo = repo_in(where)
        if kind == "releases":
            _, blob = _release(repo, self._sender.get(f"{repo.api}/releases/{where['number']}", ref.key).json())
        else:
            one = self._sender.get(repo.api, repo.now).json()
            if not about_text(one):
                raise DocumentGone(f"{repo.now} says nothing of itself any more")
            _, blob = _own_words(repo, one)
        return Unchanged(blob.token) if known is not None and known == blob.token else blob

    def confirm(self, ref: Ref) -> Seen | Gone | Failed:
        """Look at one that a whole listing did not show."""
        kind = kind_of(ref.key)
        if kind not in self.kinds or kind not in {"issues", "pulls"}:
            return Gone(ref.key)
        with understood(ref.key):
            return self.issues.confirm(ref)


def kind_of(key: str) -> str:
    """Return which of `KINDS` a key is of; empty for a file."""
    return _repo_part(key).partition("!")[2]


def _repo_part(key: str) -> str:
    return "/".join(key.split("/", 2)[:2])


def _is_said(event: Event, scope: str, *, goes_on: bool) -> bool:
    """Whether a scan says it: a whole or scoped one ends with a `Complete` of its own."""
    return within(scope, event.ref.key) if isinstance(event, Seen) else goes_on and not scope


def _release(repo: Repo, one: Obj) -> tuple[Ref, Blob]:
    text, title = release_text(one), str(one.get("name") or one["tag_name"])
    where = json.dumps({**written_for(repo), "number": int(one["id"])})
    ref = ref_of(repo, "releases", str(one["id"]), digest(title, text), {**one, "title": title}, where)
    return ref, blob_of(ref, text, "text.md", one)


def _own_words(repo: Repo, one: Obj) -> tuple[Ref, Blob]:
    text = about_text(one)
    told = {"title": one["full_name"], "html_url": one["html_url"]}
    ref = ref_of(repo, "about", "repository", digest(text), told, json.dumps(written_for(repo)))
    return ref, blob_of(ref, text, "text.md", told)
