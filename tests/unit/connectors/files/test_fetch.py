"""Fetching one file: whole, unchanged meanwhile, or not at all."""

import os
import stat
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.contract import Blob, Ref, Unchanged
from connectors.errors import DocumentError, DocumentGone, DocumentRefused, Unavailable
from connectors.files import reading
from connectors.files.connector import FilesConnector
from connectors.files.filesystem import Disk

Tree = Callable[..., Path]
Refs = Callable[..., dict[str, Ref]]
Rewrite = Callable[[Path, str], None]


def fetched(connector: FilesConnector, ref: Ref, known: str | None = None) -> Blob:
    blob = connector.fetch(ref, known)
    assert isinstance(blob, Blob)
    return blob


def test_blob_holds_the_bytes_and_what_a_stat_tells(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"a/Bericht.md": "gr\u00fcn"}))
    ref = refs(connector)["a/Bericht.md"]
    assert fetched(connector, ref) == Blob(
        "gr\u00fcn".encode(), filename="Bericht.md", token=ref.token, modified=ref.modified
    )


def test_known_token_costs_no_read(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({"a.md": "x"}))
    ref = refs(connector)["a.md"]

    def read(descriptor: int, most: int) -> bytes:
        raise AssertionError(f"read {most} from {descriptor}")

    connector._disk = Disk(read=read)
    assert connector.fetch(ref, ref.token) == Unchanged(ref.token)


def test_token_is_that_of_the_bytes_read_not_of_the_listing(tree: Tree, refs: Refs) -> None:
    root = tree({"a.md": "x"})
    connector = FilesConnector(root)
    old = refs(connector)["a.md"]
    (root / "a.md").write_text("longer")
    blob = fetched(connector, old, old.token)
    assert (blob.data, blob.token) == (b"longer", refs(connector)["a.md"].token)


def test_names_of_any_bytes_are_opened_by_their_raw_path(tree: Tree, refs: Refs) -> None:
    root = tree({"e\u0301/%41.md": "nfd", "\u00e9/%41.md": "nfc"})
    (root / os.fsdecode(b"\xff \xfe.md")).write_bytes(b"bytes")
    connector = FilesConnector(root)
    texts = {key: fetched(connector, ref).data for key, ref in refs(connector).items()}
    assert sorted(str(text) for text in texts.values()) == ["b'bytes'", "b'nfc'", "b'nfd'"]
    assert texts["\u00e9/%41.md"] == b"nfd"


def test_vanished_file_is_gone(tree: Tree) -> None:
    root = tree({"a": ""})
    for key in ("missing.md", "missing/b.md", "a/b.md"):
        with pytest.raises(DocumentGone, match=f"{key} is not there any more"):
            FilesConnector(root).fetch(Ref(key, None), None)


def test_file_that_became_a_folder_or_a_pipe_is_gone_and_nothing_hangs(tree: Tree) -> None:
    root = tree({"a/b.md": ""})
    os.mkfifo(root / "pipe.md")
    for key in ("a", "pipe.md"):
        with pytest.raises(DocumentGone, match="no file any more"):
            FilesConnector(root).fetch(Ref(key, None), None)


def test_missing_root_is_no_vanished_document(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="is missing"):
        FilesConnector(tmp_path / "nowhere").fetch(Ref("a.md", None), None)


def test_file_over_the_cap_is_refused_with_advice_before_a_byte_is_read(tree: Tree) -> None:
    connector = FilesConnector(tree({"a.md": "x" * 11}), max_bytes=10)
    connector._disk = Disk(read=lambda descriptor, most: pytest.fail(f"{descriptor} {most}"))
    with pytest.raises(DocumentRefused, match="11 bytes, more than the 10 allowed") as refused:
        connector.fetch(Ref("a.md", None), None)
    assert "raise max_bytes" in refused.value.advice


def test_file_at_the_cap_is_read(tree: Tree) -> None:
    assert fetched(FilesConnector(tree({"a.md": "x" * 10}), max_bytes=10), Ref("a.md", None)).data == b"x" * 10


@pytest.mark.parametrize(
    ("error", "kind", "message"),
    [
        (PermissionError(13, "Permission denied"), DocumentRefused, "a.md cannot be read: permission denied"),
        (OSError(5, "Input/output error"), DocumentError, "a.md cannot be read: input/output error"),
    ],
)
def test_failing_disk_sets_the_document_aside(
    tree: Tree, error: OSError, kind: type[DocumentError], message: str
) -> None:
    connector = FilesConnector(tree({"a.md": "x"}))

    def read(descriptor: int, most: int) -> bytes:
        del descriptor, most
        raise error

    connector._disk = Disk(read=read)
    with pytest.raises(kind, match=message) as raised:
        connector.fetch(Ref("a.md", None), None)
    assert raised.value.advice


class Writer:
    """Changes a file each time it is read, up to so many times."""

    def __init__(self, path: Path, times: int, rewrite: Rewrite) -> None:
        self.path, self.left, self.reads, self.rewrite = path, times, 0, rewrite

    def read(self, descriptor: int, most: int) -> bytes:
        data = os.read(descriptor, most)
        self.reads += bool(data)
        if self.left and data:
            self.left -= 1
            self.rewrite(self.path, f"version {self.left:05d}")
        return data


def test_file_that_changes_while_read_is_read_again(tree: Tree, refs: Refs, rewrite: Rewrite) -> None:
    root = tree({"a.md": "version 00009"})
    connector = FilesConnector(root)
    writer = Writer(root / "a.md", 2, rewrite)
    connector._disk = Disk(read=writer.read)
    blob = fetched(connector, Ref("a.md", None))
    assert (blob.data, writer.reads) == (b"version 00000", 3)
    assert blob.token == refs(connector)["a.md"].token


def test_file_that_keeps_changing_is_set_aside_and_tried_again(tree: Tree, rewrite: Rewrite) -> None:
    root = tree({"a.md": "version 00009"})
    connector = FilesConnector(root)
    connector._disk = Disk(read=Writer(root / "a.md", 99, rewrite).read)
    with pytest.raises(DocumentError, match="changed each of the 3 times") as raised:
        connector.fetch(Ref("a.md", None), None)
    assert not isinstance(raised.value, DocumentGone | DocumentRefused)
    assert raised.value.advice == "it is read again at the next sync"


def test_file_cut_short_while_read_is_not_taken(tree: Tree) -> None:
    connector = FilesConnector(tree({"a.md": "whole"}))
    connector._disk = Disk(read=lambda descriptor, most: os.read(descriptor, min(most, 2))[:0])
    with pytest.raises(DocumentError, match="changed each of the 3 times"):
        connector.fetch(Ref("a.md", None), None)


@pytest.fixture
def spooling(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[FilesConnector, Path]:
    monkeypatch.setattr(reading, "IN_MEMORY", 8)
    spool = tmp_path / "spool"
    spool.mkdir()
    return FilesConnector(tree({"small.md": "12345678", "large.md": "123456789"}), spool=spool), spool


def test_large_file_becomes_a_private_copy(spooling: tuple[FilesConnector, Path], refs: Refs) -> None:
    connector, spool = spooling
    ref = refs(connector)["large.md"]
    blob = fetched(connector, ref)
    assert isinstance(blob.data, Path)
    assert blob.data.parent == spool
    assert blob.data.read_text() == "123456789"
    assert stat.S_IMODE(blob.data.stat().st_mode) == 0o600
    assert (blob.token, blob.filename) == (ref.token, "large.md")
    assert fetched(connector, refs(connector)["small.md"]).data == b"12345678"


def test_copy_that_is_not_handed_over_is_deleted(spooling: tuple[FilesConnector, Path], rewrite: Rewrite) -> None:
    connector, spool = spooling
    connector._disk = Disk(read=Writer(Path(connector.root, "large.md"), 99, rewrite).read)
    with pytest.raises(DocumentError, match="changed"):
        connector.fetch(Ref("large.md", None), None)

    def read(descriptor: int, most: int) -> bytes:
        del descriptor, most
        raise OSError(5, "Input/output error")

    connector._disk = Disk(read=read)
    with pytest.raises(DocumentError, match="input/output error"):
        connector.fetch(Ref("large.md", None), None)
    assert list(spool.iterdir()) == []


def test_no_room_for_the_copy_pauses_the_source_and_blames_no_document(
    spooling: tuple[FilesConnector, Path],
) -> None:
    connector, spool = spooling
    spool.rmdir()
    with pytest.raises(Unavailable, match=r"cannot keep a copy of large\.md"):
        connector.fetch(Ref("large.md", None), None)


def test_many_threads_fetch_at_once(tree: Tree, refs: Refs) -> None:
    connector = FilesConnector(tree({f"{i}.md": f"text {i}" for i in range(50)}))
    found: dict[str, bytes | Path] = {}

    def work(part: list[Ref]) -> None:
        for ref in part:
            found[ref.key] = fetched(connector, ref).data

    listed = list(refs(connector).values())
    threads = [threading.Thread(target=work, args=(listed[i::4],)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {f"{i}.md": f"text {i}".encode() for i in range(50)}
