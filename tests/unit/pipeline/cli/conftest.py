"""Runs `brain` in this process, in a temporary working directory."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.main import main


@dataclass(frozen=True)
class Answer:
    """What a command did: exit status, standard output, standard error."""

    status: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """Return the one object that was printed."""
        value: dict[str, Any] = json.loads(self.out)
        assert self.out.count("\n") == 1
        return value


@dataclass(frozen=True)
class Desk:
    """A working directory and the command line in it."""

    folder: Path
    capsys: pytest.CaptureFixture[str]

    def brain(self, *arguments: str) -> Answer:
        self.capsys.readouterr()
        status = main(arguments)
        caught = self.capsys.readouterr()
        return Answer(status, caught.out, caught.err)

    def write(self, **files: str) -> None:
        """Write files below `docs`; `__` in a name is a slash, and `.md` is added."""
        for name, text in files.items():
            path = self.folder / "docs" / (name.replace("__", "/") + ".md")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")

    def configure(self, text: str) -> None:
        (self.folder / "brain.toml").write_text(text, encoding="utf-8")

    def ids(self) -> dict[str, str]:
        """Return id by source and path of everything held."""
        return {
            f"{held['source']}/{held['file_path']}": held["id"]
            for held in self.brain("list", "--json").json["documents"]
        }


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Desk:
    """A desk with nothing on it."""
    monkeypatch.chdir(tmp_path)
    return Desk(tmp_path, capsys)


DOCS = '[sources.docs]\nkind = "files"\npath = "docs"\n'


@pytest.fixture
def two(desk: Desk) -> Desk:
    """A desk with a brain of two synced folders."""
    desk.write(leave="# Parental leave\n\nSixteen weeks, paid.", it__vpn="# VPN\n\n## Setup\n\nUse the tunnel.")
    (desk.folder / "more").mkdir()
    (desk.folder / "more" / "leave.md").write_text("# Leave elsewhere\n\nNone at all.")
    desk.configure(DOCS + '[sources.more]\nkind = "files"\npath = "more"\n')
    assert desk.brain("sync").status == 0
    return desk
