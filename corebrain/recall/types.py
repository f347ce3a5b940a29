"""What a holistic recall asks for and what it answers (spec 03 section 1)."""

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter, same_id
from corebrain.model.meta import ItemKind
from corebrain.model.requests import Hit, Request
from corebrain.model.text import is_blank
from corebrain.model.value import Value

DEFAULT_BUDGET = 1200
"""Tokens of a whole block unless the host says otherwise."""


class Fetch(Value):
    """Fill a section by ranked retrieval, for its own query or the pack's; with neither, by the newest."""

    omitted: ClassVar[frozenset[str]] = frozenset({"query"})
    by: Literal["fetch"] = "fetch"
    query: str | None = None


class Answer(Value):
    """Fill a section by a synthesised answer; `fallback_to_fetch` ranks for the question when the engine fails."""

    omitted: ClassVar[frozenset[str]] = frozenset({"instructions", "fallback_to_fetch"})
    by: Literal["answer"] = "answer"
    question: str
    instructions: str | None = None
    fallback_to_fetch: bool = False


class Latest(Value):
    """Fill a section by the newest items."""

    by: Literal["latest"] = "latest"


SectionQuery = Annotated[Fetch | Answer | Latest, Field(discriminator="by")]


class ThreadWindow(Value):
    """The turns of a thread, from `from_turn` on, that the prompt still holds."""

    thread_id: str
    from_turn: int = Field(default=0, ge=0)

    def covers(self, hit: Hit) -> bool:
        """Tell whether *hit* belongs to the window; a turn of the thread without an index does."""
        if not same_id(hit.meta.thread_id, self.thread_id):
            return False
        return hit.meta.turns is None or hit.meta.turns.last >= self.from_turn


class ScopeSection(Request):
    """One `##` section: its scope, how much of it and how it is filled."""

    omitted: ClassVar[frozenset[str]] = frozenset({"max_scopes"})
    heading: str
    filter: MetaFilter = MetaFilter()
    limit: int
    query: SectionQuery = Fetch()
    max_scopes: int | None = None

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if is_blank(self.heading):
            raise InvalidRequest("a section's heading is blank")
        if self.limit <= 0:
            raise InvalidRequest(f"section {self.heading!r} has the limit {self.limit}, at least 1 is needed")
        if isinstance(self.query, Answer) and is_blank(self.query.question):
            raise InvalidRequest(f"section {self.heading!r} asks a blank question")

    @property
    def shows_learnings(self) -> bool:
        """Whether beliefs are folded into it: fetched or newest, with a filter that admits learnings."""
        return not isinstance(self.query, Answer) and self.filter.admits_kind(ItemKind.LEARNING)


class HolisticRecall(Request):
    """Several scopes read at once and rendered as one block; sections stand in order of priority.

    Attributes:
        query: What fetched sections rank for; blank or none shows the newest.
        budget_tokens: Size of the whole block, at four characters a token.
        exclude_ids: Items that never appear.
        exclude_thread: Turns that never appear.
        section_timeout_s: Seconds an engine that `TakesDeadline` has for each section; a section that falls back
            from an answer to a fetch has them for each. None waits.
    """

    omitted: ClassVar[frozenset[str]] = frozenset({"query", "exclude_ids", "exclude_thread", "section_timeout_s"})
    query: str | None = None
    sections: tuple[ScopeSection, ...]
    budget_tokens: int = DEFAULT_BUDGET
    title: str = "Memory"
    exclude_ids: tuple[str, ...] = ()
    exclude_thread: ThreadWindow | None = None
    section_timeout_s: float | None = None

    def validate(self) -> None:  # type: ignore[override]  # see Request
        if self.budget_tokens <= 0:
            raise InvalidRequest(f"budget_tokens is {self.budget_tokens}, at least 1 is needed")
        if is_blank(self.title):
            raise InvalidRequest("the title is blank")
        check_timeout(self.section_timeout_s)
        for section in self.sections:
            section.validate()

    def excludes(self, hit: Hit) -> bool:
        """Tell whether *hit* is never to appear."""
        if hit.id in self.exclude_ids:
            return True
        return self.exclude_thread is not None and self.exclude_thread.covers(hit)

    @property
    def excludes_any(self) -> bool:
        """Whether there is anything that is never to appear."""
        return bool(self.exclude_ids) or self.exclude_thread is not None

    def query_of(self, section: ScopeSection) -> str | None:
        """Return what a fetched *section* ranks for; `None` when it shows its newest."""
        own = section.query.query if isinstance(section.query, Fetch) else None
        query = own if own is not None and not is_blank(own) else self.query
        return None if query is None or is_blank(query) else query


def check_timeout(seconds: float | None) -> None:
    """Raise `InvalidRequest` unless *seconds* is none or a positive, finite number."""
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise InvalidRequest(f"section_timeout_s is {seconds}, a positive number of seconds is needed")


class SectionHits(Value):
    """What a section found, before the budget trimmed it; an answer's hits are its citations."""

    omitted: ClassVar[frozenset[str]] = frozenset({"answer"})
    heading: str
    answer: str | None = None
    hits: tuple[Hit, ...] = ()


class SkippedSection(Value):
    """A section that is not in the block: `empty`, or the engine's error."""

    heading: str
    reason: str


class ContextPack(Value):
    """One markdown block and what it rests on.

    Attributes:
        markdown: The block; empty when nothing was found or fits.
        tokens: Its size at four characters a token.
        refs: Ids the block cites, in the order of their first citation.
        sections: What each filled section found, before trimming.
        skipped: The sections that found nothing or failed.
        engine: The engine's id.
    """

    markdown: str = ""
    tokens: int = 0
    refs: tuple[str, ...] = ()
    sections: tuple[SectionHits, ...] = ()
    skipped: tuple[SkippedSection, ...] = ()
    engine: str
