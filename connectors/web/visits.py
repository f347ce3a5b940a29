"""One look at one address: planned with what is remembered of it, made in a thread, and what came of it."""

from dataclasses import dataclass

from connectors.errors import ConnectorError
from connectors.http import Response
from connectors.web import lists
from connectors.web.addresses import Address
from connectors.web.frontier import Entry
from connectors.web.page_notes import PageNote
from connectors.web.site import Site


@dataclass(frozen=True, slots=True)
class Plan:
    """An entry about to be looked at.

    Attributes:
        entry: From the queue.
        address: Of the entry.
        note: What is remembered of it.
        asks: Whether a request is made; otherwise it is known to be unchanged.
        forbidden: Whether robots.txt forbids it.
    """

    entry: Entry
    address: Address
    note: PageNote | None
    asks: bool = True
    forbidden: bool = False


@dataclass(frozen=True, slots=True)
class Visit:
    """What came of a plan: a reply or an error; neither when nothing was asked."""

    plan: Plan
    answer: Response | None = None
    error: ConnectorError | None = None


def planned(site: Site, entry: Entry, address: Address, note: PageNote | None) -> Plan:
    """Decide whether to ask, by robots.txt and what is remembered; reads the robots.txt of a host not met before."""
    if not site.robots.allows(address.origin, address.url):
        return Plan(entry, address, note, asks=False, forbidden=True)
    trusted = note is not None and _is_current(site, note) and not note.misses
    known = site.habits.trust_lastmod and trusted and note is not None and entry.changed == note.changed != ""
    return Plan(entry, address, note, asks=not known)


def visited(site: Site, plan: Plan) -> Visit:
    """Make the request of a plan, if it has one; never raises for what the page or its host do."""
    if not plan.asks:
        return Visit(plan)
    note = plan.note if plan.note is not None and _is_current(site, plan.note) else None
    is_list = plan.entry.kind in {"list", "guess"}
    try:
        return Visit(plan, site.get(plan.address, note, max_bytes=lists.MAX_BYTES if is_list else None))
    except ConnectorError as error:
        return Visit(plan, error=error)


def _is_current(site: Site, note: PageNote) -> bool:
    """Whether the links of a page were chosen by the rules of today."""
    return note.rules == site.scope.rules_mark
