"""Lists in notes, which hold at most 64 KiB each: cut over as many notes as they need."""

import json
from collections.abc import Iterable, Iterator

from connectors.contract import Json, Notes

_PIECE_BYTES = 48 * 2**10


def put_list(notes: Notes, key: str, values: Iterable[Json]) -> None:
    """Keep *values*, each far smaller than a note, in the place of what was kept under *key*."""
    number = 0
    for number, piece in enumerate(_pieces(values), start=1):
        notes.put(f"{key}:{number - 1}", piece)
    while notes.get(f"{key}:{number}") is not None:
        notes.put(f"{key}:{number}", None)
        number += 1


def get_list(notes: Notes, key: str) -> Iterator[Json]:
    """Yield what was kept under *key*; nothing when nothing was."""
    number = 0
    while isinstance(piece := notes.get(f"{key}:{number}"), list):
        yield from piece
        number += 1


def _pieces(values: Iterable[Json]) -> Iterator[list[Json]]:
    piece: list[Json] = []
    size = 0
    for value in values:
        length = len(json.dumps(value)) + 2
        if piece and size + length > _PIECE_BYTES:
            yield piece
            piece, size = [], 0
        piece.append(value)
        size += length
    if piece:
        yield piece
