"""Pages a second from a stand-in site to memory, and what an unchanged crawl costs."""

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from pipeline.cli.main import main as brain


def run(config: Path, *words: str) -> float:
    began = time.perf_counter()
    status = brain(["--config", str(config), *words])
    if status:
        raise SystemExit(status)
    return time.perf_counter() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=1_000, help="pages of the site")
    parser.add_argument("--concurrency", type=int, default=4, help="requests under way at once")
    options = parser.parse_args()
    command = [sys.executable, "-m", "connectors.testing.web", "--pages", str(options.pages)]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    try:
        assert server.stdout is not None
        url = server.stdout.readline().strip()
        with tempfile.TemporaryDirectory() as folder:
            config = Path(folder) / "brain.toml"
            config.write_text(
                f'[brain]\ndata = "data"\n[sources.docs]\nkind = "web"\nstart = ["{url}/"]\ninterval_s = 0\n'
                f'concurrency = {options.concurrency}\nallow_private = ["{url.partition("//")[2]}"]\n'
            )
            first = run(config, "sync")
            before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            again = run(config, "sync", "--json")
        peak = max(before, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss) / 1024
    finally:
        server.terminate()
        server.wait()
        if server.stdout is not None:
            server.stdout.close()
    print(f"{'':24}{'requests, N pages unchanged':>40}")
    for peer, cost in (
        ("corebrain", "N conditional + robots.txt + sitemap; with trust_lastmod: 2 in all"),
        ("Scrapy (HTTP cache)", "N conditional, RFC 2616 policy; its items are diffed by nobody"),
        ("crawl4ai (HTTP mode)", "N HEAD with the freshness check on, else N GET"),
        ("Onyx web", "N rendered pages, and N again at each prune"),
    ):
        print(f"{peer:24}{cost}")
    print(
        f"pages {options.pages} first {options.pages / first:.0f}/s unchanged {options.pages / again:.0f}/s"
        f" peak {peak:.0f} MB"
    )


if __name__ == "__main__":
    main()
