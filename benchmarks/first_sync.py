"""First sync of many distinct real files: documents a second end to end, and what it costs beyond conversion.

    python benchmarks/first_sync.py FOLDER [--files 1500] [--workers 2]

FOLDER holds sample documents (`shared/data/documents`); they are varied until there are enough, no two equal. The
yardstick is the CPU time of converting the same files with the same converters and workers, without a brain.
"""

import argparse
import resource
import shutil
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from connectors.files.connector import FilesConnector
from corebrain.brain import Brain
from corebrain.contract import Item, Receipts
from corebrain.documents.brain_document import brain_documents
from corebrain.documents.default_converter import RegistryConverter
from corebrain.documents.types import RawDocument
from corebrain.engines.local import LocalEngine
from corebrain.errors import Refusal
from pipeline.options import SyncOptions
from pipeline.report import SourceReport
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all

TEXTUAL = {".md", ".txt", ".html", ".csv", ".tsv", ".rst", ".org", ".eml", ".py"}
ZIPPED = {".docx", ".pptx", ".xlsx", ".odt", ".epub"}


def originals(folder: Path) -> list[Path]:
    """The sample files, expected markdown and the nasty ones left out."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file() and "nasty" not in path.parts]
    return [path for path in files if not path.name.endswith(".expected.md") and path.stat().st_size]


def vary(path: Path, number: int) -> None:
    """Make a copy differ in its bytes and, where that is easy, in its text."""
    if path.suffix in TEXTUAL:
        with path.open("ab") as file:
            file.write(f"\nCopy number {number}.\n".encode())
    elif path.suffix in ZIPPED and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path, "a") as archive:
            archive.comment = f"copy {number}".encode()
    else:
        with path.open("ab") as file:
            file.write(f"\n%{number}\n".encode())


def make_tree(folder: Path, root: Path, files: int) -> None:
    known = originals(folder)
    if not known:
        sys.exit(f"no documents below {folder}")
    for number in range(files):
        source = known[number % len(known)]
        target = root / f"d{number // 100:03d}" / f"{number:05d}-{source.name}"
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)
        if number >= len(known):
            vary(target, number)


def cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


@contextmanager
def measured(into: dict[str, float], name: str) -> Iterator[None]:
    began, cpu = time.perf_counter(), cpu_s()
    yield
    into[f"{name} s"] = time.perf_counter() - began
    into[f"{name} cpu"] = cpu_s() - cpu


def convert_only(root: Path, workers: int) -> int:
    converter = RegistryConverter(workers=workers)

    def convert(path: Path) -> int:
        try:
            return len(list(brain_documents(converter, RawDocument(path.read_bytes(), filename=path.name))))
        except Refusal:
            return 0

    try:
        with ThreadPoolExecutor(4) as pool:
            return sum(pool.map(convert, sorted(path for path in root.rglob("*") if path.is_file())))
    finally:
        converter.close()


class TimedEngine(LocalEngine):
    """Knows how long storing took."""

    stored_s = 0.0

    def store_many(self, items: Sequence[Item]) -> Receipts:
        began = time.perf_counter()
        receipts = super().store_many(items)
        TimedEngine.stored_s += time.perf_counter() - began
        return receipts


def sync_once(root: Path, home: Path, workers: int) -> SourceReport:
    converter = RegistryConverter(workers=workers)
    engine, state = TimedEngine(home / "memory.db"), SqliteState(home / "state.db")
    try:
        source = Source("docs", FilesConnector(root), Brain(engine), SyncOptions(split="never"), converter=converter)
        return sync_all([source], state).sources[0]
    finally:
        converter.close()
        state.close()
        engine.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--files", type=int, default=1_500)
    parser.add_argument("--workers", type=int, default=2)
    options = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        root, home = Path(folder) / "docs", Path(folder) / "home"
        make_tree(options.folder, root, options.files)
        with measured(figures, "convert"):
            converted = convert_only(root, options.workers)
        with measured(figures, "sync"):
            report = sync_once(root, home, options.workers)
        with measured(figures, "again"):
            again = sync_once(root, home, options.workers)
    print(f"{'step':<10} {'seconds':>8} {'CPU s':>8} {'documents/s':>12}")
    for name, count in (("convert", converted), ("sync", report.stored), ("again", again.unchanged)):
        seconds, cpu = figures[f"{name} s"], figures[f"{name} cpu"]
        print(f"{name:<10} {seconds:>8.2f} {cpu:>8.2f} {count / seconds:>12.0f}")
    spent, whole = TimedEngine.stored_s, figures["sync s"]
    print(
        f"where the time goes: conversion {figures['convert s'] / whole:.0%}, storing in the engine {spent / whole:.0%}"
    )
    print(f"new {report.new}, set aside {len(report.set_aside)}, again: new {again.new}, unchanged {again.unchanged}")
    ratio = figures["sync cpu"] / figures["convert cpu"]
    rate = report.stored / figures["sync s"]
    print(
        f"first sync of {options.files:,} files: {rate:.0f} documents/s, {ratio:.2f}x the CPU time of conversion alone"
    )


if __name__ == "__main__":
    main()
