"""Makes any text safe to print: nothing a document holds can move the cursor, colour the screen or turn text around."""

import unicodedata

_HIDDEN = frozenset(
    {
        *range(0x200E, 0x2010),  # marks of direction
        *range(0x202A, 0x202F),  # embeddings and overrides of direction
        *range(0x2060, 0x2070),  # joiners, isolates, invisible operators
        *range(0xFFF9, 0xFFFC),  # interlinear annotations
        *range(0xE0000, 0xE0080),  # tags
        *{0x061C, 0x180E, 0x200B, 0xFEFF},
    }
)
_ESCAPED_CATEGORIES = frozenset({"Cc", "Cs", "Zl", "Zp"})


def printable(text: str) -> str:
    r"""Return *text* as one line: white space collapsed, what a terminal would act on or hide written as `\x1b`."""
    return " ".join(lines(text).split())


def lines(text: str) -> str:
    r"""Return *text* with its line breaks; form feeds become line breaks, what a terminal would act on `\x1b`."""
    plain = text.replace("\r\n", "\n").replace("\f", "\n")
    if plain.isascii() and plain.isprintable():
        return plain
    return "".join(character if _is_safe(character) else _escaped(character) for character in plain)


def counted(number: int, noun: str) -> str:
    """Return `1 document` or `1,200 documents`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _is_safe(character: str) -> bool:
    if character in "\n\t":
        return True
    return ord(character) not in _HIDDEN and unicodedata.category(character) not in _ESCAPED_CATEGORIES


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"
