"""A real folder, and how a test looks at what a scan said about it."""

from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

import pytest

from connectors.contract import Connector, Event, Ref, Seen
from connectors.notes import MemoryNotes

Tree: TypeAlias = Callable[..., Path]
Scan: TypeAlias = Callable[..., list[Event]]
Keys: TypeAlias = Callable[..., list[str]]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Make files below one root; `{name: text}` by keywords or a dict, names with `/`."""
    root = tmp_path / "root"
    root.mkdir()

    def make(files: dict[str, str] | None = None) -> Path:
        for name, text in (files or {}).items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return root

    return make


@pytest.fixture
def rewrite() -> Callable[[Path, str], None]:
    """Replace a text, in a later tick of the file system's clock than the last change."""

    def run(path: Path, text: str) -> None:
        before = path.stat().st_ctime_ns
        while path.stat().st_ctime_ns == before:
            path.write_text(text)

    return run


@pytest.fixture
def scan() -> Scan:
    def run(connector: Connector, scope: str = "", notes: MemoryNotes | None = None) -> list[Event]:
        return list(connector.scan(None, notes or MemoryNotes(), scope))

    return run


@pytest.fixture
def refs(scan: Scan) -> Callable[..., dict[str, Ref]]:
    def run(connector: Connector, scope: str = "") -> dict[str, Ref]:
        return {event.ref.key: event.ref for event in scan(connector, scope) if isinstance(event, Seen)}

    return run


@pytest.fixture
def keys(scan: Scan) -> Keys:
    def run(connector: Connector, scope: str = "") -> list[str]:
        return [event.ref.key for event in scan(connector, scope) if isinstance(event, Seen)]

    return run
