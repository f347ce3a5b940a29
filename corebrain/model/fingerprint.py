"""Canonical JSON and the fingerprint that is an item's id (spec 01 section 3).

The bytes are law: another implementation derives the same ids. Keys stand in the order of the spec's
tables and are never sorted; there is no whitespace; strings are raw UTF-8 with only the quote, the backslash and
U+0000 to U+001F escaped; confidences are single precision.
"""

import hashlib
import json.encoder
import math
import struct
from collections.abc import Iterable

from corebrain.errors import InvalidRequest
from corebrain.model.meta import MemoryMeta, ToolCallRef
from corebrain.model.text import utf8

quoted = json.encoder.encode_basestring
"""Write a JSON string: the named escapes, the rest of the control characters as lower-case u00xx."""


def joined(pairs: Iterable[tuple[str, str | None]]) -> str:
    """Write a JSON object of already written values, leaving out those that are `None`."""
    return "{" + ",".join(f'"{key}":{value}' for key, value in pairs if value is not None) + "}"


def optional(text: str | None) -> str | None:
    """Write a string, or nothing when it is unset; an empty string is set."""
    return None if text is None else quoted(text)


def single_precision(value: float) -> float:
    """Round *value* to the nearest IEEE-754 single; what is too large for one is infinite."""
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except OverflowError:
        return math.copysign(math.inf, value)


def confidence_text(value: float) -> str:
    """Write *value* as the shortest decimal that reads back to the same single (spec 01, "single-precision text").

    Raises:
        InvalidRequest: *value* is no finite single, so no JSON can carry it.
    """
    single = single_precision(value)
    if not math.isfinite(single):
        raise InvalidRequest(f"{value} is not a finite single-precision number")
    if single == 0:
        return "-0.0" if str(single).startswith("-") else "0.0"
    sign = "-" if single < 0 else ""
    digits, point = _shortest(abs(single))
    count = len(digits)
    if count <= point <= 13:
        return f"{sign}{digits}{'0' * (point - count)}.0"
    if 0 < point <= 13:
        return f"{sign}{digits[:point]}.{digits[point:]}"
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if count > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1}"


def _shortest(single: float) -> tuple[str, int]:
    for count in range(1, 10):
        mantissa, exponent = f"{single:.{count - 1}e}".split("e")
        if single_precision(float(f"{mantissa}e{exponent}")) == single:
            break
    return mantissa.replace(".", "").rstrip("0") or "0", int(exponent) + 1


def tool_call_json(call: ToolCallRef) -> str:
    """Write a tool call."""
    return joined((("name", quoted(call.name)), ("id", optional(call.id))))


def meta_json(meta: MemoryMeta, *, hashed: bool) -> str:
    """Write metadata; *hashed* leaves out `observed_at`, which does not count for the id."""
    turns = meta.turns
    source = joined((("kind", f'"{meta.source.kind.value}"'), ("id", optional(meta.source.id))))
    seen = None if hashed or meta.observed_at is None else f'"{meta.observed_at}"'
    return joined(
        (
            ("namespace", None if meta.namespace.is_root else quoted(str(meta.namespace))),
            ("workspace", optional(meta.workspace)),
            ("folder", optional(meta.folder)),
            ("file_path", optional(meta.file_path)),
            ("language", optional(meta.language)),
            ("repo", optional(meta.repo)),
            ("commit", optional(meta.commit)),
            ("url", optional(meta.url)),
            ("thread_id", optional(meta.thread_id)),
            ("turns", None if turns is None else f'{{"first":{turns.first},"last":{turns.last}}}'),
            ("agent_id", optional(meta.agent_id)),
            ("tool_call", None if meta.tool_call is None else tool_call_json(meta.tool_call)),
            ("source", source),
            ("tags", f"[{','.join(map(quoted, meta.tags))}]" if meta.tags else None),
            ("observed_at", seen),
            ("derive", None if meta.derive is None else str(meta.derive).lower()),
        )
    )


def digest(canonical: str) -> str:
    """Return the first 20 bytes of SHA-256 over the UTF-8 of *canonical*, as 40 lower-case hex digits.

    Raises:
        InvalidRequest: the text holds a lone surrogate.
    """
    return hashlib.sha256(utf8(canonical)).digest()[:20].hex()
