"""Where a command's answer goes: results to standard output, everything said beside them to standard error."""

import json
import sys
from collections.abc import Iterable
from typing import Any

from pipeline.cli.printable import printable

_BOLD, _PLAIN = "\x1b[1m", "\x1b[0m"


class Console:
    """Standard output and error of one command.

    Args:
        as_json: Print one JSON object and no other result.
    """

    def __init__(self, *, as_json: bool = False) -> None:
        self.as_json = as_json
        self.tells_progress = True
        self.is_terminal = sys.stdout.isatty()
        self.shows_progress = sys.stderr.isatty()

    def say(self, line: str = "") -> None:
        """Print a line of the result, unless the result is JSON. The text is made printable before."""
        if not self.as_json:
            print(line)

    def note(self, line: str) -> None:
        """Print a line beside the result."""
        print(line, file=sys.stderr)

    def answer(self, **fields: Any) -> None:
        """Print the one JSON object of this command, when JSON was asked for; `ok` comes first."""
        if self.as_json:
            print(json.dumps({"ok": True, **fields}))

    def failed(self, message: str) -> None:
        """Say why nothing more is done."""
        if self.as_json:
            print(json.dumps({"ok": False, "error": message}))
        else:
            self.note(f"brain: {printable(message)}")

    def marked(self, text: str, spans: Iterable[tuple[int, int]]) -> str:
        """Return *text* with *spans* in bold on a terminal, as it is elsewhere."""
        if not self.is_terminal:
            return text
        parts, end = [], 0
        for start, stop in spans:
            parts += [text[end:start], _BOLD, text[start:stop], _PLAIN]
            end = stop
        return "".join([*parts, text[end:]])
