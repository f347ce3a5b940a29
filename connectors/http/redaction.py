"""URLs as errors and logs may show them: nothing that could be a credential."""

import httpx

_LONGEST = 200


class Shown:
    """A URL as text only once somebody asks for it: most requests fail at nothing.

    Args:
        url: The URL.
    """

    __slots__ = ("_url",)

    def __init__(self, url: httpx.URL) -> None:
        self._url = url

    def __str__(self) -> str:
        return shown(self._url)


def shown(url: httpx.URL | str) -> str:
    """Return a URL without user name, query and fragment; a query is shown as `?…`.

    >>> shown("https://u:p@files.example/a.pdf?X-Signature=abc")
    'https://files.example/a.pdf?…'
    """
    try:
        parsed = httpx.URL(url) if isinstance(url, str) else url
    except httpx.InvalidURL:
        return "a malformed address"
    text = str(parsed.copy_with(username=None, password=None, query=None, fragment=None))
    short = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
    return f"{short}?…" if parsed.query else short
