"""Pages a second from a stand-in site to memory, CPU a page, requests and memory; peers beside it.

Usage: python benchmarks/web_crawl.py [--pages 1000] [--scrapy PYTHON] [--crawl4ai PYTHON] [--flat]

PYTHON is the interpreter of an environment that holds the peer: each crawls the same site twice, with its cache kept.
Ours goes all the way to searchable memory, Scrapy stops at the text of a page, crawl4ai at its markdown. Onyx is told
by its source: every page rendered in a browser, and all again at each prune. `--flat` also crawls four times as many.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True, slots=True)
class Run:
    """One crawl: seconds, CPU seconds of the process and its children, its own peak in MB, requests, pages."""

    seconds: float
    cpu: float
    peak: float
    requests: int
    pages: int


@contextmanager
def stand_in(pages: int) -> Iterator[str]:
    command = [sys.executable, "-m", "connectors.testing.web", "--pages", str(pages)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        yield server.stdout.readline().strip()
    finally:
        server.terminate()
        server.communicate()


def asked(url: str) -> int:
    with urllib.request.urlopen(f"{url}/_log") as answer:  # noqa: S310 - the stand-in's own address
        return len(json.load(answer))


def run(url: str, command: list[str]) -> tuple[Run, dict[str, Any]]:
    """Run a command that prints JSON on its last line."""
    before, began = asked(url), time.perf_counter()
    environment = {**os.environ, "PYTHONPATH": str(ROOT)} if command[0] == sys.executable else None
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        out = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)  # its own peak, which the sum over children would hide
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{command[:4]} failed:\n{out[-500:]}{process.stderr.read()[-1500:]}")
    said: dict[str, Any] = json.loads(out.strip().splitlines()[-1])
    cpu = usage.ru_utime + usage.ru_stime
    return Run(seconds, cpu, usage.ru_maxrss / 1024, asked(url) - before, said.get("pages", 0)), said


def ours(url: str, folder: Path, concurrency: int) -> list[Run]:
    config = folder / "brain.toml"
    config.write_text(
        f'[brain]\ndata = "data"\n[sources.docs]\nkind = "web"\nstart = ["{url}/"]\ninterval_s = 0\n'
        f'concurrency = {concurrency}\nallow_private = ["{url.partition("//")[2]}"]\nmax_pages = 1000000\n'
    )
    runs = []
    for _ in range(2):
        found, said = run(url, [sys.executable, "-m", "pipeline.cli", "--config", str(config), "sync", "--json"])
        listed = said["sources"][0]["listed"]
        runs.append(Run(found.seconds, found.cpu, found.peak, found.requests, listed))
    return runs


def row(name: str, runs: list[Run]) -> str:
    first, again = runs
    pages = max(1, first.pages)
    return (
        f"{name:26}{first.pages:7}{pages / first.seconds:9.0f}{1000 * first.cpu / pages:10.2f}{first.requests:10}"
        f"{pages / again.seconds:11.0f}{1000 * again.cpu / pages:10.2f}{again.requests:10}{first.peak:9.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the site")
    parser.add_argument("--concurrency", type=int, default=4, help="requests under way at once")
    parser.add_argument("--scrapy", help="interpreter of an environment that holds Scrapy")
    parser.add_argument("--crawl4ai", help="interpreter of an environment that holds crawl4ai")
    parser.add_argument("--flat", action="store_true", help="also crawl four times as many pages, to see memory")
    options = parser.parse_args()
    heads = f"{'first/s':>9}{'CPU ms':>10}{'requests':>10}{'again/s':>11}{'CPU ms':>10}{'requests':>10}{'MB':>9}"
    print(f"{'':26}{'pages':>7}{heads}")
    sizes = [options.pages, *([4 * options.pages] if options.flat else [])]
    results = []
    for pages in sizes:
        with stand_in(pages) as url, tempfile.TemporaryDirectory() as folder:
            results.append(ours(url, Path(folder), options.concurrency))
            print(row("corebrain, to memory", results[-1]))
    for name in ("scrapy", "crawl4ai"):
        python = getattr(options, name)
        if python is None:
            print(f"{name:26} not run: give --{name} PYTHON")
            continue
        with stand_in(options.pages) as url, tempfile.TemporaryDirectory() as folder:
            script = str(ROOT / "benchmarks" / "peers" / f"web_{name}.py")
            runs = [run(url, [python, script, f"{url}/", folder, str(options.pages + 10)])[0] for _ in range(2)]
            print(row(f"{name}, to {'text' if name == 'scrapy' else 'markdown'}", runs))
    n = options.pages
    print(
        f"{'Onyx, by its source':26} {n} pages rendered at each crawl and {n} at each prune: {2 * n} requests or more"
    )
    first, again = results[0]
    flat = f" peak {results[0][0].peak:.0f} MB" + (
        f", of four times as many {results[-1][0].peak:.0f} MB" if options.flat else ""
    )
    print(
        f"pages {n} first {n / first.seconds:.0f}/s ({1000 * first.cpu / n:.2f} ms CPU a page) unchanged"
        f" {n / again.seconds:.0f}/s ({again.requests} requests){flat}"
    )


if __name__ == "__main__":
    main()
