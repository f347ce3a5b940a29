"""The tables of the SQLite state, and the only way from one version to the next."""

VERSION = 2

TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE source (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, cursor TEXT, split TEXT, identity TEXT,
  complete INTEGER NOT NULL DEFAULT 0, last_success REAL, failing_since REAL, error TEXT,
  next_run REAL, touched INTEGER NOT NULL DEFAULT 0);
CREATE TABLE note (source INTEGER NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (source, key))
  WITHOUT ROWID;
CREATE TABLE lease (name TEXT PRIMARY KEY, owner TEXT NOT NULL, pid INTEGER NOT NULL, host TEXT NOT NULL,
  since REAL NOT NULL, beat REAL NOT NULL) WITHOUT ROWID;
CREATE TABLE document (
  id INTEGER PRIMARY KEY AUTOINCREMENT, source INTEGER NOT NULL, key TEXT NOT NULL, token TEXT, collection TEXT,
  filed TEXT, ref TEXT NOT NULL, raw TEXT NOT NULL, format TEXT NOT NULL, converter TEXT NOT NULL, pinned TEXT NOT NULL,
  facts TEXT NOT NULL, version TEXT NOT NULL DEFAULT '', UNIQUE (source, key));
CREATE INDEX document_version ON document (source, version);
CREATE TABLE item (document INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (document, id)) WITHOUT ROWID;
CREATE INDEX item_id ON item (id);
CREATE TABLE work (
  source INTEGER NOT NULL, key TEXT NOT NULL, verdict TEXT NOT NULL, ref TEXT NOT NULL, size INTEGER, spool TEXT,
  raw TEXT, content TEXT, format TEXT, claimed INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (source, key)) WITHOUT ROWID;
CREATE INDEX work_raw ON work (source, raw) WHERE verdict = 'gone' AND claimed = 0;
CREATE INDEX work_content ON work (source, content) WHERE verdict = 'gone' AND claimed = 0 AND content IS NOT NULL;
CREATE TABLE intent (source INTEGER NOT NULL, key TEXT NOT NULL, raw TEXT NOT NULL, ids TEXT NOT NULL,
  pinned TEXT NOT NULL, PRIMARY KEY (source, key)) WITHOUT ROWID;
CREATE TABLE doomed (source INTEGER NOT NULL, id TEXT NOT NULL, PRIMARY KEY (source, id)) WITHOUT ROWID;
CREATE TABLE aside (
  source INTEGER NOT NULL, key TEXT NOT NULL, ref TEXT, error TEXT NOT NULL, advice TEXT NOT NULL,
  attempts INTEGER NOT NULL, next_try REAL NOT NULL, since REAL NOT NULL, PRIMARY KEY (source, key)) WITHOUT ROWID;
CREATE TABLE job (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL UNIQUE, added REAL NOT NULL);
CREATE TABLE run (id INTEGER PRIMARY KEY, name TEXT NOT NULL, started REAL NOT NULL, report TEXT NOT NULL);
CREATE INDEX run_name ON run (name, id);
"""

_SECOND = """
ALTER TABLE document ADD COLUMN version TEXT NOT NULL DEFAULT '';
CREATE INDEX document_version ON document (source, version);
ALTER TABLE source ADD COLUMN touched INTEGER NOT NULL DEFAULT 0;
CREATE TABLE jobs (id INTEGER PRIMARY KEY AUTOINCREMENT, body TEXT NOT NULL UNIQUE, added REAL NOT NULL);
INSERT INTO jobs SELECT id, body, added FROM job;
DROP TABLE job;
ALTER TABLE jobs RENAME TO job;
"""
"""Records say what converted them, sources that a belief build is owed; a job asked for again gets a new number."""

MIGRATIONS: dict[int, str] = {1: _SECOND}
"""Statements from version n to n + 1, by n; all that are needed run in one transaction."""
