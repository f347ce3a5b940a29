"""How much a files scan costs beside the bare `os.scandir` + `stat` walk of the same tree, and how much memory.

    python benchmarks/files_scan.py [--folder DIR | --files 100000 [--flat]] [--rounds 5]

Both walks run in turns in one process over a warm tree; the best round of each counts, in seconds and in CPU seconds,
which a busy machine changes less. Memory is the growth of the
process's peak during a first scan, before anything else has grown it.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from connectors.contract import Seen
from connectors.files.connector import FilesConnector
from connectors.notes import MemoryNotes

FILES_A_FOLDER = 100


def bare_walk(root: str) -> int:
    """What nobody can do without: list every folder, stat every file."""
    count = 0
    pending = [root]
    while pending:
        with os.scandir(pending.pop()) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    entry.stat(follow_symlinks=False)
                    count += 1
    return count


def scan(root: str) -> int:
    return sum(isinstance(event, Seen) for event in FilesConnector(root).scan(None, MemoryNotes()))


WALKS: dict[str, Callable[[str], int]] = {"scandir + stat": bare_walk, "files scan": scan}


def timed(work: Callable[[str], int], root: str) -> tuple[float, float, int]:
    started, used = time.perf_counter(), time.process_time()
    count = work(root)
    return time.perf_counter() - started, time.process_time() - used, count


def peak_mib() -> float:
    import resource  # noqa: PLC0415 - not on Windows

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / 2**20 if sys.platform == "darwin" else peak / 2**10


def make_tree(root: Path, files: int, *, flat: bool) -> None:
    for number in range(0, files, FILES_A_FOLDER):
        folder = root if flat else root / f"d{number // 5000:04d}" / f"s{number % 5000:04d}"
        folder.mkdir(parents=True, exist_ok=True)
        for i in range(number, min(number + FILES_A_FOLDER, files)):
            (folder / f"document-{i:07d}.md").touch()


def measure(root: str, rounds: int) -> None:
    before = peak_mib()
    scan(root)
    grown = peak_mib() - before
    best = {name: (float("inf"), float("inf"), 0) for name in WALKS}
    for _ in range(rounds):
        for name, walk in WALKS.items():
            seconds, cpu, count = timed(walk, root)
            best[name] = min(best[name][0], seconds), min(best[name][1], cpu), count
    print(f"{'walk':<18}{'entries':>10}{'seconds':>10}{'CPU s':>10}{'entries/s':>12}")
    for name, (seconds, cpu, count) in best.items():
        print(f"{name:<18}{count:>10,}{seconds:>10.3f}{cpu:>10.3f}{count / seconds:>12,.0f}")
    bare, ours = best.values()
    ratios = f"ratio {ours[0] / bare[0]:.2f}, of CPU time {ours[1] / bare[1]:.2f}"
    print(f"{ratios}  peak {before + grown:.0f} MiB, grown by {grown:.0f} MiB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", help="an existing folder; otherwise a tree is made and removed again")
    parser.add_argument("--files", type=int, default=100_000, help="files of the made tree (default 100,000)")
    parser.add_argument("--flat", action="store_true", help="all of them in one folder")
    parser.add_argument("--rounds", type=int, default=5, help="rounds, the best of which counts (default 5)")
    options = parser.parse_args()
    if options.folder:
        measure(options.folder, options.rounds)
        return
    with tempfile.TemporaryDirectory() as folder:
        make_tree(Path(folder), options.files, flat=options.flat)
        measure(folder, options.rounds)


if __name__ == "__main__":
    main()
