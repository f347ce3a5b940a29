"""`brain watch` and `brain run` as processes: what is dropped into a folder is stored, found, and survives the stop."""

import plistlib
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import LearningKind, StoreItem
from pipeline.config.load import load

REPOSITORY = Path(__file__).parents[2]
SAMPLES = REPOSITORY / "configs" / "quickstart"
DEADLINE_S = 60.0
ENDED = {0, 130}
"""How a stop may end: with everything done, or with a sync that the next run goes on with."""


class Kept:
    """A process that keeps syncing, and the lines it has printed."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.lines: list[str] = []
        self.threads = [
            threading.Thread(target=self._read, args=(stream,)) for stream in (process.stdout, process.stderr)
        ]
        for thread in self.threads:
            thread.start()

    def _read(self, stream: Any) -> None:
        self.lines.extend(line.rstrip("\n") for line in stream)

    def until(self, met: Callable[[], bool]) -> None:
        deadline = time.monotonic() + DEADLINE_S
        while not met():
            assert time.monotonic() < deadline, self.lines
            time.sleep(0.05)

    def until_said(self, text: str, times: int = 1) -> None:
        self.until(lambda: sum(text in line for line in self.lines) >= times)

    def end(self, number: int = signal.SIGTERM) -> int:
        if self.process.poll() is None:
            self.process.send_signal(number)
        status = self.process.wait(DEADLINE_S)
        for thread in self.threads:
            thread.join(DEADLINE_S)
        for stream in (self.process.stdout, self.process.stderr):
            if stream is not None:
                stream.close()
        return status


@pytest.fixture
def keep(shell: Any) -> Iterator[Callable[..., Kept]]:
    """Start `brain watch` or `brain run`, and end it with the test."""
    kept: list[Kept] = []

    def start(*arguments: str) -> Kept:
        kept.append(Kept(shell.start(*arguments)))
        return kept[-1]

    yield start
    for one in kept:
        if one.process.poll() is None:
            one.process.kill()
        one.end()


def configure(shell: Any, *lines: str) -> None:
    keys = ["[sources.docs]", 'kind = "files"', 'path = "docs"', *lines]
    (shell.folder / "brain.toml").write_text("\n".join(keys) + "\n")


def test_a_dropped_pdf_is_stored_and_found_by_its_page(shell: Any, keep: Any) -> None:
    watch = keep("watch")
    watch.until_said("docs: nothing there")
    shutil.copy(SAMPLES / "movie-theater-booking-2024.pdf", shell.folder / "docs" / "a.pdf")
    watch.until_said("stored a.pdf")
    found = shell.brain("search", "Holiday Movie Marathon")  # from a second terminal, while the first goes on
    assert "a.pdf" in found.out
    assert "page 1" in found.out
    assert watch.end() in ENDED


def test_edits_moves_and_deletions_follow(shell: Any, keep: Any) -> None:
    shell.write(3)
    watch = keep("watch", "docs")
    watch.until_said("docs: 3 new")
    docs = shell.folder / "docs"
    (docs / "d00000.md").write_text("# Changed\n\nIt now says xylophone.\n")
    watch.until_said("stored d00000.md", times=2)
    (docs / "d00001.md").rename(docs / "moved.md")
    watch.until_said("stored moved.md")
    assert not any("forgot" in line for line in watch.lines)  # it was a move
    (docs / "d00002.md").unlink()
    watch.until_said("forgot 1 document")
    assert watch.end(signal.SIGINT) in ENDED
    assert "xylophone" in shell.brain("search", "xylophone").out
    assert shell.brain("search", "w2", "--json").json["hits"] == []
    assert shell.report()["unchanged"] == 2


def test_what_cannot_be_read_is_said_with_its_reason(shell: Any, keep: Any) -> None:
    watch = keep("watch")
    watch.until_said("docs: nothing there")
    (shell.folder / "docs" / "broken.pdf").write_bytes(b"%PDF-1.7 and nothing else")
    watch.until_said("set aside broken.pdf: ")
    assert watch.end() in ENDED


def test_an_unmounted_folder_forgets_nothing_and_comes_back(shell: Any, keep: Any) -> None:
    shell.write(30)
    watch = keep("watch")
    watch.until_said("docs: 30 new")
    (shell.folder / "docs").rename(shell.folder / "away")
    watch.until_said("is missing")
    assert len(shell.brain("list", "--limit", "100", "--json").json["documents"]) == 30
    (shell.folder / "away").rename(shell.folder / "docs")
    (shell.folder / "docs" / "later.md").write_text("# Later\n\nIt came afterwards.\n")
    watch.until_said("stored later.md")
    assert watch.end() in ENDED


def test_a_scheduled_source_runs_again_and_status_says_when(shell: Any, keep: Any) -> None:
    configure(shell, 'every = "2s"')
    shell.write(1)
    run = keep("run")
    run.until_said("docs: 1 new")
    (shell.folder / "docs" / "late.md").write_text("# Late\n\nIt came between two runs.\n")
    run.until_said("stored late.md")
    status = shell.brain("status", "--json").json
    assert status["run"] is True
    assert status["sources"][0]["next_sync"] is not None
    assert status["sources"][0]["overdue"] is False
    assert "is running, pid" in shell.brain("status").out
    check = shell.brain("run", "--check")
    assert (check.status, "1 source" in check.out) == (0, True)
    assert run.end() in ENDED
    assert shell.brain("run", "--check").status == 1


def test_a_schedule_that_nobody_keeps_is_overdue_and_not_failing(shell: Any, keep: Any) -> None:
    configure(shell, 'every = "1s"')
    shell.write(1)
    run = keep("run")
    run.until_said("docs: 1 new")
    run.process.kill()
    run.end()
    assert "ended without a word" in shell.brain("status").out
    _make_late(shell.folder / ".brain" / "state.db")
    (source,) = shell.brain("status", "--json").json["sources"]
    assert (source["overdue"], source["failing_since"], source["error"]) == (True, None, None)
    assert "overdue since 2001-09-09T01:46:40Z" in shell.brain("status").out


def _make_late(state: Path) -> None:
    from pipeline.state.sqlite import SqliteState  # noqa: PLC0415 - used here only

    store = SqliteState(state)
    store.ledger("docs").set_next_run(1e9)
    store.close()


def test_two_runs_of_one_brain_exclude_each_other(shell: Any, keep: Any) -> None:
    configure(shell, "watch = true")
    shell.write(1)
    run = keep("run")
    run.until_said("docs: 1 new")
    second = shell.brain("run")
    assert (second.status, "already running: pid" in second.err) == (1, True)
    assert run.end() in ENDED


def test_a_stop_in_the_middle_of_a_sync_is_resumed_by_the_next(shell: Any, keep: Any) -> None:
    configure(shell, "watch = true")
    shell.write(3_000)
    run = keep("run")
    run.until_said("stored d0")
    assert run.end() in ENDED
    after = keep("run")
    after.until(lambda: any(line.startswith("docs: ") and line.endswith(" s)") for line in after.lines))
    assert after.end() in ENDED
    assert shell.report()["unchanged"] == 3_000


def test_a_second_signal_ends_at_once(shell: Any, keep: Any) -> None:
    configure(shell, "watch = true")
    shell.write(3_000)
    run = keep("run")
    run.until_said("stored d0")
    run.process.send_signal(signal.SIGTERM)
    run.process.send_signal(signal.SIGTERM)
    assert run.end() in ENDED
    assert shell.report()["listed"] == 3_000


def test_belief_builds_run_by_themselves_when_they_are_wanted(shell: Any, keep: Any) -> None:
    configure(shell, "watch = true", "[engine]", "build_beliefs = true")
    shell.write(2)
    run = keep("run")
    run.until_said("build_beliefs: done")
    assert run.end() in ENDED
    assert shell.brain("jobs", "--json").json["jobs"] == []


@pytest.mark.parametrize(
    ("lines", "why"),
    [
        (['every = "-5m"'], "no interval"),
        (['cron = "0 0 30 2 *"'], "never comes"),
        (['cron = "0 * * * *"', 'time_zone = "Berlin"'], "no time zone"),
        (['every = "5m"', 'cron = "0 * * * *"'], "exclude each other"),
        ([], "nothing is to be run"),
    ],
)
def test_a_schedule_that_cannot_be_kept_is_refused_before_anything_runs(shell: Any, lines: list[str], why: str) -> None:
    configure(shell, *lines)
    answer = shell.brain("run")
    assert (answer.status, why in answer.err) == (2, True), answer
    assert not (shell.folder / ".brain").exists()


def test_a_source_that_is_not_there_is_named(shell: Any) -> None:
    answer = shell.brain("watch", "dosc")
    assert answer.status == 2
    assert "did you mean 'docs'" in answer.err


def test_the_shipped_configuration_watches_its_folder(shell: Any, keep: Any) -> None:
    shutil.copy(REPOSITORY / "configs" / "watch-folder.toml", shell.folder / "watch-folder.toml")
    shutil.copytree(REPOSITORY / "configs" / "watch-folder", shell.folder / "watch-folder")
    watch = keep("--config", "watch-folder.toml", "watch")
    watch.until_said("inbox: 1 new")
    shutil.copy(SAMPLES / "handbook-1p.docx", shell.folder / "watch-folder" / "a.docx")
    watch.until_said("stored a.docx")
    assert watch.end() in ENDED


def test_the_container_s_configuration_is_valid() -> None:
    config = load(REPOSITORY / "packaging" / "container.toml")
    assert config.sources["documents"].keys.watch
    assert config.sources["documents"].keys.schedule() is not None


def test_the_image_holds_what_it_copies_and_runs_as_an_ordinary_user() -> None:
    lines = (REPOSITORY / "packaging" / "Dockerfile").read_text().replace("\\\n", " ").splitlines()
    words = [line.split() for line in lines if line and not line.startswith("#")]
    copied = [name for step, *names in words if step == "COPY" and not names[0].startswith("-") for name in names[:-1]]
    assert {"pyproject.toml", "corebrain", "connectors", "pipeline"} <= set(copied)
    assert [name for name in copied if not (REPOSITORY / name).exists()] == []
    (user,) = [names[0] for step, *names in words if step == "USER"]
    assert int(user) > 0
    (health,) = [line for line in lines if line.startswith("HEALTHCHECK")]
    assert health.rstrip().endswith('"run", "--check"]')


def test_the_launchd_example_is_a_property_list_that_runs_brain() -> None:
    found = plistlib.loads((REPOSITORY / "packaging" / "dev.corebrain.brain.plist").read_bytes())
    assert found["ProgramArguments"][-1] == "run"
    assert found["ExitTimeOut"] > 5


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_the_systemd_unit_is_valid() -> None:
    unit = REPOSITORY / "packaging" / "brain.service"
    checked = subprocess.run(["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False)
    complaints = [line for line in checked.stderr.splitlines() if "is not executable" not in line]
    assert complaints == []


def test_a_brief_is_kept_fresh_with_what_agents_were_told_meanwhile(shell: Any, keep: Any) -> None:
    shell.write(1)
    configure(shell, 'every = "1h"', "", "[context]", 'file = "context.md"', 'every = "1s"')
    run = keep("run")
    brief = shell.folder / "context.md"
    run.until(brief.exists)
    with LocalEngine(shell.folder / ".brain" / "memory.db") as engine:
        engine.store(StoreItem.learning("Prefers short answers.", LearningKind.PREFERENCE, 0.9))
    run.until(lambda: "- Prefers short answers." in brief.read_text(encoding="utf-8"))
    assert run.end() in ENDED
