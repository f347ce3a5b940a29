"""Scans of real folders."""

import os
import socket
import stat
from collections.abc import Callable, Generator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from connectors.contract import Checkpoint, Complete, Event, Failed, Ref, Seen
from connectors.errors import ConfigError, Unavailable
from connectors.files import walk
from connectors.files.connector import FilesConnector
from connectors.files.filesystem import Disk
from connectors.files.selection import Selection
from connectors.files.stamp import modified
from connectors.notes import MemoryNotes

Tree = Callable[..., Path]
Scan = Callable[..., list[Event]]
Keys = Callable[..., list[str]]
Refs = Callable[..., dict[str, Ref]]


def test_scan_lists_every_document_and_says_it_is_complete(tree: Tree, scan: Scan) -> None:
    root = tree({"b.md": "b", "a/x.md": "x", "a/y/z.md": "z", "c.md": "c"})
    events = scan(FilesConnector(root))
    assert [event.ref.key for event in events[:-1] if isinstance(event, Seen)] == ["b.md", "c.md", "a/x.md", "a/y/z.md"]
    assert events[-1] == Complete("")
    assert len(events) == 5


def test_empty_folder_is_complete_and_says_nothing_else(tree: Tree, scan: Scan) -> None:
    assert scan(FilesConnector(tree())) == [Complete("")]


def test_ref_says_what_a_stat_tells(tree: Tree, refs: Refs) -> None:
    root = tree({"a/x.md": "four"})
    os.utime(root / "a/x.md", (1e9, 1e9))
    ref = refs(FilesConnector(root))["a/x.md"]
    status = (root / "a/x.md").stat()
    assert ref == Ref(
        "a/x.md",
        f"4.{10**18}.{status.st_ino}.{status.st_ctime_ns}",
        collection="a",
        size=4,
        modified=datetime(2001, 9, 9, 1, 46, 40, tzinfo=UTC),
    )


def test_collection_is_the_top_folder_and_none_at_the_top(tree: Tree, refs: Refs) -> None:
    found = refs(FilesConnector(tree({"a.md": "", "b/c.md": "", "b/d/e.md": ""})))
    assert {key: ref.collection for key, ref in found.items()} == {"a.md": None, "b/c.md": "b", "b/d/e.md": "b"}


def test_two_scans_of_an_unchanged_folder_are_equal(tree: Tree, scan: Scan) -> None:
    root = tree({f"{folder}/{i}.md": "x" for folder in ("a", "b/c", "d") for i in range(20)})
    assert scan(FilesConnector(root)) == scan(FilesConnector(root))


def test_hidden_names_and_tools_folders_are_left_out(tree: Tree, keys: Keys) -> None:
    root = tree(
        {
            "a.md": "",
            ".hidden.md": "",
            ".git/config": "",
            "x/.config/a.md": "",
            "x/node_modules/y/readme.md": "",
            "x/__pycache__/y.md": "",
            "target/doc.md": "",
            "~$a.docx": "",
            "a.md~": "",
            ".brain/memory.db": "",
            "Thumbs.db": "",
        }
    )
    assert keys(FilesConnector(root)) == ["a.md"]


def test_hidden_documents_are_taken_on_request_but_never_tools_folders(tree: Tree, keys: Keys) -> None:
    root = tree({".notes/a.md": "", ".b.md": "", ".git/config": "", ".brain/memory.db": "", ".a.swp": ""})
    assert keys(FilesConnector(root, hidden=True)) == [".b.md", ".notes/a.md"]


def test_name_that_a_pattern_spells_out_is_taken_all_the_same(tree: Tree, keys: Keys) -> None:
    root = tree({".github/ci.md": "", ".other/a.md": "", "target/a.md": "", "x/brain.toml": "", "b.md": ""})
    connector = FilesConnector(root, include=["**/*", ".github/**", "target/*.md", "brain.toml"])
    assert keys(connector) == ["b.md", ".github/ci.md", "target/a.md", "x/brain.toml"]


def test_folder_that_says_it_is_a_cache_or_an_environment_is_left_out(tree: Tree, keys: Keys) -> None:
    root = tree({"c/CACHEDIR.TAG": "", "c/a.md": "", "py311/pyvenv.cfg": "", "py311/lib/a.md": "", "a.md": ""})
    assert keys(FilesConnector(root)) == ["a.md"]
    assert keys(FilesConnector(root / "c")) == ["CACHEDIR.TAG", "a.md"], "the root itself was asked for"


def test_build_output_is_left_out_beside_its_project_file_only(tree: Tree, keys: Keys) -> None:
    root = tree({"app/package.json": "", "app/dist/a.md": "", "app/b.md": "", "house/build/plan.md": ""})
    assert keys(FilesConnector(root)) == ["app/b.md", "app/package.json", "house/build/plan.md"]


def test_include_and_exclude_choose_files_and_exclude_is_stronger(tree: Tree, keys: Keys) -> None:
    root = tree({"docs/a.md": "", "docs/b.PDF": "", "docs/old/c.md": "", "drafts-1/d.md": "", "e.txt": ""})
    assert keys(FilesConnector(root, include=["*.md", "*.pdf"], exclude=["old", "drafts*"])) == [
        "docs/a.md",
        "docs/b.PDF",
    ]


def test_folders_no_pattern_can_match_in_are_not_even_listed(tree: Tree, keys: Keys) -> None:
    root = tree({"docs/a.md": "", "huge/b.md": "", "other/c.md": ""})
    listed: list[str] = []

    def names(path: str) -> list[str]:
        listed.append(Path(path).name)
        return Disk().list_names(path)

    connector = FilesConnector(root, include=["docs/**"], exclude=["other"])
    connector._disk = replace(connector._disk, list_names=names)
    assert keys(connector) == ["docs/a.md"]
    assert listed == ["root", "docs"]


def test_file_over_the_cap_is_listed(tree: Tree, refs: Refs) -> None:
    assert refs(FilesConnector(tree({"big.txt": "x" * 100}), max_bytes=10))["big.txt"].size == 100


def test_pipes_sockets_and_devices_are_left_out(tree: Tree, keys: Keys, monkeypatch: pytest.MonkeyPatch) -> None:
    root = tree({"a.md": ""})
    os.mkfifo(root / "pipe.md")
    (root / "null").symlink_to("/dev/null")
    monkeypatch.chdir(root)  # a socket's path is short
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("sock.md")
        assert keys(FilesConnector(root)) == ["a.md"]


def test_unicode_twins_and_broken_bytes_have_keys_of_their_own(tree: Tree, refs: Refs) -> None:
    root = os.fsencode(tree({"e\u0301.md": "nfd", "\u00e9.md": "nfc"}))
    for raw in (b"\xe8.md", b"\xe9.md"):
        Path(os.fsdecode(root + b"/" + raw)).write_text(repr(raw))
    found = refs(FilesConnector(os.fsdecode(root)))
    plain, twin, broken, broken_twin = found
    assert (plain, broken) == ("\u00e9.md", "\ufffd.md")
    assert twin.startswith("\u00e9.md~")
    assert broken_twin.startswith("\ufffd.md~")
    assert [ref.locator for ref in found.values()] == ["e%CC%81.md", "%C3%A9.md", "%E8.md", "%E9.md"]


def test_names_below_a_folder_with_broken_bytes_keep_its_raw_path(tree: Tree, refs: Refs) -> None:
    folder = tree() / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    (folder / "a b.md").write_text("")
    (folder / "inner").mkdir()
    (folder / "inner/c.md").write_text("")
    found = refs(FilesConnector(tree()))
    assert {key: ref.locator for key, ref in found.items()} == {
        "caf\ufffd/a b.md": "caf%E9/a%20b.md",
        "caf\ufffd/inner/c.md": "caf%E9/inner/c.md",
    }
    assert {ref.collection for ref in found.values()} == {"caf\ufffd"}


def test_names_with_newline_quote_and_percent_are_keys_as_they_are(tree: Tree, refs: Refs) -> None:
    names = ["a\nb.md", 'say "x".md', "100%25.md", " lead.md", "-rf"]
    found = refs(FilesConnector(tree(dict.fromkeys(names, ""))))
    assert sorted(found) == sorted(names)
    assert {ref.locator for ref in found.values()} == {""}


def test_missing_root_pauses_the_source(tmp_path: Path, scan: Scan) -> None:
    connector = FilesConnector(tmp_path / "nowhere")
    assert connector.root_identity() is None
    with pytest.raises(Unavailable, match="is missing; mount or create it"):
        scan(connector)


def test_root_that_is_a_file_is_a_config_error(tree: Tree, scan: Scan) -> None:
    with pytest.raises(ConfigError, match="is no folder"):
        scan(FilesConnector(tree({"a.md": ""}) / "a.md"))


def test_root_identity_tells_another_folder_in_its_place(tree: Tree) -> None:
    root = tree()
    connector = FilesConnector(root)
    before = connector.root_identity()
    assert before == (root.stat().st_dev, root.stat().st_ino)
    root.rename(root.with_name("away"))
    root.mkdir()
    assert connector.root_identity() != before


def test_root_replaced_while_it_is_listed_is_never_complete(tree: Tree) -> None:
    root = tree({"a.md": "", "b.md": ""})
    events = FilesConnector(root).scan(None, MemoryNotes())
    assert isinstance(next(events), Seen)
    root.rename(root.with_name("away"))
    root.mkdir()
    with pytest.raises(Unavailable, match="unmounted or replaced"):
        list(events)


def test_folder_that_vanishes_before_it_is_listed_is_failed_and_the_rest_goes_on(tree: Tree) -> None:
    root = tree({"a/x.md": "", "b/c.md": "", "d/e.md": ""})
    events = FilesConnector(root).scan(None, MemoryNotes())
    first = next(events)
    (root / "b/c.md").unlink()
    (root / "b").rmdir()
    rest = list(events)
    assert isinstance(first, Seen)
    failed, seen, complete = rest
    assert isinstance(failed, Failed)
    assert failed.scope == "b/"
    assert "no such file or directory" in str(failed.error)
    assert isinstance(seen, Seen)
    assert seen.ref.key == "d/e.md"
    assert complete == Complete("")


def test_file_that_vanishes_while_its_folder_is_listed_is_not_seen(tree: Tree) -> None:
    root = tree({"a.md": "", "b.md": ""})
    events = FilesConnector(root).scan(None, MemoryNotes())
    next(events)
    (root / "b.md").unlink()
    assert list(events) == [Complete("")]


def test_folder_moved_away_while_it_is_listed_is_failed(tree: Tree) -> None:
    root = tree({"b/a.md": "", "b/c.md": ""})
    events = FilesConnector(root).scan(None, MemoryNotes())
    next(events)
    (root / "b").rename(root.with_name("away"))
    assert [getattr(event, "scope", None) for event in events] == ["b/", ""]


def refusing(connector: FilesConnector, broken: str, error: OSError, *, listing: bool) -> FilesConnector:
    """Let the disk refuse one entry: a fault that even root runs into."""

    def check(path: str) -> None:
        if os.path.normpath(path).endswith(broken):
            raise error

    def list_names(path: str) -> list[str]:
        check(path)
        return Disk().list_names(path)

    def look_at(path: str) -> os.stat_result:
        check(path)
        return Disk().look_at(path)

    connector._disk = Disk(list_names=list_names) if listing else Disk(look_at=look_at)
    return connector


@pytest.mark.parametrize("error", [PermissionError(13, "Permission denied"), OSError(5, "Input/output error")])
def test_unreadable_folder_is_failed_and_the_rest_goes_on(tree: Tree, scan: Scan, error: OSError) -> None:
    root = tree({"a/x.md": "", "b/y.md": "", "c/z.md": ""})
    events = scan(refusing(FilesConnector(root), "root/b", error, listing=True))
    assert [event.ref.key for event in events if isinstance(event, Seen)] == ["a/x.md", "c/z.md"]
    failed = next(event for event in events if isinstance(event, Failed))
    assert failed.scope == "b/"
    assert str(error.strerror).lower() in str(failed.error)
    assert events[-1] == Complete("")


def test_entry_that_cannot_be_looked_at_fails_as_file_and_as_folder(tree: Tree, scan: Scan) -> None:
    connector = FilesConnector(tree({"a/x.md": "", "b/y.md": ""}))
    events = scan(refusing(connector, "root/b", PermissionError(13, "Permission denied"), listing=False))
    assert [event.scope for event in events if isinstance(event, Failed)] == ["b", "b/"]
    assert "let the user that runs this read it" in str(next(e.error for e in events if isinstance(e, Failed)))


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="permissions do not bind the superuser")
def test_folder_without_permission_is_failed(tree: Tree, scan: Scan) -> None:
    root = tree({"b/y.md": ""})
    (root / "b").chmod(0)
    try:
        assert [event.scope for event in scan(FilesConnector(root)) if isinstance(event, Failed)] == ["b/"]
    finally:
        (root / "b").chmod(stat.S_IRWXU)


@pytest.mark.parametrize("seconds", [10**15, -(10**15), 2**63])
def test_modification_time_outside_the_calendar_is_none(seconds: int) -> None:
    assert modified(os.stat_result((0o100644, 1, 1, 1, 0, 0, 0, seconds, seconds, seconds))) is None


def test_checkpoints_come_now_and_then(tree: Tree, scan: Scan, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(walk, "CHECKPOINT_EVERY", 2)
    events = scan(FilesConnector(tree(dict.fromkeys("abcde", ""))))
    assert [index for index, event in enumerate(events) if event == Checkpoint(None)] == [2, 5]


def test_abandoned_scan_leaves_nothing_open(tree: Tree) -> None:
    root = tree({"a.md": "", "b/c.md": ""})
    descriptors = Path("/proc/self/fd")
    before = len(list(descriptors.iterdir())) if descriptors.exists() else 0
    events = FilesConnector(root).scan(None, MemoryNotes())
    next(events)
    assert isinstance(events, Generator)
    events.close()
    assert not before or len(list(descriptors.iterdir())) == before


def test_root_that_vanishes_before_it_is_looked_at_pauses_the_source(tree: Tree) -> None:
    walk_of_nothing = walk.Walk(
        str(tree() / "gone"),
        Selection(["**/*"], [], hidden=False),
        Disk(),
        follow_links=True,
        scope="",
        mounted=frozenset(),
    )
    with pytest.raises(Unavailable, match="cannot look at"):
        list(walk_of_nothing.events())


def test_file_system_without_inodes_is_walked_whole(tree: Tree, keys: Keys) -> None:
    connector = FilesConnector(tree({"a/b/c.md": ""}))

    def look_at(path: str) -> os.stat_result:
        fields = list(Disk().look_at(path))
        fields[1] = 0  # st_ino
        return os.stat_result(fields)

    connector._disk = Disk(look_at=look_at)
    assert keys(connector) == ["a/b/c.md"]
