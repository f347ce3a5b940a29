"""`brain --config configs/github-docs.toml run`, as a person tries it on the stand-in."""

import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

import pytest

from connectors.testing.github_repository import Repository
from connectors.testing.github_server import GitHubServer

CONFIG = Path(__file__).parents[2] / "configs" / "github-docs.toml"
PATIENCE_S = 60.0


class Run:
    """A `brain run` whose lines can be waited for."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.said: list[str] = []
        self._lines: SimpleQueue[str] = SimpleQueue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._lines.put(line)

    def until_said(self, words: str) -> str:
        end = time.monotonic() + PATIENCE_S
        while True:
            try:
                self.said.append(self._lines.get(timeout=max(0.0, end - time.monotonic())))
            except Empty:
                raise AssertionError(f"never said {words!r}, but {self.said}") from None
            if words in self.said[-1]:
                return self.said[-1]

    def stop(self) -> None:
        self.process.send_signal(signal.SIGTERM)
        self.process.communicate(timeout=PATIENCE_S)


@pytest.fixture
def run(shell: Any) -> Iterator[Callable[[], Run]]:
    running: list[Run] = []

    def start() -> Run:
        running.append(Run(shell.start("--config", "github-docs.toml", "run")))
        return running[-1]

    yield start
    for one in running:
        if one.process.poll() is None:
            one.process.kill()
            one.process.communicate()


def until(holds: Callable[[], bool]) -> None:
    end = time.monotonic() + PATIENCE_S
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.05)


def test_a_repository_is_followed_on_a_schedule(shell: Any, run: Callable[[], Run], tmp_path: Path) -> None:
    repo = Repository.create(tmp_path, "acme/docs")
    repo.put({"README.md": "# Hello", "docs/keys.md": "# Keys\n\nRotate them every quarter."})
    text = CONFIG.read_text(encoding="utf-8")
    assert 'every = "15m"' in text
    (shell.folder / "github-docs.toml").write_text(text.replace('every = "15m"', 'every = "1s"'), encoding="utf-8")
    with GitHubServer([repo]) as server:
        shell.environment |= {"GITHUB_API": server.url, "GITHUB_REPO": "acme/docs"}
        first = run()
        first.until_said("2 new")
        until(lambda: server.log[-1].endswith(" 304"))

        repo.put({"docs/keys.md": "# Keys\n\nRotate them every month."})
        first.until_said("1 changed")
        first.until_said("1 job")
        edit = server.log.index(next(line for line in server.log[1:] if line.endswith("/commits/HEAD 200")), 1)
        until(lambda: len(server.log) > edit + 4)
        assert [line.split("/")[-2] for line in server.log[edit + 1 : edit + 3]] == ["trees", "blobs"]
        assert server.log[edit + 3 :] == ["GET /repositories/1/commits/HEAD 304"] * (len(server.log) - edit - 3)
        first.stop()

        before = len(server.log)
        second = run()
        second.until_said("2 unchanged")
        until(lambda: len(server.log) > before + 1)
        second.stop()
        assert {line.rpartition(" ")[2] for line in server.log[before:]} == {"304"}
        assert not any("stored" in line for line in second.said)
    found = shell.brain("--config", "github-docs.toml", "search", "rotate keys", "--json").json["hits"]
    assert "every month" in found[0]["text"]
