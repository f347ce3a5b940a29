"""Notes that live in memory: for `pull`, for tests, for trying out a connector."""

import json

from connectors.contract import Json

MAX_BYTES = 64 * 2**10
"""Largest value a note may hold, as JSON."""


class MemoryNotes:
    """`connectors.contract.Notes` in a dict, as strict about values as the state store.

    Args:
        values: Notes of an earlier scan.
    """

    def __init__(self, values: dict[str, Json] | None = None) -> None:
        self._values = {key: json.dumps(value) for key, value in (values or {}).items()}

    def get(self, key: str) -> Json:
        text = self._values.get(key)
        value: Json = None if text is None else json.loads(text)
        return value

    def put(self, key: str, value: Json) -> None:
        """Replace the value; `None` removes it.

        Raises:
            ValueError: The value is over `MAX_BYTES` as JSON; split it over several keys.
            TypeError: The value is not JSON.
        """
        text = json.dumps(value)
        if len(text) > MAX_BYTES:
            raise ValueError(f"the note {key!r} has {len(text):,} bytes, more than the {MAX_BYTES:,} allowed")
        if value is None:
            self._values.pop(key, None)
        else:
            self._values[key] = text
