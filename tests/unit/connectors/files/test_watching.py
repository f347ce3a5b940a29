"""A watched folder tells what to scan again, soon after it changed and is at rest."""

import logging
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from connectors.contract import Watches, within
from connectors.files.connector import FilesConnector
from connectors.files.events import FLOOD, LOST, Changed, Events
from connectors.files.mounts import Mount
from connectors.files.selection import Selection
from connectors.files.watching import FolderWatch, Ground, Pace

QUICK = Pace(quiet_s=0.15, longest_s=5.0, poll_s=1e9, rescan_s=1e9)
DEADLINE_S = 20.0


@dataclass
class Watched:
    """A folder that is watched by a thread."""

    root: Path
    pace: Pace = QUICK
    ground: Ground = field(default_factory=Ground)
    selection: Selection = field(default_factory=lambda: Selection(("**/*",), (), hidden=False))
    scopes: list[str] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    stop: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()

    def _watch(self) -> None:
        watch = FolderWatch(str(self.root), self.selection, self.said.append, self.pace, self.ground)
        for scope in watch.scopes(self.stop):
            self.scopes.append(scope)

    def until(self, met: Callable[[], bool]) -> None:
        """Wait for what must come; fail when it does not."""
        deadline = time.monotonic() + DEADLINE_S
        while not met():
            assert time.monotonic() < deadline, (self.scopes, self.said)
            time.sleep(0.02)

    def until_told(self, key: str) -> None:
        """Wait until a scope covers *key*."""
        self.until(lambda: any(within(scope, key) for scope in self.scopes))

    def until_armed(self) -> None:
        """Wait for the first scope, everything; forget it."""
        self.until(lambda: "" in self.scopes)
        self.scopes.clear()

    def end(self) -> None:
        self.stop.set()
        self.thread.join(DEADLINE_S)
        assert not self.thread.is_alive()


@pytest.fixture
def watched(tmp_path: Path) -> Iterator[Callable[..., Watched]]:
    made: list[Watched] = []

    def make(**settings: object) -> Watched:
        root = tmp_path / "root"
        root.mkdir(exist_ok=True)
        made.append(Watched(root, **settings))  # type: ignore[arg-type] # named settings of the dataclass
        return made[-1]

    yield make
    for one in made:
        one.end()


def test_a_files_connector_watches(tmp_path: Path) -> None:
    connector = FilesConnector(tmp_path)
    assert isinstance(connector, Watches)
    stop = threading.Event()
    scopes = connector.watch(stop)
    assert next(scopes) == ""
    stop.set()
    assert list(scopes) == []


def test_the_first_scope_is_everything_and_then_only_what_changed(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    (folder.root / "a.md").write_text("a")
    folder.until_told("a.md")
    assert folder.scopes == ["a.md"]


def test_a_file_in_a_new_folder_is_told(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    (folder.root / "x" / "y").mkdir(parents=True)
    (folder.root / "x" / "y" / "deep.md").write_text("deep")
    folder.until_told("x/y/deep.md")


def test_a_deleted_file_is_told(watched: Callable[..., Watched], tmp_path: Path) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_text("a")
    folder = watched()
    folder.until_armed()
    (folder.root / "a.md").unlink()
    folder.until_told("a.md")


def test_a_renamed_folder_is_told_under_both_names(watched: Callable[..., Watched], tmp_path: Path) -> None:
    (tmp_path / "root" / "old").mkdir(parents=True)
    (tmp_path / "root" / "old" / "a.md").write_text("a")
    folder = watched()
    folder.until_armed()
    (folder.root / "old").rename(folder.root / "new")
    folder.until_told("old/a.md")
    folder.until_told("new/a.md")


def test_a_folder_moved_in_and_out_is_told(watched: Callable[..., Watched], tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    (outside / "in").mkdir(parents=True)
    (outside / "in" / "a.md").write_text("a")
    folder = watched()
    folder.until_armed()
    shutil.move(outside / "in", folder.root / "in")
    folder.until_told("in/a.md")
    folder.scopes.clear()
    shutil.move(folder.root / "in", outside / "in")
    folder.until_told("in/")


def test_an_atomic_save_is_told_by_the_name_it_ends_at(watched: Callable[..., Watched]) -> None:
    folder = watched()
    (folder.root / "a.md").write_text("old")
    folder.until_armed()
    (folder.root / ".a.md.tmp").write_text("new")
    (folder.root / ".a.md.tmp").replace(folder.root / "a.md")
    folder.until_told("a.md")
    assert folder.scopes == ["a.md"]  # the temporary name is no document


def test_an_office_save_is_told_by_the_document_alone(watched: Callable[..., Watched]) -> None:
    folder = watched()
    (folder.root / "report.docx").write_text("old")
    folder.until_armed()
    (folder.root / "~$report.docx").write_text("lock")
    (folder.root / "3F2A91B0.tmp").write_text("new")
    (folder.root / "report.docx").rename(folder.root / "report~RF12.TMP")
    (folder.root / "3F2A91B0.tmp").rename(folder.root / "report.docx")
    (folder.root / "report~RF12.TMP").unlink()
    (folder.root / "~$report.docx").unlink()
    folder.until_told("report.docx")
    assert set(folder.scopes) == {"report.docx"}


@pytest.mark.skipif(shutil.which("vim") is None, reason="vim is not installed")
def test_a_save_of_vim_is_told(watched: Callable[..., Watched]) -> None:
    folder = watched()
    (folder.root / "a.md").write_text("old\n")
    folder.until_armed()
    subprocess.run(
        ["vim", "-u", "NONE", "-N", "-es", "-c", "set backup", "-c", "%s/old/new/", "-c", "wq", "a.md"],
        cwd=folder.root,
        check=True,
        stdin=subprocess.DEVNULL,
        timeout=60,
    )
    assert (folder.root / "a.md").read_text() == "new\n"
    folder.until_told("a.md")


def test_a_file_that_is_being_written_is_told_once_it_rests(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    with (folder.root / "big.bin").open("wb", buffering=0) as writer:
        for _ in range(12):  # each pause shorter than the quiet time
            writer.write(b"x" * 1000)
            time.sleep(0.05)
            assert folder.scopes == []
    folder.until_told("big.bin")
    assert folder.scopes == ["big.bin"]


def test_a_name_whose_key_depends_on_its_neighbours_widens_the_scope(watched: Callable[..., Watched]) -> None:
    folder = watched()
    (folder.root / "d").mkdir()
    (folder.root / "d" / "cafe\u0301.md").write_text("decomposed")
    folder.until_armed()
    (folder.root / "d" / "caf\u00e9.md").write_text("composed")
    folder.until_told("d/")


def test_a_plain_name_beyond_ascii_keeps_its_own_scope(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    (folder.root / "caf\u00e9.md").write_text("composed")
    folder.until_told("caf\u00e9.md")
    assert folder.scopes == ["caf\u00e9.md"]


@pytest.mark.skipif(os.name == "nt" or os.uname().sysname == "Darwin", reason="names are Unicode here")
def test_a_name_that_is_no_utf8_does_not_end_the_watch(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    (folder.root / os.fsdecode(b"caf\xe9.md")).write_text("latin")
    folder.until_told("caf\ufffd.md")


def test_what_is_left_out_of_the_source_is_not_told(watched: Callable[..., Watched]) -> None:
    folder = watched(selection=Selection(("**/*.md",), ("drafts/",), hidden=False))
    (folder.root / "drafts").mkdir()
    (folder.root / ".git").mkdir()
    folder.until_armed()
    for name in (".hidden.md", "a.txt", "drafts/a.md", ".git/HEAD.md"):
        (folder.root / name).write_text("x")
    (folder.root / "a.md").write_text("a")
    folder.until_told("a.md")
    assert folder.scopes == ["a.md"]


def test_a_root_that_is_renamed_away_and_back_is_told_and_watched_again(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    away = folder.root.with_name("away")
    folder.root.rename(away)
    folder.until_armed()  # everything is to be looked at: the source is missing
    away.rename(folder.root)
    folder.until_armed()
    (folder.root / "a.md").write_text("a")
    folder.until_told("a.md")
    assert folder.scopes == ["a.md"]


def test_a_root_that_is_replaced_is_watched_in_its_new_place(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    shutil.rmtree(folder.root)
    folder.root.mkdir()
    folder.until_armed()
    (folder.root / "a.md").write_text("a")
    folder.until_told("a.md")


def test_a_missing_root_is_watched_once_it_comes(tmp_path: Path) -> None:
    folder = Watched(tmp_path / "later")
    try:
        (tmp_path / "later").mkdir()
        folder.until_armed()
        (tmp_path / "later" / "a.md").write_text("a")
        folder.until_told("a.md")
    finally:
        folder.end()


def test_a_root_behind_a_link_is_watched(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    folder = Watched(tmp_path / "link")
    try:
        folder.until_armed()
        (tmp_path / "real" / "a.md").write_text("a")
        folder.until_told("a.md")
        assert folder.scopes == ["a.md"]
    finally:
        folder.end()


def test_an_overflow_of_the_system_s_queue_makes_everything_due(watched: Callable[..., Watched]) -> None:
    folder = watched()
    folder.until_armed()
    logging.getLogger("watchdog.observers.inotify_c").warning("Inotify queue overflowed; filesystem events were lost")
    folder.until(lambda: folder.scopes == [""])


def test_a_flood_of_events_counts_as_some_lost(tmp_path: Path) -> None:
    events = Events(str(tmp_path), clock=lambda: 0.0)
    for number in range(FLOOD):
        events._queue.put(Changed(str(number), is_folder=False))
    assert events.next(0.01)[0] is LOST


def test_a_burst_is_a_rescan_of_everything_after_it(watched: Callable[..., Watched]) -> None:
    folder = watched(pace=Pace(quiet_s=0.5, longest_s=30.0, poll_s=1e9, rescan_s=1e9))
    folder.until_armed()
    for number in range(3_000):
        (folder.root / f"{number}.md").write_text("x")
    folder.until(lambda: "" in folder.scopes)
    assert len(folder.scopes) < 100  # one, unless the writer was held up


def test_a_network_file_system_is_polled_and_said_once(watched: Callable[..., Watched]) -> None:
    ground = Ground(mounts=lambda root: (Mount(root, "nfs4"),))
    folder = watched(ground=ground, pace=Pace(poll_s=0.1, rescan_s=1e9))
    folder.until(lambda: len(folder.scopes) >= 4)
    assert set(folder.scopes) == {""}
    assert len(folder.said) == 1
    assert "nfs4" in folder.said[0]


def test_a_network_mount_below_the_root_is_polled_beside_the_watch(watched: Callable[..., Watched]) -> None:
    ground = Ground(mounts=lambda root: (Mount("/", "ext4"), Mount(f"{root}/share", "cifs")))
    folder = watched(ground=ground, pace=Pace(quiet_s=0.1, poll_s=0.3, rescan_s=1e9))
    folder.until(lambda: folder.scopes.count("share/") >= 2)
    (folder.root / "a.md").write_text("a")
    folder.until(lambda: "a.md" in folder.scopes)


def test_a_system_without_watches_left_is_polled_and_said_once(watched: Callable[..., Watched]) -> None:
    class Refused(Events):
        def start(self) -> None:
            raise OSError(28, "inotify watch limit reached")

    folder = watched(ground=Ground(events=Refused), pace=Pace(poll_s=0.1, rescan_s=1e9))
    folder.until(lambda: len(folder.scopes) >= 3)
    assert len(folder.said) == 1
    assert "watch limit reached" in folder.said[0]


def test_subfolders_that_got_no_watch_are_noticed(watched: Callable[..., Watched]) -> None:
    folder = watched(ground=Ground(has_watches_left=lambda root: not root), pace=Pace(poll_s=0.1, rescan_s=1e9))
    folder.until(lambda: folder.scopes.count("") >= 3)
    assert len(folder.said) == 1
    assert "no file watches left" in folder.said[0]


def test_everything_is_due_now_and_then_whatever_events_say(watched: Callable[..., Watched]) -> None:
    folder = watched(pace=Pace(quiet_s=0.1, poll_s=1e9, rescan_s=0.4))
    folder.until(lambda: folder.scopes.count("") >= 3)


def test_threads_and_descriptors_end_with_the_watch(tmp_path: Path) -> None:
    def open_now() -> tuple[int, int]:
        fds = Path("/proc/self/fd")
        return threading.active_count(), len(list(fds.iterdir())) if fds.exists() else 0

    before = open_now()
    for _ in range(3):
        folder = Watched(tmp_path)
        folder.until_armed()
        folder.end()
    assert open_now() == before
