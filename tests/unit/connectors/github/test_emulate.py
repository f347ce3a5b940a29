"""The connector against `emulate`, a stateful GitHub emulator that others wrote (npm `emulate` 0.11, Node 20).

It has git data, contents and rate limits, but neither archives nor validators: so this also proves the fallbacks.
Install it where `npx` finds it: `npm install emulate@0.11`, and name that folder in COREBRAIN_EMULATE.
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

from connectors.contract import Blob, Checkpoint, Complete, Seen
from connectors.github.kind import GitHubConfig, make
from connectors.notes import MemoryNotes

FOLDER = os.environ.get("COREBRAIN_EMULATE", "")
PROGRAM = Path(FOLDER) / "node_modules" / ".bin" / "emulate"
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
    if shutil.which("node") is None or not FOLDER or not PROGRAM.exists():
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
