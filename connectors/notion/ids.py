"""Notion's ids: the only key of anything; addresses change with hosts and titles, ids never do."""

import re
from typing import Any, TypeAlias

Obj: TypeAlias = dict[str, Any]
"""An object of the API as it came; unknown keys are expected."""

_ID = re.compile(
    r"([0-9a-f]{8})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{4})-?([0-9a-f]{12})(?![0-9a-f])", re.IGNORECASE
)
_HOST = re.compile(r"https?://(?:[\w-]+\.)*notion\.(?:so|com|site)(?=[/:?#]|$)", re.IGNORECASE)


def id_of(text: str) -> str | None:
    """Return the id in an id or address, with dashes and in lower case; `None` when there is none.

    Of an address with a view (`?v=…`) or a block (`#…`) it is the id of the page or database itself.

    >>> id_of("https://app.notion.com/p/Plan-2026-393abc1eedcd80f3813be205934558c6?v=1#2")
    '393abc1e-edcd-80f3-813b-e205934558c6'
    """
    return _last_id(re.split(r"[?#]", text, maxsplit=1)[0])


def block_of(url: str) -> str | None:
    """Return the id an address points at: that of its block when it has one, else that of its page."""
    return _last_id(url.partition("#")[2]) or id_of(url)


def page_url(key: str) -> str:
    """Return the address of a page, database or block that stays the same whatever its title."""
    return f"https://www.notion.so/{key.replace('-', '')}"


def is_notion(url: str) -> bool:
    """Whether an address lies in Notion, under any of its hosts."""
    return _HOST.match(url) is not None


def stable_url(url: str) -> str:
    """Return an address in Notion by its id alone; every other address as it is."""
    key = block_of(url) if is_notion(url) else None
    return page_url(key) if key else url


def _last_id(text: str) -> str | None:
    found = _ID.findall(text)
    return "-".join(found[-1]).lower() if found else None
