"""The cursors of listings and fetches: a letter and the hex of compact JSON (spec 04 section 7)."""

import re
from typing import ClassVar, Self

from pydantic import ConfigDict, Field

from corebrain.errors import InvalidRequest
from corebrain.model.value import Value

_HEX = re.compile(r"(?:[0-9a-f]{2})+")


class _Cursor(Value):
    model_config = ConfigDict(extra="forbid", strict=True)
    letter: ClassVar[str]

    def write(self) -> str:
        """Return the opaque text."""
        return self.letter + self.to_json().encode("utf-8").hex()

    @classmethod
    def read(cls, text: str) -> Self:
        """Read what `write` wrote; anything else, another operation's cursor too, is `InvalidRequest`."""
        if text[:1] == cls.letter and _HEX.fullmatch(text[1:]):
            try:
                return cls.from_json(bytes.fromhex(text[1:]))
            except InvalidRequest:
                pass
        raise InvalidRequest(f"unknown cursor {text[:40]!r}")


class ListCursor(_Cursor):
    """Where a listing goes on.

    Attributes:
        scope: The scope being read.
        engine: The server's cursor of the page being read.
        offset: Raw events consumed on that page.
        last: Id of the last raw event consumed.
    """

    letter = "l"
    omitted: ClassVar[frozenset[str]] = frozenset({"scope", "engine", "last"})
    scope: str | None = None
    engine: str | None = None
    offset: int = Field(ge=0)
    last: str | None = None


class FetchCursor(_Cursor):
    """Where a fetch goes on: hits handed out, and the scopes chosen when `max_scopes` chose."""

    letter = "f"
    omitted: ClassVar[frozenset[str]] = frozenset({"scopes"})
    offset: int = Field(ge=0)
    scopes: tuple[str, ...] | None = None
