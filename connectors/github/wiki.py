"""The wiki of a repository: a git repository of its own, `owner/name.wiki.git`, which no API reads."""

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

from connectors.contract import Blob, Complete, Event, Json, Notes, Ref, Seen, Unchanged
from connectors.errors import DocumentGone
from connectors.github.errors import NotThere
from connectors.github.git import GitTransport
from connectors.github.listing import MARKDOWN, locator, suffix
from connectors.github.reading import MAX_BYTES
from connectors.github.transport import Head, Repo
from connectors.github.tree import Entry, keys_of

_PAGES = MARKDOWN | {"rst", "adoc", "asciidoc", "org", "textile", "mediawiki", "rdoc", "creole", "txt"}
_FRESH = timedelta(minutes=10)  # a listing is believed so long; then the head is asked for again before a fetch


@dataclass(slots=True)
class _View:
    """A wiki as it was last listed."""

    head: Head
    at: datetime
    pages: dict[str, tuple[Ref, Entry]]


class Wiki:
    """Lists and reads wiki pages over git.

    Args:
        git: Brings the repositories.
        web: Where people see repositories.
        now: The wall clock.
    """

    def __init__(self, git: GitTransport, web: str, *, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._git = git
        self._web = web
        self.now = now
        self._views: dict[str, _View] = {}
        self._lock = threading.Lock()

    def scan(self, repo: Repo, notes: Notes, *, goes_on: bool) -> Iterator[Event]:
        """List the pages; nothing when the wiki has not moved, and nothing when there is none and never was.

        Raises:
            NotThere: It was there before.
            ConnectorError: It cannot be listed.
        """
        note = f"wiki:{repo.name}"
        held = notes.get(note)
        known = Head(str(held), None, _own(repo)) if goes_on and held else None
        try:
            head = self._git.head(_own(repo), "HEAD", known)
        except NotThere:
            if held:
                raise
            return
        if head.unchanged:
            return
        view = self._listed(repo, head)
        with self._lock:
            self._views[repo.name] = view
        yield from (Seen(ref) for ref, _ in view.pages.values())
        told: Json = head.commit or None
        notes.put(note, told)
        yield Complete(f"{repo.name}!wiki/")

    def fetch(self, repo: Repo, ref: Ref, known: str | None) -> Blob | Unchanged:
        """Read a page as it is now.

        Raises:
            DocumentGone: There is no such page, or no wiki, any more.
            ConnectorError: It cannot be read.
        """
        fresh, entry = self._viewed(repo).pages.get(ref.key, (None, None))
        if fresh is None or entry is None:
            raise DocumentGone(f"{ref.key} is no page of the wiki any more")
        if known is not None and known == fresh.token:
            return Unchanged(known)
        return Blob(
            self._git.blob(_own(repo), entry, MAX_BYTES),
            "text/markdown" if suffix(entry.path) in MARKDOWN else "",
            filename=entry.path.rpartition("/")[2],
            token=fresh.token,
            title=fresh.title,
            url=fresh.url,
        )

    def _viewed(self, repo: Repo) -> _View:
        """The wiki, not older than ten minutes."""
        with self._lock:
            view = self._views.get(repo.name)
            if view is None or self.now() - view.at >= _FRESH:
                head = self._git.head(_own(repo), "HEAD", view.head if view else None)
                if view is not None and head.unchanged:
                    view.at = self.now()
                    return view
                self._views[repo.name] = view = self._listed(repo, head)
            return view

    def _listed(self, repo: Repo, head: Head) -> _View:
        tree = self._git.tree(_own(repo), head.commit, lambda _: True) if head.commit else None
        found = {entry.path: entry for entry in tree.files() if suffix(entry.path) in _PAGES} if tree else {}
        pages = {}
        for path, key in keys_of(found).items():
            ref = self._ref(repo, key, found[path])
            pages[ref.key] = (ref, found[path])
        return _View(head, self.now(), pages)

    def _ref(self, repo: Repo, key: str, entry: Entry) -> Ref:
        page = entry.path.rpartition("/")[2].rpartition(".")[0]
        return Ref(
            f"{repo.name}!wiki/{key}",
            entry.sha,
            content=entry.sha,
            collection=f"{repo.name}/wiki",
            locator=locator(entry, entry.path),
            title=page.replace("-", " "),
            url=f"{self._web}/{repo.now}/wiki/{quote(page)}",
        )


def _own(repo: Repo) -> Repo:
    return Repo(f"{repo.name}.wiki", f"{repo.now}.wiki")
