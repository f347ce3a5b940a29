"""A burst of new files into a watched folder: how many are indexed after how many listings, and how soon.

python benchmarks/watch_burst.py [--files 60000] [--writers 2] [--folder DIR]

Writers in processes of their own fill the folder as fast as they can, which overflows the queue of events (watchdog
alone then loses most of them). The summary line counts whole and partial listings until every file is indexed, and the
seconds from the last write. One changed file afterwards shows the everyday latency.
"""

import argparse
import multiprocessing
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from connectors.contract import Event, Json, Notes
from connectors.files.connector import FilesConnector
from corebrain.brain import Brain
from corebrain.engines.local.engine import LocalEngine
from pipeline.daemon import Daemon, Listener, Tended
from pipeline.host import Host
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState

PER_FOLDER = 500


class Counted(FilesConnector):
    """Counts listings."""

    whole = parts = 0

    def scan(self, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        if scope:
            self.parts += 1
        else:
            self.whole += 1
        return super().scan(cursor, notes, scope)


def write(root: Path, first: int, last: int) -> None:
    for number in range(first, last):
        folder = root / f"{number // PER_FOLDER:04}"
        folder.mkdir(exist_ok=True)
        (folder / f"{number:06}.md").write_text(f"# {number}\n\nA document of its own, number {number}.\n")


def burst(root: Path, files: int, writers: int) -> float:
    """Write all files; returns the seconds it took."""
    share = -(-files // writers)
    began = time.monotonic()
    processes = [
        multiprocessing.get_context("spawn").Process(
            target=write, args=(root, first, min(files, first + share)), daemon=True
        )
        for first in range(0, files, share)
    ]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    return time.monotonic() - began


def until(state: SqliteState, files: int, patience_s: float) -> float | None:
    """Wait until that many documents are recorded; returns the seconds, `None` when they never were."""
    began = time.monotonic()
    while time.monotonic() - began < patience_s:
        if state.ledger("burst").held() >= files:
            return time.monotonic() - began
        time.sleep(0.1)
    return None


def latency(root: Path, told: "dict[str, float]", rounds: int) -> list[float]:
    """Change files one by one; returns the seconds from each last write to its being stored."""
    waits = []
    for number in range(rounds):
        key = f"0000/{number:06}.md"
        (root / key).write_text(f"# Changed\n\nFor the {number}th time.\n")
        written = time.monotonic()
        while told.get(key, 0.0) < written and time.monotonic() - written < 60:
            time.sleep(0.01)
        waits.append(told.get(key, 0.0) - written)
    return waits


def measure(root: Path, files: int, writers: int, patience_s: float) -> bool:
    data = root.parent / "data"
    data.mkdir()
    engine, state = LocalEngine(data / "memory.db", durability="process"), SqliteState(data / "state.db")
    connector = Counted(root, name="burst")
    stop, told = threading.Event(), dict[str, float]()
    host = Host(stop=stop, tell=lambda step: told.update({step.key: time.monotonic()}) if step.stored else None)
    said: list[str] = []
    daemon = Daemon(
        [Tended(Source("burst", connector, Brain(engine)), watched=True)],
        state,
        host,
        listener=Listener(say=said.append, reported=lambda report, scopes: ready.set()),  # noqa: ARG005 - any first sync
    )
    ready = threading.Event()
    keeper = threading.Thread(target=daemon.run)
    keeper.start()
    ready.wait(60)
    before = connector.whole
    wrote_s = burst(root, files, writers)
    indexed_s = until(state, files, patience_s)
    whole, parts = connector.whole - before, connector.parts
    time.sleep(3)  # a listing that is still due belongs to the burst
    whole, parts = connector.whole - before, connector.parts
    waits = latency(root, told, 5)
    stop.set()
    keeper.join()
    indexed = state.ledger("burst").held()
    state.close()
    engine.close()
    print(f"{'written':<34}{files:>10,} files in {wrote_s:.1f} s by {writers} processes")
    print(f"{'indexed':<34}{indexed:>10,} files, lost {files - indexed:,}")
    print(f"{'whole listings after the burst':<34}{whole:>10,}")
    print(f"{'listings of parts':<34}{parts:>10,}")
    print(f"{'one changed file, median of 5':<34}{sorted(waits)[2]:>10.2f} s from its last write to stored")
    for line in said:
        print(f"said: {line}")
    soon = "never" if indexed_s is None else f"{indexed_s:.1f} s after the last write"
    print(f"watch burst: {indexed:,} of {files:,} indexed, {soon}, {whole} whole and {parts} partial listings")
    return indexed == files


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=60_000)
    parser.add_argument("--writers", type=int, default=2)
    parser.add_argument("--patience", type=float, default=900, help="seconds to wait for everything to be indexed")
    parser.add_argument("--folder", type=Path, help="where to work (default: a temporary folder)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=options.folder) as place:
        root = Path(place) / "root"
        root.mkdir()
        return 0 if measure(root, options.files, options.writers, options.patience) else 1


if __name__ == "__main__":
    sys.exit(main())
