"""Git's smart HTTP protocol (githttp-backend) over local repositories, as `github.com/owner/name.git` speaks it."""

import os
import re
import subprocess
from pathlib import Path

from connectors.testing.loopback import Reply, Request

_PATH = re.compile(r"/([^/]+/[^/]+?)\.git/(info/refs|git-upload-pack)")


def repository_in(path: str) -> tuple[str, str] | None:
    """Return the full name and the service that a path of git asks for; `None` when it is none of git."""
    found = _PATH.fullmatch(path)
    return (found[1], found[2]) if found else None


def answer(folder: Path, service: str, asked: Request) -> Reply:
    """Let git answer for the repository in *folder*."""
    home = folder / ".git" if (folder / ".git").exists() else folder
    told = {
        "GIT_PROJECT_ROOT": str(home),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{service}",
        "REQUEST_METHOD": asked.method,
        "QUERY_STRING": "&".join(f"{name}={value}" for name, value in asked.query.items()),
        "CONTENT_TYPE": asked.headers.get("Content-Type") or "",
        "CONTENT_LENGTH": str(len(asked.body)),
        "HTTP_CONTENT_ENCODING": asked.headers.get("Content-Encoding") or "",
        "GIT_PROTOCOL": asked.headers.get("Git-Protocol") or "",
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "safe.directory",
        "GIT_CONFIG_VALUE_0": "*",
    }
    ran = subprocess.run(
        ["git", "http-backend"],  # noqa: S607 - the git of whoever runs the stand-in
        input=asked.body,
        capture_output=True,
        check=False,
        env={**os.environ, **told},
    )
    head, _, body = ran.stdout.partition(b"\r\n\r\n")
    headers = {
        name: value for name, _, value in (line.partition(": ") for line in head.decode().split("\r\n")) if value
    }
    status = int(headers.pop("Status", "200").split()[0])
    return Reply(status, body, headers)
