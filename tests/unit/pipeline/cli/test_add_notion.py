"""`brain add notion`."""

import tomllib
from typing import Any

import pytest


def test_notion_is_added_with_its_token_as_a_variable(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_TOKEN", "ntn_canary")
    desk.brain("init")
    root = "https://www.notion.so/acme/Handbook-393abc1eedcd80f3813be205934558c6"
    answer = desk.brain("add", "notion", "--name", "wiki", "--root", root)
    assert answer.status == 0
    assert "share pages with the integration" in answer.out
    text = (desk.folder / "brain.toml").read_text(encoding="utf-8")
    assert tomllib.loads(text)["sources"]["wiki"] == {"kind": "notion", "token": "${NOTION_TOKEN}", "roots": [root]}
    assert "canary" not in text + answer.out + answer.err


def test_notion_without_its_token_in_the_environment_is_not_added(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NOTION_TOKEN", raising=False)
    desk.brain("init")
    answer = desk.brain("add", "notion")
    assert answer.status == 2
    assert "NOTION_TOKEN is not set" in answer.err


def test_a_root_that_is_no_notion_link_is_refused(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_TOKEN", "t")
    desk.brain("init")
    answer = desk.brain("add", "notion", "--root", "handbook")
    assert answer.status == 2
    assert "no Notion id in 'handbook'" in answer.err
