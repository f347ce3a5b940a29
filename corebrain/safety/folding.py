"""A copy of a text as a reader of numbers sees it, and the way back to the original's places."""

from typing import NamedTuple

_DROPPED = "\u200b\u200c\u200d\ufeff\u2060\u180e"
_FULL_WIDTH, _ARABIC, _EASTERN_ARABIC = 0xFF10, 0x0660, 0x06F0
_FOLDS = {
    **{zero + digit: str(digit) for zero in (_FULL_WIDTH, _ARABIC, _EASTERN_ARABIC) for digit in range(10)},
    0xFF0E: ".",
    0xFF0D: "-",
    0xFF0F: "/",
    0xFF1A: ":",
}


class Folded(NamedTuple):
    """`text` without invisible signs and with ASCII digits; `places` holds each sign's place, `None` when unmoved."""

    text: str
    places: list[int] | None

    def original(self, start: int, end: int) -> tuple[int, int]:
        """Return the span of the original text that [*start*, *end*), not empty, was read from."""
        if self.places is None:
            return start, end
        return self.places[start], self.places[end - 1] + 1


def fold(text: str) -> Folded:
    """Drop zero-width signs and turn full-width, Arabic-Indic and Eastern Arabic-Indic digits into ASCII."""
    if text.isascii():
        return Folded(text, None)
    folded = text.translate(_FOLDS)
    if not any(sign in folded for sign in _DROPPED):
        return Folded(folded, None)
    places = [place for place, sign in enumerate(folded) if sign not in _DROPPED]
    return Folded("".join(folded[place] for place in places), places)
