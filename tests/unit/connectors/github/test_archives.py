"""Files out of archives: only what the tree promised, and never more."""

import gzip
import io
import tarfile
from pathlib import Path

import pytest

from connectors.github.archive import ArchiveRefused, unpack
from connectors.github.blobs import is_blob, lfs_pointer
from connectors.github.spool import BlobSpool
from connectors.github.tree import Entry, is_sane, keys_of

A = Entry("docs/a.md", "100644", "2e65efe2a145dda7ee51d1741299f848e5bf752e", 1)  # the blob of "a"


def unpacked(archive: Path) -> dict[str, bytes]:
    spool = BlobSpool()
    unpack(archive, [A], {A.path: A}, spool)
    found = {A.sha: spool.take(A.sha)}
    return {sha: data for sha, data in found.items() if data is not None}


def packed(path: Path, *members: tuple[str, bytes]) -> Path:
    with tarfile.open(path, "w:gz") as tar:
        for name, data in members:
            info = tarfile.TarInfo(name)
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return path


def test_wanted_file_is_unpacked_under_its_id(tmp_path: Path) -> None:
    archive = packed(tmp_path / "x.tgz", ("acme-api-1/docs/a.md", b"a"), ("acme-api-1/b.md", b"b"))
    assert unpacked(archive) == {A.sha: b"a"}


@pytest.mark.parametrize("name", ["../docs/a.md", "/etc/a.md", "acme/../../docs/a.md", "docs/a.md"])
def test_name_that_nobody_asked_for_is_passed_over(tmp_path: Path, name: str) -> None:
    archive = packed(tmp_path / "x.tgz", (name, b"x"))
    assert unpacked(archive) == {}


def test_other_bytes_than_the_blob_are_left_out(tmp_path: Path) -> None:
    archive = packed(tmp_path / "x.tgz", ("t/docs/a.md", b"z"))
    assert unpacked(archive) == {}


def test_bomb_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    archive = packed(tmp_path / "x.tgz", ("t/docs/a.md", b"a"), ("t/bomb", bytes(64 * 2**20)))
    assert archive.stat().st_size < 100_000
    with pytest.raises(ArchiveRefused, match="more than the repository holds"):
        unpacked(archive)


@pytest.mark.parametrize("data", [b"", b"no archive", gzip.compress(b"no tar" * 200), gzip.compress(bytes(2000))[:20]])
def test_what_is_no_archive_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "x.tgz").write_bytes(data)
    with pytest.raises(ArchiveRefused):
        unpacked(tmp_path / "x.tgz")


def test_link_in_an_archive_is_not_followed(tmp_path: Path) -> None:
    with tarfile.open(tmp_path / "x.tgz", "w:gz") as tar:
        info = tarfile.TarInfo("t/docs/a.md")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(info)
    assert unpacked(tmp_path / "x.tgz") == {}


def test_blob_is_proved_by_its_id() -> None:
    assert is_blob(b"a", A.sha)
    assert not is_blob(b"b", A.sha)
    assert is_blob(b"", "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813")  # a SHA-256 repository


def test_pointer_is_told_from_a_text_about_pointers() -> None:
    pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{'a' * 64}\nsize 12\n".encode()
    found = lfs_pointer(pointer)
    assert found is not None
    assert (found.oid, found.size) == ("a" * 64, 12)
    assert lfs_pointer(b"# About\n" + pointer) is None
    assert lfs_pointer(pointer + b"x" * 2000) is None


def test_paths_that_no_tree_can_have_are_told() -> None:
    assert is_sane("a/b\n.md")
    assert not any(map(is_sane, ("", "../a", "a/../b", "/a", "a//b", ".git/config", "a/.GIT/x")))


def test_names_that_read_alike_get_keys_of_their_own() -> None:
    keys = keys_of(["e\u0301.md", "\u00e9.md"])
    assert keys["e\u0301.md"] == "\u00e9.md"
    assert keys["\u00e9.md"].startswith("\u00e9.md~")
