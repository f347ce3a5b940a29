"""Embedding what waits: newest first, in batches, outside any transaction. Whatever stops it, the rest waits on."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import apsw

from corebrain.embed.guarded import Guarded
from corebrain.engines.local import embedding_text, vector_codes, vector_tables
from corebrain.engines.local.connection import Database
from corebrain.engines.local.embedding_text import Text
from corebrain.engines.local.select import select
from corebrain.engines.local.vector_tables import Row
from corebrain.errors import ConfigError, EngineError, InvalidRequest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOST = 256  # texts of one batch: half a megabyte
_QUICK_S, _SLOW_S = 0.25, 1.0  # a batch that takes less is doubled, one that takes more is halved
_CONTROL = "Is the model well?"
_REASON = 300  # characters that are kept of why a passage cannot be embedded


def foreign(model: str, held: str) -> ConfigError:
    """Return the error for a file whose vectors are of another model than the one given."""
    return ConfigError(
        f"the memory's vectors are of the model {held}, not of {model}: set the embedder back, or change the model"
        " of the memory (`brain jobs run --change-model`), which embeds everything again"
    )


class Backlog:
    """The passages of one memory that wait for *guarded*'s vectors.

    Args:
        database: The memory.
        guarded: The embedder.
        timeout_s: Longest time one batch may take.
    """

    def __init__(self, database: Database, guarded: Guarded, timeout_s: float) -> None:
        self._database = database
        self._guarded = guarded
        self._timeout_s = timeout_s
        self._size = 4

    def work(self, deadline: float, now: Callable[[], float]) -> int:
        """Embed until *deadline* of the clock *now*, one batch at least; return how many passages still wait.

        A text the model cannot take is set aside with the reason.

        Raises:
            ConfigError: the memory's vectors are of another model.
            CorebrainError: the embedder failed or gave something else than vectors; nothing is lost, and what it did
                until then is kept.
        """
        self._adopt()
        while True:
            began = now()
            left = self._batch()
            took = now() - began
            if took < _QUICK_S:
                self._size = min(_MOST, self._size * 2)
            elif took > _SLOW_S:
                self._size = max(1, self._size // 2)
            if not left or now() >= deadline:
                return left

    def _adopt(self) -> None:
        """Record the model when the file has none; the dimension is that of vectors it really gives."""
        with self._database.reading() as connection:
            held = vector_tables.recorded(connection)
        if held is not None:
            if held[0] != self._guarded.name:
                raise foreign(self._guarded.name, held[0])
            return
        dimension = self._guarded.texts([_CONTROL], self._timeout_s).shape[1]
        with self._database.writing() as connection:
            if vector_tables.recorded(connection) is None:  # another process may have been first
                vector_tables.adopt(connection, self._guarded.name, dimension)

    def change(self) -> None:
        """Make the embedder's model the memory's: all passages wait again, vectors of before are gone.

        Raises:
            CorebrainError: the embedder does not work; the vectors are still there.
        """
        dimension = self._guarded.texts([_CONTROL], self._timeout_s).shape[1]
        with self._database.writing() as connection:
            vector_tables.adopt(connection, self._guarded.name, dimension)

    def _batch(self) -> int:
        newest = "SELECT passage FROM unembedded ORDER BY passage DESC LIMIT ?"
        with self._database.reading() as connection:
            waiting = [row[0] for row in connection.execute(newest, (self._size,))]
            texts = embedding_text.read(connection, waiting)
            dimension = (vector_tables.recorded(connection) or ("", 0))[1]
        if not texts:
            return self._drop(waiting)
        kept, refused = self._embedded(texts, dimension)
        with self._database.writing() as connection:
            if vector_tables.recorded(connection) == (self._guarded.name, dimension):
                _keep(connection, kept, refused)
            return vector_tables.count(connection, "unembedded")

    def _drop(self, waiting: Sequence[int]) -> int:
        """Let passages go that nothing is held of."""
        with self._database.writing() as connection:
            connection.executemany("DELETE FROM unembedded WHERE passage = ?", [(passage,) for passage in waiting])
            return vector_tables.count(connection, "unembedded")

    def _embedded(
        self, texts: Sequence[Text], dimension: int
    ) -> "tuple[list[tuple[Text, NDArray[np.float32]]], list[tuple[Text, str]]]":
        """Return texts with their vectors, and texts with why they have none."""
        try:
            rows = self._rows(texts, dimension)
        except (EngineError, InvalidRequest) as error:
            if len(texts) == 1:
                self._rows([Text(0, 0, 0, _CONTROL)], dimension)  # when this fails too, it is not the text
                return [], [(texts[0], error.message)]
        else:
            return list(zip(texts, rows, strict=True)), []
        half = len(texts) // 2
        kept, refused = self._embedded(texts[:half], dimension)
        others, others_refused = self._embedded(texts[half:], dimension)
        return kept + others, refused + others_refused

    def _rows(self, texts: Sequence[Text], dimension: int) -> "NDArray[np.float32]":
        rows = self._guarded.texts([each.text for each in texts], self._timeout_s)
        if rows.shape[1] != dimension:
            raise EngineError(
                f"{self._guarded.name} gave vectors of {rows.shape[1]} numbers, the memory's have {dimension}: "
                "it is another model under an old name, give it a new one"
            )
        return rows


def _keep(
    connection: apsw.Connection,
    kept: "Sequence[tuple[Text, NDArray[np.float32]]]",
    refused: Sequence[tuple[Text, str]],
) -> None:
    """Write what is still waited for: an item may have been forgotten meanwhile."""
    waited = _taken(connection, [each.passage for each, _ in (*kept, *refused)])
    vector_tables.add(
        connection,
        [
            Row(each.node, each.kind, each.passage, each.digest, vector_codes.encoded(row))
            for each, row in kept
            if each.passage in waited
        ],
    )
    connection.executemany(
        "INSERT INTO unembeddable VALUES (?, ?)",
        [(each.passage, reason[:_REASON]) for each, reason in refused if each.passage in waited],
    )


def _taken(connection: apsw.Connection, passages: Sequence[int]) -> set[int]:
    """Take passages out of the backlog; return those that were in it."""
    marks = ", ".join("?" * len(passages))
    taken = select(connection, f"DELETE FROM unembedded WHERE passage IN ({marks}) RETURNING passage", passages)  # noqa: S608  # values are bound
    return {row[0] for row in taken}
