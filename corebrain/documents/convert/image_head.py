"""Size and words of a picture, from its head alone: nothing is ever decoded.

Formats: PNG (W3C), JPEG (ITU T.81), GIF89a, BMP, WebP (RFC 9649), TIFF 6.0, HEIF (ISO 23008-12).
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from itertools import islice

from corebrain.documents.convert.exif import Exif, read_exif

MAX_CHUNKS = 2_000
"""Chunks or segments of one file that are looked at."""
MAX_TEXT = 64 * 1024

_PNG_KEYS = {"Title": "title", "Author": "author", "Description": "description", "Comment": "comment"}
_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}  # start of frame, whatever its coding


def read_head(data: bytes, format_name: str) -> Exif:
    """Width, height and texts of a picture; what cannot be found out is left empty."""
    try:
        return _READERS[format_name](data)
    except (struct.error, IndexError):  # cut off in the middle
        return Exif()


def _png(data: bytes) -> Exif:
    found = Exif()
    for kind, body in _chunks(data, 8, ">I4s", before=True):
        if kind == b"IHDR":
            found.width, found.height = struct.unpack_from(">II", body)
        elif kind == b"eXIf":
            found.texts.update(read_exif(body).texts)
        elif kind in {b"tEXt", b"zTXt", b"iTXt"}:
            key, text = _png_text(kind, body)
            if key in _PNG_KEYS and text:
                found.texts.setdefault(_PNG_KEYS[key], text)
    return found


def _png_text(kind: bytes, body: bytes) -> tuple[str, str]:
    key, _, rest = body.partition(b"\0")
    packed, encoding = kind == b"zTXt", "latin-1"
    if kind == b"iTXt":
        packed, encoding = rest[:1] == b"\1", "utf-8"
        rest = rest[2:].split(b"\0", 2)[-1]
    elif packed:
        rest = rest[1:]
    if packed:
        try:
            rest = zlib.decompressobj().decompress(rest, MAX_TEXT)
        except zlib.error:
            rest = b""
    return key.decode("latin-1"), " ".join(rest[:MAX_TEXT].decode(encoding, "replace").split())


def _jpeg(data: bytes) -> Exif:
    found = Exif()
    at = 2
    for _ in range(MAX_CHUNKS):
        if data[at] != 0xFF:
            break
        marker, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        body = data[at + 4 : at + 2 + length]
        if marker in _FRAMES:
            found.height, found.width = struct.unpack_from(">HH", body, 1)
            break
        if marker == 0xE1 and body.startswith(b"Exif\0\0"):
            found.texts.update(read_exif(body[6:]).texts)
        elif marker == 0xFE:
            comment = " ".join(body[:MAX_TEXT].decode("utf-8", "replace").split())
            found.texts.update({"comment": comment} if comment else {})
        at += 2 + length
    return found


def _webp(data: bytes) -> Exif:
    found = Exif()
    for kind, body in _chunks(data, 12, "<4sI", before=False):
        if kind == b"VP8X":
            width, height = body[4:7], body[7:10]
            found.width, found.height = (int.from_bytes(side, "little") + 1 for side in (width, height))
        elif kind == b"VP8 " and not found.width:
            found.width, found.height = (side & 0x3FFF for side in struct.unpack_from("<HH", body, 6))
        elif kind == b"VP8L" and not found.width:
            (bits,) = struct.unpack_from("<I", body, 1)
            found.width, found.height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
        elif kind == b"EXIF":
            found.texts.update(read_exif(body.removeprefix(b"Exif\0\0")).texts)
    return found


def _chunks(data: bytes, at: int, form: str, *, before: bool) -> Iterator[tuple[bytes, bytes]]:
    """The chunks of a PNG (length before kind, a checksum behind) or of a RIFF file (padded to even lengths)."""
    for _ in range(MAX_CHUNKS):
        if at + 8 > len(data):
            return
        head = struct.unpack_from(form, data, at)
        length, kind = head if before else head[::-1]
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length if before else 8 + length + length % 2


def _gif(data: bytes) -> Exif:
    width, height = struct.unpack_from("<HH", data, 6)
    return Exif(width, height)


def _bmp(data: bytes) -> Exif:
    width, height = struct.unpack_from("<ii", data, 18)
    return Exif(abs(width), abs(height))


def _heic(data: bytes) -> Exif:
    """The largest of the sizes given (`ispe`): the others are those of tiles and thumbnails."""
    sizes = [struct.unpack_from(">II", data, at + 8) for at in islice(_places(data, b"ispe"), MAX_CHUNKS)]
    width, height = max(sizes, default=(0, 0))
    return Exif(width, height)


def _places(data: bytes, mark: bytes) -> Iterator[int]:
    at = data.find(mark, 0, 1 << 20)
    while at >= 0:
        yield at
        at = data.find(mark, at + 4, 1 << 20)


_READERS: dict[str, Callable[[bytes], Exif]] = {
    "png": _png, "jpeg": _jpeg, "webp": _webp, "gif": _gif, "bmp": _bmp, "tiff": read_exif, "heic": _heic,
}  # fmt: skip
