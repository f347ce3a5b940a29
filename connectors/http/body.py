"""The bytes of a reply: counted on the wire and again when decoded, never more in memory than one small piece.

gzip (RFC 1952, several members in a row included) and deflate (RFC 9110 §8.4.1.2; raw streams too, as many servers send
them) are undone here, because a client library's decoder blows one received piece up without any limit.
"""

import json
import zlib
from collections.abc import Iterable, Iterator

from connectors.http.errors import BodyRefused, CutShort

ACCEPTED = "gzip, deflate"
"""Codings asked for in `Accept-Encoding`; a reply in any other is refused."""

PIECE = 64 * 2**10
"""Most bytes a decoder gives at once."""

_GZIP, _ZLIB, _RAW = 16 + zlib.MAX_WBITS, zlib.MAX_WBITS, -zlib.MAX_WBITS


def counted(pieces: Iterable[bytes], limit: int, what: object) -> Iterator[bytes]:
    """Pass pieces on until they are more than *limit* bytes.

    Raises:
        BodyRefused: They are.
    """
    total = 0
    for piece in pieces:
        total += len(piece)
        if total > limit:
            raise BodyRefused(f"{what} is over {limit:,} bytes", "raise max_bytes of the source, or exclude it")
        yield piece


def decoded(pieces: Iterable[bytes], coding: str, what: object) -> Iterator[bytes]:
    """Undo a `Content-Encoding`, in pieces of at most `PIECE` bytes.

    Raises:
        BodyRefused: The coding is none of those asked for, or the bytes are not in it.
        CutShort: The stream ends early.
    """
    name = coding.strip().lower()
    if name in {"", "identity"}:
        yield from pieces
    elif name in {"gzip", "x-gzip"}:
        yield from _inflated(pieces, _GZIP, what)
    elif name == "deflate":
        yield from _inflated(pieces, _ZLIB, what)
    else:
        raise BodyRefused(f"{what} came in the coding {name[:40]!r}, which nobody asked for", "tell the site's owner")


def _inflated(pieces: Iterable[bytes], wbits: int, what: object) -> Iterator[bytes]:
    inflater = _Inflater(wbits, what)
    for piece in pieces:
        yield from inflater.feed(piece)
    yield from inflater.finish()


class _Inflater:
    """Inflates as it comes, one piece at a time."""

    def __init__(self, wbits: int, what: object) -> None:
        self._wbits = wbits
        self._what = what
        self._stream = zlib.decompressobj(wbits)
        self._began = False

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield what *data* gives."""
        while data:
            if self._stream.eof and not self._goes_on(data):
                return
            out = self._step(data)
            data = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            if out:
                yield out

    def finish(self) -> Iterator[bytes]:
        """Yield what is left; the stream must have ended."""
        while self._began and not self._stream.eof:
            rest = self._stream.decompress(self._stream.unconsumed_tail, PIECE)
            if not rest:
                raise CutShort(f"{self._what} ended within its compressed data", "it is read again at the next sync")
            yield rest

    def _goes_on(self, data: bytes) -> bool:
        """Begin another member of a gzip stream; padding, and what follows a deflate stream, is nobody's."""
        if self._wbits != _GZIP or not data.strip(b"\0"):
            return False
        self._stream = zlib.decompressobj(_GZIP)
        return True

    def _step(self, data: bytes) -> bytes:
        try:
            out = self._stream.decompress(data, PIECE)
        except zlib.error as error:
            if self._began or self._wbits != _ZLIB:
                raise BodyRefused(f"{self._what} is not in the coding it claims", "tell the site's owner") from error
            self._wbits, self._stream = _RAW, zlib.decompressobj(_RAW)
            return self._step(data)
        self._began = True
        return out


def looks_cut_short(body: bytes, media_type: str) -> bool:
    """Whether a body whose length nobody gave shows that its end is missing.

    JSON must parse; HTML that opens its `<html>`, and XML, must close what they opened; a PDF has its end mark. Nothing
    can be said of other types.
    """
    kind = media_type.partition(";")[0].strip().lower()
    tail = body[-2048:].rstrip()
    if kind.endswith("json"):
        try:
            json.loads(body)
        except ValueError:
            return True
        return False
    if kind in {"text/html", "application/xhtml+xml"}:
        return b"<html" in body[:4096].lower() and not {b"</html", b"</body"} & _tags(tail)
    if kind.endswith("xml"):
        return bool(tail) and not tail.endswith(b">")
    return kind == "application/pdf" and b"%%EOF" not in tail


def _tags(tail: bytes) -> set[bytes]:
    lower = tail.lower()
    return {tag for tag in (b"</html", b"</body") if tag in lower}
