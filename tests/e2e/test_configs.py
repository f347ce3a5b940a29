"""Every file in `configs/` runs as it is, against a folder or a stand-in; one sync takes sources of several kinds."""

import json
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
CONFIGS = REPOSITORY / "configs"
SYNCS_AT_ONCE = 8
DEADLINE_S = 120.0
PLAIN = re.compile(r"[A-Za-z]{4,}")

StandIn = Callable[..., str]


@pytest.fixture
def stand_in() -> Iterator[StandIn]:
    """Start a stand-in server as a process of its own, as the comment in a configuration says; returns its address."""
    running: list[subprocess.Popen[str]] = []

    def start(module: str, *arguments: str) -> str:
        command = [sys.executable, "-m", module, *arguments]
        process = subprocess.Popen(command, cwd=REPOSITORY, stdout=subprocess.PIPE, text=True)
        running.append(process)
        assert process.stdout is not None
        return process.stdout.readline().split()[0]

    yield start
    for process in running:
        process.kill()
        process.communicate()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A git repository with two documents."""
    place = tmp_path / "upstream" / "handbook"
    (place / "docs").mkdir(parents=True)
    (place / "README.md").write_text("# Handbook\n\nHow the walrus company works.\n")
    (place / "docs" / "leave.md").write_text("# Leave\n\nParental leave lasts sixteen weeks.\n")
    who = ["-c", "user.name=a", "-c", "user.email=a@acme.example"]
    for step in (["init", "-q", "-b", "main"], ["add", "."], [*who, "commit", "-q", "-m", "Begin"]):
        subprocess.run(["git", "-C", str(place), *step], check=True)
    return place


def environment(name: str, stand_in: StandIn, repository: Path) -> dict[str, str]:
    """Start what a configuration talks to, and return the variables that its first lines name."""
    match name:
        case "notion":
            return {"NOTION_TOKEN": "t", "NOTION_API": stand_in("connectors.testing.notion", "--pages", "12")}
        case "github-docs":
            url = stand_in("connectors.testing.github", str(repository.parent))
            return {"GITHUB_API": url, "GITHUB_REPO": "upstream/handbook"}
        case "web-docs":
            url = stand_in("connectors.testing.web", "--pages", "12")
            return {"DOCS_URL": f"{url}/", "DOCS_PRIVATE": url.removeprefix("http://")}
        case "cortexdb":
            url = stand_in("corebrain.conformance.doubles", "direct")
            return {"CORTEXDB_KEY": "tiny_live_test", "CORTEXDB_URL": url}
        case "quickstart" | "watch-folder":
            return {}
    raise AssertionError(f"configs/{name}.toml is new: say here what it talks to")


@pytest.mark.parametrize("name", sorted(file.stem for file in CONFIGS.glob("*.toml")))
def test_a_shipped_configuration_plans_syncs_and_is_searched(
    name: str, shell: Any, stand_in: StandIn, repository: Path
) -> None:
    shutil.copytree(CONFIGS, shell.folder / "configs", ignore=shutil.ignore_patterns(".brain*"))
    shell.environment = environment(name, stand_in, repository)
    if name == "watch-folder":
        (shell.folder / "configs" / "watch-folder" / "a.md").write_text("# Walrus\n\nA word about the walrus.\n")
    config = ("--config", f"configs/{name}.toml")
    before = sorted((shell.folder / "configs").rglob("*"))

    plan = shell.brain(*config, "sync", "--dry-run", "--json").json
    assert plan["dry_run"] is True
    assert plan["sources"][0]["new"] > 0
    assert plan["sources"][0]["stored"] == 0
    assert sorted((shell.folder / "configs").rglob("*")) == before

    first = shell.brain(*config, "sync", "--json").json
    (source,) = first["sources"]
    assert first["ok"], first
    assert source["new"] + len(source["set_aside"]) == plan["sources"][0]["new"]
    again = shell.brain(*config, "sync", "--json").json
    assert again["sources"][0]["unchanged"] == source["new"]
    assert again["sources"][0]["stored"] == 0
    assert again["jobs"] == []

    held = shell.brain(*config, "list", "--json").json["documents"]
    shown = shell.brain(*config, "show", held[0]["id"], "--json").json
    words = " ".join(sorted(set(PLAIN.findall(shown["text"])), key=len)[-3:])
    found = shell.brain(*config, "search", words, "--json").json["hits"]
    assert held[0]["id"] in [hit["id"] for hit in found]


def test_one_sync_of_folders_notion_and_github_owes_one_build_a_source_in_their_order(
    shell: Any, stand_in: StandIn, repository: Path
) -> None:
    shell.write(3, "docs")
    shell.write(2, "more")
    notion = stand_in("connectors.testing.notion", "--pages", "8")
    github = stand_in("connectors.testing.github", str(repository.parent))
    (shell.folder / "brain.toml").write_text(
        f'[sources.code]\nkind = "github"\nrepo = "upstream/handbook"\nbase_url = "{github}"\n'
        '[sources.more]\nkind = "files"\npath = "more"\n'
        f'[sources.wiki]\nkind = "notion"\ntoken = "t"\nbase_url = "{notion}"\n'
        '[sources.docs]\nkind = "files"\npath = "docs"\n'
    )
    report = shell.brain("sync", "--json").json
    assert report["ok"], report
    assert [job["request"]["reach"]["at"] for job in report["jobs"]] == [
        "source:files",
        "source:notion",
        "source:github",
    ]
    assert shell.brain("sync", "--json").json["jobs"] == []
    assert len(shell.brain("jobs", "--json").json["jobs"]) == 3


@pytest.fixture
def slow_site() -> Iterator[Any]:
    """A site of one page that answers nothing before its `open` is set."""
    opened = threading.Event()

    class Page(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            opened.wait(DEADLINE_S)
            self.send_response(200 if self.path == "/" else 404)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write(b"<html><title>Walrus</title><main><p>The one page about the walrus.</p></main></html>")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Page)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield SimpleNamespace(place=f"127.0.0.1:{server.server_port}", open=opened)
    opened.set()
    server.shutdown()
    thread.join()
    server.server_close()


def test_of_eight_syncs_of_one_source_at_the_same_time_exactly_one_runs(shell: Any, slow_site: Any) -> None:
    place = slow_site.place
    (shell.folder / "brain.toml").write_text(
        f'[sources.site]\nkind = "web"\nstart = ["http://{place}/"]\nallow_private = ["{place}"]\n'
    )
    syncs = [shell.start("sync", "--json") for _ in range(SYNCS_AT_ONCE)]
    deadline = time.monotonic() + DEADLINE_S
    while sum(sync.poll() is not None for sync in syncs) < SYNCS_AT_ONCE - 1:  # the one that runs waits for the site
        assert time.monotonic() < deadline
        time.sleep(0.05)
    slow_site.open.set()
    answers = [(sync.communicate(timeout=DEADLINE_S), sync.returncode) for sync in syncs]
    reports = [json.loads(out)["sources"][0] for (out, _), _ in answers]
    (ran,) = [report for report in reports if report["error"] is None]
    assert (ran["new"], ran["stored"]) == (1, 1)
    for report in reports:
        assert report is ran or report["error"].startswith("already running: pid ")
    assert sorted(status for _, status in answers) == [0] + [1] * (SYNCS_AT_ONCE - 1)
