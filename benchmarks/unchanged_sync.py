"""Unchanged re-sync of many files, against `os.scandir` + `stat` over the same tree in the same process.

python benchmarks/unchanged_sync.py [--files 100000] [--rounds 5] [--folder DIR]
"""

import argparse
import os
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from connectors.files.connector import FilesConnector
from corebrain.brain import Brain
from corebrain.contract import Hits, Item, Receipts
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.requests import ForgetReport, ForgetTarget, GetRequest, ListPage, ListRequest
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync


class CountingEngine(LocalEngine):
    """Counts what a sync asks of it."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.calls = 0

    def store_many(self, items: Sequence[Item]) -> Receipts:
        self.calls += 1
        return super().store_many(items)

    def list(self, request: ListRequest) -> ListPage:
        self.calls += 1
        return super().list(request)

    def get(self, request: GetRequest) -> Hits:
        self.calls += 1
        return super().get(request)

    def forget(self, target: ForgetTarget) -> ForgetReport:
        self.calls += 1
        return super().forget(target)


PER_FOLDER = 100
DOCUMENT = "# {number}\n\nA document of its own, number {number}.\n"


def plain_walk(path: str) -> int:
    """The floor: one scandir a folder, one stat an entry."""
    count = 0
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                count += plain_walk(entry.path)
            else:
                entry.stat(follow_symlinks=False)
                count += 1
    return count


def make_tree(root: Path, files: int) -> None:
    for number in range(files):
        folder = root / f"d{number // PER_FOLDER:05d}"
        if number % PER_FOLDER == 0:
            folder.mkdir(parents=True)
        (folder / f"f{number}.md").write_text(DOCUMENT.format(number=number))


def peak_mb() -> float:
    scale = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * scale / 1e6


def measure(files: int, rounds: int, folder: Path) -> str:
    tree = folder / "tree"
    make_tree(tree, files)
    engine, state = CountingEngine(folder / "memory.db"), SqliteState(folder / "state.db")
    connector, brain = FilesConnector(tree, name="tree"), Brain(engine)
    began = time.perf_counter()
    first = sync(connector, brain, state)
    print(f"first sync: {first.sources[0].new:,} files in {time.perf_counter() - began:.1f} s")
    engine.calls = 0
    ratios, cpu_ratios, seconds = [], [], []
    print(f"{'round':>5} {'scandir+stat s':>15} {'sync s':>8} {'ratio':>6} {'µs a file':>10} {'ratio of CPU s':>15}")
    for number in range(rounds):
        began, used = time.perf_counter(), time.process_time()
        seen = plain_walk(str(tree))
        floor, floor_cpu = time.perf_counter() - began, time.process_time() - used
        began, used = time.perf_counter(), time.process_time()
        report = sync(connector, brain, state)
        took, cpu = time.perf_counter() - began, time.process_time() - used
        assert report.sources[0].unchanged == seen == files
        assert report.jobs == ()
        ratios.append(took / floor)
        cpu_ratios.append(cpu / floor_cpu)
        seconds.append(took)
        print(
            f"{number:>5} {floor:>15.3f} {took:>8.3f} {took / floor:>6.2f} {took / files * 1e6:>10.2f}"
            f" {cpu / floor_cpu:>15.2f}"
        )
    return (
        f"unchanged {files:,} files: {statistics.median(ratios):.2f}x scandir+stat (median of {rounds};"
        f" {statistics.median(cpu_ratios):.2f}x of CPU time),"
        f" {statistics.median(seconds):.2f} s, engine calls {engine.calls}, jobs 0, peak {peak_mb():.0f} MB"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--folder", type=Path, help="where the tree is made; a temporary folder when left out")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        print(measure(options.files, options.rounds, Path(folder)))


if __name__ == "__main__":
    main()
