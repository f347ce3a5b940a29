"""The connector against GitHub itself: a small public repository that does not change. Needs GITHUB_TOKEN."""

import os
from pathlib import Path

import pytest

from connectors.contract import Blob, Checkpoint, Complete, Seen
from connectors.github.kind import GitHubConfig, make
from connectors.notes import MemoryNotes

TOKEN = os.environ.get("GITHUB_TOKEN", "")
REPO = os.environ.get("COREBRAIN_LIVE_REPO", "octocat/Hello-World")

pytestmark = [pytest.mark.live, pytest.mark.skipif(not TOKEN, reason="needs GITHUB_TOKEN")]


@pytest.mark.parametrize("transport", ["api", "git"])
def test_public_repository_is_mirrored_and_then_costs_one_request(transport: str, tmp_path: Path) -> None:
    config = GitHubConfig.model_validate({"repo": REPO, "token": TOKEN, "transport": transport})
    connector, notes = make(config, "live", tmp_path), MemoryNotes()
    events = list(connector.scan(None, notes))
    assert events[-1] == Complete("")
    refs = [event.ref for event in events if isinstance(event, Seen)]
    assert refs
    assert all(isinstance(connector.fetch(ref, None), Blob) for ref in refs)
    cursor = [event.cursor for event in events if isinstance(event, Checkpoint)][-1]
    before = connector.requests
    assert not any(isinstance(event, Seen) for event in connector.scan(cursor, notes))
    assert connector.requests == before + 1
