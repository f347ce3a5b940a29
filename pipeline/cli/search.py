"""`brain search`: finds documents, with the place in each."""

import sys
import time
from argparse import Namespace
from dataclasses import dataclass
from typing import Any

from corebrain.contract import MemoryEngine
from corebrain.engines.local.engine import LocalEngine
from corebrain.engines.local.matching import Matcher
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.requests import FetchMode, FetchRequest, Hit
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.explaining import explained
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import SHORT_ID, configured, described, never_synced, place, wanted
from pipeline.cli.search_filter import narrowed
from pipeline.cli.snippets import Snippet, snippet
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet
from pipeline.unembedded import unembedded

_END = {"q", "quit", "n", "no"}


def run(options: Namespace, console: Console) -> int:
    """Search, best first; on a terminal page by page."""
    query = " ".join(options.query)
    if not query.strip():
        raise SetupError("the query is blank; give some words to look for")
    config = configured(options)
    if never_synced(config, console):
        console.answer(query=query, hits=[])
        return 0
    with OpenBrain(SourceSet(config), trial=True) as brain:
        search = _Search(brain, query, options, Instant(time.time_ns()))
        cursor = options.cursor
        shown = 0
        while True:
            found, cursor = search.page(cursor)
            for each in found:
                _say(console, each)
            shown += len(found)
            if cursor is None or not _wants_more(console, shown):
                break
        if not console.as_json:
            _tell_of_meaning(brain.engine, console, nothing=not shown)
    if not shown and not console.as_json:
        console.note(f"nothing was found for {printable(query)}; `brain list` shows what is held")
    console.answer(query=query, hits=[each.answer() for each in found], next=cursor)
    return 0


@dataclass(frozen=True, slots=True)
class _Found:
    hit: Hit
    part: Snippet
    said: dict[str, Any]
    why: tuple[str, dict[str, Any]] | None

    def answer(self) -> dict[str, Any]:
        part = self.part
        told = {"score": self.hit.score, "page": part.page, "heading": part.heading, "snippet": part.text}
        why = {} if self.why is None else {"why": self.why[1]}
        return {**self.said, **told, "text": self.hit.text, **why}


class _Search:
    """One query with its conditions, page by page."""

    def __init__(self, brain: OpenBrain, query: str, options: Namespace, now: Instant) -> None:
        self._brain = brain
        self._query = query
        self._limit: int = options.limit
        self._explains: bool = options.explain
        self._now = now
        self._matcher = Matcher(query)
        self._mode: FetchMode = brain.engine.descriptor.best_mode
        base = wanted(brain, options.source)
        self._filter: MetaFilter = narrowed(base, brain.sources.layout(), options, now)

    def page(self, cursor: str | None) -> tuple[list[_Found], str | None]:
        request = FetchRequest(
            query=self._query, mode=self._mode, filter=self._filter, limit=self._limit, cursor=cursor
        )
        page = self._brain.engine.fetch(request)
        return [self._told(hit) for hit in page.hits], page.next_cursor

    def _told(self, hit: Hit) -> _Found:
        part = snippet(hit, self._query, self._matcher)
        said = {**described(self._brain, hit), "kind": hit.kind.value, "place": place(self._brain, hit)}
        if not self._explains:
            return _Found(hit, part, said, None)
        why = explained(hit, part, self._query, self._matcher, self._mode, self._now)
        return _Found(hit, part, said, (why.line(hit.score), why.to_dict()))


def _say(console: Console, found: _Found) -> None:
    hit, part = found.hit, found.part
    where = printable(found.said["place"])
    title = printable(found.said["title"]) or where
    console.say(f"{console.marked(title, [(0, len(title))])}  [{printable(hit.meta.source.id or hit.kind.value)}]")
    inside = [f"page {part.page}"] if part.page else []
    inside += [printable(part.heading)] if part.heading else []
    console.say(f"  {' · '.join([where, *inside])}  ({hit.id[:SHORT_ID]})")
    console.say(f"  {console.marked(part.text, part.spans)}")
    if found.why is not None:
        console.say(f"  {found.why[0]}")


def _tell_of_meaning(engine: MemoryEngine, console: Console, *, nothing: bool) -> None:
    """Say why a search went by words alone although it was to go by meaning too."""
    waiting = unembedded(engine) if nothing else 0
    if waiting:
        console.note(f"{counted(waiting, 'passage')} found by words alone until `brain jobs run` embeds them")
    if isinstance(engine, LocalEngine) and (reason := engine.health().reason):
        console.note(reason)


def _wants_more(console: Console, shown: int) -> bool:
    """Ask whether to go on, where somebody can answer."""
    if console.as_json or not console.is_terminal or not sys.stdin.isatty():
        return False
    console.note(f"-- {shown} shown; Enter for more, q to end --")
    answer = sys.stdin.readline()
    return bool(answer) and answer.strip().lower() not in _END
