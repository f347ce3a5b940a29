from collections.abc import Callable
from pathlib import Path

import pytest

from connectors import FilesConnector, SetAside, pull
from connectors.contract import Blob
from connectors.errors import AuthError, DocumentRefused, Unavailable
from connectors.files import reading
from connectors.testing.behaviour import Behaviour
from connectors.testing.scripted import ScriptedConnector
from corebrain.brain import Brain
from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.meta import SourceKind, SourceRef

Tree = Callable[..., Path]


def read(items: list[BrainDocument | SetAside]) -> list[BrainDocument]:
    return [item for item in items if isinstance(item, BrainDocument)]


def test_folder_becomes_documents_that_a_brain_takes(tree: Tree) -> None:
    root = tree({"refunds.md": "# Refunds\n\nFive business days.", "hr/leave.txt": "Thirty days."})
    pulled = list(pull(FilesConnector(root, name="handbook")))
    assert [(item.title, item.collection) for item in read(pulled)] == [("Refunds", None), ("leave.txt", "hr")]
    assert {item.meta.source for item in read(pulled)} == {SourceRef(kind=SourceKind.FILE, id="handbook")}
    brain = Brain(ReferenceEngine(), MemoryLayout())
    batch = brain.ingest_many(read(pulled))
    assert [job.name for job in batch.jobs] == ["build_beliefs"]
    assert brain.search("business days", limit=1)


def test_collections_can_be_left_to_the_sources_node(tree: Tree) -> None:
    connector = FilesConnector(tree({"hr/a.md": "text"}))
    assert [item.collection for item in read(list(pull(connector, collections=False)))] == [None]


@pytest.mark.parametrize(("name", "expected"), [(None, "root"), ("other", "other")])
def test_documents_carry_the_name_of_their_source(tree: Tree, name: str | None, expected: str) -> None:
    (document,) = read(list(pull(FilesConnector(tree({"a.md": "text"})), name=name)))
    assert document.meta.source.id == expected


def test_connector_without_a_name_goes_by_its_source() -> None:
    connector = ScriptedConnector({"a.md": "text"}, source=BrainSource.NOTION, name="")
    (document,) = read(list(pull(connector)))
    assert document.meta.source == SourceRef(kind=SourceKind.IMPORT, id="notion")


def test_what_cannot_be_read_is_set_aside_and_the_rest_goes_on() -> None:
    source = ScriptedConnector({"a.md": "a", "b.md": "b", "c.md": "", "d/e.md": "e", "f.md": "f"})
    source.faults.poison("b.md", DocumentRefused("b.md is too large", "split it"))
    source.faults.fail("d/")
    source.faults.before_fetch("f.md", lambda: source.remove("f.md"))
    items = list(pull(source))
    assert [item.text for item in read(items)] == ["a"]
    asides = [item for item in items if isinstance(item, SetAside)]
    assert [item.key for item in asides] == ["b.md", "c.md", "f.md", "d/"]
    assert [item.advice for item in asides][:1] == ["split it"]


@pytest.mark.parametrize("error", [AuthError("expired"), Unavailable("down")])
def test_failing_source_ends_the_pull(error: AuthError | Unavailable) -> None:
    source = ScriptedConnector({"a.md": "a", "b.md": "b"})
    source.faults.break_fetch(2, error)
    pulled = pull(source)
    assert isinstance(next(pulled), BrainDocument)
    with pytest.raises(type(error)):
        next(pulled)


def test_bytes_that_listing_had_to_read_are_not_fetched_again() -> None:
    source = ScriptedConnector({"a.md": "a"}, behaviour=Behaviour(in_listing=True))
    assert len(list(pull(source))) == 1
    assert source.fetches == []


def test_scope_pulls_a_part() -> None:
    source = ScriptedConnector({"a.md": "a", "b/c.md": "c"})
    assert [item.text for item in read(list(pull(source, "b/")))] == ["c"]


def test_copies_on_disk_are_deleted(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "IN_MEMORY", 1)
    spool = tmp_path / "spool"
    spool.mkdir()
    root = tree({"a.md": "text a", "b.md": "\0\0\0", "c.md": "text c"})
    pulled = pull(FilesConnector(root, spool=spool))
    first = next(pulled)
    assert isinstance(first, BrainDocument)
    assert len(list(spool.iterdir())) == 1, "the copy lives while its document is handed over"
    assert len(list(pulled)) == 2
    assert list(spool.iterdir()) == []


def test_copies_of_parts_are_deleted_too(tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    copy.write_text("part")
    source = ScriptedConnector()
    source.put("a.md", "a", parts=(Blob(copy, filename="p.txt"),))
    assert [item.text for item in read(list(pull(source)))] == ["a", "part"]
    assert not copy.exists()
