"""Kill a real `brain sync` of a Notion workspace on its way and go on: what is stored is not read again.

    python tests/crash/notion_resume.py [--pages 10000] [--kills 3]

The service is the stand-in on loopback. Printed: the requests of every run, the pages that were read in more than one
(at most those that were on their way when the kill came, far fewer than a batch each), and the peak memory of an
undisturbed first sync of a tenth of the pages beside that of all of them.
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from connectors.testing.notion import made_up
from connectors.testing.notion_server import NotionServer

CONFIG = """
[brain]
data = "brain"
[engine]
kind = "local"
[sources.wiki]
kind = "notion"
token = "${NOTION_TOKEN}"
base_url = "${NOTION_API}"
"""
IN_FLIGHT = 200
"""Pages read but not stored when a kill comes, at most: a batch, and what waits for a place in the next."""


@dataclass(frozen=True, slots=True)
class Run:
    """How one sync went.

    Attributes:
        pages: The pages whose words were asked for.
        requests: All requests.
        peak_mb: The process's peak memory.
        status: Its exit status, negative for a signal.
    """

    pages: list[str]
    requests: int
    peak_mb: float
    status: int


def prepared(folder: Path) -> Path:
    """Return a fresh home with a configuration."""
    folder.mkdir(parents=True)
    (folder / "brain.toml").write_text(CONFIG)
    return folder


def sync(home: Path, server: NotionServer, kill_after: int | None = None) -> Run:
    """Sync, or kill the process once it has asked for *kill_after* pages."""
    before = len(server.log)
    command = [sys.executable, "-m", "pipeline.cli", "--config", str(home / "brain.toml"), "sync", "--json"]
    secrets = {"NOTION_TOKEN": "t", "NOTION_API": server.url}
    with (home / "out").open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, env=os.environ | secrets)
        peak = 0.0
        while process.poll() is None:
            peak = max(peak, _peak_mb(process.pid))
            if kill_after is not None and len(_pages(server.log[before:])) >= kill_after:
                process.send_signal(signal.SIGKILL)
                kill_after = None
            time.sleep(0.005)
    lines = server.log[before:]
    return Run(_pages(lines), len(lines), peak, process.returncode)


def _peak_mb(pid: int) -> float:
    """Return the peak memory of a running process, 0 where the system does not tell (proc(5), VmHWM)."""
    try:
        lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    except OSError:
        return 0.0
    return next((int(line.split()[1]) / 1e3 for line in lines if line.startswith("VmHWM:")), 0.0)


def _pages(log: list[str]) -> list[str]:
    return [line.split("/")[3] for line in log if line.startswith("GET ") and line.endswith("/markdown")]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=3)
    options = parser.parse_args()
    folder = Path(tempfile.mkdtemp())
    try:
        with NotionServer(made_up(options.pages // 10, 1)) as server:
            small = sync(prepared(folder / "small"), server)
        with NotionServer(made_up(options.pages, 1)) as server:
            whole = sync(prepared(folder / "whole"), server)
            home = prepared(folder / "killed")
            each = options.pages // (options.kills + 1)
            runs = [sync(home, server, each) for _ in range(options.kills)]
            runs.append(sync(home, server))
    finally:
        shutil.rmtree(folder)
    times = Counter(page for run in runs for page in set(run.pages))
    twice = sum(count - 1 for count in times.values())
    told = [
        f"run {number}, exit {run.status}: {run.requests:,} requests, {len(run.pages):,} read, {run.peak_mb:.0f} MB"
        for number, run in enumerate(runs, 1)
    ]
    growth = (whole.peak_mb - small.peak_mb) * 1e6 / (options.pages * 0.9)
    told += [
        f"undisturbed: {whole.requests:,} requests; peak {small.peak_mb:.0f} MB for a tenth, {whole.peak_mb:.0f} MB",
        f"memory: {growth:,.0f} bytes a page",
        f"pages read: {len(times):,} of {len(set(whole.pages)):,}; read again after {options.kills} kills: {twice}",
    ]
    sys.stdout.write("\n".join(told) + "\n")
    right = set(times) == set(whole.pages) and twice <= options.kills * IN_FLIGHT and not runs[-1].status
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
