"""First mirror of many documents: complete, equal by API and by git, and how long beside unpacking and converting them.

    python benchmarks/github_mirror.py [FOLDER …] [--files 2000] [--rounds 3] [--workers 2]

The documents of each FOLDER (a checkout, an unpacked sdist, `shared/data/documents`) become a local git repository that
the stand-in serves from a process of its own; without one the sample documents of the tests are taken. They are varied
until there are enough, no two equal. Beside it, always, as many pages of markdown, whose conversion costs next to
nothing.

The yardstick is what nobody gets around: unpack the same archive and convert the same files, with the same converter,
worker processes and threads, and throw the result away. The mirror asks, downloads, unpacks, proves every blob, makes
links absolute, converts, stores in the local engine with its index, and keeps its books.
"""

import argparse
import resource
import shutil
import statistics
import subprocess
import sys
import tarfile
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from connectors.contract import Blob, Failed, Ref, Seen
from connectors.document import documents
from connectors.errors import ConnectorError
from connectors.github.connector import GitHubConnector
from connectors.github.kind import GitHubConfig, make
from connectors.github.selection import Selection
from connectors.notes import MemoryNotes
from connectors.testing.github_repository import Repository
from corebrain.brain import Brain
from corebrain.documents.default_converter import RegistryConverter
from corebrain.engines.local import LocalEngine
from corebrain.layout import BrainSource
from pipeline.options import SyncOptions
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all

ROOT = Path(__file__).resolve().parents[1]
NAME = "acme/docs"
LINKS = "See [the next one](./next.md) and [the first](../0/0.md#top), ![a picture](p.png).\n\n"
WORDS = "Whoever owns this page keeps it true, and says so at the end of each quarter.\n\n"
TEXTUAL = {".md", ".mdx", ".txt", ".html", ".htm", ".rst", ".org", ".csv", ".tsv", ".adoc"}
GOAL = 1.3


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="*", type=Path, default=[ROOT / "tests" / "documents_samples"])
    parser.add_argument("--files", type=int, default=2_000, help="documents of each repository (default 2,000)")
    parser.add_argument("--rounds", type=int, default=3, help="how often each is timed (default 3; 0 only compares)")
    parser.add_argument("--workers", type=int, default=2, help="processes that convert (default 2)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        bench = Bench(Path(scratch), options.files, options.rounds, options.workers)
        for folder in options.folders:
            print(f"\n== {folder.name}")
            bench.run(folder.name, partial(copied, folder, files=options.files))
        print("\n== pages of markdown")
        bench.run("pages", lambda at: written(at, options.files))


class Spent(NamedTuple):
    """What a run took."""

    documents: int
    seconds: float
    cpu: float


class Bench:
    """Runs one repository after the other."""

    def __init__(self, scratch: Path, files: int, rounds: int, workers: int) -> None:
        self.scratch = scratch
        self.files = files
        self.rounds = rounds
        self.workers = workers
        self.homes = 0

    def run(self, name: str, fill: Callable[[Path], int]) -> None:
        root = self.scratch / name
        repo = Repository.create(root, NAME)
        count = fill(repo.path)
        sha = repo.commit("Add documents")
        (root / f"{NAME}.git").symlink_to(repo.path)
        archive = root / "archive.tar.gz"
        archive.write_bytes(repo.git("archive", "--format=tar.gz", "--prefix=x/", sha))
        with served(repo) as url:
            complete(url, root, count)
            if self.rounds:
                self.time(url, root, archive)

    def time(self, url: str, root: Path, archive: Path) -> None:
        walls, cpus = [], []
        for _ in range(self.rounds):
            plain = self.clocked(lambda converter: sum(unpacked(archive, converter)), archive)
            mirror = self.clocked(lambda converter: self.mirrored(url, root, converter), archive)
            walls.append(mirror.seconds / plain.seconds)
            cpus.append(mirror.cpu / plain.cpu)
            print(
                f"unpack and convert {plain.documents:,}: {plain.seconds:.2f} s, {plain.cpu:.2f} s CPU;"
                f" mirror and store {mirror.documents:,}: {mirror.seconds:.2f} s, {mirror.cpu:.2f} s CPU"
            )
        wall = statistics.median(walls)
        print(f"median ratio {wall:.2f} <= {GOAL}: {wall <= GOAL}; in CPU time {statistics.median(cpus):.2f}")

    def clocked(self, run: Callable[[RegistryConverter], int], archive: Path) -> "Spent":
        """Time *run* with workers of its own, which have started; their CPU time counts, their start's does, too."""
        cpu = cpu_s()
        with RegistryConverter(workers=self.workers) as converter:
            list(unpacked(archive, converter, few=8))
            began = time.perf_counter()
            count = run(converter)
            seconds = time.perf_counter() - began
        return Spent(count, seconds, cpu_s() - cpu)

    def mirrored(self, url: str, root: Path, converter: RegistryConverter) -> int:
        self.homes += 1
        engine = LocalEngine(self.scratch / f"memory-{self.homes}.db")
        state = SqliteState(self.scratch / f"state-{self.homes}.db")
        try:
            brain, options = Brain(engine), SyncOptions(split="always")
            source = Source("docs", connector_of(url, root, "api"), brain, options, converter=converter)
            report = sync_all([source], state).sources[0]
            if report.error is not None:
                raise SystemExit(report.error)
            return report.stored
        finally:
            state.close()
            engine.close()


def unpacked(archive: Path, converter: RegistryConverter, few: int | None = None) -> Iterator[int]:
    """Unpack, convert and count."""
    selection = Selection()

    def convert(name: str, data: bytes) -> int:
        blob = Blob(data, filename=name.rpartition("/")[2], commit="c", url="https://example.com/")
        return len(list(documents(BrainSource.GITHUB, "g", Ref(name, "t"), blob, converter=converter)))

    with ThreadPoolExecutor(SyncOptions().threads) as pool, tarfile.open(archive, "r|gz") as tar:
        begun = []
        for member in tar:
            path = member.name.partition("/")[2]
            source = tar.extractfile(member) if selection.takes(path) else None
            if source is not None:
                begun.append(pool.submit(convert, path, source.read()))
            if few is not None and len(begun) >= few:
                break
        for future in begun:
            yield future.result()


def complete(url: str, root: Path, count: int) -> None:
    """Mirror by both transports, and see that they agree and miss nothing."""
    told: list[dict[str, tuple[str, bytes] | str]] = []
    for transport in ("api", "git"):
        connector, found = connector_of(url, root, transport), {}
        for event in connector.scan(None, MemoryNotes()):
            if isinstance(event, Seen):
                found[event.ref.key] = fetched(connector, event.ref)
            elif isinstance(event, Failed):
                raise SystemExit(f"{event.scope}: {event.error}")
        told.append(found)
    refused = sum(isinstance(one, str) for one in told[0].values())
    same = told[0] == told[1]
    print(f"{count:,} documents, {len(told[0]):,} by API, {len(told[1]):,} by git, {refused} refused, equal: {same}")
    if not same or len(told[0]) != count:
        raise SystemExit("not complete")


def fetched(connector: GitHubConnector, ref: Ref) -> tuple[str, bytes] | str:
    try:
        blob = connector.fetch(ref, None)
    except ConnectorError as error:
        return str(error)
    assert isinstance(blob, Blob)
    assert isinstance(blob.data, bytes)
    return blob.url, blob.data


def connector_of(url: str, root: Path, transport: str) -> GitHubConnector:
    told = {"repo": NAME, "base_url": url, "git_url": f"file://{root}", "transport": transport}
    return make(GitHubConfig.model_validate(told), "docs", root)


@contextmanager
def served(repo: Repository) -> Iterator[str]:
    command = [sys.executable, "-m", "connectors.testing.github", str(repo.path)]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server:
        assert server.stdout is not None
        try:
            yield server.stdout.readline().split()[0]
        finally:
            server.kill()


def copied(folder: Path, target: Path, files: int) -> int:
    """Copy the documents of a folder, and varied copies until there are enough; return how many there are."""
    selection = Selection()
    paths = [path for path in sorted(folder.rglob("*")) if path.is_file() and not path.is_symlink()]
    wanted = [path for path in paths if selection.takes(path.relative_to(folder).as_posix()) and path.stat().st_size]
    if not wanted:
        raise SystemExit(f"no documents below {folder}")
    for number in range(max(files, len(wanted))):
        source = wanted[number % len(wanted)]
        name = source.relative_to(folder)
        made = target / (name if number < len(wanted) else Path(f"copy-{number // len(wanted)}", name))
        made.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, made)
        if number >= len(wanted):
            with made.open("ab") as file:
                file.write(f"\n{'' if made.suffix in TEXTUAL else '%'}Copy {number}.\n".encode())
    return max(files, len(wanted))


def written(target: Path, files: int) -> int:
    for number in range(files):
        path = target / "docs" / str(number % 40) / f"{number}.md"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"# Page {number}\n\n{(WORDS * 10 + LINKS) * 3}")
    return files


def cpu_s() -> float:
    """CPU seconds of this process and of its children that have ended."""
    own, children = resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN)
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


if __name__ == "__main__":
    main()
