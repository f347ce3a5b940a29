"""What a person's address means for a configuration, told without asking the network."""

import re

from connectors.http import private_place as place_of
from connectors.web.addresses import address

_FOREIGN = re.compile(r"[^A-Za-z0-9._-]+")


def name_of(url: str) -> str:
    """Return a source's name for an address: its host without `www.`, made valid; `site` when there is none."""
    page = address(url)
    host = page.host if page is not None else ""
    return _FOREIGN.sub("-", host.removeprefix("www.")).strip("-._")[:60] or "site"


def private_place(url: str) -> str | None:
    """Return the `host:port` that `allow_private` must hold for an address to be asked for, as far as its text tells.

    `None` for addresses of the public internet, and for what is no web address at all.
    """
    page = address(url)
    return place_of(page.url) if page is not None else None
