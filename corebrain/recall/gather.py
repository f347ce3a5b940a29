"""Reads every section of a holistic recall at once (spec 03 section 1.1). Decides nothing about what is shown."""

from collections.abc import Callable, Iterable
from functools import partial

from corebrain.contract import MemoryEngine
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import (
    BeliefsRequest,
    FetchRequest,
    Hit,
    ListRequest,
    RecallAnswer,
    RecallRequest,
)
from corebrain.model.text import is_blank
from corebrain.recall.failure import honest, typed
from corebrain.recall.powers import ListsNewest, bounded, gains_by_threads
from corebrain.recall.reads import Answered, Found, Read
from corebrain.recall.together import together
from corebrain.recall.types import Answer, Fetch, HolisticRecall, ScopeSection

MAX_FETCH_PAGES = 5
LATEST_PAGE = 100
MAX_LATEST_PAGES = 50


def gather(engine: MemoryEngine, recall: HolisticRecall) -> list[Read]:
    """Read the sections of *recall* at once, each on a thread of its own; one entry a section, in order.

    An engine that `WorksInProcess` is read section by section in the caller's thread instead. No engine
    failure is raised: it stands in the section's place. Nothing runs any more when this returns.
    """
    return _Gathering(engine, recall).read()


class _Gathering:
    """The reads of one recall: how deep each goes, and how each is filled."""

    def __init__(self, engine: MemoryEngine, recall: HolisticRecall) -> None:
        self._engine = engine
        self._recall = recall
        self._wanted = _wanted(recall)
        pairs = zip(recall.sections, self._wanted, strict=True)
        self._belief_budget = next((wanted for section, wanted in pairs if section.shows_learnings), 0)

    def read(self) -> list[Read]:
        sections = list(zip(self._recall.sections, self._wanted, strict=True))
        calls: list[Callable[[], Read]] = [partial(self._attempt, self._section, *each) for each in sections]
        listed = [index for index, (section, _) in enumerate(sections) if self._lists_beliefs(section)]
        calls += [partial(self._attempt, self._beliefs, *sections[index]) for index in listed]
        reads = together(calls, threads=gains_by_threads(self._engine))
        beliefs = dict(zip(listed, reads[len(sections) :], strict=True))
        return [_with_beliefs(read, beliefs.get(index)) for index, read in enumerate(reads[: len(sections)])]

    def _attempt(
        self,
        read: Callable[[MemoryEngine, ScopeSection, int], Read],
        section: ScopeSection,
        wanted: int,
    ) -> Read:
        try:
            return read(bounded(self._engine, self._recall.section_timeout_s), section, wanted)
        except Exception as error:  # noqa: BLE001  # the border to any engine: one that breaks costs its section only
            return typed(error)

    def _section(self, engine: MemoryEngine, section: ScopeSection, wanted: int) -> Read:
        if isinstance(section.query, Answer):
            return self._answer(engine, section, section.query, wanted)
        query = self._recall.query_of(section) if isinstance(section.query, Fetch) else None
        if query is None:
            return self._latest(engine, section, wanted)
        return self._fetch(engine, section, query, wanted, beliefs=self._belief_budget)

    def _answer(self, engine: MemoryEngine, section: ScopeSection, query: Answer, wanted: int) -> Read:
        request = RecallRequest(
            question=query.question, filter=section.filter, limit=section.limit, instructions=query.instructions
        )
        try:
            answer = honest(RecallAnswer, engine.recall(request))
        except Exception:
            if not query.fallback_to_fetch:
                raise
            again = bounded(self._engine, self._recall.section_timeout_s)
            return self._fetch(again, section, query.question, wanted, beliefs=0)
        if not answer.citations or is_blank(answer.answer):
            return Found()
        return Answered(answer)

    def _fetch(self, engine: MemoryEngine, section: ScopeSection, query: str, wanted: int, *, beliefs: int) -> Found:
        if not engine.descriptor.fetch_modes:
            return self._latest(engine, section, wanted)
        request = FetchRequest(
            query=query,
            mode=engine.descriptor.best_mode,
            filter=section.filter,
            limit=wanted,
            beliefs=beliefs,
            max_scopes=section.max_scopes,
        )
        page = first = engine.fetch(request)
        kept = self._admitted(page.hits)
        lost = len(kept) < len(page.hits)
        for _ in range(MAX_FETCH_PAGES - 1):
            if page.next_cursor is None or not lost or len(kept) >= wanted:
                break
            page = engine.fetch(request.model_copy(update={"cursor": page.next_cursor, "beliefs": 0}))
            admitted = self._admitted(page.hits)
            lost = len(admitted) < len(page.hits)
            kept += admitted
        return Found(tuple(kept), tuple(honest(Hit, belief) for belief in first.beliefs))

    def _latest(self, engine: MemoryEngine, section: ScopeSection, wanted: int) -> Found:
        if isinstance(engine, ListsNewest) and not self._recall.excludes_any:
            request = ListRequest(filter=section.filter, limit=wanted)
            newest = engine.newest(request, LATEST_PAGE * MAX_LATEST_PAGES)
            return Found(tuple(honest(Hit, hit) for hit in newest))
        kept: list[Hit] = []
        cursor: str | None = None
        for _ in range(MAX_LATEST_PAGES):
            page = engine.list(ListRequest(filter=section.filter, limit=LATEST_PAGE, cursor=cursor))
            kept += self._admitted(page.items)
            cursor = page.next_cursor
            if cursor is None:
                break
        return Found(tuple(sorted(kept, key=newest_first)[:wanted]))

    def _lists_beliefs(self, section: ScopeSection) -> bool:
        if not section.shows_learnings:
            return False
        return not isinstance(section.query, Fetch) or self._recall.query_of(section) is None

    @staticmethod
    def _beliefs(engine: MemoryEngine, section: ScopeSection, wanted: int) -> Found:
        reach = section.filter.reach or WHOLE_TREE
        found = engine.beliefs(BeliefsRequest(reach=reach, limit=wanted))
        return Found(beliefs=tuple(honest(Hit, belief) for belief in found))

    def _admitted(self, hits: Iterable[Hit]) -> list[Hit]:
        return [hit for hit in hits if not self._recall.excludes(honest(Hit, hit))]


def _wanted(recall: HolisticRecall) -> list[int]:
    """Over-fetch so that a section is still full when exclusions and earlier sections have taken their part."""
    depths = []
    before = 0
    for section in recall.sections:
        window = section.limit if recall.exclude_thread is not None else 0
        depths.append(section.limit + len(recall.exclude_ids) + window + before)
        before += section.limit
    return depths


def _with_beliefs(read: Read, beliefs: Read | None) -> Read:
    """Join a section's newest with the beliefs listed beside them; a failed listing leaves the stored ones."""
    if isinstance(read, Found) and isinstance(beliefs, Found):
        return Found(read.hits, beliefs.beliefs)
    return read


def newest_first(hit: Hit) -> tuple[bool, int, float, bool, int]:
    """Sort key: latest `observed_at`, then most confident, then latest turn; what is absent comes last."""
    seen = hit.meta.observed_at
    turns = hit.meta.turns
    return (
        seen is None,
        0 if seen is None else -seen.ns,
        -(hit.confidence or 0.0),
        turns is None,
        0 if turns is None else -turns.last,
    )
