"""Keeps plain text from being read as markdown, sparingly: only where words would vanish or become structure."""

import re

_LITERAL_TAG = re.compile(r"<(?=[A-Za-z/!?])")
_LINE_MARK = re.compile(r"(?:#{1,6}(?=\s|$)|[-+*>](?=\s)|(\d{1,9})(?=[.)]\s)|(?:```|~~~|={3,}$|-{3,}$))")


def escape_tags(text: str) -> str:
    """`text` with `<` escaped where a name follows, so that `<div>` stays visible."""
    return _LITERAL_TAG.sub(r"\\<", text) if "<" in text else text


def escape_start(line: str) -> str:
    """`line` with a mark at its start that is only text (`# `, `- `, `3. `, a fence) escaped."""
    return _LINE_MARK.sub(_escaped, line, count=1) if _LINE_MARK.match(line) else line


def _escaped(match: re.Match[str]) -> str:
    return f"{match[0]}\\" if match[1] else f"\\{match[0]}"
