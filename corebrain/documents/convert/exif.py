"""What a camera or a person wrote into a picture: EXIF, which is a TIFF file within (CIPA DC-008, TIFF 6.0).

A bounded reader: it follows two directories, reads at most `MAX_ENTRIES` entries of each, and takes every number of the
file for a possible lie. Where the picture was taken is not read.
"""

import struct
from dataclasses import dataclass, field

MAX_ENTRIES = 200
MAX_TEXT = 2_000
"""Bytes of one text."""

_WIDTH, _HEIGHT, _SUB_DIRECTORY = 0x0100, 0x0101, 0x8769
_TEXTS = {0x010E: "description", 0x013B: "author", 0x9003: "taken", 0x9C9B: "title", 0x9C9C: "comment"}
_WINDOWS = frozenset({0x9C9B, 0x9C9C})  # UTF-16, as Windows writes them
_SIZES = {1: 1, 2: 1, 3: 2, 4: 4}


@dataclass(slots=True)
class Exif:
    """Width and height in pixels, 0 when unsaid, and texts by what they are."""

    width: int = 0
    height: int = 0
    texts: dict[str, str] = field(default_factory=dict)


def read_exif(data: bytes) -> Exif:
    """What a TIFF block says; nothing when it is none."""
    found = Exif()
    order = {b"II*\0": "<", b"MM\0*": ">"}.get(data[:4])
    if order is None or len(data) < 8:
        return found
    (at,) = struct.unpack_from(f"{order}I", data, 4)
    below = _directory(data, order, at, found)
    if below:
        _directory(data, order, below, found)
    return found


def _directory(data: bytes, order: str, at: int, found: Exif) -> int:
    """Read one directory; where the one below it stands, 0 when there is none."""
    below = 0
    if at + 2 > len(data):
        return 0
    (count,) = struct.unpack_from(f"{order}H", data, at)
    for index in range(min(count, MAX_ENTRIES)):
        place = at + 2 + 12 * index
        if place + 12 > len(data):
            break
        tag, kind, length = struct.unpack_from(f"{order}HHI", data, place)
        if tag in _TEXTS:
            _text(_value(data, order, place, kind, length), tag, found)
        elif tag in {_WIDTH, _HEIGHT, _SUB_DIRECTORY} and kind in {3, 4}:
            (number,) = struct.unpack_from(f"{order}{'H' if kind == 3 else 'I'}", data, place + 8)
            below = number if tag == _SUB_DIRECTORY else below
            found.width = number if tag == _WIDTH else found.width
            found.height = number if tag == _HEIGHT else found.height
    return below


def _value(data: bytes, order: str, place: int, kind: int, length: int) -> bytes:
    size = _SIZES.get(kind, 0) * length
    if size <= 4:
        return data[place + 8 : place + 8 + size]
    (offset,) = struct.unpack_from(f"{order}I", data, place + 8)
    return data[offset : offset + min(size, MAX_TEXT)]


def _text(raw: bytes, tag: int, found: Exif) -> None:
    text = raw.decode("utf-16-le" if tag in _WINDOWS else "utf-8", "replace").partition("\0")[0]
    plain = " ".join(text.split())
    if plain:
        found.texts.setdefault(_TEXTS[tag], plain)
