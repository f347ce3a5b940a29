"""A mirror through the whole pipeline: what is stored, moved, kept and never fetched twice."""

from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any
from unicodedata import normalize

import pytest

from connectors.contract import Seen
from connectors.github.connector import GitHubConnector
from connectors.github.selection import Selection
from connectors.notes import MemoryNotes
from corebrain.brain import Brain
from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import MemoryLayout
from pipeline.host import Host
from pipeline.options import SyncOptions
from pipeline.report import SourceReport
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all

World = Any
SAMPLES = Path(__file__).parents[3] / "documents_samples"
PACKAGES = Path(pytest.__file__).parents[1]


@dataclass
class Desk:
    """A brain and the books of one source."""

    engine: ReferenceEngine = field(default_factory=ReferenceEngine)
    state: SqliteState = field(default_factory=lambda: SqliteState(None))
    clock: float = 1_000_000.0

    def sync(self, connector: GitHubConnector, **options: Any) -> SourceReport:
        self.clock += 3600
        brain = Brain(self.engine, MemoryLayout())
        source = Source("github", connector, brain, SyncOptions(**{"split": "always", **options}))
        host = Host(now=lambda: self.clock, chance=lambda: 0.5, tell=lambda _: None)
        return sync_all([source], self.state, host).sources[0]

    def held(self) -> dict[str, Any]:
        return {str(item.meta.file_path or item.meta.url): item for item in self.engine._items.values()}


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_commit_to_one_file_stores_one_and_keeps_the_pins_of_others(world: World, desk: Desk) -> None:
    repo = world.repository()
    first = repo.put({f"{i}.md": f"# Page {i}" for i in range(6)})
    assert desk.sync(world.connector()).new == 6
    second = repo.put({"3.md": "# Page 3\n\nEdited.", "x.py": "x"})
    report = desk.sync(world.connector())
    assert (report.new, report.changed) == (0, 1)
    commits = {path: str(item.meta.commit) for path, item in desk.held().items()}
    assert commits == {f"acme/api/{i}.md": second if i == 3 else first for i in range(6)}
    (node,) = {str(item.meta.namespace) for item in desk.held().values()}
    assert node.startswith("source:github/project:acme-api-")


def test_unchanged_repository_is_one_request_and_nothing_is_stored(world: World, desk: Desk) -> None:
    world.repository().put({"a.md": "a"})
    desk.sync(world.connector())
    before = set(desk.engine._items)
    world.server.log.clear()
    report = desk.sync(world.connector())
    assert (report.new, report.changed, report.gone) == (0, 0, 0)
    assert len(world.server.log) == 1
    assert set(desk.engine._items) == before


def test_renamed_file_is_moved_without_a_fetch(world: World, desk: Desk) -> None:
    repo = world.repository()
    repo.put({"a.md": "# A\n\n[b](b.md)", "b.md": "# B"})
    desk.sync(world.connector())
    (repo.path / "docs").mkdir()
    (repo.path / "a.md").rename(repo.path / "docs" / "a.md")
    repo.commit()
    world.server.log.clear()
    report = desk.sync(world.connector())
    assert report.moved == 1
    assert not any("blobs" in line or "tarball" in line for line in world.server.log)
    assert set(desk.held()) == {"acme/api/docs/a.md", "acme/api/b.md"}


def test_deleted_file_is_forgotten_and_a_vanished_repository_is_not(world: World, desk: Desk) -> None:
    repo = world.repository()
    repo.put({"a.md": "a", "b.md": "b"})
    desk.sync(world.connector())
    (repo.path / "b.md").unlink()
    repo.commit()
    assert desk.sync(world.connector()).gone == 1
    repo.visible = False
    desk.sync(world.connector())
    assert set(desk.held()) == {"acme/api/a.md"}


def test_rename_of_the_repository_stores_nothing(world: World, desk: Desk) -> None:
    world.repository().put({"a.md": "a", "b.md": "b"})
    desk.sync(world.connector())
    before = set(desk.engine._items)
    world.server.rename("acme/api", "new/interface")
    world.cursor = None
    report = desk.sync(world.connector())
    assert (report.new, report.changed, report.gone) == (0, 0, 0)
    assert set(desk.engine._items) == before


def test_budget_that_runs_out_pauses_and_the_rest_follows(world: World, desk: Desk) -> None:
    world.repository().put({f"{i}.md": f"# Page {i}" for i in range(12)})
    world.server.archives = False
    world.server.budget.limit = 8
    world.server.budget.reset = int(world.now.timestamp()) + 1800
    connector = world.connector(reserve=0)
    connector._transport._sender._budget._now = lambda: world.now
    report = desk.sync(connector)
    assert report.error is not None
    assert "goes on at 09:30:00 UTC" in report.error
    assert report.retry_after_s == 1800
    held = len(desk.held())
    assert held < 12
    world.server.budget.limit = 5000
    assert len(world.server.log) <= 11, "eight, and what two threads had under way"
    for _ in range(4):
        desk.sync(world.connector())
    assert len(desk.held()) == 12


def test_tree_of_real_documents_is_mirrored_completely_both_ways(world: World) -> None:
    repo = world.repository()
    files = {f"docs/{path.name}": path.read_bytes() for path in sorted(SAMPLES.iterdir()) if path.is_file()}
    repo.put(files)
    ways = (world.connector(), world.connector(transport="git", git_url=f"file://{world.root}"))
    told = []
    for connector in ways:
        refs = [event.ref for event in connector.scan(None, MemoryNotes()) if isinstance(event, Seen)]
        told.append({ref.key: connector.fetch(ref, None) for ref in refs})
    assert told[0] == told[1]
    names = {key.removeprefix("acme/api/") for key in told[0]}
    assert {name for name in files if name.endswith((".md", ".csv", ".docx", ".xlsx", ".ipynb", ".epub"))} <= names
    unchanged = {key: blob for key, blob in told[0].items() if not key.endswith(".md")}
    assert all(blob.data == files[key.removeprefix("acme/api/")] for key, blob in unchanged.items())


def test_documents_of_installed_packages_are_mirrored_completely_both_ways(world: World) -> None:
    wanted = Selection()
    paths = (path for path in sorted(PACKAGES.rglob("*.*")) if path.is_file() and path.stat().st_size < 200_000)
    named = ((path.relative_to(PACKAGES).as_posix(), path) for path in paths)
    files = {name: path.read_bytes() for name, path in islice(((n, p) for n, p in named if wanted.takes(n)), 400)}
    assert len(files) > 50
    world.repository().put(files)
    told = []
    for connector in (world.connector(), world.connector(transport="git", git_url=f"file://{world.root}")):
        refs = [event.ref for event in connector.scan(None, MemoryNotes()) if isinstance(event, Seen)]
        told.append({ref.key.removeprefix("acme/api/"): connector.fetch(ref, None) for ref in refs})
    assert told[0] == told[1]
    assert told[0].keys() == {normalize("NFC", name) for name in files}
    assert all(blob.data == files[name] for name, blob in told[0].items() if not name.endswith((".md", ".markdown")))
