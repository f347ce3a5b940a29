"""Asking SQLite, with rows typed as what they are: tuples of values whose columns the statement names."""

from collections.abc import Sequence
from typing import Any

import apsw


def select(connection: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """Return all rows of a statement."""
    rows: list[tuple[Any, ...]] = connection.execute(sql, tuple(values)).fetchall()
    return rows
