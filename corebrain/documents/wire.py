"""How pool and worker talk: four bytes of length, big-endian, then that many bytes of JSON, both ways."""

import json
import os
import re
import struct

from corebrain.documents.types import Json

Message = dict[str, Json]
_LENGTH = struct.Struct(">I")
_SURROGATES = re.compile("[\ud800-\udfff]")


class FrameTooLarge(Exception):
    """A frame says it is longer than the reader takes."""


def encode(message: Message) -> bytes:
    """One frame; lone surrogates, which no UTF-8 can hold, become U+FFFD."""
    body = _SURROGATES.sub("\ufffd", json.dumps(message, ensure_ascii=False)).encode()
    return _LENGTH.pack(len(body)) + body


def read(descriptor: int) -> Message | None:
    """The next frame of a blocking descriptor, `None` at its end."""
    head = _exactly(descriptor, _LENGTH.size)
    body = _exactly(descriptor, _LENGTH.unpack(head)[0]) if head else None
    return _decode(body) if body else None


def write(descriptor: int, frame: bytes) -> None:
    """All of `frame` to a blocking descriptor."""
    rest = memoryview(frame)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


class Inbox:
    """Puts frames together from chunks as they come.

    Args:
        cap: Longest frame taken, in bytes.
    """

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._buffer = bytearray()

    def feed(self, chunk: bytes) -> None:
        """Add what came.

        Raises:
            FrameTooLarge: The frame under way is longer than the cap; nothing of it is kept.
        """
        self._buffer += chunk
        if len(self._buffer) >= _LENGTH.size and _LENGTH.unpack_from(self._buffer)[0] > self._cap:
            self._buffer.clear()
            raise FrameTooLarge

    def take(self) -> Message | None:
        """The next whole frame, when there is one.

        Raises:
            ValueError: The frame is not a JSON object.
        """
        if len(self._buffer) < _LENGTH.size:
            return None
        end = _LENGTH.size + _LENGTH.unpack_from(self._buffer)[0]
        if len(self._buffer) < end:
            return None
        body = bytes(self._buffer[_LENGTH.size : end])
        del self._buffer[:end]
        return _decode(body)


def _decode(body: bytes) -> Message:
    message = json.loads(body)
    if not isinstance(message, dict):
        raise ValueError("a frame is not a JSON object")  # noqa: TRY004 - one error for every bad frame
    return message


def _exactly(descriptor: int, length: int) -> bytes | None:
    parts: list[bytes] = []
    while length:
        chunk = os.read(descriptor, min(length, 1 << 20))
        if not chunk:
            return None
        parts.append(chunk)
        length -= len(chunk)
    return b"".join(parts)
