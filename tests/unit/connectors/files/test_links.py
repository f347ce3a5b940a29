"""Symbolic links: never out of the root, never in a circle, each target once."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.contract import Complete, Event, Ref
from connectors.errors import DocumentGone, DocumentRefused
from connectors.files.connector import FilesConnector

Tree = Callable[..., Path]
Scan = Callable[..., list[Event]]
Keys = Callable[..., list[str]]


def link(at: Path, to: str) -> None:
    at.parent.mkdir(parents=True, exist_ok=True)
    at.symlink_to(to)


def test_link_to_what_is_listed_anyway_is_left_out(tree: Tree, keys: Keys) -> None:
    root = tree({"a/x.md": "x"})
    link(root / "copy.md", "a/x.md")
    link(root / "b", "a")
    assert keys(FilesConnector(root)) == ["a/x.md"]


def test_link_to_a_hidden_target_inside_is_followed(tree: Tree, keys: Keys) -> None:
    root = tree({".store/v5/x.md": "x", ".store/v5/y/z.md": "z", ".store/one.md": "1"})
    link(root / "current", ".store/v5")
    link(root / "one.md", ".store/one.md")
    assert keys(FilesConnector(root)) == ["one.md", "current/x.md", "current/y/z.md"]


def test_link_to_a_folder_outside_the_patterns_is_followed(tree: Tree, keys: Keys) -> None:
    root = tree({"docs/a.md": "", "shared/b.md": ""})
    link(root / "docs/shared", "../shared")
    assert keys(FilesConnector(root, include=["docs/**"])) == ["docs/a.md", "docs/shared/b.md"]


def test_link_to_a_pipe_is_left_out(tree: Tree, scan: Scan) -> None:
    root = tree({".store/x.md": ""})
    os.mkfifo(root / ".store/pipe")
    link(root / "pipe.md", ".store/pipe")
    assert scan(FilesConnector(root)) == [Complete("")]


def test_each_target_is_listed_once(tree: Tree, keys: Keys) -> None:
    root = tree({".store/v5/x.md": "x", ".store/v5/y.md": "y"})
    link(root / "a", ".store")
    link(root / "b", ".store/v5")
    link(root / "c", ".store/v5/")
    link(root / "z.md", ".store/v5/x.md")
    assert keys(FilesConnector(root)) == ["z.md", "b/y.md"]


def test_circles_end(tree: Tree, scan: Scan, keys: Keys) -> None:
    root = tree({"a/x.md": "x", ".store/y.md": "y"})
    link(root / "a/up", "..")
    link(root / "a/self", ".")
    link(root / "here", "here")
    link(root / "ping", "pong")
    link(root / "pong", "ping")
    link(root / "s", ".store")
    link(root / ".store/again", "../.store")
    connector = FilesConnector(root)
    assert keys(connector) == ["a/x.md", "s/y.md"]
    assert len(scan(connector)) == 3, "a circle is no failure"


@pytest.mark.parametrize("to", ["../outside", "/etc", "{root}/../outside", "missing"])
def test_link_out_of_the_root_or_into_nothing_is_left_out(tree: Tree, scan: Scan, to: str) -> None:
    root = tree()
    (root.parent / "outside").mkdir()
    (root.parent / "outside/secret.md").write_text("secret")
    link(root / "way", to.format(root=root))
    link(root / "secret.md", "../outside/secret.md")
    assert scan(FilesConnector(root)) == [Complete("")]


def test_root_whose_name_starts_alike_is_outside(tree: Tree, scan: Scan) -> None:
    root = tree()
    (root.parent / "root-2").mkdir()
    (root.parent / "root-2/a.md").write_text("")
    link(root / "way", "../root-2")
    assert scan(FilesConnector(root)) == [Complete("")]


def test_links_can_be_left_out_altogether(tree: Tree, keys: Keys) -> None:
    root = tree({".store/x.md": "x", "a.md": ""})
    link(root / "current", ".store")
    assert keys(FilesConnector(root, follow_links=False)) == ["a.md"]


def test_root_may_itself_be_a_link(tree: Tree, keys: Keys) -> None:
    root = tree({"a.md": "", ".store/b.md": ""})
    link(root / "b.md", ".store/b.md")
    link(root.parent / "alias", "root")
    connector = FilesConnector(root.parent / "alias")
    assert connector.name == "root"
    assert keys(connector) == ["a.md", "b.md"]


def test_document_behind_a_link_is_fetched(tree: Tree, refs: Callable[..., dict[str, Ref]]) -> None:
    root = tree({".store/x.md": "text"})
    link(root / "current", ".store")
    connector = FilesConnector(root)
    ref = refs(connector)["current/x.md"]
    blob = connector.fetch(ref, None)
    assert getattr(blob, "data", None) == b"text"
    assert blob.token == ref.token


@pytest.mark.parametrize(
    "key", ["../outside/secret.md", "/etc/passwd", "a/../../outside/secret.md", "./a.md", "a//b", ""]
)
def test_fetch_refuses_a_path_that_is_none_below_the_root(tree: Tree, key: str) -> None:
    root = tree({"a.md": ""})
    (root.parent / "outside").mkdir()
    (root.parent / "outside/secret.md").write_text("secret")
    with pytest.raises(DocumentRefused, match="leads out of its folder"):
        FilesConnector(root).fetch(Ref(key, None), None)


@pytest.mark.parametrize("locator", ["..%2Foutside%2Fsecret.md", "a%00b", "%2Fetc%2Fpasswd"])
def test_fetch_refuses_a_locator_that_leads_out(tree: Tree, locator: str) -> None:
    root = tree({"a.md": ""})
    with pytest.raises(DocumentRefused, match="leads out of its folder"):
        FilesConnector(root).fetch(Ref("a.md", None, locator=locator), None)


def test_file_replaced_by_a_link_out_of_the_root_is_not_read(tree: Tree, refs: Callable[..., dict[str, Ref]]) -> None:
    root = tree({"a/x.md": "x"})
    connector = FilesConnector(root)
    ref = refs(connector)["a/x.md"]
    (root.parent / "outside").mkdir()
    (root.parent / "outside/x.md").write_text("secret")
    (root / "a").rename(root / "b")
    link(root / "a", "../outside")
    with pytest.raises(DocumentRefused, match="leads out of its folder"):
        connector.fetch(ref, None)


@pytest.mark.skipif(os.open not in os.supports_dir_fd, reason="needs opening relative to a folder")
def test_link_put_in_the_way_after_the_check_is_not_followed(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tree({"a/x.md": "x"})
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside/x.md").write_text("secret")
    real = os.path.realpath

    def late(path: str, *, strict: bool = False) -> str:
        resolved = real(path, strict=strict)
        if resolved.endswith("x.md"):  # the moment between the check and the opening
            (root / "a").rename(root / "b")
            link(root / "a", "../outside")
        return resolved

    monkeypatch.setattr(os.path, "realpath", late)
    with pytest.raises(DocumentGone):
        FilesConnector(root).fetch(Ref("a/x.md", None), None)
