"""The stand-in as a person starts it: `python -m connectors.testing.github PATH…`."""

import json
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import pytest

from connectors.testing.github import repositories
from connectors.testing.github_repository import Repository

CHECKOUT = Path(__file__).parents[4]


def ask(url: str, body: dict[str, Any] | None = None) -> Any:
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(url, data)) as reply:  # noqa: S310 - loopback
        return json.loads(reply.read())


def test_local_repositories_are_served_logged_and_made_to_fail(tmp_path: Path) -> None:
    for name in ("api", "docs"):
        Repository.create(tmp_path, f"acme/{name}").put({"README.md": name})
    command = [sys.executable, "-m", "connectors.testing.github", str(tmp_path / "acme")]
    with subprocess.Popen(command, cwd=CHECKOUT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        try:
            url, _, served = process.stdout.readline().strip().partition(" serves ")
            assert served == "acme/api, acme/docs"
            assert ask(f"{url}/repos/acme/docs")["full_name"] == "acme/docs"
            fault = {"match": "repos/acme/api", "status": 429, "headers": {"Retry-After": "2"}}
            assert ask(f"{url}/_fail", fault) == {"armed": fault}
            with pytest.raises(urllib.error.HTTPError) as caught:
                ask(f"{url}/repos/acme/api")
            with caught.value as refused:
                assert (refused.code, refused.headers["Retry-After"]) == (429, "2")
            assert ask(f"{url}/repos/acme/api")["id"] == 1
            assert ask(f"{url}/_log") == [
                "GET /repos/acme/docs 200",
                "GET /repos/acme/api 429",
                "GET /repos/acme/api 200",
            ]
            with pytest.raises(urllib.error.HTTPError) as caught:
                ask(f"{url}/_fail", {"wrong": 1})
            with caught.value as refused:
                assert refused.code == 400
        finally:
            process.terminate()


def test_bare_repositories_and_folders_of_them_are_found(tmp_path: Path) -> None:
    one = Repository.create(tmp_path, "acme/api")
    one.put({"a.md": "a"})
    one.git("clone", "-q", "--bare", str(one.path), str(tmp_path / "acme" / "copy.git"))
    (tmp_path / "acme" / "no repository").mkdir()
    assert [repo.full_name for repo in repositories([tmp_path / "acme"])] == ["acme/api", "acme/copy"]
    assert [repo.full_name for repo in repositories([one.path])] == ["acme/api"]
