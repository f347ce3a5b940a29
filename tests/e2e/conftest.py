"""Runs the command `brain` as a process of its own, the way a person does."""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
_CAPABILITIES_OVER_MODES = (1, 2)  # CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH: what lets root read everything
_PR_CAPBSET_DROP = 24


@dataclass(frozen=True)
class Answer:
    """What a command did."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Return the one object that was printed."""
        value: dict[str, Any] = json.loads(self.out)
        return value


@dataclass
class Shell:
    """A working directory, and processes in it."""

    folder: Path
    environment: dict[str, str] = field(default_factory=dict)

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, "-m", "pipeline.cli", *arguments]

    def variables(self) -> dict[str, str]:
        return {**os.environ, "PYTHONPATH": str(REPOSITORY), "COLUMNS": "100", **self.environment}

    def start(self, *arguments: str, **settings: Any) -> "subprocess.Popen[str]":
        """Start a command and leave it running."""
        return subprocess.Popen(
            self.command(*arguments),
            cwd=self.folder,
            env=self.variables(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            **settings,
        )

    def brain(self, *arguments: str, **settings: Any) -> Answer:
        """Run a command to its end."""
        with self.start(*arguments, **settings) as process:
            out, err = process.communicate(timeout=240)
        return Answer(process.returncode, out, err)

    def report(self, *arguments: str) -> dict[str, Any]:
        """Sync, and return the report of the one source."""
        (source,) = self.brain("sync", "--json", *arguments).json["sources"]
        found: dict[str, Any] = source
        return found

    def write(self, count: int, folder: str = "docs") -> None:
        """Write a number of distinct documents."""
        target = self.folder / folder
        target.mkdir(parents=True, exist_ok=True)
        for number in range(count):
            (target / f"d{number:05}.md").write_text(f"# Document {number}\n\nThe word of it is w{number}.\n")


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    """A folder whose `brain.toml` names the source `docs`."""
    (tmp_path / "brain.toml").write_text('[sources.docs]\nkind = "files"\npath = "docs"\n')
    (tmp_path / "docs").mkdir()
    return Shell(tmp_path)


@pytest.fixture
def as_ordinary_user() -> Callable[[], None]:
    """What a child process calls so that file modes hold for it, also when the tests run as root."""
    if os.name != "posix":
        pytest.skip("needs POSIX file modes")
    if os.geteuid() != 0:
        return lambda: None
    libc = ctypes.CDLL(None, use_errno=True)

    def drop() -> None:
        for capability in _CAPABILITIES_OVER_MODES:
            if libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0) != 0:
                raise OSError(ctypes.get_errno(), "cannot drop a capability")

    return drop


@pytest.fixture
def with_small_disk() -> Callable[[int], Callable[[], None]]:
    """Make what a child process calls so that no file of it grows beyond a size."""

    def limit(size: int) -> Callable[[], None]:
        def apply() -> None:
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

        return apply

    return limit
