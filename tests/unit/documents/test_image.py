"""Pictures are told by kind and size and by the words written into them; nothing is decoded."""

import struct
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents.brain_document import brain_document
from corebrain.documents.convert import image
from corebrain.documents.convert.exif import read_exif
from corebrain.documents.convert.image_head import read_head
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.formats import IMAGES
from corebrain.documents.types import RawDocument


def tiff(order: str = "<") -> bytes:
    """A TIFF head of 40 x 30 pixels with a description, a Windows title and, below, a time."""
    mark = b"II*\0" if order == "<" else b"MM\0*"
    title = "Tïtle".encode("utf-16-le") + b"\0\0"
    texts = b"A plan\0\0" + title + b"2026:01:02 03:04:05\0"
    at = 8 + 2 + 5 * 12 + 4 + 2 + 12 + 4
    kind = {3: "HHIHxx", 4: "HHII", 2: "HHII", 1: "HHII"}
    entries = [
        struct.pack(order + kind[3], 0x0100, 3, 1, 40),
        struct.pack(order + kind[4], 0x0101, 4, 1, 30),
        struct.pack(order + kind[2], 0x010E, 2, 8, at),
        struct.pack(order + kind[1], 0x9C9B, 1, len(title), at + 8),
        struct.pack(order + kind[4], 0x8769, 4, 1, 8 + 2 + 5 * 12 + 4),
    ]
    below = struct.pack(order + kind[2], 0x9003, 2, 20, at + 8 + len(title))
    head = mark + struct.pack(order + "IH", 8, 5) + b"".join(entries) + b"\0\0\0\0"
    return head + struct.pack(order + "H", 1) + below + b"\0\0\0\0" + texts


def png(*chunks: tuple[bytes, bytes]) -> bytes:
    head = (b"IHDR", struct.pack(">IIBBBBB", 40, 30, 8, 2, 0, 0, 0))
    packed = (struct.pack(">I", len(body)) + kind + body + b"crc!" for kind, body in (head, *chunks))
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def jpeg(*segments: tuple[int, bytes]) -> bytes:
    frame = (0xC2, struct.pack(">BHHB", 8, 30, 40, 3))
    packed = (struct.pack(">BBH", 0xFF, kind, len(body) + 2) + body for kind, body in (*segments, frame))
    return b"\xff\xd8" + b"".join(packed)


def webp(*chunks: tuple[bytes, bytes]) -> bytes:
    body = b"".join(kind + struct.pack("<I", len(data)) + data + b"\0" * (len(data) % 2) for kind, data in chunks)
    return b"RIFF" + struct.pack("<I", len(body) + 4) + b"WEBP" + body


PICTURES = {
    "png": png(),
    "jpeg": jpeg(),
    "gif": b"GIF89a" + struct.pack("<HH", 40, 30) + b"\0" * 8,
    "bmp": b"BM" + b"\0" * 16 + struct.pack("<ii", 40, -30),
    "tiff": tiff(),
    "webp": webp((b"VP8X", b"\0" * 4 + b"\x27\0\0" + b"\x1d\0\0")),
    "heic": b"\0\0\0\x18ftypheic"
    b"ispe\0\0\0\0" + struct.pack(">II", 20, 10) + b"ispe\0\0\0\0" + struct.pack(">II", 40, 30),
}


@pytest.mark.parametrize("kind", sorted(IMAGES))
def test_size_is_read_from_the_head_of_every_kind(kind: str) -> None:
    found = image.convert(RawDocument(PICTURES[kind]), kind)
    assert found.markdown.partition("\n")[0].lower() == f"{kind} image, 40 x 30 pixels"
    assert found.metadata == {"width": 40, "height": 30}


@pytest.mark.parametrize(
    "chunk",
    [(b"VP8 ", b"\0" * 6 + struct.pack("<HH", 40 | 0x4000, 30)), (b"VP8L", b"\x2f" + struct.pack("<I", 39 | 29 << 14))],
)
def test_both_codings_of_webp_tell_their_size(chunk: tuple[bytes, bytes]) -> None:
    found = read_head(webp(chunk), "webp")
    assert (found.width, found.height) == (40, 30)


@pytest.mark.parametrize("order", ["<", ">"])
def test_words_of_exif_are_read_in_either_byte_order(order: str) -> None:
    assert read_exif(tiff(order)).texts == {"description": "A plan", "title": "Tïtle", "taken": "2026:01:02 03:04:05"}


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (png((b"eXIf", tiff())), "png"),
        (jpeg((0xE0, b"JFIF"), (0xE1, b"Exif\0\0" + tiff())), "jpeg"),
        (webp((b"ALPH", b"odd"), (b"EXIF", tiff())), "webp"),
        (tiff(), "tiff"),
    ],
)
def test_title_of_a_picture_is_what_was_written_into_it(data: bytes, kind: str) -> None:
    found = image.convert(RawDocument(data, "IMG_1.x"), kind)
    assert found.title == "Tïtle"
    assert found.markdown.endswith("Description: A plan  \nTitle: Tïtle  \nTaken: 2026:01:02 03:04:05")


@pytest.mark.parametrize(
    ("kind", "body", "key", "text"),
    [
        (b"tEXt", b"Title\0The p\xe4n", "title", "The pän"),
        (b"zTXt", b"Comment\0\0" + zlib.compress(b"two  words"), "comment", "two words"),
        (b"zTXt", b"Comment\0\0" + zlib.compress(b"x" * 1_000_000), "comment", "x" * 65_536),
        (b"iTXt", "Author\0\0\0de\0\0Ädä".encode(), "author", "Ädä"),
        (b"iTXt", b"Author\0\1\0\0\0" + zlib.compress("Ädä".encode()), "author", "Ädä"),
    ],
)
def test_texts_of_png_are_read_whatever_their_coding(kind: bytes, body: bytes, key: str, text: str) -> None:
    assert read_head(png((kind, body)), "png").texts == {key: text}


def test_text_that_cannot_be_unpacked_is_left_out() -> None:
    assert read_head(png((b"zTXt", b"Comment\0\0nonsense"), (b"tEXt", b"Software\0x")), "png").texts == {}


def test_comment_of_a_jpeg_is_kept() -> None:
    assert read_head(jpeg((0xFE, b"made by hand")), "jpeg").texts == {"comment": "made by hand"}


def test_picture_becomes_a_document_called_by_its_name(converter: RegistryConverter) -> None:
    document = brain_document(converter, RawDocument(png(), "site plan.png"))
    assert (document.title, document.text, document.mime) == ("site plan.png", "PNG image, 40 x 30 pixels", "image/png")


@pytest.mark.parametrize("kind", sorted(IMAGES))
@given(data=st.data())
def test_no_picture_is_too_broken_to_be_told(kind: str, data: st.DataObject) -> None:
    whole = png((b"eXIf", tiff())) if kind == "png" else PICTURES[kind]
    cut = bytearray(whole[: data.draw(st.integers(0, len(whole)))])
    for place, value in data.draw(st.dictionaries(st.integers(0, max(len(cut) - 1, 0)), st.integers(0, 255))).items():
        cut[place : place + 1] = bytes([value])
    assert image.convert(RawDocument(bytes(cut)), kind).markdown.lower().startswith(f"{kind} image")
