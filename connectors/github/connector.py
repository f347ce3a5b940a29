"""The GitHub connector: the documents of one or many repositories, each at the commit it was first mirrored at."""

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import UTC, datetime

from connectors.contract import (
    Blob,
    Checkpoint,
    Complete,
    Event,
    Failed,
    Gone,
    Json,
    Notes,
    Ref,
    Seen,
    Unchanged,
    WebhookRequest,
    within,
)
from connectors.errors import ConnectorError, DocumentGone, DocumentRefused
from connectors.github import webhook
from connectors.github.errors import ENDING, NotThere
from connectors.github.git import GitTransport
from connectors.github.listing import Listing, Manifest
from connectors.github.long_notes import get_list, put_list
from connectors.github.owners import Owners
from connectors.github.reading import Reading
from connectors.github.selection import Selection, Wanted, mark_of
from connectors.github.supply import Supply
from connectors.github.talk import Talk, kind_of
from connectors.github.transport import Head, Repo, Transport
from connectors.github.views import Views
from connectors.http import Client
from corebrain.layout import BrainSource

_GO_AWAY = "restore access, or take the repository out of the configuration to forget its documents"


class GitHubConnector:
    """The documents of repositories at the head of a branch.

    - A key is `owner/name/path`, by the name the repository was first mirrored under; a token is the SHA of the blob.
    - A scan asks each repository for its head, for nothing when it has not moved; then for one recursive tree. What is
      new comes by blob, or by one archive when it is much.
    - Nothing is deleted but what a whole listing does not show: a repository that cannot be read keeps its documents.

    Args:
        wanted: Which repositories.
        transport: How their files are read.
        owners: Lists the repositories of owners; `None` when only named ones are wanted.
        reading: Makes documents of blobs.
        name: The source's name.
        selection: Which files.
        ref: Branch or tag; `HEAD` follows the default branch.
        talk: Issues, releases and the rest; `None` leaves them out.
        requests: Tells how many requests were sent.
        http: The client that all of them go by; `None` when there is none to stop and to close.
        git: The git that is to heed `stop`; `None` when there is none.
        webhook_secret: Of the webhook; `""` when there is none.
        now: The wall clock.
    """

    source = BrainSource.GITHUB

    def __init__(
        self,
        wanted: Wanted,
        transport: Transport,
        reading: Callable[[Supply], Reading],
        *,
        owners: Owners | None = None,
        name: str = "github",
        selection: Selection | None = None,
        ref: str = "HEAD",
        web: str = "https://github.com",
        talk: Talk | None = None,
        requests: Callable[[], int] = lambda: 0,
        http: Client | None = None,
        git: GitTransport | None = None,
        webhook_secret: str = "",
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.name = name
        self._wanted = wanted
        self._transport = transport
        self._owners = owners
        self._selection = selection or Selection()
        self._ref = ref
        self._talk = talk
        self._requests = requests
        self._http = http
        self._git = git
        self._stop = threading.Event()
        self._webhook_secret = webhook_secret
        supply = Supply(transport)
        self._reading = reading(supply)
        self._views = Views(transport, supply, self._selection, ref=ref, web=web, now=now)
        self.say: Callable[[str], None] = _unheard
        kinds = list(talk.kinds) if talk else []
        self._mark = mark_of(list(wanted.given), self._selection.mark(), ref, kinds)

    @property
    def requests(self) -> int:
        """Requests sent so far, redirects and repeated ones included."""
        return self._requests()

    @property
    def stop(self) -> threading.Event:
        """Set it to end every wait and request within a second; another event may be put in its place."""
        return self._stop

    @stop.setter
    def stop(self, event: threading.Event) -> None:
        self._stop = event
        if self._http is not None:
            self._http.stop = event
        if self._git is not None:
            self._git.heed(event)

    def close(self) -> None:
        """Close the connections."""
        if self._http is not None:
            self._http.close()

    # -- listing

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        if scope:
            yield from self._scan_scope(notes, scope)
            return
        goes_on = isinstance(cursor, dict) and cursor.get("mark") == self._mark
        unmatched = set(self._selection.paths)
        failed = False
        repos: dict[str, Repo] = {}
        for found in self._repositories(notes):
            if isinstance(found, Failed):
                failed = True
                yield found
                continue
            repos[found.name] = found
            for event in self._scan_repo(found, notes, goes_on=goes_on):
                failed = failed or isinstance(event, Failed)
                yield event
            view = self._views.get(found.name)
            if view is not None and view.listing is not None:
                for entry in view.listing.refs:
                    unmatched.intersection_update(self._selection.unmatched(unmatched, entry[len(found.prefix) :]))
                view.listing = None
            yield Checkpoint(cursor if goes_on else None)
        yield from self._parted(repos, notes, goes_on=goes_on)
        if not goes_on and not failed:
            yield from _unmatched(unmatched)
        yield Checkpoint({"mark": self._mark})
        if not goes_on:
            yield Complete("")

    def _repositories(self, notes: Notes) -> Iterator[Repo | Failed]:
        """The wanted repositories, each once, and owners that cannot be listed."""
        for name in self._wanted.named:
            yield self._recalled(Repo(name), notes)
        for owner in self._wanted.owners:
            try:
                found = self._owners.of(owner, notes) if self._owners else []
            except ENDING:
                raise
            except ConnectorError as error:
                yield Failed(f"{owner}/", error)
                continue
            yield from (repo for repo in found if repo.name not in self._wanted.named)

    def _recalled(self, repo: Repo, notes: Notes) -> Repo:
        note = notes.get(f"head:{repo.name}")
        if not isinstance(note, dict) or repo.number is not None:
            return repo
        number = note.get("number")
        return Repo(repo.name, str(note.get("name") or ""), int(str(number)) if number else None)

    def _scan_repo(self, repo: Repo, notes: Notes, *, goes_on: bool) -> Iterator[Event]:
        try:
            known = self._known(notes, repo) if goes_on else None
            head = self._transport.head(repo, self._ref, known)
            listing = Listing() if head.unchanged else self._views.list_at(head, notes)
        except ENDING:
            raise
        except ConnectorError as error:
            yield Failed(repo.prefix, _told(error))
            return
        if head.unchanged and (known is None or head.etag != known.etag or head.repo != repo):
            notes.put(f"head:{repo.name}", _noted(head))  # its number was learnt, or another validator
        if not head.unchanged:
            head = self._views[repo.name].head
            yield from self._seen(listing, head.repo)
            self._keep(notes, head, whole=not listing.failed)
            if goes_on:
                yield Complete(repo.prefix)
        if self._talk is not None:
            yield from self._talk.scan(head.repo, notes, goes_on=goes_on)

    def _seen(self, listing: Listing, repo: Repo, scope: str = "") -> Iterator[Event]:
        for key, ref in listing.refs.items():
            if within(scope, key):
                yield Seen(ref)
        for path, error in listing.failed.items():
            part = f"{repo.prefix}{path}"
            if within(scope, part) or within(part, scope):
                yield Failed(part if within(scope, part) else scope, error)

    def _keep(self, notes: Notes, head: Head, *, whole: bool) -> None:
        """Note where the repository is; a listing with gaps is made again next time."""
        view = self._views[head.repo.name]
        if view.listing is not None:
            Manifest(notes, head.repo).keep(view.listing.files.values())
            self._keep_submodules(notes, head.repo, view.listing.submodules)
        notes.put(f"head:{head.repo.name}", _noted(head if whole else replace(head, commit="", etag=None)))

    def _keep_submodules(self, notes: Notes, repo: Repo, paths: list[str]) -> None:
        """Note submodules, and say once of each that it is not read."""
        key = f"submodules:{repo.name}"
        for path in sorted(set(paths) - set(get_list(notes, key))):
            self.say(f"{repo.now}/{path} is a submodule and not read; name its repository to have it")
        put_list(notes, key, paths)

    def _known(self, notes: Notes, repo: Repo) -> Head | None:
        """Where the repository was at the last scan that listed it whole; it is looked at anew only if it moved."""
        note = notes.get(f"head:{repo.name}")
        if not isinstance(note, dict) or not note["commit"]:
            return None
        etag = note.get("etag")
        head = Head(str(note["commit"]), str(etag) if etag else None, repo)
        self._views.believe(head)
        return head

    def _parted(self, repos: Mapping[str, Repo], notes: Notes, *, goes_on: bool) -> Iterator[Event]:
        """Say what became of repositories that an owner's listing does not show any more."""
        before = {str(one[0]): one[1] for one in get_list(notes, "mirrored") if isinstance(one, list)}
        kept: dict[str, Json] = {name: repo.number for name, repo in repos.items()}
        for name, number in before.items():
            if name in repos or number is None or not self._wanted.takes(name) or self._owners is None:
                continue
            try:
                self._owners.look_up(int(str(number)), name)
            except NotThere as error:
                kept[name] = number
                yield Failed(f"{name}/", DocumentRefused(error.message, _GO_AWAY))
                continue
            if goes_on:  # it is there, but archived, moved away or no longer wanted
                yield Complete(f"{name}/")
        put_list(notes, "mirrored", ([name, number] for name, number in kept.items()))

    def _scan_scope(self, notes: Notes, scope: str) -> Iterator[Event]:
        failed = False
        for found in self._repositories(notes):
            if isinstance(found, Failed):
                if within(scope, found.scope) or within(found.scope, scope):
                    failed = True
                    yield Failed(scope, found.error)
                continue
            if within(scope, found.prefix) or within(found.prefix, scope):
                for event in self._scan_part(found, notes, scope):
                    failed = failed or (isinstance(event, Failed) and event.scope == scope)
                    yield event
            if self._talk is not None and self._talk.covers(found, scope):
                yield from self._talk.scan(found, notes, goes_on=False, scope=scope)
        if not failed:
            yield Complete(scope)

    def _scan_part(self, repo: Repo, notes: Notes, scope: str) -> Iterator[Event]:
        try:
            listing = self._views.list_at(self._transport.head(repo, self._ref, None), notes)
            head = self._views[repo.name].head
        except ENDING:
            raise
        except ConnectorError as error:
            yield Failed(repo.prefix if within(scope, repo.prefix) else scope, _told(error))
            return
        yield from self._seen(listing, head.repo, scope)
        if within(scope, repo.prefix):
            self._keep(notes, head, whole=not listing.failed)

    # -- reading

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        if kind_of(ref.key):
            if self._talk is None:
                raise DocumentGone(f"{ref.key} is not asked for any more")
            return self._talk.fetch(ref, known)
        view = self._views.of(repo_of(ref.key))
        ref, entry = self._views.located(view, ref)
        if known is not None and known == ref.token:
            return Unchanged(known)
        self._views.gather(view)
        return self._reading.document(view.head, ref, entry)

    def confirm(self, refs: Iterable[Ref]) -> Iterator[Seen | Gone | Failed]:
        """Look again at what a whole listing did not show; of files a listing is exact, nothing is asked."""
        for ref in refs:
            talk = self._talk if kind_of(ref.key) else None
            yield talk.confirm(ref) if talk is not None else Gone(ref.key)

    # -- notifications

    def on_webhook(self, request: WebhookRequest) -> Iterable[str]:
        webhook.verify(request, self._webhook_secret)
        names = {repo.number: repo.name for repo in self._views.repos() if repo.number is not None}
        return webhook.scopes_of(request, self._wanted, self._ref, names)


def _unheard(line: str) -> None:
    """Nobody listens."""


def repo_of(key: str) -> Repo:
    """Return the repository of a key."""
    owner, _, rest = key.partition("/")
    return Repo(f"{owner}/{rest.partition('/')[0].partition('!')[0]}")


def _noted(head: Head) -> Json:
    return {"commit": head.commit, "etag": head.etag, "name": head.repo.current, "number": head.repo.number}


def _told(error: ConnectorError) -> ConnectorError:
    return DocumentRefused(error.message, _GO_AWAY) if isinstance(error, NotThere) else error


def _unmatched(patterns: Iterable[str]) -> Iterator[Failed]:
    for pattern in sorted(patterns):
        error = DocumentRefused(f"the pattern {pattern!r} matches no file", "correct paths of the source")
        yield Failed(f"!paths/{pattern}", error)
