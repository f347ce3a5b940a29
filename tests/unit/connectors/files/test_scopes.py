"""Scans of a part: the same refs as the full scan gives, nothing beside it, and the truth about what is missing."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.contract import Complete, Event, Failed, Ref, Seen
from connectors.files.connector import FilesConnector
from connectors.files.filesystem import Disk
from connectors.notes import MemoryNotes

Tree = Callable[..., Path]
Scan = Callable[..., list[Event]]
Refs = Callable[..., dict[str, Ref]]

FILES = {"a.md": "", "a/b.md": "", "a/c/d.md": "", "a/c/e.md": "", "ab/f.md": "", "\u00e9/g.md": "", ".h/i.md": ""}


@pytest.mark.parametrize(
    ("scope", "expected"),
    [
        ("a/", ["a/b.md", "a/c/d.md", "a/c/e.md"]),
        ("a/c/", ["a/c/d.md", "a/c/e.md"]),
        ("a/c/d.md", ["a/c/d.md"]),
        ("a.md", ["a.md"]),
        ("\u00e9/", ["\u00e9/g.md"]),
        ("a", []),
        ("a.md/", []),
        ("a/c/d.md/", []),
        ("missing/", []),
        ("a/missing.md", []),
        (".h/", []),
        (".h/i.md", []),
        ("A/", []),
    ],
)
def test_scope_lists_exactly_what_the_full_scan_lists_there(
    tree: Tree, scan: Scan, refs: Refs, scope: str, expected: list[str]
) -> None:
    connector = FilesConnector(tree(FILES))
    everything = refs(connector)
    assert refs(connector, scope) == {key: everything[key] for key in expected}
    assert scan(connector, scope)[-1] == Complete(scope)


def test_scope_reads_no_other_folder(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree(FILES))
    listed: list[str] = []
    looked: list[str] = []

    def list_names(path: str) -> list[str]:
        listed.append(Path(path).name)
        return Disk().list_names(path)

    def look_at(path: str) -> os.stat_result:
        looked.append(Path(path).name)
        return Disk().look_at(path)

    connector._disk = Disk(list_names=list_names, look_at=look_at)
    refs(connector, "a/c/")
    assert listed == ["root", "a", "c"]
    assert looked == ["a", "c", "d.md", "e.md"]


def test_scope_of_a_twin_is_found_by_its_key(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"e\u0301/x.md": "nfd", "\u00e9/x.md": "nfc"}))
    everything = refs(connector)
    for key, ref in everything.items():
        assert refs(connector, f"{key.partition('/')[0]}/") == {key: ref}
        assert refs(connector, key) == {key: ref}


def test_failure_on_the_way_fails_the_scope_and_nothing_wider(tree: Tree, scan: Scan) -> None:
    connector = FilesConnector(tree(FILES))

    def list_names(path: str) -> list[str]:
        if Path(path).name == "a":
            raise OSError(5, "Input/output error")
        return Disk().list_names(path)

    connector._disk = Disk(list_names=list_names)
    assert [event.scope for event in scan(connector, "a/c/") if isinstance(event, Failed)] == ["a/c/"]
    assert [event.scope for event in scan(connector) if isinstance(event, Failed)] == ["a/"]


class Devices:
    """A disk on which some folders are other devices, as mounted volumes are."""

    def __init__(self, mounted: set[str]) -> None:
        self.mounted = mounted

    def look_at(self, path: str) -> os.stat_result:
        status = Disk().look_at(path)
        if Path(path).name in self.mounted:
            fields = list(status)
            fields[2] += 1  # st_dev
            return os.stat_result(fields)
        return status


def test_volume_that_is_not_mounted_any_more_is_failed_not_empty(tree: Tree, scan: Scan) -> None:
    root = tree({"a.md": "", "x/volume/b.md": ""})
    devices, notes = Devices({"volume"}), MemoryNotes()
    connector = FilesConnector(root)
    connector._disk = Disk(look_at=devices.look_at)
    assert [event.ref.key for event in scan(connector, notes=notes) if isinstance(event, Seen)] == [
        "a.md",
        "x/volume/b.md",
    ]
    assert notes.get("mounts") == ["x/volume/"]

    devices.mounted.clear()  # unmounted: the empty folder below the volume shows
    (root / "x/volume/b.md").unlink()
    for _ in range(2):
        failed = [event for event in scan(connector, notes=notes) if isinstance(event, Failed)]
        assert [event.scope for event in failed] == ["x/volume/"]
        assert "nothing is mounted there now" in str(failed[0].error)

    (root / "x/volume/c.md").write_text("")  # a plain folder from now on
    assert not [event for event in scan(connector, notes=notes) if isinstance(event, Failed)]
    assert notes.get("mounts") == []
    (root / "x/volume/c.md").unlink()
    assert not [event for event in scan(connector, notes=notes) if isinstance(event, Failed)]


def test_volume_that_is_mounted_and_empty_is_empty(tree: Tree, scan: Scan) -> None:
    root, notes = tree({"a.md": "", "volume/b.md": ""}), MemoryNotes()
    connector = FilesConnector(root)
    connector._disk = Disk(look_at=Devices({"volume"}).look_at)
    scan(connector, notes=notes)
    (root / "volume/b.md").unlink()
    assert not [event for event in scan(connector, notes=notes) if isinstance(event, Failed)]
    assert notes.get("mounts") == ["volume/"]


def test_very_many_volumes_do_not_overflow_the_note(tree: Tree, scan: Scan) -> None:
    names = {"\u00e9" * 100 + f"{i:03d}" for i in range(150)}
    connector = FilesConnector(tree({f"{name}/b.md": "" for name in names}))
    connector._disk = Disk(look_at=Devices(names).look_at)
    notes = MemoryNotes()
    assert scan(connector, notes=notes)[-1] == Complete("")
    kept = notes.get("mounts")
    assert isinstance(kept, list)
    assert len(kept) == 96


def test_scan_of_a_part_leaves_the_notes_of_the_whole(tree: Tree, scan: Scan) -> None:
    connector, notes = FilesConnector(tree({"a/b.md": ""})), MemoryNotes({"mounts": ["x/"]})
    scan(connector, "a/", notes)
    assert notes.get("mounts") == ["x/"]
