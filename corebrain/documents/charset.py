"""From bytes to text: byte order mark, then UTF-16 without one, UTF-8, and a guess from the bytes themselves."""

import codecs
import re

from corebrain.errors import Damaged

SAMPLE_BYTES = 64 * 1024
# UTF-32 before UTF-16: the little-endian mark of the one starts with that of the other.
_MARKS: tuple[tuple[bytes, str], ...] = (
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
# Control characters that no text file holds; tab, line ends, form feed, escape and end-of-file are let through.
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x19\x1c-\x1f]")
_MIN_WIDE_BYTES = 8
# What the bytes above ASCII stand for in Western European prose saved as Windows-1252.
_WESTERN = frozenset(
    "äöüßÄÖÜéèêëàâçîïôùûœæøåñáíìóúãòÀÂÉÈÊÇÑÁÓÚÅÆØ€–—‘’“”„…«»°§©®·¿¡£\u00a0".encode("cp1252")  # noqa: RUF001 - typographic marks are meant
)
_HIGH = re.compile(rb"[\x80-\xff]")
_HIGH_RUN = re.compile(rb"[\x80-\xff]+")


def marked_encoding(data: bytes) -> tuple[str, int] | None:
    """The encoding a byte order mark names and the mark's length in bytes."""
    for mark, encoding in _MARKS:
        if data.startswith(mark):
            return encoding, len(mark)
    return None


def wide_encoding(data: bytes) -> str | None:
    """UTF-16 or UTF-32 without a mark, told by where the zero bytes stand.

    Text that is mostly ASCII has them in every other byte (UTF-16) or in three of four (UTF-32), always the same
    places; binary data has them anywhere. Text without ASCII is not found.
    """
    sample = data[:4096]
    if len(sample) < _MIN_WIDE_BYTES or 0 not in sample:
        return None
    share = [sample[lane::4].count(0) / max(1, len(sample[lane::4])) for lane in range(4)]
    full, none = 0.6, 0.05
    if share[1] >= full and share[2] >= full and min(share[0], share[3]) <= none:
        if share[3] >= full and share[0] <= none:
            return "utf-32-le"
        if share[0] >= full and share[3] <= none:
            return "utf-32-be"
    if min(share[1], share[3]) >= full and max(share[0], share[2]) <= none:
        return "utf-16-le"
    if min(share[0], share[2]) >= full and max(share[1], share[3]) <= none:
        return "utf-16-be"
    return None


def is_utf8(data: bytes, *, complete: bool = True) -> bool:
    """Whether `data` is UTF-8; with `complete=False` a character cut off at the end is fine."""
    try:
        codecs.getincrementaldecoder("utf-8")().decode(data, final=complete)
    except UnicodeDecodeError:
        return False
    return True


def looks_like_text(sample: bytes) -> bool:
    """Whether the first bytes of a file are text in any encoding; nothing is decoded but a guess at its charset."""
    if not sample:
        return False
    if marked_encoding(sample) or wide_encoding(sample):
        return True
    if 0 in sample:
        return False
    if is_utf8(sample, complete=False):
        return True
    return not _CONTROLS.search(sample) and _guess(sample) is not None


def decode_text(data: bytes, *, declared: str | None = None) -> str:
    """The text of `data`, without a byte order mark; line ends stay as they are.

    Args:
        data: The whole file.
        declared: What someone said the encoding is; asked only when the bytes themselves do not tell.

    Raises:
        Damaged: The bytes are not text.
    """
    marked = marked_encoding(data)
    if marked:
        return data[marked[1] :].decode(marked[0], "replace")
    wide = wide_encoding(data)
    if wide:
        return data.decode(wide, "replace")
    sample = data[:SAMPLE_BYTES]
    utf8 = is_utf8(data)
    # One in a thousand is a slip (a log, a dump); more is no text. UTF-8 may hold any control but NUL.
    if (sample.count(0) if utf8 else len(_CONTROLS.findall(sample))) > len(sample) // 1000:
        raise Damaged("the bytes are not text in any encoding", advice="give the file the name of its true format")
    if utf8:
        return data.decode("utf-8")
    for encoding in (declared, _guess(sample)):
        text = _strictly(data, encoding)
        if text is not None:
            return text
    return data.decode("cp1252", "replace")


def _strictly(data: bytes, encoding: str | None) -> str | None:
    if not encoding:
        return None
    try:
        return data.decode(encoding)
    except (UnicodeError, LookupError):
        return None


def _guess(sample: bytes) -> str | None:
    """The most plausible legacy encoding of a sample, `None` when it looks like no language.

    Windows-1252 goes first: the detector prefers its sisters (1250, 1254, Mac), which give German and French other
    letters. Central European, Turkish and Cyrillic text fails the test and is left to the detector.
    """
    high = _HIGH.findall(sample)
    western = sum(byte[0] in _WESTERN for byte in high)
    if len(high) <= 0.45 * len(sample) and western >= 0.85 * len(high) and not _runs_long(sample, len(high)):
        return "cp1252"
    import charset_normalizer  # noqa: PLC0415 - 30 ms that only legacy encodings need pay

    best = charset_normalizer.from_bytes(sample).best()
    return best.encoding if best else None


def _runs_long(sample: bytes, high: int) -> bool:
    """Whether bytes above ASCII stand in long runs, as in the double-byte encodings of East Asia."""
    return high > 2.5 * len(_HIGH_RUN.findall(sample))
