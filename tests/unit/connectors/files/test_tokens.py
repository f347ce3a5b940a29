"""What changes a token: every edit, however it hides."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from connectors.contract import Ref
from connectors.files.connector import FilesConnector

Refs = Callable[..., dict[str, Ref]]


@pytest.fixture
def token(refs: Refs, tree: Callable[..., Path]) -> Callable[[], str | None]:
    connector = FilesConnector(tree({"a.md": "one"}))
    return lambda: refs(connector)["a.md"].token


@pytest.fixture
def path(tree: Callable[..., Path]) -> Path:
    return tree() / "a.md"


def test_token_stays_while_nothing_changes(token: Callable[[], str], path: Path) -> None:
    before = token()
    path.read_text()
    assert token() == before


def test_edit_of_equal_size_with_its_mtime_put_back_changes_the_token(
    token: Callable[[], str], path: Path, rewrite: Callable[[Path, str], None]
) -> None:
    before, status = token(), path.stat()
    rewrite(path, "two")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_mtime_ns == status.st_mtime_ns
    assert token() != before


def test_older_file_copied_over_it_changes_the_token(token: Callable[[], str], path: Path) -> None:
    old = path.with_name("old.md")
    old.write_text("old")
    os.utime(old, (1e9, 1e9))
    before = token()
    shutil.copy2(old, path)
    assert token() != before


def test_file_replaced_by_a_rename_changes_the_token(token: Callable[[], str], path: Path) -> None:
    before, status = token(), path.stat()
    other = path.with_name("new.tmp")
    other.write_text("two")
    os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
    other.replace(path)
    assert token() != before


def test_touch_changes_the_token_and_costs_one_read(token: Callable[[], str], path: Path) -> None:
    before = token()
    os.utime(path, (1e9, 1e9))
    assert token() != before
