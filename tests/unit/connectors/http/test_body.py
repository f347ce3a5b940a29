"""Bodies: decoded within bounds, and never taken for whole when they are not."""

import gzip
import zlib
from collections.abc import Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.http.body import PIECE, counted, decoded, looks_cut_short
from connectors.http.errors import BodyRefused, CutShort


def pieces(data: bytes, size: int = 1000) -> Iterable[bytes]:
    return [data[start : start + size] for start in range(0, len(data), size)]


def raw_deflate(data: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-15)
    return packer.compress(data) + packer.flush()


@given(st.binary(max_size=5000), st.integers(1, 700), st.sampled_from(["gzip", "x-gzip", "deflate", "raw", "identity"]))
def test_every_coding_gives_the_body_back(data: bytes, size: int, coding: str) -> None:
    packed = {"gzip": gzip.compress(data), "x-gzip": gzip.compress(data), "deflate": zlib.compress(data)}
    sent = {**packed, "raw": raw_deflate(data)}.get(coding, data)
    assert b"".join(decoded(pieces(sent, size), coding.replace("raw", "deflate"), "it")) == data


@given(st.binary(min_size=1, max_size=500), st.integers(1, 60))
def test_compressed_body_that_ends_early_is_cut_short(data: bytes, missing: int) -> None:
    sent = gzip.compress(data)
    kept = sent[: -min(missing, len(sent) - 1)]
    with pytest.raises(CutShort):
        list(decoded([kept], "gzip", "it"))


def test_gzip_of_several_members_is_read_whole() -> None:
    assert b"".join(decoded([gzip.compress(b"one ") + gzip.compress(b"two")], "gzip", "it")) == b"one two"


def test_bomb_never_gives_more_than_one_small_piece_over_the_limit() -> None:
    bomb = gzip.compress(bytes(50 * 2**20))
    sizes: list[int] = []
    with pytest.raises(BodyRefused, match="over 1,000,000 bytes"):
        sizes.extend(map(len, counted(decoded([bomb], "gzip", "it"), 1_000_000, "it")))
    assert max(sizes) <= PIECE
    assert sum(sizes) <= 1_000_000


@pytest.mark.parametrize("coding", ["br", "zstd", "gzip, gzip", "made-up"])
def test_coding_nobody_asked_for_is_refused(coding: str) -> None:
    with pytest.raises(BodyRefused, match="nobody asked for"):
        list(decoded([b"x"], coding, "it"))


def test_bytes_that_are_not_in_their_coding_are_refused() -> None:
    for coding in ("gzip", "deflate"):
        with pytest.raises(BodyRefused, match="not in the coding"):
            list(decoded([b"\xff\xfeplain text"], coding, "it"))


@pytest.mark.parametrize(
    ("body", "kind", "cut"),
    [
        (b'{"a": 1', "application/json", True),
        (b'{"a": 1}', "application/vnd.api+json; charset=utf-8", False),
        (b"<html><body><p>half", "text/html", True),
        (b"<!doctype html><html><p>whole</html>\n", "text/html; charset=utf-8", False),
        (b"<p>a fragment", "text/html", False),
        (b"<urlset><url>", "application/xml", False),
        (b"<urlset><url><lo", "application/xml", True),
        (b"%PDF-1.7 half", "application/pdf", True),
        (b"%PDF-1.7 whole %%EOF\n", "application/pdf", False),
        (b"half a sente", "text/plain", False),
    ],
)
def test_missing_end_shows_in_types_that_have_one(body: bytes, kind: str, cut: bool) -> None:
    assert looks_cut_short(body, kind) is cut
