"""The connector against `emulate`, a stateful GitHub emulator that others wrote (npm `emulate` 0.11, Node 20).

It has git data, contents, issues and rate limits, but neither archives nor validators, and no numbers in its node ids:
so this also proves the fallbacks. `npm install emulate@0.11` puts it into the checkout, where it is found; with
`--prefix FOLDER` that folder is named in COREBRAIN_EMULATE.
"""

import base64
import json
import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.contract import Blob, Checkpoint, Complete, Failed, Seen
from connectors.github.kind import GitHubConfig, make
from connectors.notes import MemoryNotes

FOLDER = Path(os.environ.get("COREBRAIN_EMULATE") or Path(__file__).parents[4])
PROGRAM = FOLDER / "node_modules" / ".bin" / "emulate"
NEEDS = "needs the program emulate of npm"
CONFIG = """tokens:
  test_token_user1:
    login: octocat
    scopes: [repo, user]
github:
  users:
    - login: octocat
      name: Octo Cat
"""


def send(url: str, method: str, path: str, body: Any = None) -> Any:
    request = urllib.request.Request(  # noqa: S310 - loopback
        f"{url}{path}", json.dumps(body).encode() if body is not None else None, method=method
    )
    request.add_header("Authorization", "Bearer test_token_user1")
    request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request) as reply:  # noqa: S310 - loopback
        return json.loads(reply.read())


@pytest.fixture
def emulated(tmp_path: Path) -> Iterator[str]:
    if shutil.which("node") is None or not PROGRAM.exists():
        pytest.skip(NEEDS)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    (tmp_path / "emulate.config.yaml").write_text(CONFIG)
    command = [str(PROGRAM), "start", "--service", "github", "--port", str(port), "--seed", "emulate.config.yaml"]
    with (tmp_path / "log").open("wb") as log:
        process = subprocess.Popen(command, cwd=tmp_path, stdout=log, stderr=log)
    url = f"http://127.0.0.1:{port}"
    try:
        for _ in range(100):
            try:
                send(url, "GET", "/user")
                break
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.1)
        yield url
    finally:
        process.terminate()
        process.wait(10)


def write(url: str, owner: str, path: str, text: str, sha: str | None = None) -> str:
    body = {"message": "Edit", "content": base64.b64encode(text.encode()).decode(), **({"sha": sha} if sha else {})}
    told = send(url, "PUT", f"/repos/{owner}/docs/contents/{path}", body)
    return str(told["content"]["sha"])


def test_repository_of_the_emulator_is_mirrored_and_followed(emulated: str, tmp_path: Path) -> None:
    owner = send(emulated, "GET", "/user")["login"]
    send(emulated, "POST", "/user/repos", {"name": "docs", "auto_init": True})
    shas = {name: write(emulated, owner, name, f"# {name}") for name in ("docs/a.md", "docs/b.md", "c.md", "d.md")}
    config = GitHubConfig.model_validate({"repo": f"{owner}/docs", "base_url": emulated, "token": "test_token_user1"})
    connector, notes = make(config, "docs", tmp_path), MemoryNotes()
    events = list(connector.scan(None, notes))
    refs = {event.ref.key: event.ref for event in events if isinstance(event, Seen)}
    assert events[-1] == Complete("")
    assert {f"{owner}/docs/{name}": sha for name, sha in shas.items()}.items() <= {
        key: ref.token for key, ref in refs.items()
    }.items()
    for name in shas:
        blob = connector.fetch(refs[f"{owner}/docs/{name}"], None)
        assert isinstance(blob, Blob)
        assert blob.data == f"# {name}".encode()
    cursor = [event.cursor for event in events if isinstance(event, Checkpoint)][-1]
    assert not any(isinstance(event, Seen) for event in connector.scan(cursor, notes)), (
        "no validator, and yet no change"
    )
    write(emulated, owner, "docs/a.md", "# New", shas["docs/a.md"])
    changed = {event.ref.key: event.ref for event in connector.scan(cursor, notes) if isinstance(event, Seen)}
    assert changed[f"{owner}/docs/docs/a.md"].token != shas["docs/a.md"]


def test_issues_of_the_emulator_are_read_with_comments_and_followed(emulated: str, tmp_path: Path) -> None:
    owner = send(emulated, "GET", "/user")["login"]
    send(emulated, "POST", "/user/repos", {"name": "docs", "auto_init": True})
    at = f"/repos/{owner}/docs/issues"
    number = send(emulated, "POST", at, {"title": "It breaks", "body": "On Tuesdays."})["number"]
    send(emulated, "POST", f"{at}/{number}/comments", {"body": "And on Fridays."})
    told = {"repo": f"{owner}/docs", "base_url": emulated, "token": "test_token_user1", "also": ("issues",)}
    connector, notes = make(GitHubConfig.model_validate(told), "docs", tmp_path), MemoryNotes()
    events = list(connector.scan(None, notes))
    refs = {event.ref.key: event.ref for event in events if isinstance(event, Seen)}
    blob = connector.fetch(refs[f"{owner}/docs!issues/{number}"], None)
    assert isinstance(blob, Blob)
    assert isinstance(blob.data, bytes)
    assert b"On Tuesdays." in blob.data
    assert b"And on Fridays." in blob.data
    cursor = [event.cursor for event in events if isinstance(event, Checkpoint)][-1]
    send(emulated, "POST", at, {"title": "Another", "body": "Later."})
    later = {event.ref.title for event in connector.scan(cursor, notes) if isinstance(event, Seen)}
    assert "Another" in later
    transport: Any = connector._transport
    assert transport._sender._budget.remaining() is not None, "it tells how much of the limit is left"


def test_owner_of_the_emulator_is_listed_and_a_missing_repository_is_told(emulated: str, tmp_path: Path) -> None:
    owner = send(emulated, "GET", "/user")["login"]
    for name in ("docs", "docs-old", "other"):
        send(emulated, "POST", "/user/repos", {"name": name, "auto_init": True})

    def scanned(*repos: str) -> list[Any]:
        told = {"repos": repos, "base_url": emulated, "token": "test_token_user1"}
        return list(make(GitHubConfig.model_validate(told), "docs", tmp_path).scan(None, MemoryNotes()))

    keys = {event.ref.key for event in scanned(f"{owner}/docs*") if isinstance(event, Seen)}
    assert keys == {f"{owner}/docs/README.md", f"{owner}/docs-old/README.md"}
    (failed,) = [event for event in scanned(f"{owner}/nothing") if isinstance(event, Failed)]
    assert failed.scope == f"{owner}/nothing/"
    assert "is not there" in failed.error.message
