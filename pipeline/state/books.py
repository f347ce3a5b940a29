"""The books of one source in SQLite: its row, notes, records, intents and what is doomed or set aside."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import apsw

from connectors.contract import Json, Ref
from pipeline.state import age
from pipeline.state.database import Database
from pipeline.state.rows import (
    facts_from_json,
    facts_to_json,
    pinned_from_json,
    pinned_to_json,
    ref_from_json,
    ref_to_json,
)
from pipeline.state.values import Aside, Intent, Known, Record, SourceRow

_PAGE = 500
_RECORD = "ref, token, raw, format, converter, filed, pinned, facts, version"

_ASIDE = "key, ref, error, advice, attempts, next_try, since"


class Books:
    """The lasting part of a source's ledger; the plan of a run stands in `plan_table`."""

    def __init__(self, database: Database, name: str) -> None:
        self.name = name
        self.database = database
        database.many("INSERT INTO source (name) VALUES (?) ON CONFLICT DO NOTHING", [(name,)])
        row = database.one("SELECT id FROM source WHERE name = ?", (name,))
        self.source: int = row[0] if row else 0
        self._is_unshown = False

    # -- the source itself

    def row(self) -> SourceRow:
        found = self.database.one(
            "SELECT cursor, split, identity, complete, last_success, failing_since, error FROM source WHERE id = ?",
            (self.source,),
        )
        if found is None:
            return SourceRow()
        cursor, split, identity, complete, *rest = found
        return SourceRow(json.loads(cursor or "null"), split, identity, bool(complete), *rest)

    def update(self, row: SourceRow, notes: dict[str, Json] | None = None) -> None:
        with self.database.transaction():
            self.database.rows(
                "UPDATE source SET cursor = ?, split = ?, identity = ?, complete = ?, last_success = ?,"
                " failing_since = ?, error = ? WHERE id = ?",
                (
                    *(json.dumps(row.cursor), row.split, row.identity, row.complete, row.last_success),
                    *(row.failing_since, row.error, self.source),
                ),
            )
            put = [(self.source, key, json.dumps(value)) for key, value in (notes or {}).items() if value is not None]
            gone = [(self.source, key) for key, value in (notes or {}).items() if value is None]
            self.database.many("INSERT OR REPLACE INTO note VALUES (?, ?, ?)", put)
            self.database.many("DELETE FROM note WHERE source = ? AND key = ?", gone)

    def is_touched(self) -> bool:
        found = self.database.one("SELECT touched FROM source WHERE id = ?", (self.source,))
        return found is not None and bool(found[0])

    def keep_builds(self, bodies: Sequence[str], now: float) -> None:
        with self.database.transaction():
            self.database.many(
                "INSERT OR REPLACE INTO job (body, added) VALUES (?, ?)", [(body, now) for body in bodies]
            )
            self.database.rows(  # what an engine that failed has done all the same is not known before the next run
                "UPDATE source SET touched = 0 WHERE id = ?1 AND touched"
                " AND NOT EXISTS (SELECT 1 FROM intent WHERE source = ?1)"
                " AND NOT EXISTS (SELECT 1 FROM doomed WHERE source = ?1)",
                (self.source,),
            )

    @contextmanager
    def _touching(self) -> Iterator[None]:
        """A transaction after which documents may come or go: the source owes a build, and the state has aged."""
        with self.database.transaction():
            if self.database.rows(
                "UPDATE source SET touched = 1 WHERE id = ? AND NOT touched RETURNING id", (self.source,)
            ):
                age.advance(self.database)
                self._is_unshown = True
            yield
        if self._is_unshown and not self.database.is_writing:
            self._is_unshown = False
            age.show(self.database)

    def next_run(self) -> float | None:
        found = self.database.one("SELECT next_run FROM source WHERE id = ?", (self.source,))
        return found[0] if found else None

    def set_next_run(self, moment: float | None) -> None:
        self.database.rows("UPDATE source SET next_run = ? WHERE id = ?", (moment, self.source))

    def note(self, key: str) -> Json:
        found = self.database.one("SELECT value FROM note WHERE source = ? AND key = ?", (self.source, key))
        value: Json = json.loads(found[0]) if found else None
        return value

    # -- records

    def known(self, keys: Sequence[str]) -> dict[str, Known]:
        if not keys:
            return {}
        rows = self.database.rows(
            "SELECT key, id, token, filed FROM document WHERE source = ? AND key IN (SELECT value FROM carray(?))",
            (self.source, apsw.carray(tuple(keys))),
        )
        return {row[0]: Known._make(row) for row in rows}

    def held(self) -> int:
        found = self.database.one("SELECT count(*) FROM document WHERE source = ?", (self.source,))
        return int(found[0]) if found else 0

    def newest(self) -> int:
        found = self.database.one("SELECT coalesce(max(id), 0) FROM document")
        return int(found[0]) if found else 0

    def record_of(self, key: str) -> Record | None:
        found = self.database.one(
            f"SELECT {_RECORD} FROM document WHERE source = ? AND key = ?",  # noqa: S608 - a constant list of columns
            (self.source, key),
        )
        return _record(found) if found else None

    def records(self) -> Iterator[Record]:
        after = ""
        while True:
            page = self.database.rows(
                f"SELECT key, {_RECORD} FROM document WHERE source = ? AND key > ? ORDER BY key LIMIT {_PAGE}",  # noqa: S608 - constants
                (self.source, after),
            )
            for row in page:
                yield _record(row[1:])
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def versions(self) -> list[str]:
        found: list[str] = []
        row = self.database.one("SELECT min(version) FROM document WHERE source = ?", (self.source,))
        while row and row[0] is not None:  # from one to the next in the index: there are few, of many records
            found.append(str(row[0]))
            row = self.database.one(
                "SELECT min(version) FROM document WHERE source = ? AND version > ?", (self.source, found[-1])
            )
        return found

    def count_versions(self, versions: Sequence[str]) -> int:
        wanted = "version IN (SELECT value FROM json_each(?2))"
        found = self.database.one(  # by the index alone, less the few that are set aside
            f"SELECT (SELECT count(*) FROM document WHERE source = ?1 AND {wanted})"  # noqa: S608 - a constant
            " - (SELECT count(*) FROM aside a CROSS JOIN document d ON d.source = a.source AND d.key = a.key"
            f" WHERE a.source = ?1 AND d.{wanted})",
            (self.source, json.dumps(versions)),
        )
        return int(found[0]) if found else 0

    def of_versions(self, versions: Sequence[str]) -> Iterator[Ref]:
        if versions:
            yield from self._at_rest("version IN (SELECT value FROM json_each(?3))", json.dumps(versions))

    def _at_rest(self, condition: str, *values: str) -> Iterator[Ref]:
        """Yield the refs of records that meet a condition, are not planned, and not set aside."""
        unplanned = "NOT EXISTS (SELECT 1 FROM work w WHERE w.source = d.source AND w.key = d.key)"
        readable = "NOT EXISTS (SELECT 1 FROM aside a WHERE a.source = d.source AND a.key = d.key)"
        for _, ref in self._paged(
            f"SELECT key, ref FROM document d WHERE source = ?1 AND key > ?2 AND {condition} AND {unplanned}"  # noqa: S608 - constants
            f" AND {readable} ORDER BY key",
            *values,
        ):
            yield ref_from_json(ref)

    def _paged(self, sql: str, *values: str) -> Iterator[tuple[Any, ...]]:
        after = ""
        while True:
            page = self.database.rows(f"{sql} LIMIT {_PAGE}", (self.source, after, *values))
            yield from page
            if len(page) < _PAGE:
                return
            after = page[-1][0]

    def intents(self) -> dict[str, Intent]:
        rows = self.database.rows("SELECT key, raw, ids, pinned FROM intent WHERE source = ?", (self.source,))
        return {
            key: Intent(key, raw, tuple(json.loads(ids)), pinned_from_json(pinned)) for key, raw, ids, pinned in rows
        }

    def intend(self, intents: Sequence[Intent]) -> None:
        with self._touching():
            for intent in intents:  # ids of an earlier attempt at the same key must not be lost sight of
                self._doom_intent(intent.key)
            self.database.many(
                "INSERT OR REPLACE INTO intent VALUES (?, ?, ?, ?, ?)",
                [
                    (self.source, intent.key, intent.raw, json.dumps(intent.ids), pinned_to_json(intent.pinned))
                    for intent in intents
                ],
            )

    def record(self, records: Sequence[Record], moved: Sequence[tuple[str, str]] = ()) -> None:
        with self.database.transaction():
            refused = [(new, self._parts_aside(old)) for old, new in moved]
            self.end([old for old, _ in moved])
            for record in records:
                self._replace(record)
            self._settle([record.ref.key for record in records])
            for new, parts in refused:
                self.set_aside([replace(part, key=f"{new}!/{part.key.partition('!/')[2]}") for part in parts])

    def _replace(self, record: Record) -> None:
        key = record.ref.key
        self._doom_intent(key)
        self._doom_record(key)
        values = (
            *(self.source, key, record.token, record.ref.collection, record.filed, ref_to_json(record.ref)),
            *(record.raw, record.format, record.converter, pinned_to_json(record.pinned)),
            *(facts_to_json(record.facts), record.version),
        )
        row = self.database.one(
            "INSERT INTO document (source, key, token, collection, filed, ref, raw, format, converter, pinned, facts,"
            " version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (source, key) DO UPDATE"
            " SET token = excluded.token, collection = excluded.collection, filed = excluded.filed, ref = excluded.ref,"
            " raw = excluded.raw, format = excluded.format, converter = excluded.converter, pinned = excluded.pinned,"
            " facts = excluded.facts, version = excluded.version RETURNING id",
            values,
        )
        document = row[0] if row else 0
        self.database.many("DELETE FROM item WHERE document = ?", [(document,)])
        self.database.many("INSERT OR IGNORE INTO item VALUES (?, ?)", [(document, fact.id) for fact in record.facts])

    def touch(self, refs: Sequence[tuple[Ref, str | None, str, str | None]]) -> None:
        with self.database.transaction():
            self.database.many(
                "UPDATE document SET ref = ?, token = ?, collection = ?, raw = ?, version = coalesce(?, version)"
                " WHERE source = ? AND key = ?",
                [
                    (ref_to_json(ref), token, ref.collection, raw, version, self.source, ref.key)
                    for ref, token, raw, version in refs
                ],
            )
            for ref, *_ in refs:
                self._doom_intent(ref.key)
            self._settle([ref.key for ref, *_ in refs])

    def end(self, keys: Sequence[str]) -> None:
        if not keys:
            return
        with self._touching():
            for key in keys:
                self._doom_record(key)
                self._doom_intent(key)
            ours = [(self.source, key) for key in keys]
            self.database.many(
                "DELETE FROM item WHERE document = (SELECT id FROM document WHERE source = ? AND key = ?)", ours
            )
            self.database.many("DELETE FROM document WHERE source = ? AND key = ?", ours)
            self._settle(keys)

    def abandon(self, keys: Sequence[str]) -> None:
        with self.database.transaction():
            for key in keys:
                self._doom_intent(key)

    def _doom_record(self, key: str) -> None:
        self.database.rows(
            "INSERT OR IGNORE INTO doomed SELECT d.source, i.id FROM document d JOIN item i ON i.document = d.id"
            " WHERE d.source = ? AND d.key = ?",
            (self.source, key),
        )

    def _doom_intent(self, key: str) -> None:
        values = (self.source, key)
        self.database.rows(
            "INSERT OR IGNORE INTO doomed SELECT t.source, j.value FROM intent t, json_each(t.ids) j"
            " WHERE t.source = ? AND t.key = ?",
            values,
        )
        self.database.rows("DELETE FROM intent WHERE source = ? AND key = ?", values)

    def _settle(self, keys: Sequence[str]) -> None:
        ours = [(self.source, key) for key in keys]
        self.database.many("DELETE FROM work WHERE source = ? AND key = ?", ours)
        self.restore(keys)
        self.database.many(  # refused parts of these keys; "0" follows "/"
            "DELETE FROM aside WHERE source = ? AND ref IS NULL AND key >= ? AND key < ?",
            [(self.source, f"{key}!/", f"{key}!0") for key in keys],
        )

    # -- what is to be forgotten

    def doom(self, ids: Sequence[str]) -> None:
        with self._touching():
            self.database.many("INSERT OR IGNORE INTO doomed VALUES (?, ?)", [(self.source, item) for item in ids])

    def doomed(self, limit: int) -> list[str]:
        with self.database.transaction():
            self.database.rows(
                "DELETE FROM doomed WHERE source = ? AND id IN (SELECT id FROM item WHERE item.id = doomed.id)",
                (self.source,),
            )
            rows = self.database.rows(
                "SELECT id FROM doomed WHERE source = ?1 AND id NOT IN"
                " (SELECT j.value FROM intent t, json_each(t.ids) j WHERE t.source = ?1) ORDER BY id LIMIT ?2",
                (self.source, limit),
            )
        return [row[0] for row in rows]

    def forgotten(self, ids: Sequence[str]) -> None:
        self.database.many("DELETE FROM doomed WHERE source = ? AND id = ?", [(self.source, item) for item in ids])

    def references(self, ids: Sequence[str]) -> set[str]:
        if not ids:  # carray takes no empty list
            return set()
        rows = self.database.rows(
            "SELECT DISTINCT id FROM item WHERE id IN (SELECT value FROM carray(?))", (apsw.carray(tuple(ids)),)
        )
        return {row[0] for row in rows}

    # -- set aside

    def asides(self) -> list[Aside]:
        rows = self.database.rows(
            f"SELECT {_ASIDE} FROM aside WHERE source = ? ORDER BY key",  # noqa: S608 - constants
            (self.source,),
        )
        return [_aside(row) for row in rows]

    def _parts_aside(self, key: str) -> list[Aside]:
        """Return the refused parts of a document; "0" follows "/"."""
        rows = self.database.rows(
            f"SELECT {_ASIDE} FROM aside WHERE source = ? AND ref IS NULL AND key >= ? AND key < ?",  # noqa: S608 - constants
            (self.source, f"{key}!/", f"{key}!0"),
        )
        return [_aside(row) for row in rows]

    def set_aside(self, asides: Sequence[Aside]) -> None:
        with self.database.transaction():
            self.database.many(
                "INSERT OR REPLACE INTO aside VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    (
                        *(self.source, aside.key, ref_to_json(aside.ref) if aside.ref else None, aside.error),
                        *(aside.advice, aside.attempts, aside.next_try, aside.since),
                    )
                    for aside in asides
                ],
            )
            self.database.many(
                "DELETE FROM work WHERE source = ? AND key = ?", [(self.source, aside.key) for aside in asides]
            )

    def restore(self, keys: Sequence[str]) -> None:
        self.database.many("DELETE FROM aside WHERE source = ? AND key = ?", [(self.source, key) for key in keys])


def _aside(row: Sequence[Any]) -> Aside:
    return Aside(row[0], ref_from_json(row[1]) if row[1] else None, *row[2:])


def _record(row: Sequence[Any]) -> Record:
    ref, token, raw, format_, converter, filed, pinned, facts, version = row
    return Record(
        *(ref_from_json(ref), token, raw, format_, converter, filed),
        *(pinned_from_json(pinned), facts_from_json(facts), version),
    )
