"""A reply as connectors see it, and what its status means to them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from connectors.errors import AuthError, ConnectorError, DocumentError, DocumentGone, Unavailable
from connectors.http.redaction import shown
from connectors.http.retry import TRANSIENT


@dataclass(frozen=True, slots=True)
class Response:
    """A whole reply; a representation shows neither headers nor content.

    Attributes:
        status: The status code; redirects that were followed are behind it.
        url: The address that answered, after redirects.
        headers: By name, in any case; repeated ones joined by `, `. Codings are undone: no `Content-Encoding`.
        content: The decoded body; empty for a download, whose body lies in `file`.
        hops: The addresses that redirected here, first to last.
        permanent: Whether every hop was a permanent one (301 or 308).
        asked_s: Seconds the reply asks to wait, when it is a limit.
        file: The private copy (mode 0600) of a download with a 2xx status; the caller deletes it.
        size: Bytes of the body.
    """

    status: int
    url: str
    headers: Mapping[str, str] = field(repr=False)
    content: bytes = field(default=b"", repr=False)
    hops: tuple[str, ...] = ()
    permanent: bool = True
    asked_s: float | None = None
    file: Path | None = None
    size: int = 0

    @property
    def ok(self) -> bool:
        """Whether the status is a success (2xx)."""
        return 200 <= self.status < 300

    @property
    def media_type(self) -> str:
        """`Content-Type` without parameters, lower case; empty when there is none."""
        return self.headers.get("content-type", "").partition(";")[0].strip().lower()

    def json(self) -> Any:
        """Parse the body.

        Raises:
            DocumentError: It is no JSON.
        """
        try:
            return json.loads(self.content)
        except ValueError as error:
            raise DocumentError(f"the answer of {shown(self.url)} is no json; it is asked again later") from error

    def error(self, what: str = "") -> ConnectorError:
        """Return what a status that is no success means: the error to raise, naming *what* or the address.

        401 and 403 are `AuthError`; 404 and 410 `DocumentGone`; what may pass (408, 429, 5xx, 529) `Unavailable` with
        the wait asked for; anything else `DocumentError`.
        """
        name = what or shown(self.url)
        if self.status in {401, 403}:
            return AuthError(f"{name} is refused (status {self.status}); check the credential and what it may read")
        if self.status in {404, 410}:
            return DocumentGone(f"{name} is not there (status {self.status})")
        if self.status in TRANSIENT or self.status >= 500:
            return Unavailable(f"{name} cannot answer now (status {self.status})", retry_after_s=self.asked_s)
        return DocumentError(f"{name} answered with status {self.status}", "open it in a browser and see what it wants")

    def expect_ok(self, what: str = "") -> "Response":
        """Return itself when the status is a success.

        Raises:
            ConnectorError: It is none; the kind is that of `error`.
        """
        if not self.ok:
            raise self.error(what)
        return self
