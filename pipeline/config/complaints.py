"""Says what is wrong with a configuration: file and line, key, the nearest known word. Never shows a value."""

import difflib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

_HEADER = re.compile(r"\s*\[([^\[\]]+)\]\s*(?:#.*)?$")
_KEY = re.compile(r"""\s*(?:"([^"]*)"|'([^']*)'|([A-Za-z0-9_-]+))\s*=""")


def nearest(word: str, known: Iterable[str]) -> str:
    """Suggest the nearest known word, else list them all."""
    words = sorted(known)
    close = difflib.get_close_matches(word, words, n=1)
    if close:
        return f"did you mean {close[0]!r}?"
    return f"known are {', '.join(words)}" if words else "there is none yet"


@dataclass(frozen=True, slots=True)
class Text:
    """The text of a configuration file, to find where a key stands.

    Attributes:
        file: Its path, as shown to people; `None` for the defaults.
        content: The whole text.
    """

    file: Path | None
    content: str = ""

    def at(self, table: str, key: str = "") -> str:
        """Name a key, or a table, for an error: `brain.toml:12: [sources.wiki] token`."""
        line = self._line(table, key) or self._line(table, "")
        place = f"{self.file}:{line}: " if line else f"{self.file}: " if self.file else ""
        return f"{place}[{table}]{' ' if key else ''}{key}" if table else f"{place}{key}"

    def _line(self, table: str, key: str) -> int | None:
        here = ""
        for number, line in enumerate(self.content.splitlines(), 1):
            header = _HEADER.match(line)
            if header:
                here = _plain(header[1])
                if here == table and not key:
                    return number
                continue
            found = _KEY.match(line)
            if found and here == table and key in found.groups():
                return number
        return None


def _plain(header: str) -> str:
    return ".".join(part.strip().strip("\"'") for part in header.split("."))


def explained(error: ValidationError, known: Iterable[str], text: Text, table: str) -> str:
    """Say every fault of a table, one after the other.

    Args:
        error: What the table's model raised.
        known: Keys the table may have.
        text: The file.
        table: The table's name.
    """
    names = list(known)
    said = []
    for fault in error.errors(include_input=False, include_url=False, include_context=False):
        key, *inner = [str(part) for part in fault["loc"]] or [""]
        where = text.at(table, key)
        if fault["type"] == "extra_forbidden":
            said.append(f"{where} is no known key; {nearest(key, names)}")
        elif fault["type"] == "missing":
            said.append(f"{text.at(table)} needs the key {key}")
        else:
            place = f" ({'.'.join(inner)})" if inner else ""
            said.append(f"{where}{place}: {_lowered(fault['msg'])}")
    return "; ".join(said)


def _lowered(message: str) -> str:
    plain = message.removeprefix("Value error, ").removeprefix("invalid request: ")
    return plain[:1].lower() + plain[1:]
