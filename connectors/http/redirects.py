"""Redirects: where to, how often, and what goes along (RFC 9110 §15.4)."""

from collections.abc import Sequence

import httpx

from connectors.http.errors import TooManyRedirects
from connectors.http.guard import origin_of
from connectors.http.redaction import shown
from connectors.http.response import Response

_HARMLESS = frozenset({
    "user-agent", "accept", "accept-language", "if-none-match", "if-modified-since", "range",
})  # fmt: skip
"""Headers that may go to another origin; any other might be a credential."""

_BODY = frozenset({"content-length", "content-type", "transfer-encoding"})


def target(response: Response, request: httpx.Request) -> httpx.URL | None:
    """Return where a reply sends the client, `None` when it is no redirect.

    Raises:
        TooManyRedirects: It names no place that can be asked.
    """
    location = response.headers.get("location", "").strip()
    if response.status not in {301, 302, 303, 307, 308} or not location:
        return None
    try:
        joined = request.url.join(location)
    except (httpx.InvalidURL, ValueError):
        raise TooManyRedirects(f"{shown(request.url)} redirects to an address that is malformed") from None
    return joined.copy_with(fragment=None)


def check(url: httpx.URL, hops: Sequence[str], most: int) -> None:
    """Refuse a circle and a chain of more than *most* hops.

    Raises:
        TooManyRedirects: It is one.
    """
    if len(hops) > most:
        raise TooManyRedirects(f"{shown(hops[0])} redirects more than {most} times", "link to where it ends")
    if str(url) in hops:
        raise TooManyRedirects(f"{shown(hops[0])} redirects in a circle", "tell the site's owner")


def next_request(request: httpx.Request, url: httpx.URL, status: int) -> httpx.Request:
    """Return the request that follows a redirect; across origins nothing that might be a credential goes along."""
    same = origin_of(request.url) == origin_of(url)
    kept = [(name, value) for name, value in request.headers.items() if name != "host" and (same or name in _HARMLESS)]
    to_get = status == 303 or (status in {301, 302} and request.method == "POST")
    if to_get and request.method != "HEAD":
        headers = [(name, value) for name, value in kept if name not in _BODY]
        return httpx.Request("GET", url, headers=headers, extensions=request.extensions)
    return httpx.Request(
        request.method, url, headers=kept, content=request.read() if same else b"", extensions=request.extensions
    )
