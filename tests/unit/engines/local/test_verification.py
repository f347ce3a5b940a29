"""`verify`: a sound store has no findings; each kind of damage has its own."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from corebrain.contract import Item
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Conversation, Document
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ConsolidateRequest, ForgetTarget


@pytest.fixture
def full(
    engine: LocalEngine, sample: list[Item], document: Callable[..., Document], turn: Callable[..., Conversation]
) -> LocalEngine:
    """A store that has seen all: long documents, threads, beliefs, forgetting, tags twice."""
    engine.store_many(sample)
    long = "\f".join(f"# Chapter {n}\n\n" + f"Words of chapter {n}. " * 120 for n in range(4))
    engine.store_many([document(long, title="A book", folder="books", language="en", agent_id="x", tags=("a", "b"))])
    engine.store_many([turn(f"turn {n} says something", n, thread="long") for n in range(9)])
    engine.consolidate(ConsolidateRequest(reach=Reach.subtree(Namespace.ROOT)))
    gone = engine.store(turn("this one is to go", 4, thread="other")).id
    engine.store_many([turn(f"around it {n}", n, thread="other") for n in (2, 3, 5, 6)])
    engine.forget(ForgetTarget.of_ids(gone))
    return engine


def test_a_sound_store_has_no_findings(full: LocalEngine) -> None:
    assert full.verify() == []
    assert full.verify(deep=True) == []


def test_an_empty_store_has_no_findings(engine: LocalEngine) -> None:
    assert engine.verify(deep=True) == []


def test_a_store_that_forgot_everything_has_no_findings(full: LocalEngine) -> None:
    full.forget(ForgetTarget.of_filter(MetaFilter(reach=Reach.subtree(Namespace.ROOT))))
    assert full.verify(deep=True) == []


DAMAGES = {
    "UPDATE facets SET items = items + 1 WHERE facet = 'kind'": ("counters", False),
    "DELETE FROM facets WHERE facet = 'tag'": ("counters", False),
    "INSERT INTO facets SELECT 'folder', node, kind, 'nowhere', 1 FROM facets LIMIT 1": ("counters", False),
    "UPDATE shards SET passages = passages + 1 WHERE passages > 0": ("passages", False),
    "DELETE FROM passages WHERE passage = (SELECT max(passage) FROM passages)": ("passages", False),
    "INSERT INTO passages(item) VALUES (99999)": ("leftovers", False),
    "INSERT INTO tags VALUES ('strange', (SELECT min(item) FROM items))": ("leftovers", False),
    "DELETE FROM tags WHERE tag = 'policy'": ("leftovers", False),
    "DELETE FROM beliefs WHERE belief = (SELECT min(belief) FROM beliefs)": ("index", False),
    "DELETE FROM placements": ("index", False),
    "DELETE FROM text_1 WHERE rowid = (SELECT min(rowid) FROM text_1)": ("index", False),
    "INSERT INTO text_1(rowid, head, body, ctx, tag) VALUES (99999, '', 'stray', '', '')": ("index", False),
    "UPDATE items SET text = text || ' torn' WHERE title = 'Refunds'": ("items", True),
    "UPDATE items SET title = 'Another' WHERE title = 'Refunds'": ("index", True),
    "INSERT OR REPLACE INTO text_1(rowid, body) SELECT min(rowid), 'other words' FROM text_1": ("index", True),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_found(full: LocalEngine, damage: str) -> None:
    what, deep = DAMAGES[damage]
    with full._database.writing() as connection:
        connection.execute(damage)
    found = full.verify(deep=deep)
    assert what in {finding.what for finding in found}, found
    if deep:
        assert full.verify() == [], "only the deep look can see this"


def test_a_damaged_file_is_a_finding_and_no_error(tmp_path: Path, sample: list[Item]) -> None:
    file = tmp_path / "memory.db"
    with LocalEngine(file) as engine:
        engine.store_many(sample)
    raw = bytearray(file.read_bytes())
    page = raw.index(b"restarts at night") // 4096
    raw[page * 4096 : page * 4096 + 64] = b"\xff" * 64
    file.write_bytes(raw)
    with LocalEngine(file) as engine:
        found = engine.verify()
        assert {finding.what for finding in found} == {"file"}


def test_findings_hold_no_text_of_items(full: LocalEngine) -> None:
    with full._database.writing() as connection:
        connection.execute("UPDATE items SET text = text || 'canary'")
        connection.execute("DELETE FROM facets")
    assert "canary" not in str(full.verify(deep=True))


def test_verifying_changes_nothing_and_lets_others_write(full: LocalEngine, document: Callable[..., Document]) -> None:
    content = _bytes(full)
    with full._database.apart() as connection:
        connection.execute("SELECT 1 FROM items LIMIT 1").fetchall()
        full.store(document("written meanwhile"))
        assert connection.execute("SELECT count(*) FROM items WHERE text = 'written meanwhile'").get == 0
    assert full.verify(deep=True) == []
    assert _bytes(full) != content
    content = _bytes(full)
    full.verify(deep=True)
    assert _bytes(full) == content


def _bytes(engine: LocalEngine) -> bytes:
    connection = apsw.Connection(str(engine.path))
    raw = connection.serialize("main")
    connection.close()
    return raw
