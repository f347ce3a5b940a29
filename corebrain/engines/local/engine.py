"""The embedded engine: one SQLite file, no server, nothing leaves the machine."""

import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from copy import copy
from pathlib import Path
from typing import ClassVar

from corebrain.contract import EngineDescriptor, EngineHealth, Hits, Item, MemoryEngine, Receipts, validate_batch
from corebrain.embed.contract import Embedder
from corebrain.engines.local import (
    backup,
    beliefs,
    cursors,
    embedding,
    facets,
    fetching,
    listing,
    optimizing,
    place,
    removal,
    rows,
    upkeep,
    verification,
    widening,
    write,
)
from corebrain.engines.local.backup import Snapshot
from corebrain.engines.local.beliefs import Distiller
from corebrain.engines.local.connection import Database, Durability
from corebrain.engines.local.deadline import Deadline
from corebrain.engines.local.embedding import Embedding, Meaning
from corebrain.engines.local.optimizing import Optimized
from corebrain.engines.local.upkeep import Upkeep
from corebrain.engines.local.verification import Finding
from corebrain.errors import CorebrainError, Unsupported
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.requests import (
    BeliefsRequest,
    Citation,
    ConsolidateReceipt,
    ConsolidateRequest,
    Consolidation,
    EraseReport,
    EraseRequest,
    ExplorePage,
    ExploreRequest,
    Exported,
    ExportPage,
    FetchMode,
    FetchPage,
    FetchRequest,
    ForgetReport,
    ForgetTarget,
    GetRequest,
    Hit,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
    StoreReceipt,
)

Answerer = Callable[[RecallRequest, Sequence[Hit]], str]
"""A host's own way to answer a question from the hits found for it, best first, at least one."""

NOTHING_FOUND = "Memory holds nothing on this question."
_ID = re.compile(r"[0-9a-f]{40}", re.ASCII)


def _system_clock() -> Instant:
    return Instant(time.time_ns())


class LocalEngine(MemoryEngine):
    """Memory in one file that several threads and processes may use at once.

    What a store answered survives the process, and with `durability="power"` a power loss. Nothing runs in the
    background; call `maintain` when idle.

    Attributes:
        works_in_process: True: its calls are short work of this process, so a recall reads section by section.

    Args:
        path: The file, or a folder, which then holds `memory.db`. Made 0600 in a 0700 folder when missing.
        durability: `power` waits for the disk at every write; `process` is faster, and a power loss may cost the
            last writes, never the file.
        now: Seconds of a monotonic clock, for the budget of `maintain` and for `within`.
        distill: Draws beliefs from an item, in place of its first sentence.
        answer: Answers `recall` from its hits, in place of quoting them.
        embedder: For search by meaning: all fetch modes are declared then. What is not embedded yet, which is
            `maintain`'s work, is found by words; so is all when the embedder fails or is another model than the file's.
        clock: The moment from which `yesterday` in a question is counted; the system's.

    Raises:
        ConfigError: the place cannot be used: no permission, a network disk, another program's file, a newer schema;
            or an embedder was given and numpy is not installed.
        EngineError: the file is damaged or cut short.
    """

    works_in_process: ClassVar[bool] = True

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        durability: Durability = "power",
        now: Callable[[], float] = time.monotonic,
        distill: Distiller | None = None,
        answer: Answerer | None = None,
        embedder: Embedder | None = None,
        clock: Callable[[], Instant] = _system_clock,
    ) -> None:
        self._database = Database(place.resolve(path), durability=durability)
        self._meaning = self._opened(embedder, now)
        self._now = now
        self._clock = clock
        self._distill = distill or beliefs.first_sentences
        self._answer = answer or quoted
        self._deadline: Deadline | None = None
        self._descriptor = EngineDescriptor(
            id="local",
            label="Local (SQLite)",
            description="Keeps memory in one file on this machine; "
            + ("keyword search, no server" if embedder is None else "search by words and meaning, no server"),
            fetch_modes=(FetchMode.KEYWORD,) if embedder is None else tuple(FetchMode),
            consolidation=Consolidation.ON_DEMAND,
        )

    def _opened(self, embedder: Embedder | None, now: Callable[[], float]) -> Meaning | None:
        try:
            return None if embedder is None else Meaning(self._database, embedder, now)
        except BaseException:
            self._database.close()
            raise

    @property
    def descriptor(self) -> EngineDescriptor:
        return self._descriptor

    @property
    def path(self) -> Path:
        """The memory file."""
        return self._database.file

    def health(self) -> EngineHealth:
        try:
            with self._database.reading(self._deadline) as connection:
                connection.execute("SELECT count(*) FROM shards")
            wrong = None if self._meaning is None else self._meaning.trouble()
        except CorebrainError as error:
            return EngineHealth.down(error.message)
        return EngineHealth.ok() if wrong is None else EngineHealth.degraded(f"search by words alone: {wrong}")

    def store(self, item: Item) -> StoreReceipt:
        item.validate()
        return self._store([item.fingerprint()], [item])[0]

    def store_many(self, items: Sequence[Item]) -> Receipts:
        """Store a batch in one transaction: all of it, or, when an error comes midway, nothing."""
        return self._store(validate_batch(items), items)

    def _store(self, ids: Sequence[str], items: Sequence[Item]) -> Receipts:
        with self._database.writing() as connection:
            replayed = write.store(connection, self._database.registry, zip(ids, items, strict=True))
        return [StoreReceipt(id=item_id, replayed=held) for item_id, held in zip(ids, replayed, strict=True)]

    def fetch(self, request: FetchRequest) -> FetchPage:
        self._descriptor.ensure_mode(request.mode)
        request.validate()
        rank = self._ranker(request)
        with self._database.reading(self._deadline) as connection:
            hits, cursor = fetching.fetch(connection, request, self._clock(), rank)
            drawn = []
            if request.beliefs and request.cursor is None:
                drawn = beliefs.read(connection, request.filter.reach, request.query, request.beliefs)
        return FetchPage(hits=tuple(hits), next_cursor=cursor, beliefs=tuple(drawn))

    def _ranker(self, request: FetchRequest) -> fetching.Ranker:
        if self._meaning is None:
            return widening.rank
        return self._meaning.ranker(request.mode, request.query, self._deadline)

    def recall(self, request: RecallRequest) -> RecallAnswer:
        request.validate()
        mode = self._descriptor.best_mode
        page = self.fetch(FetchRequest(query=request.question, mode=mode, filter=request.filter, limit=request.limit))
        if not page.hits:
            return RecallAnswer(answer=NOTHING_FOUND)
        citations = tuple(
            Citation(id=hit.id, kind=hit.kind, snippet=hit.text, meta=hit.meta, score=hit.score) for hit in page.hits
        )
        return RecallAnswer(answer=self._answer(request, page.hits), citations=citations)

    def list(self, request: ListRequest) -> ListPage:
        """List newest first: the order of storing, backwards."""
        request.validate()
        held, cursor = self._page(request)
        return ListPage(items=tuple(rows.hit(row) for row in held), next_cursor=cursor)

    def newest(self, request: ListRequest, window: int) -> Sequence[Hit]:
        """Return the newest of the first *window* items listed (see `corebrain.recall.powers.ListsNewest`)."""
        request.validate()
        with self._database.reading(self._deadline) as connection:
            numbers = listing.newest(connection, request.filter, request.limit, window)
            return [rows.hit(row) for row in listing.read(connection, numbers, rows.READ)]

    def export(self, request: ListRequest) -> ExportPage:
        request.validate()
        held, cursor = self._page(request)
        items = tuple(Exported(id=rows.read_id(row), item=rows.read_item(row)) for row in held)
        return ExportPage(items=items, next_cursor=cursor)

    def _page(self, request: ListRequest) -> tuple[Sequence[rows.Row], str | None]:
        before = cursors.read(request.cursor, request.filter)
        with self._database.reading(self._deadline) as connection:
            numbers, more = listing.numbers(connection, request.filter, request.limit, before)
            held = listing.read(connection, numbers, rows.READ)
        return held, cursors.write(numbers[-1], request.filter) if more else None

    def get(self, request: GetRequest) -> Hits:
        request.validate()
        known = [bytes.fromhex(item_id) for item_id in dict.fromkeys(request.ids) if _ID.fullmatch(item_id)]
        with self._database.reading(self._deadline) as connection:
            found = [listing.read_one(connection, item_id) for item_id in known]
        hits = (rows.hit(row) for row in found if row is not None)
        wanted = MetaFilter(reach=request.reach)
        return [hit for hit in hits if wanted.matches(hit.kind, hit.meta)]

    def explore(self, request: ExploreRequest) -> ExplorePage:
        """Count by the counters when the filter sets only reach and kinds: exact, however many items there are."""
        request.validate()
        with self._database.reading(self._deadline) as connection:
            return facets.explore(connection, request)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        target.validate()
        with self._database.writing() as connection:
            if target.filter is not None:
                doomed = removal.admitted(connection, target.filter)
            else:
                ids = [bytes.fromhex(item_id) for item_id in target.ids or () if _ID.fullmatch(item_id)]
                doomed = removal.numbers_of(connection, ids)
            removal.remove(connection, self._database.registry, doomed)
        return ForgetReport(forgotten=len(doomed))

    def erase(self, request: EraseRequest) -> EraseReport:
        request.validate()
        reach = request.reach.model_copy(update={"inherit": False})
        with self._database.writing() as connection:
            doomed = removal.admitted(connection, MetaFilter(reach=reach, kinds=request.kinds))
            emptied = removal.remove(connection, self._database.registry, doomed)
        return EraseReport(erased_scopes=emptied)

    def consolidate(self, request: ConsolidateRequest) -> ConsolidateReceipt:
        """Build beliefs at once from items without one; the receipt counts those newly built."""
        request.validate()
        return beliefs.build(self._database, request, self._distill)

    def beliefs(self, request: BeliefsRequest) -> Hits:
        request.validate()
        with self._database.reading(self._deadline) as connection:
            return beliefs.read(connection, request.reach, request.query, request.limit)

    def maintain(self, budget_s: float) -> Upkeep:
        """Do waiting upkeep for about *budget_s* seconds, embedding included; call it when idle, off the turn.

        Raises:
            ConfigError: the embedder is another model than the file's vectors are of; see `change_model`.
            CorebrainError: the embedder failed; what waits for it waits on, and the other upkeep is done.
        """
        return upkeep.maintain(self._database, budget_s, self._now, self._meaning)

    def embedding(self) -> Embedding:
        """Return how far the memory is embedded, and by which model."""
        return embedding.state(self._database)

    def change_model(self) -> None:
        """Make the embedder's model the file's: vectors of another go, and `maintain` embeds everything again.

        Raises:
            Unsupported: the engine has no embedder.
            CorebrainError: the embedder does not work; nothing was changed.
        """
        if self._meaning is None:
            raise Unsupported("this engine has no embedder: give it one first")
        self._meaning.change()

    def within(self, seconds: float) -> "LocalEngine":
        """Return a view of this engine whose reads all end within *seconds* from now.

        A read that does not make it is interrupted inside SQLite and raises `Unavailable`; nothing of it runs on.
        Writes, and everything on the whole file, are not bounded. Closing the view closes nothing.

        Raises:
            InvalidRequest: *seconds* is no number.
        """
        view = copy(self)
        left = seconds if self._deadline is None else min(seconds, self._deadline.left)
        view._deadline = Deadline(left, self._now)  # noqa: SLF001  # a copy of our own
        return view

    def verify(self, *, deep: bool = False) -> Sequence[Finding]:
        """Prove the store: integrity, counters against a recount, index rows against items. Others may write.

        Args:
            deep: Also compare every item with its id, and the words of the index with an index made anew.

        Returns:
            What is wrong; nothing when all is well. Restore a backup, or move the file away and sync again.
        """
        return verification.verify(self._database, deep=deep)

    def backup(self, path: str | os.PathLike[str]) -> None:
        """Write the memory as it is now to the file *path* (0600), replacing it, while others read and write.

        Raises:
            ConfigError: the place cannot be written, or is the memory itself.
            EngineError: the disk failed or is full; what *path* held is still there.
        """
        with self.snapshot() as held:
            held.copy_to(Path(path))

    def snapshot(self) -> AbstractContextManager[Snapshot]:
        """Hold the memory as it is now, to copy it later; for a backup of several stores at one moment."""
        return backup.snapshot(self._database)

    @staticmethod
    def restore(source: str | os.PathLike[str], path: str | os.PathLike[str]) -> Path | None:
        """Make the memory at *path* hold what the backup *source* holds, in one transaction.

        Returns:
            Where the memory that was there is kept; `None` when there was none.

        Raises:
            ConfigError: *source* is another program's file, a newer version's, or missing; nothing was changed.
            EngineError: *source* is damaged, or the disk failed; the memory is as it was.
            Unavailable: another process kept writing for too long; try again.
        """
        return backup.restore(Path(source), place.resolve(path))

    def optimize(self) -> Optimized:
        """Write the file anew, small, and so that no byte of it holds what was forgotten. Writers wait meanwhile.

        Raises:
            EngineError: there is no room for a second copy of the file.
            Unavailable: another process kept writing for too long; try again.
        """
        return optimizing.optimize(self._database)

    def close(self) -> None:
        if self._deadline is not None:  # a view holds nothing of its own
            return
        if self._meaning is not None:
            self._meaning.close()
        self._database.close()


def quoted(request: RecallRequest, hits: Sequence[Hit]) -> str:
    """Answer by quoting the hits."""
    del request
    noun = "item" if len(hits) == 1 else "items"
    return "\n".join([f"This rests on {len(hits)} {noun} of memory:", *(f"- {hit.text}" for hit in hits)])
