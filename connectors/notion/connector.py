"""The Notion connector: everything of a workspace that is shared with an integration."""

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from datetime import UTC, datetime, timedelta

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
)
from connectors.errors import DocumentError, DocumentRefused, Unavailable
from connectors.http import Client
from connectors.notion import webhook
from connectors.notion.api import VERSION, NotionApi
from connectors.notion.errors import NotShared, Rejected
from connectors.notion.ids import Obj, page_url
from connectors.notion.listing import changed_since, hours_since, is_listed, list_everything
from connectors.notion.places import Places
from connectors.notion.properties import title_of
from connectors.notion.reading import UNTITLED, Reading, Wishes, edited
from connectors.notion.selection import Selection
from connectors.notion.sending import Sender
from connectors.notion.settled import token_of
from connectors.notion.spool import Spool
from corebrain.layout import BrainSource

BASE_URL = "https://api.notion.com"
FULL_EVERY_HOURS = 24.0

_CHECKPOINT = 100
_FILES_LIVE = timedelta(minutes=45)  # after which the addresses of files in a listing are not relied on
_HAD = "had"  # note: whether the last full listing found anything
_SHARE = (
    "open a page in Notion, choose ⋯, then Connections, and add the integration; what is below the page comes with it"
)


class NotionConnector:
    """Every page, row and database that the integration can see.

    - A document's key is its id; titles, hosts and places may change. Its token is made of the time of its last edit
      and of what a listing shows (`connectors.notion.settled`): `None` for two minutes after an edit, because Notion
      tells times to the minute.
    - A listing costs one request for a hundred things and one for every hundred rows of a database; a page is read with
      one request, and one more for each block that Notion's markdown leaves out. A database is listed with its schema.
    - With a cursor only what was edited since is listed, with an overlap; every *full_every_hours* everything is, and
      so are deletions found: each missing document is asked for singly (`confirm`).
    - The collection is the top-level page or database above the document, by id.

    Args:
        token: The integration's secret.
        name: The source's name.
        selection: Which pages and databases; all when left out.
        wishes: What documents hold beside properties and content.
        full_every_hours: How often everything is listed.
        webhook_secret: Verification token of the webhook subscription; `""` when there is none.
        base_url: Where the API is.
        http: Carries the requests.
        now: The wall clock.

    Attributes:
        verification_token: What Notion sent when a webhook subscription was made, for a person to put into
            `webhook_secret`; `None` so far.
    """

    source = BrainSource.NOTION

    def __init__(
        self,
        token: str,
        *,
        http: Client,
        name: str = "notion",
        selection: Selection | None = None,
        wishes: Wishes | None = None,
        full_every_hours: float = FULL_EVERY_HOURS,
        webhook_secret: str = "",
        base_url: str = BASE_URL,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self.name = name
        self.verification_token: str | None = None
        self._selection = selection or Selection()
        self._wishes = wishes or Wishes()
        self._full_every_hours = full_every_hours
        self._webhook_secret = webhook_secret
        self._http = http
        self._sender = Sender(token, base_url, http, VERSION, now)
        self._api = NotionApi(self._sender)
        self._reading = Reading(self._api, http, self._wishes)
        self._places = Places(self._api, self._reading.titles)
        self._reading.listed_title = self._places.listed_title
        self._listed = Spool()
        self._listed_at = self._sender.now()

    @property
    def requests(self) -> int:
        """Requests sent so far, repeated ones included."""
        return self._api.requests

    @property
    def say(self) -> Callable[[str], None]:
        """Told what is left out of documents, such as an attachment over the limit; set it to listen."""
        return self._reading.say

    @say.setter
    def say(self, listener: Callable[[str], None]) -> None:
        self._reading.say = listener

    @property
    def stop(self) -> threading.Event:
        """Set it to end every wait and request within a second; another event may be put in its place."""
        return self._http.stop

    @stop.setter
    def stop(self, event: threading.Event) -> None:
        self._http.stop = event

    def close(self) -> None:
        """Close the connections, and drop what was listed."""
        self._http.close()
        self._listed.close()

    # -- listing

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        if scope:
            self._places.begin(notes, None)
            yield from self._scan_one(scope)
            return
        self._listed.close()
        self._listed, self._listed_at = Spool(), self._sender.now()
        newest = self._usable(cursor)
        try:
            yield from self._scan_all(notes) if newest is None else self._scan_changes(newest, cursor, notes)
        except BaseException:
            self._listed.close()
            raise

    def _scan_all(self, notes: Notes) -> Iterator[Event]:
        began, spool = self._sender.now(), self._listed
        found = list_everything(self._api, spool)
        failures = [Failed(f"{key}/", error) for key, error in found.failed.items()]
        failures += self._missing_roots(spool)
        if not len(spool):
            yield from self._nothing_shared(notes)
            return
        self._places.begin(notes, spool)
        for count, thing in enumerate(spool):
            if count and count % _CHECKPOINT == 0:
                yield Checkpoint(None)  # a listing that breaks off starts anew; what is stored stays stored
            yield from self._seen(thing)
        notes.put(_HAD, True)
        yield from failures
        yield Checkpoint(self._cursor(found.newest, began))
        if not found.failed:
            yield Complete("")

    def _scan_changes(self, newest: str, cursor: Json, notes: Notes) -> Iterator[Event]:
        self._places.begin(notes, None)
        latest, whole, flat = newest, False, True
        for thing, is_all in changed_since(self._api, newest):
            latest = max(latest, str(thing.get("last_edited_time") or ""))
            whole = is_all
            flat = flat and thing.get("object") == "page" and "data_source_id" not in (thing.get("parent") or {})
            self._places.renew(thing)
            self._listed.add(thing)
            yield from self._seen(thing)
        yield Checkpoint({**cursor, "newest": latest} if isinstance(cursor, dict) else None)
        if whole and flat:  # one page of search was all there is, and no database may hide rows from it
            yield Complete("")

    def _scan_one(self, scope: str) -> Iterator[Event]:
        """Look at one document; a key has no parts, so that there is nothing below a prefix."""
        if not scope.endswith("/"):
            thing = self._looked_up(scope)
            if thing is not None and is_listed(thing):
                self._listed.renew(thing)
                for event in self._seen(thing):
                    yield Seen(self._unknown_token(event.ref)) if self._wishes.comments else event
        yield Complete(scope)

    def _seen(self, thing: Obj) -> Iterator[Seen]:
        """The event of a listed thing that is wanted."""
        ref = self._ref(thing)
        if ref is None:
            return
        if thing.get("object") == "data_source":
            yield Seen(ref, self._reading.document(thing, _above(ref), ref.token))
            return
        yield Seen(ref)

    def _ref(self, thing: Obj) -> Ref | None:
        """What a listing says of a thing; `None` when nobody wants it, or it lies below something in the trash."""
        key, title = str(thing["id"]), title_of(thing)
        place = self._places.of(key, thing)
        self._reading.titles.put(key, title)
        if place.away or not self._selection.takes(title, place.line):
            return None
        return Ref(
            key,
            token_of(thing, self._sender.now),
            collection=place.collection,
            locator=json.dumps({"is": thing.get("object"), "in": place.titles}, separators=(",", ":")),
            title=title or UNTITLED,
            url=page_url(key),
            media_type="text/markdown",
            modified=edited(thing),
        )

    def _nothing_shared(self, notes: Notes) -> Iterator[Event]:
        """Say loudly that there is nothing; what was there once is not gone because of it."""
        if notes.get(_HAD):
            message = (
                f"nothing in Notion is shared with the integration any more; {_SHARE}, or `brain forget` the source"
            )
            yield Failed("", Unavailable(message))
            return
        yield Failed("shared-pages/", DocumentRefused("nothing in Notion is shared with the integration", _SHARE))
        yield Checkpoint(None)
        yield Complete("")

    def _missing_roots(self, spool: Spool) -> Iterator[Failed]:
        """Add the roots that search did not show; say which cannot be seen."""
        for root in self._selection.roots:
            if root in spool:
                continue
            things = self._things_at(root)
            if not things:
                why = f"the root {page_url(root)} is not shared with the integration, or was deleted"
                yield Failed(f"{root}/", DocumentRefused(why, _SHARE))
            for thing in things:
                if is_listed(thing):
                    spool.add(thing)

    def _things_at(self, root: str) -> list[Obj]:
        """A page or data source, or the data sources of a database."""
        thing = self._looked_up(root)
        if thing is not None:
            return [thing]
        try:
            sources = self._api.database(root).get("data_sources")
            keys = [str(one["id"]) for one in sources if isinstance(one, dict)] if isinstance(sources, list) else []
            return [self._api.data_source(key) for key in keys]
        except (NotShared, Rejected):  # a linked view has no data source of its own
            return []

    # -- reading

    def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
        listed = self._as_listed(ref.key)
        thing = listed or self._retrieved(ref)
        token = token_of(thing, self._sender.now)
        if listed is None and known is not None and token == known:
            return Unchanged(known)
        return self._reading.document(thing, _above(ref), token)

    def confirm(self, refs: Iterable[Ref]) -> Iterator[Seen | Gone | Failed]:
        for ref in refs:
            try:
                found = self._ref(self._retrieved(ref))
            except NotShared:
                yield Gone(ref.key)
            except DocumentError as error:
                yield Failed(ref.key, error)
            else:
                yield Gone(ref.key) if found is None else Seen(found)

    def _as_listed(self, key: str) -> Obj | None:
        """A page as the last scan listed it: its properties need not be asked for again, its words are asked for now.

        Who edits the properties meanwhile causes one more fetch at the next sync: they are part of the token.
        """
        if self._wishes.attachments != "none" and self._sender.now() - self._listed_at > _FILES_LIVE:
            return None
        return self._listed.get(key)

    def _retrieved(self, ref: Ref) -> Obj:
        """Ask for a page or data source.

        Raises:
            NotShared: It is deleted, not shared, or in the trash.
        """
        kind = _locator(ref).get("is")
        thing = self._api.data_source(ref.key) if kind == "data_source" else self._api.page(ref.key)
        if not is_listed(thing):
            raise NotShared(f"the page {ref.key} is in the trash")
        return thing

    def _looked_up(self, key: str) -> Obj | None:
        """A page or data source whose kind nobody told."""
        try:
            return self._api.page(key)
        except (NotShared, Rejected):
            pass
        try:
            return self._api.data_source(key)
        except (NotShared, Rejected):
            return None

    # -- webhooks

    def on_webhook(self, request: WebhookRequest) -> Iterable[str]:
        token = webhook.handshake_token(request)
        if token is not None and not self._webhook_secret:
            self.verification_token = token
            return ()
        webhook.verify(request, self._webhook_secret)
        return webhook.scopes_of(request)

    # -- cursors

    def _cursor(self, newest: str, began: datetime) -> Json:
        return {"newest": newest, "full": began.isoformat(), "wanted": self._selection.mark()}

    def _usable(self, cursor: Json) -> str | None:
        """The time to list changes since; `None` lists everything."""
        if not isinstance(cursor, dict) or cursor.get("wanted") != self._selection.mark():
            return None
        newest = str(cursor.get("newest") or "")
        due = hours_since(str(cursor.get("full")), self._sender.now()) >= self._full_every_hours
        return None if due or not newest else newest

    @staticmethod
    def _unknown_token(ref: Ref) -> Ref:
        """A ref that has to be fetched: a comment does not change the time of its page."""
        return Ref(
            ref.key, None, None, ref.collection, ref.locator, ref.title, ref.url, ref.media_type, None, ref.modified
        )


def _locator(ref: Ref) -> Obj:
    try:
        found = json.loads(ref.locator or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _above(ref: Ref) -> tuple[str, ...]:
    titles = _locator(ref).get("in")
    return tuple(str(title) for title in titles) if isinstance(titles, list) else ()
