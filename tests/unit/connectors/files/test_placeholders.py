"""Files that lie in the cloud only: listed, not downloaded, and not taken for deleted. Statuses of Windows and macOS
are faked, for no other system has them."""

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from connectors.contract import Blob, Complete, Ref, Seen, Unchanged
from connectors.errors import DocumentRefused
from connectors.files.connector import FilesConnector
from connectors.files.filesystem import Disk
from connectors.files.placeholders import is_placeholder, stubbed
from connectors.notes import MemoryNotes

Tree = Callable[..., Path]
Refs = Callable[..., dict[str, Ref]]

WINDOWS_ONLINE_ONLY = {"st_file_attributes": 0x400000 | 0x1000 | 0x200 | 0x20}  # as OneDrive sets it
MACOS_DATALESS = {"st_flags": 0x40000000 | 0x20}


def marked(path: str, **marks: int) -> Any:
    real = os.lstat(path)
    facts = {name: getattr(real, name) for name in dir(real) if name.startswith("st_")}
    return SimpleNamespace(**{**facts, **marks})


def clouded(connector: FilesConnector, name: str, **marks: int) -> None:
    """Make one file of a connector's folder a placeholder, and every read of it a failure."""

    def look_at(path: str) -> os.stat_result:
        status: os.stat_result = marked(path, **marks) if path.endswith(name) else os.lstat(path)
        return status

    def read(descriptor: int, most: int) -> bytes:
        raise AssertionError(f"{most} bytes were read from {descriptor}: that downloads")

    connector._disk = Disk(look_at=look_at, read=read)


@pytest.mark.parametrize("marks", [WINDOWS_ONLINE_ONLY, MACOS_DATALESS, {"st_file_attributes": 0x40000}])
def test_a_placeholder_is_listed_and_refused_with_advice(marks: dict[str, int], tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"here.md": "x", "away.md": "y"}))
    clouded(connector, "away.md", **marks)
    ref = refs(connector)["away.md"]
    with pytest.raises(DocumentRefused, match=r"away.md is kept in the cloud") as refused:
        connector.fetch(ref, None)
    assert "hydrate = true" in refused.value.advice


@pytest.mark.parametrize("attributes", [0x20, 0x80, 0x80000, 0x100000, 0x200 | 0x400])
def test_pinned_synced_and_ordinary_files_are_no_placeholders(attributes: int, tree: Tree) -> None:
    path = str(tree({"a.md": "x"}) / "a.md")
    assert not is_placeholder(marked(path, st_file_attributes=attributes))
    assert not is_placeholder(marked(path, st_flags=0x8000))
    assert not is_placeholder(os.lstat(path))


def test_hydrate_reads_it(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"away.md": "y"}), hydrate=True)
    clouded(connector, "away.md", **MACOS_DATALESS)
    connector._disk = Disk(look_at=connector._disk.look_at)
    blob = connector.fetch(refs(connector)["away.md"], None)
    assert isinstance(blob, Blob)
    assert blob.data == b"y"


def test_a_file_sent_back_to_the_cloud_is_unchanged(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"away.md": "y"}))
    known = refs(connector)["away.md"].token
    clouded(connector, "away.md", **MACOS_DATALESS, st_ctime_ns=7)
    ref = refs(connector)["away.md"]
    assert ref.token != known
    assert connector.fetch(ref, known) == Unchanged(ref.token)


def test_a_file_changed_in_the_cloud_is_refused_not_unchanged(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"away.md": "y"}))
    known = refs(connector)["away.md"].token
    clouded(connector, "away.md", **MACOS_DATALESS, st_mtime_ns=7)
    with pytest.raises(DocumentRefused):
        connector.fetch(refs(connector)["away.md"], known)


# -- iCloud stubs


def test_a_stub_stands_for_its_file_and_is_refused(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"a/.report.md.icloud": "bplist00", "a/b.md": "x"}), hydrate=True)
    found = refs(connector)
    assert set(found) == {"a/report.md", "a/b.md"}
    with pytest.raises(DocumentRefused, match="kept in the cloud") as refused:
        connector.fetch(found["a/report.md"], None)
    assert "Finder" in refused.value.advice


def test_a_stub_of_what_nobody_wants_is_not_listed(tree: Tree, refs: Refs) -> None:
    root = tree({".a.txt.icloud": "", "..hidden.md.icloud": "", ".~$x.docx.icloud": "", ".b.md.icloud": ""})
    assert set(refs(FilesConnector(root, include=["*.md"]))) == {"b.md"}


def test_a_look_at_one_file_finds_its_stub(tree: Tree) -> None:
    connector = FilesConnector(tree({"a/.report.md.icloud": "", "a/other.md": "x"}))
    events = list(connector.scan(None, MemoryNotes(), "a/report.md"))
    assert [event.ref.key for event in events if isinstance(event, Seen)] == ["a/report.md"]
    assert Complete("a/report.md") in events


def test_a_file_beside_its_stub_is_the_file(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({".a.md.icloud": "", "a.md": "x"}))
    (ref,) = refs(connector).values()
    blob = connector.fetch(ref, None)
    assert isinstance(blob, Blob)
    assert blob.data == b"x"


def test_names_beyond_ascii_keep_their_stubs(tree: Tree, refs: Refs) -> None:
    found = refs(FilesConnector(tree({".u\u0308ber.md.icloud": "", "x.md": ""})))
    assert set(found) == {"\u00fcber.md", "x.md"}
    with pytest.raises(DocumentRefused):
        FilesConnector(tree({})).fetch(Ref("\u00fcber.md", None, locator=found["\u00fcber.md"].locator), None)


@pytest.mark.parametrize("name", ["report.icloud", ".icloud", "..icloud"[1:], "x.md", ".x.md"])
def test_other_names_are_no_stubs(name: str) -> None:
    assert stubbed(name) is None
