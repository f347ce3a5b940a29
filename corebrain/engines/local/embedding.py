"""Search by meaning for one memory: the embedder, the backlog it works off, and the vectors in memory."""

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import apsw

from corebrain.embed.contract import Embedder
from corebrain.embed.guarded import Guarded
from corebrain.engines.local import ranking, vector_tables
from corebrain.engines.local.connection import Database
from corebrain.engines.local.deadline import Deadline
from corebrain.engines.local.embedding_backlog import Backlog, foreign
from corebrain.engines.local.fetching import Ranker
from corebrain.engines.local.ranking import Found
from corebrain.errors import CorebrainError, EngineError
from corebrain.model.filter import MetaFilter
from corebrain.model.requests import FetchMode

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUERY_S = 2.0
"""Seconds a read waits for its question's vector; then it ranks by words."""

BATCH_S = 120.0
_COUNTED = ("vectors", "unembedded", "unembeddable", "passages")
_QUESTIONS = 256  # whose vectors are kept: the sections of one recall ask the same


@dataclass(frozen=True, slots=True)
class Embedding:
    """How far a memory is embedded.

    Attributes:
        model: Whose vectors it holds; `None` before the first.
        dimension: Numbers of a vector, 0 without a model.
        embedded: Passages that have one.
        waiting: Passages that wait for `maintain`.
        refused: Passages the model could not take; they are found by words.
        passages: All of them.
    """

    model: str | None
    dimension: int
    embedded: int
    waiting: int
    refused: int
    passages: int


class Meaning:
    """What an engine with an embedder asks.

    Args:
        database: The memory.
        embedder: A host's.
        now: Seconds of a monotonic clock.

    Raises:
        ConfigError: numpy is not installed.
    """

    def __init__(self, database: Database, embedder: Embedder, now: Callable[[], float]) -> None:
        self._guarded = Guarded(embedder, now)
        from corebrain.engines.local.vector_groups import VectorGroups  # noqa: PLC0415  # numpy, of an extra

        self._groups = VectorGroups()
        self._backlog = Backlog(database, self._guarded, BATCH_S)
        self._database = database
        self._lock = threading.Lock()
        self._working = threading.Lock()
        self._questions: OrderedDict[str, NDArray[np.float32]] = OrderedDict()
        self._has_model = False  # once true, true for good
        self._trouble: str | None = None

    def ranker(self, mode: FetchMode, query: str, deadline: Deadline | None) -> Ranker:
        """Return what ranks a read of *mode*; embeds the question, outside any transaction.

        A hybrid read ranks by words when the question has no vector.

        Raises:
            CorebrainError: it has none and *mode* is vector: `Unavailable`, or what the embedder says.
        """
        if mode is FetchMode.KEYWORD or (mode is FetchMode.HYBRID and not self._holds_vectors()):
            return ranking.rank
        try:
            vector = self._vector(query, deadline)
        except CorebrainError as error:
            self._trouble = error.message
            if mode is FetchMode.VECTOR:
                raise
            return ranking.rank
        self._trouble = None

        def rank(connection: apsw.Connection, query: str, wanted: MetaFilter, most: int) -> list[Found]:
            return self._rank(connection, mode, vector, query, wanted, most)

        return rank

    def _holds_vectors(self) -> bool:
        """Tell whether a model has come to the memory: until then no question is worth its time."""
        if not self._has_model:
            with self._database.reading() as connection:
                self._has_model = vector_tables.recorded(connection) is not None
        return self._has_model

    def _rank(
        self,
        connection: apsw.Connection,
        mode: FetchMode,
        vector: "NDArray[np.float32]",
        query: str,
        wanted: MetaFilter,
        most: int,
    ) -> list[Found]:
        from corebrain.engines.local import fusion, vector_groups, vector_search  # noqa: PLC0415  # numpy, of an extra

        stamps, model = vector_groups.reached(connection, wanted)
        wrong = None if model is None else self._wrong(model, len(vector))
        if wrong is not None:
            self._forget(query, wrong.message)
            if mode is FetchMode.VECTOR:
                raise wrong
            return ranking.rank(connection, query, wanted, most)
        likenesses = vector_search.Likenesses(self._groups.load(connection, stamps, len(vector)), vector)
        by = fusion.by_meaning if mode is FetchMode.VECTOR else fusion.by_both
        return by(connection, likenesses, query, wanted, most)

    def _forget(self, query: str, why: str) -> None:
        with self._lock:
            self._questions.pop(query, None)
        self._trouble = why

    def _wrong(self, model: tuple[str, int], dimension: int) -> CorebrainError | None:
        """Return why a question's vector cannot be compared with those of *model*."""
        if model == (self._guarded.name, dimension):
            return None
        if model[0] != self._guarded.name:
            return foreign(self._guarded.name, model[0])
        return EngineError(
            f"{model[0]} gave a vector of {dimension} numbers, the memory's have {model[1]}: it is another model under"
            " an old name, give it a new one"
        )

    def _vector(self, query: str, deadline: Deadline | None) -> "NDArray[np.float32]":
        with self._lock:
            held = self._questions.get(query)
            if held is not None:
                self._questions.move_to_end(query)
                return held
        left = QUERY_S if deadline is None else max(0.0, min(QUERY_S, deadline.left / 2))
        vector = self._guarded.query(query, left, in_a_hurry=deadline is not None)
        with self._lock:
            self._questions[query] = vector
            while len(self._questions) > _QUESTIONS:
                self._questions.popitem(last=False)
        return vector

    def work(self, deadline: float, now: Callable[[], float]) -> int:
        """Embed what waits until *deadline*; return how many passages still wait. Raises as `Backlog.work`."""
        with self._working:
            try:
                left = self._backlog.work(deadline, now)
            except CorebrainError as error:
                self._trouble = error.message
                raise
        self._trouble = None
        return left

    def change(self) -> None:
        """Make the embedder's model the memory's. Raises as `Backlog.change`."""
        with self._working:
            self._backlog.change()

    def close(self) -> None:
        """Wait for the embedder's call under way, but not for one that hangs."""
        self._guarded.close()

    def trouble(self) -> str | None:
        """Return why reads rank by words alone at the moment, `None` when they do not."""
        with self._database.reading() as connection:
            held = vector_tables.recorded(connection)
        if held is not None and held[0] != self._guarded.name:
            return foreign(self._guarded.name, held[0]).message
        return self._trouble


def state(database: Database) -> Embedding:
    """Return how far *database* is embedded, with or without an embedder at hand."""
    with database.reading() as connection:
        model, dimension = vector_tables.recorded(connection) or (None, 0)
        counts = [vector_tables.count(connection, table) for table in _COUNTED]
    return Embedding(model, dimension, *counts)
