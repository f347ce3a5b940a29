"""`brain add github`."""

import tomllib
from typing import Any

Desk = Any


def test_repository_is_added_as_a_sync_takes_it(desk: Desk) -> None:
    desk.brain("init")
    answer = desk.brain("add", "github", "https://github.com/acme/api.git", "--path", "docs/**")
    assert answer.status == 0, answer.err
    sources = tomllib.loads((desk.folder / "brain.toml").read_text())["sources"]
    assert sources["acme-api"] == {
        "kind": "github",
        "token": "${GITHUB_TOKEN:-}",
        "split": "always",
        "repo": "acme/api",
        "paths": ["docs/**"],
    }


def test_owner_is_added_by_a_pattern(desk: Desk) -> None:
    desk.brain("init")
    assert desk.brain("add", "github", "acme/*", "--name", "all").status == 0
    assert tomllib.loads((desk.folder / "brain.toml").read_text())["sources"]["all"]["repos"] == ["acme/*"]


def test_what_is_no_repository_is_refused_and_nothing_is_written(desk: Desk) -> None:
    desk.brain("init")
    answer = desk.brain("add", "github", "acme")
    assert answer.status == 2
    assert "write owner/name" in answer.err
    assert "github" not in (desk.folder / "brain.toml").read_text()
