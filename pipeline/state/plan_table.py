"""The plan of one run in SQLite: what is new, changed, to be filed elsewhere, due again or gone."""

from collections.abc import Iterable, Iterator
from itertools import islice

from connectors.contract import Ref
from pipeline.state.books import Books
from pipeline.state.rows import ref_from_json, ref_to_json
from pipeline.state.values import Record, Verdict, Work

_PAGE = 500
_BITS = 8


class SqliteLedger(Books):
    """One source's books and the plan of the current run."""

    def begin(self) -> None:
        self.database.many("DELETE FROM work WHERE source = ?", [(self.source,)])

    def plan(self, work: Iterable[Work]) -> None:
        steps = iter(work)
        while page := list(islice(steps, _PAGE)):
            with self.database.transaction():
                self._add(page)

    def _add(self, page: list[Work]) -> None:
        self.database.many(
            "INSERT OR REPLACE INTO work (source, key, verdict, ref, size, spool) VALUES (?, ?, ?, ?, ?, ?)",
            [
                (self.source, step.ref.key, step.verdict.value, ref_to_json(step.ref), step.ref.size, step.spool)
                for step in page
                if step.verdict is not Verdict.GONE
            ],
        )
        self.database.many(
            "INSERT OR REPLACE INTO work (source, key, verdict, ref, raw, content, format)"
            " SELECT source, key, 'gone', ref, raw, json_extract(ref, '$.content'), format FROM document"
            " WHERE source = ? AND key = ?",
            [(self.source, step.ref.key) for step in page if step.verdict is Verdict.GONE],
        )

    def unmarked(self, marks: bytearray, newest: int, scope: str = "") -> Iterator[str]:
        if scope.endswith("/"):  # what begins with it; "0" follows "/"
            bounds: tuple[str, ...] = (scope, f"{scope[:-1]}0")
            bounded = "key > ?3 AND key < ?4"
        else:
            bounds, bounded = ((scope,), "key = ?3") if scope else ((), "1")
        rows = self._paged(
            f"SELECT key, id FROM document WHERE source = ?1 AND key > ?2 AND {bounded} ORDER BY key",  # noqa: S608 - constants
            *bounds,
        )
        for key, row in rows:
            if row <= newest and (row >= len(marks) * _BITS or not marks[row // _BITS] >> row % _BITS & 1):
                yield key

    def misfiled(self, *, split: bool) -> Iterator[Ref]:
        yield from self._at_rest("filed IS NOT collection" if split else "filed IS NOT NULL")

    def counts(self) -> dict[Verdict, int]:
        found = dict(
            self.database.rows("SELECT verdict, count(*) FROM work WHERE source = ? GROUP BY verdict", (self.source,))
        )
        return {verdict: found.get(verdict.value, 0) for verdict in Verdict}

    def planned_bytes(self, *, beside_held: bool = False) -> int:
        sizes = "SELECT size FROM work WHERE source = ?1 AND verdict <> 'gone'"
        if beside_held:
            sizes += (
                " UNION ALL SELECT json_extract(ref, '$.size') FROM document d WHERE source = ?1"
                " AND NOT EXISTS (SELECT 1 FROM work w WHERE w.source = d.source AND w.key = d.key)"
            )
        found = self.database.one(f"SELECT coalesce(sum(size), 0) FROM ({sizes})", (self.source,))  # noqa: S608 - constants
        return int(found[0]) if found else 0

    def planned(self, *verdicts: Verdict) -> Iterator[Work]:
        named = ",".join(f"'{verdict.value}'" for verdict in verdicts)
        for _, verdict, ref, spool in self._paged(
            f"SELECT key, verdict, ref, spool FROM work WHERE source = ? AND key > ? AND verdict IN ({named})"  # noqa: S608 - constants
            " AND claimed = 0 ORDER BY key"
        ):
            yield Work(Verdict(verdict), ref_from_json(ref), spool)

    def drop_plan(self, *verdicts: Verdict) -> None:
        self.database.many(
            "DELETE FROM work WHERE source = ? AND verdict = ?", [(self.source, verdict.value) for verdict in verdicts]
        )

    def claim_twin(self, *, content: str | None = None, raw: str | None = None, format: str = "") -> Record | None:  # noqa: A002 - see the protocol
        column, value = ("content", content) if content is not None else ("raw", raw)
        with self.database.transaction():
            found = self.database.one(
                f"SELECT key FROM work WHERE source = ? AND {column} = ? AND verdict = 'gone' AND claimed = 0"  # noqa: S608 - one of two names
                " AND (?3 = '' OR format = ?3) ORDER BY key LIMIT 1",
                (self.source, value, format),
            )
            if found is None:
                return None
            self.database.rows("UPDATE work SET claimed = 1 WHERE source = ? AND key = ?", (self.source, found[0]))
            return self.record_of(found[0])

    def release_twin(self, key: str) -> None:
        self.database.many("UPDATE work SET claimed = 0 WHERE source = ? AND key = ?", [(self.source, key)])

    def settle(self) -> None:
        self.database.truncate_log()

    def clear(self) -> None:
        with self.database.transaction():
            self.database.many(
                "DELETE FROM item WHERE document IN (SELECT id FROM document WHERE source = ?)", [(self.source,)]
            )
            for table in ("document", "note", "work", "intent", "doomed", "aside"):
                self.database.many(f"DELETE FROM {table} WHERE source = ?", [(self.source,)])  # noqa: S608 - constants
            self.database.many("DELETE FROM source WHERE id = ?", [(self.source,)])
            self.database.many("DELETE FROM run WHERE name = ?", [(self.name,)])
