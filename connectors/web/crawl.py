"""One crawl of a site: from its starts along lists and links, in the order they were met, until nothing is left."""

from collections.abc import Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

from connectors.contract import Checkpoint, Complete, Event, Failed, Gone, Json, Notes, Seen, within
from connectors.errors import (
    AuthError,
    ConfigError,
    ConnectorError,
    DocumentError,
    DocumentGone,
    DocumentRefused,
    Unavailable,
)
from connectors.http import AddressRefused, Response, Stopped, shown
from connectors.web import lists
from connectors.web.addresses import Address, address
from connectors.web.frontier import Entry, Frontier
from connectors.web.page_notes import PageNotes, Was
from connectors.web.pages import Page
from connectors.web.site import Site
from connectors.web.soft_missing import SoftMissing
from connectors.web.visits import Plan, Visit, planned, visited
from connectors.web.way import Way, canonical, folder_of_index, refresh

CHECKPOINT_EVERY = 60
"""Addresses looked at between two checkpoints."""
MOST_FAILURES = 8
"""Addresses in a row that cannot be reached before the whole source is paused."""
MOST_HOPS = 5
"""Redirects followed one after the other."""
MOST_MISSES = 2
"""Crawls in a row in which a page is missing before it is gone."""


class Crawl:
    """One scan. Make a new one for the next.

    Args:
        site: What is crawled.
        notes: The connector's notes.
        cursor: Of the last checkpoint; a crawl that was cut off goes on from there.
        scope: What is told of; the crawl takes the same way, for only the way tells what there is.

    Attributes:
        visited: Every page looked at by its key, and whether it is a document.
        soft: How the hosts say that a page is missing.
    """

    def __init__(self, site: Site, notes: Notes, cursor: Json, scope: str) -> None:
        self._site = site
        self._scope = scope
        self._pages = PageNotes(notes)
        self._frontier = Frontier(None if scope else notes, cursor)
        self._way = Way(site, self._frontier)
        self.soft = SoftMissing(site, notes)
        self.visited: dict[str, bool] = {}
        self._in_a_row = 0
        self._found_any = self._frontier.resumed
        self._first_error: ConnectorError | None = None
        self._alone = False
        self._bare = 0

    def events(self) -> Iterator[Event]:
        """Crawl.

        Raises:
            ConfigError: A start lies where this source may not go.
            Unavailable: The site cannot be reached.
        """
        if self._frontier.resumed:
            yield from self._finished_before()
        else:
            yield from self._begin()
        since = 0
        with ThreadPoolExecutor(self._site.habits.concurrency, thread_name_prefix="crawl") as pool:
            while plans := self._next_plans():
                for visit in pool.map(lambda plan: visited(self._site, plan), plans):
                    if visit.plan.address.key not in self.visited:  # looked at meanwhile, as another's canonical page
                        yield from self._arrived(visit)
                self._frontier.done = self._frontier.taken
                since += len(plans)
                if since >= CHECKPOINT_EVERY:
                    since = 0
                    yield Checkpoint(self._frontier.checkpoint())
        yield from self._end()

    # -- beginning and end

    def _begin(self) -> Iterator[Event]:
        note = self._pages.get(self._scope) if self._scope and not self._scope.endswith("/") else None
        if note is not None:
            self._alone = True  # one known page: no way to go
            self._way.meet(note.url, Entry(note.url))
            return
        for start in self._site.scope.starts:
            self._way.meet(start.key, Entry(start.url, "start"))
        origins = list(dict.fromkeys(start.origin for start in self._site.scope.starts))
        for origin in origins:
            rules = self._site.robots.rules(origin)
            if isinstance(rules.error, AddressRefused):
                raise ConfigError(f"{rules.error.message}; {rules.error.advice}")
            if rules.error is not None:
                self._first_error = self._first_error or rules.error
                if len(origins) > 1:  # a source of one host fails as a whole
                    yield from self._failed_host(origin, rules.error)
            if not self._site.habits.follow or not self._site.habits.sitemaps or rules.error is not None:
                continue
            for url in rules.sitemaps:
                self._way.add_list(url, origin, "list")
            if not rules.sitemaps:
                self._way.add_list("/sitemap.xml", origin, "guess")

    def _finished_before(self) -> Iterator[Event]:
        """Tell again, without asking, what the crawl that was cut off had found."""
        for number in range(self._frontier.length):
            entry = self._frontier.entry(number)
            page = address(entry.url, None, self._site.scope.query)
            if page is None:
                continue
            self._frontier.meet(page.key if entry.kind in {"page", "start"} else entry.url)
            if number >= self._frontier.done or page.key in self.visited:
                continue
            note = self._pages.get(page.key)
            if note is not None and note.was == "document" and not note.misses:
                self.visited[page.key] = True
                yield from self._seen(Seen(self._site.ref(page, note)))

    def _end(self) -> Iterator[Event]:
        for why, count in self._way.skipped.most_common():
            self._site.say(f"{count:,} addresses left out: {why}")
        if self._bare:
            self._site.say(f'{self._bare:,} pages show nothing without their scripts; render = "empty" draws them')
        if not self._found_any and self._first_error is not None:
            if isinstance(self._first_error, ConfigError | AuthError):
                raise self._first_error
            yield Failed(self._scope, self._first_error)
        if not self._scope:
            self._frontier.clear()
            yield Checkpoint({"crawl": 1, "over": True})
        if self._way.truncated:
            most = self._site.habits.max_pages
            self._site.say(f"stopped at {most:,} addresses, so nothing counts as gone; raise max_pages or narrow it")
        elif self._found_any or self._first_error is None:
            yield Complete(self._scope)

    # -- one step

    def _next_plans(self) -> list[Plan]:
        plans: list[Plan] = []
        while len(plans) < self._site.habits.concurrency and (entry := self._frontier.take()) is not None:
            page = address(entry.url, None, self._site.scope.query if entry.kind in {"page", "start"} else "keep")
            if page is not None and page.key not in self.visited:
                note = self._pages.get(page.key) if entry.kind in {"page", "start"} else None
                plans.append(planned(self._site, entry, page, note))
        if not plans:
            self._frontier.done = self._frontier.taken
        return plans

    def _arrived(self, visit: Visit) -> Iterator[Event]:
        plan = visit.plan
        if plan.forbidden:
            yield from self._forbidden(plan)
        elif visit.error is not None:
            yield from self._broken(plan, visit.error)
        elif visit.answer is None:
            yield from self._unchanged(plan)
        else:
            yield from self._answered(plan, visit.answer)

    def _answered(self, plan: Plan, answer: Response) -> Iterator[Event]:
        status = answer.status
        is_list = plan.entry.kind in {"list", "guess"}
        if status in {404, 410} or (is_list and plan.entry.kind == "guess" and not answer.ok):
            self._in_a_row = 0
            yield from self._missing(plan, answer)
        elif not answer.ok and status not in {304, 301, 302, 303, 307, 308}:
            yield from self._broken(plan, _refusal(answer))
        else:
            self._in_a_row = 0
            if status == 304 and plan.note is not None:
                yield from self._unchanged(plan)
            elif not answer.ok:
                self._redirected(plan, answer)
            elif plan.entry.kind != "page" and lists.kind_of(answer.content) is not None:
                yield from self._list(plan, answer)
            elif not is_list:
                yield from self._read(plan, answer)

    # -- what a page turned out to be

    def _read(self, plan: Plan, answer: Response) -> Iterator[Event]:
        site = self._site
        try:
            page = site.read(plan.address, answer)
        except DocumentError as error:
            yield from self._broken(plan, error)
            return
        self._bare += page.head.is_bare and not page.is_drawn
        if self.soft.says_missing(page):
            yield from self._missing(plan, answer)
            return
        links = self._way.links(page)
        alias = (yield from self._alias(page)) if plan.entry.hops >= 0 and not self._alone else ""
        sent_to = refresh(site.scope, page)
        folder = folder_of_index(site.scope, page)
        met = [folder.url] if folder is not None and self.visited.get(folder.key) else []  # led to by this page alone
        leads = tuple(dict.fromkeys((*([sent_to.url] if sent_to else ()), *met, *links)))
        why = site.wants(page)
        if why:
            self._way.skipped[why] += 1
        kept = not alias and sent_to is None and not why
        was: Was = "document" if kept else "other"
        note = site.note(page, was=was, links=leads, alias=alias, changed=plan.entry.changed)
        if note != plan.note:
            self._pages.put(plan.address.key, note)
        self._follow(leads, plan.entry)
        self.visited[plan.address.key] = kept
        if kept:
            yield from self._seen(Seen(site.ref(plan.address, note), site.blob(page)))

    def _unchanged(self, plan: Plan) -> Iterator[Event]:
        note = plan.note
        if note is None:
            return
        if note.alias and not (yield from self._still_stands(note.alias)):
            yield from self._arrived(visited(self._site, replace(plan, note=None)))
            return
        if note.misses or note.changed != plan.entry.changed:
            note = replace(note, misses=0, changed=plan.entry.changed)
            self._pages.put(plan.address.key, note)
        self._follow(note.links, plan.entry)
        self.visited[plan.address.key] = note.was == "document"
        if note.was == "document":
            yield from self._seen(Seen(self._site.ref(plan.address, note)))

    def _list(self, plan: Plan, answer: Response) -> Iterator[Event]:
        try:
            found = lists.entries(answer.content, shown(plan.address.url))
        except DocumentError as error:
            yield from self._broken(plan, error)
            return
        self._found_any = True
        for each in found:
            if not self._site.wants_language("" if each.language == "x-default" else each.language):
                continue
            if each.is_list:
                self._way.add_list(each.url, plan.address.url, "list", plan.entry.depth + 1)
            else:
                page = self._site.scope.address(each.url, plan.address.url)
                if page is not None:
                    self._way.meet(page.key, Entry(page.url, depth=1, changed=each.changed))

    def _redirected(self, plan: Plan, answer: Response) -> None:
        """Take the target of a redirect for a link: it is met once, so circles end by themselves."""
        location = answer.headers.get("location", "")
        target = address(location, plan.address.url, self._site.scope.query) if location else None
        hops = plan.entry.hops + 1
        if (
            target is not None
            and target.key == plan.address.key
            and target.url != plan.address.url
            and hops <= MOST_HOPS
        ):
            self._way.push(replace(plan.entry, url=target.url, hops=hops))  # twins by scheme or slash have one key
            return
        if plan.note is not None and plan.note.was == "document":
            self._pages.drop(plan.address.key)
        takes = target is not None and (self._site.scope.takes(target) or plan.entry.kind != "page")
        if target is None or hops > MOST_HOPS or not takes:
            where = shown(location)
            self._note_start(
                plan,
                DocumentError(f"{shown(plan.address.url)} redirects to {where}, which is not followed", "start there"),
            )
            self._way.skipped["they redirect to other sites, or without end"] += 1
            return
        if plan.entry.kind == "page":
            self._way.meet(target.key, replace(plan.entry, url=target.url, hops=hops, changed=""))
        elif target.url != plan.address.url:
            self._way.push(replace(plan.entry, url=target.url, hops=hops))

    # -- what a page was not

    def _missing(self, plan: Plan, answer: Response) -> Iterator[Event]:
        self.visited[plan.address.key] = False
        if plan.entry.kind == "guess":
            return
        name = shown(plan.address.url)
        self._note_start(plan, DocumentGone(f"{name} is not there (status {answer.status})", "correct the start"))
        note = plan.note
        if note is None or note.was != "document":
            return
        if note.misses + 1 >= MOST_MISSES:
            self._pages.drop(plan.address.key)
            if within(self._scope, plan.address.key):
                yield Gone(plan.address.key)
            return
        self._pages.put(plan.address.key, replace(note, misses=note.misses + 1))
        error = DocumentGone(f"{name} is not there (status {answer.status}); it is forgotten if it is missing again")
        yield from self._failed(plan.address.key, error)

    def _forbidden(self, plan: Plan) -> Iterator[Event]:
        rules = self._site.robots.rules(plan.address.origin)
        if rules.error is not None:
            self._note_start(plan, rules.error)
            return
        advice = "if the site is yours, set robots = false; otherwise ask its owner"
        error = DocumentRefused(f"the robots.txt of {plan.address.host} forbids {shown(plan.address.url)}", advice)
        self._note_start(plan, error)
        self._way.skipped["robots.txt forbids them"] += 1
        if plan.note is not None and plan.note.was == "document":
            yield from self._failed(plan.address.key, error)

    def _broken(self, plan: Plan, error: ConnectorError) -> Iterator[Event]:
        if isinstance(error, Stopped | ConfigError):
            raise error
        if isinstance(error, AddressRefused):
            if plan.entry.kind == "start":
                raise ConfigError(f"{error.message}; {error.advice}")
            self._way.skipped["they lead to private addresses"] += 1
            return
        if isinstance(error, Unavailable):
            self._in_a_row += 1
            if self._in_a_row >= MOST_FAILURES:
                raise error
        self._note_start(plan, error)
        if plan.entry.kind == "list":
            yield from self._failed_host(plan.address.origin, error)
        elif plan.entry.kind != "guess" and (plan.note is not None or not isinstance(error, AuthError)):
            yield from self._failed(plan.address.key, error)

    def _failed_host(self, origin: str, error: ConnectorError) -> Iterator[Event]:
        host = origin.partition("://")[2]
        self._first_error = self._first_error or error
        for scope in (host, f"{host}/"):
            yield from self._failed(scope, error)

    def _failed(self, scope: str, error: ConnectorError) -> Iterator[Event]:
        """Tell of a failure as far as it touches the scan's scope."""
        if within(self._scope, scope):
            yield Failed(scope, error)
        elif within(scope, self._scope):
            yield Failed(self._scope, error)

    def _note_start(self, plan: Plan, error: ConnectorError) -> None:
        if plan.entry.kind == "start" and self._first_error is None:
            self._first_error = error

    # -- pages that stand for others

    def _alias(self, page: Page) -> Generator[Event, None, str]:
        """Return the address of the page that stands for this one; empty when it stands for itself."""
        own = canonical(self._site.scope, page)
        if own is not None and (yield from self._stands(own)):
            return own.url
        folder = folder_of_index(self._site.scope, page)
        if own is None and folder is not None and (yield from self._stands(folder)):
            note = self._pages.get(folder.key)
            return folder.url if note is not None and note.token == page.token else ""
        return ""

    def _stands(self, target: Address) -> Generator[Event, None, bool]:
        """Look at a canonical page now, unless that was done, and return whether it is a document."""
        if target.key not in self.visited:
            self._frontier.meet(target.key)
            plan = planned(self._site, Entry(target.url, hops=-1), target, self._pages.get(target.key))
            yield from self._arrived(visited(self._site, plan))
        return self.visited.get(target.key, False)

    def _still_stands(self, url: str) -> Generator[Event, None, bool]:
        target = self._site.scope.address(url)
        return target is not None and (yield from self._stands(target))

    def _follow(self, links: tuple[str, ...], entry: Entry) -> None:
        if not self._alone:
            self._way.follow(links, entry)

    def _seen(self, event: Seen) -> Iterator[Event]:
        self._found_any = True
        if within(self._scope, event.ref.key):
            yield event


def _refusal(answer: Response) -> ConnectorError:
    """Return what a status says of one page: a login it wants is that page's matter."""
    error = answer.error()
    if isinstance(error, AuthError):
        return AuthError(
            f"{shown(answer.url)} wants a login (status {answer.status}); give authorization, or exclude it"
        )
    return error
