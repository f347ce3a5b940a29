"""Repositories as they were last seen: what a scan listed, and what a fetch long after it may still believe."""

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from connectors.contract import Notes, Ref, within
from connectors.errors import DocumentGone
from connectors.github.links import Links
from connectors.github.listing import Listing, Manifest, listing_of, located
from connectors.github.selection import Selection
from connectors.github.supply import Supply
from connectors.github.transport import Head, Repo, Transport
from connectors.github.tree import Entry, Tree

_FRESH = timedelta(minutes=10)  # a listing is believed so long; then the head is asked for again before a fetch
_GATHERED = ((8, 64 * 2**20), (50, 2 * 2**30))
"""After so many blobs that nobody expected, a repository of up to so many bytes is read at once."""


@dataclass(slots=True)
class View:
    """A repository as it was last seen.

    Attributes:
        head: Where it was.
        at: When that was asked.
        listed: Hashes of (key, token, locator) that the last scan listed at this head.
        listing: The whole listing, once a fetch needed it.
        tree: What that was made of, as long as the rest may have to be got at once.
        gathered: How much was read at once for fetches of what no scan expected: nothing yet, or up to so many bytes.
    """

    head: Head
    at: datetime
    listed: set[int] = field(default_factory=set)
    listing: Listing | None = None
    tree: Tree | None = None
    gathered: int = 0


class Views:
    """The views of one source; safe for threads.

    Args:
        transport: How files are read.
        supply: Told which blobs will be asked for.
        selection: Which files are wanted.
        ref: Branch or tag.
        web: Where people see repositories.
        now: The wall clock.
    """

    def __init__(
        self,
        transport: Transport,
        supply: Supply,
        selection: Selection,
        *,
        ref: str,
        web: str,
        now: Callable[[], datetime],
    ) -> None:
        self._transport = transport
        self._supply = supply
        self._selection = selection
        self._ref = ref
        self._web = web
        self._now = now
        self._views: dict[str, View] = {}
        self._lock = threading.Lock()

    def __getitem__(self, name: str) -> View:
        """Return the view of a repository that was listed."""
        return self._views[name]

    def get(self, name: str) -> View | None:
        """Return the view of a repository, if there is one."""
        return self._views.get(name)

    def repos(self) -> list[Repo]:
        """Return the repositories seen so far."""
        with self._lock:
            return [view.head.repo for view in self._views.values()]

    def list_at(self, head: Head, notes: Notes) -> Listing:
        """List a repository for a scan, and get ready for the fetches of what is new; its view has the name of now.

        Raises:
            ConnectorError: It cannot be listed.
        """
        tree = self._tree(head) if head.commit else Tree()
        if tree.full_name:
            head = replace(head, repo=replace(head.repo, current=tree.full_name))
        listing = self._listing(head.repo, tree, notes)
        new = Manifest(notes, head.repo).new(listing.files.values())
        self._supply.expect(head.repo, head.commit, new, tree)
        view = View(head, self._now(), {_mark(ref) for ref in listing.refs.values()}, listing)
        with self._lock:
            self._views[head.repo.name] = view
        return listing

    def believe(self, head: Head) -> None:
        """Take what notes tell of a repository: it is looked at anew only if it moved."""
        with self._lock:
            view = self._views.get(head.repo.name)
            if view is None or view.head.commit != head.commit:
                self._views[head.repo.name] = View(head, self._now())
            else:
                view.at = self._now()

    def of(self, repo: Repo) -> View:
        """Return the view of a repository whose head is not older than ten minutes.

        Raises:
            DocumentGone: It is empty now.
            ConnectorError: It cannot be asked.
        """
        with self._lock:
            view = self._views.get(repo.name)
            if view is not None and self._now() - view.at < _FRESH:
                return view
            known = view.head if view is not None else None
            head = self._transport.head(known.repo if known else repo, self._ref, known)
            if not head.commit:
                raise DocumentGone(f"{repo.now} is empty")
            if view is not None and known is not None and head.commit == known.commit:
                view.at = self._now()
                return view
            self._views[repo.name] = view = View(head, self._now())
            return view

    def located(self, view: View, ref: Ref) -> tuple[Ref, Entry]:
        """Return what a ref stands for at the view's head: as the scan listed it, or as it is listed now.

        Raises:
            DocumentGone: It is not there any more.
            ConnectorError: It cannot be listed.
        """
        entry = located(ref.locator)
        if entry is not None and _mark(ref) in view.listed:
            return ref, entry
        with self._lock:
            if view.listing is None:
                view.tree = self._tree(view.head)
                view.listing = self._listing(view.head.repo, view.tree, None)
            listing = view.listing
        if ref.key not in listing.files:
            prefix = view.head.repo.prefix
            for part, error in listing.failed.items():
                if within(f"{prefix}{part}", ref.key):
                    raise error
            raise DocumentGone(f"{ref.key} is not in the repository any more")
        return listing.refs[ref.key], listing.files[ref.key]

    def gather(self, view: View) -> None:
        """Get the rest at once when many documents are read though nothing was new, as for another converter.

        Raises:
            ConnectorError: It cannot be listed.
        """
        count = self._supply.unexpected(view.head.repo)
        most = max((size for after, size in _GATHERED if count >= after), default=0)
        if most <= view.gathered:
            return
        with self._lock:
            if most <= view.gathered:
                return
            view.gathered = most
            tree = view.tree or self._tree(view.head)
            if tree.size > most:
                view.tree = tree
                return
            listing = self._listing(view.head.repo, tree, None)
            self._supply.expect(view.head.repo, view.head.commit, _by_sha(listing.files.values()), tree)
            view.tree = None

    def _tree(self, head: Head) -> Tree:
        return self._transport.tree(head.repo, head.commit, self._selection.enters)

    def _listing(self, repo: Repo, tree: Tree, notes: Notes | None) -> Listing:
        return listing_of(repo, tree, self._selection, self._web, self._ref, Links(self._transport, repo, tree, notes))


def _by_sha(entries: Iterable[Entry]) -> dict[str, Entry]:
    return {entry.sha: entry for entry in entries}


def _mark(ref: Ref) -> int:
    return hash((ref.key, ref.token, ref.locator))
