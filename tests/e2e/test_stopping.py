"""A stop ends a sync at once, whatever it waits for: a pause, a host that does not answer, work that hangs."""

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

DEADLINE_S = 30.0
"""Less than the pauses and the silence that the hosts below impose."""

INTERRUPTED = 130


class Busy(BaseHTTPRequestHandler):
    """Asks everybody to come back in nearly a minute."""

    def answer(self) -> None:
        self.server.asked.set()  # type: ignore[attr-defined] # set by the fixture below
        self.send_response(429)
        self.send_header("Retry-After", "50")
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST = answer  # noqa: N815 - the names that http.server calls

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Silent(Busy):
    """Takes requests and never answers."""

    def answer(self) -> None:
        self.server.asked.set()  # type: ignore[attr-defined] # set by the fixture below
        self.server.over.wait(DEADLINE_S)  # type: ignore[attr-defined] # set by the fixture below

    do_GET = do_POST = answer  # noqa: N815 - the names that http.server calls


@pytest.fixture(params=[Busy, Silent])
def host(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A host on this machine, with `asked` set at the first request."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), request.param)
    server.daemon_threads = True
    server.asked, server.over = threading.Event(), threading.Event()  # type: ignore[attr-defined] # told by the handlers
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield server
    server.over.set()  # type: ignore[attr-defined] # as above
    server.shutdown()
    thread.join()
    server.server_close()


SOURCES = {
    "notion": 'kind = "notion"\ntoken = "t"\nbase_url = "{url}"',
    "github": 'kind = "github"\nrepo = "acme/docs"\nbase_url = "{url}"',
    "web": 'kind = "web"\nstart = ["{url}/"]\nallow_private = ["{place}"]',
}


@pytest.mark.parametrize("kind", SOURCES)
def test_a_sync_that_waits_for_a_host_ends_when_it_is_told(shell: Any, host: Any, kind: str) -> None:
    place = f"127.0.0.1:{host.server_port}"
    table = SOURCES[kind].format(url=f"http://{place}", place=place)
    (shell.folder / "brain.toml").write_text(f"[sources.far]\n{table}\n")
    sync = shell.start("sync", "--json")
    assert host.asked.wait(DEADLINE_S)
    time.sleep(0.3)  # let it begin to wait
    sync.send_signal(signal.SIGTERM)
    out, err = sync.communicate(timeout=DEADLINE_S)
    assert sync.returncode == INTERRUPTED, err
    assert "did not end in time" not in err
    (far,) = json.loads(out)["sources"]
    assert far["error"] is None
    (status,) = shell.brain("status", "--json").json["sources"]
    assert status["failing_since"] is None


@pytest.mark.parametrize("host", [Silent], indirect=True)
def test_a_sync_that_waits_for_git_ends_when_it_is_told(shell: Any, host: Any) -> None:
    keys = f'repo = "acme/docs"\ntransport = "git"\ngit_url = "http://127.0.0.1:{host.server_port}"'
    (shell.folder / "brain.toml").write_text(f'[sources.far]\nkind = "github"\n{keys}\n')
    sync = shell.start("sync", "--json")
    assert host.asked.wait(DEADLINE_S)
    sync.send_signal(signal.SIGTERM)
    out, err = sync.communicate(timeout=DEADLINE_S)
    assert sync.returncode == INTERRUPTED, err
    assert "did not end in time" not in err
    assert json.loads(out)["sources"][0]["error"] is None


def test_a_scheduled_sync_that_waits_for_a_host_ends_when_it_is_told(shell: Any, host: Any) -> None:
    table = SOURCES["notion"].format(url=f"http://127.0.0.1:{host.server_port}")
    (shell.folder / "brain.toml").write_text(f'[sources.far]\n{table}\nevery = "1h"\n')
    keeper = shell.start("run")
    assert host.asked.wait(DEADLINE_S)
    time.sleep(0.3)  # let it begin to wait
    keeper.send_signal(signal.SIGTERM)
    _, err = keeper.communicate(timeout=DEADLINE_S)
    assert keeper.returncode == INTERRUPTED, err
    assert "did not end in time" not in err


HANGING = """
import sys, threading, time
sys.path[:0] = [sys.argv[1]]
from pipeline.cli.console import Console
from pipeline.cli import interrupts
interrupts.GRACE_S = 0.2
with interrupts.heeded(threading.Event(), Console(), at_last=lambda: print("at last", flush=True)):
    print("ready", flush=True)
    threading.Event().wait()
"""


def test_work_that_hangs_is_left_behind_when_the_grace_is_over() -> None:
    repository = str(Path(__file__).parents[2])
    child = subprocess.Popen(
        [sys.executable, "-c", HANGING, repository], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    child.send_signal(signal.SIGTERM)
    out, err = child.communicate(timeout=DEADLINE_S)
    assert child.returncode == INTERRUPTED
    assert out == "at last\n"
    assert "did not end in time" in err
