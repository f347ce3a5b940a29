"""What turns text into vectors, for search by meaning. The library chooses no model by itself: a host gives one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:  # numpy comes with the extra `semantic`
    from numpy.typing import ArrayLike


class Embedder(Protocol):
    """Turns texts into vectors whose angle tells how near they are in meaning.

    Calls may come from several threads, one at a time. An engine waits for a call only so long, checks every number,
    and finds by keyword when a call fails, so an implementation needs no retry and no fallback of its own.

    Attributes:
        name: Model, version and whatever else changes the numbers. It is kept with the vectors: an engine never mixes
            those of two names.
    """

    @property
    def name(self) -> str:
        """The model, as it is recorded."""

    @property
    def dimension(self) -> int:
        """Numbers a vector has; an implementation that must ask a server may do so here, and raises as `embed`."""

    def embed(self, texts: Sequence[str]) -> "ArrayLike":
        """Return one row of `dimension` finite floats a text, in order; the length of a row does not matter.

        Args:
            texts: Documents' passages, turns or learnings, at least one; a text longer than the model takes is cut.

        Raises:
            Unavailable: transient, such as a server that is down: the texts are embedded another time.
            Unauthorized: the credential is refused.
            InvalidRequest: one of the texts cannot be embedded; alone, it is set aside.
            EngineError: anything else. What an implementation raises of other classes counts as this.
        """


@runtime_checkable
class EmbedsQueries(Protocol):
    """An embedder whose model wants a question told from a passage, as e5 and bge do by a prefix."""

    def embed_query(self, query: str) -> "ArrayLike":
        """Return the row of a question; raises as `embed`."""
