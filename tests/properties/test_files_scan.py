"""A scan of any tree finds what a plain walk finds, and each part of it alone finds its part."""

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.contract import Complete, Ref, Seen
from connectors.files.connector import FilesConnector
from connectors.files.keys import raw_path_of
from connectors.notes import MemoryNotes

pytestmark = pytest.mark.skipif(os.name != "posix", reason="names of any bytes need a POSIX file system")

SKIPPED_FOLDERS = {b".hidden", b"node_modules"}
SKIPPED_FILES = {b".hidden", b"~$lock"}
_names = st.sampled_from(
    [b"a", b"b.md", b"e\xcc\x81", b"\xc3\xa9", b"\xff", b"\xef\xbf\xbd", *sorted(SKIPPED_FOLDERS | SKIPPED_FILES)]
)
_trees = st.sets(st.lists(_names, min_size=1, max_size=4).map(tuple), max_size=12)


def build(root: Path, paths: set[tuple[bytes, ...]]) -> set[str]:
    """Make the files, a path that runs into a file left out; return the raw paths of those that are documents."""
    made = set()
    for parts in sorted(paths):
        path = Path(os.fsdecode(os.fsencode(root) + b"/" + b"/".join(parts)))
        if any(parent.is_file() for parent in path.parents) or path.exists():
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("text")
        if not SKIPPED_FOLDERS & set(parts[:-1]) and parts[-1] not in SKIPPED_FILES:
            made.add(os.fsdecode(b"/".join(parts)))
    return made


def scan(root: Path, scope: str = "") -> dict[str, Ref]:
    events = list(FilesConnector(root).scan(None, MemoryNotes(), scope))
    assert events[-1] == Complete(scope)
    refs = [event.ref for event in events if isinstance(event, Seen)]
    assert len({ref.key for ref in refs}) == len(refs)
    return {ref.key: ref for ref in refs}


@settings(max_examples=60, deadline=None)
@given(_trees)
def test_scan_finds_every_document_once_and_every_part_alone(paths: set[tuple[bytes, ...]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        expected = build(root, paths)
        found = scan(root)
        assert {raw_path_of(ref.locator, key) for key, ref in found.items()} == expected
        folders = {key[: i + 1] for key in found for i, char in enumerate(key) if char == "/"}
        for scope in folders:
            assert scan(root, scope) == {key: ref for key, ref in found.items() if key.startswith(scope)}
        for key, ref in found.items():
            assert scan(root, key) == {key: ref}


@settings(max_examples=60, deadline=None)
@given(
    _trees,
    st.lists(st.tuples(st.integers(0, 11), st.sampled_from(["..", ".", "../..", "a", "/", ".hidden"])), max_size=6),
)
def test_links_never_add_what_is_outside_or_listed_twice(
    paths: set[tuple[bytes, ...]], links: list[tuple[int, str]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder) / "root"
        root.mkdir()
        (Path(folder) / "outside.md").write_text("outside")
        build(root, paths)
        folders = sorted(path for path in [root, *root.rglob("*")] if path.is_dir())
        for number, target in links:
            at = folders[number % len(folders)] / f"link{number}{len(target)}"
            if not at.is_symlink():
                at.symlink_to(target)
        found = scan(root)
        real = [os.path.realpath(root / raw_path_of(ref.locator, key)) for key, ref in found.items()]
        assert len(set(real)) == len(real)
        assert all(path.startswith(os.path.realpath(root) + "/") for path in real)
