"""Requests to GitHub for a first mirror, an idle sync and one edit: ours counted, the peers' by their formulas.

    python benchmarks/github_requests.py --files 2000 --repositories 50

Also the time of an idle round over many repositories; `github_mirror.py` measures a first mirror. The peers' formulas
were read in their sources: Onyx, Elastic connectors, unstructured-ingest, llama-index-readers-github,
langchain-community (August 2026); they leave out retries. F docs, A all files, T folders.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from connectors.contract import Checkpoint, Json, Ref, Seen
from connectors.github.connector import GitHubConnector
from connectors.github.kind import GitHubConfig, make
from connectors.notes import MemoryNotes
from connectors.testing.github_repository import Repository
from connectors.testing.github_server import GitHubServer

FOLDERS = 40
LINKS = "See [the next one](./next.md) and [the first](../0/0.md#top), ![a picture](p.png).\n\n"
WORDS = "Whoever owns this page keeps it true, and says so at the end of each quarter.\n\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--files", type=int, default=2000, help="documents of the repository (default 2,000)")
    parser.add_argument("--repositories", type=int, default=50, help="repositories of the idle round (default 50)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        repo = Repository.create(root, "acme/docs")
        repo.put(
            {f"docs/{i % FOLDERS}/{i}.md": f"# Page {i}\n\n{(WORDS * 10 + LINKS) * 3}" for i in range(options.files)}
        )
        repo.put({f"src/{i}.py": f"x = {i}\n" for i in range(options.files // 2)})
        with GitHubServer([repo]) as server:
            requests(server, repo, root, options.files)
        idle(root, options.repositories)


def requests(server: GitHubServer, repo: Repository, root: Path, files: int) -> None:
    connector, notes = fresh(server, root), MemoryNotes()
    cursor = mirrored(connector, notes, None, None)
    first = len(server.log)
    server.log.clear()
    mirrored(fresh(server, root), notes, cursor, {})
    nothing = len(server.log)
    held = {
        event.ref.key: event.ref.token for event in fresh(server, root).scan(None, notes) if isinstance(event, Seen)
    }
    repo.put({"docs/1/1.md": "# Page 1\n\nEdited."})
    server.log.clear()
    mirrored(fresh(server, root), notes, cursor, held)
    edit = len(server.log)
    everything, folders = files + files // 2, FOLDERS + 3
    print(f"F = {files:,} docs of A = {everything:,} files in T = {folders} folders\n")
    print(f"{'':24}{'first':>9}{'no change':>11}{'one edit':>10}")
    print(f"{'corebrain, counted':24}{first:>9,}{nothing:>11,}{edit:>10,}   (first: 3 API requests and the download)")
    for name, *counts in peers(files, everything, folders):
        print(f"{name:24}{counts[0]:>9,}{counts[1]:>11,}{counts[2]:>10,}")
    print(
        f"\nfirst {first} = 4: {first == 4}; no change {nothing} = 1: {nothing == 1}; one edit {edit} = 3: {edit == 3}"
    )


def peers(f: int, a: int, t: int) -> list[tuple[str, int, int, int]]:
    return [
        ("Onyx", 2 + f, 1, 2 + f),
        ("Elastic", 2 + 2 * f, 2 + 2 * f, 2 + 2 * f),
        ("unstructured-ingest", 3 + a, 3 + a, 3 + a),
        ("llama-index", 1 + t + f, 1 + t + f, 2 + t),
        ("langchain", 1 + a + t, 1 + a + t, 1 + a + t),
    ]


def idle(root: Path, count: int) -> None:
    repos = [Repository.create(root / "many", f"acme/r{i}", i + 1) for i in range(count)]
    for repo in repos:
        repo.put({"README.md": repo.name})
    with GitHubServer(repos) as server:
        names = tuple(repo.full_name for repo in repos)
        notes = MemoryNotes()
        config = GitHubConfig(repos=names, base_url=server.url)
        cursor = mirrored(make(config, "g", root), notes, None, None)
        server.log.clear()
        began = time.perf_counter()
        mirrored(make(config, "g", root), notes, cursor, {})
        seconds = time.perf_counter() - began
        free = sum(line.endswith(" 304") for line in server.log)
    print(f"{count} repositories unchanged: {len(server.log)} requests, {free} of them 304, {seconds:.2f} s <= 5 s")


def fresh(server: GitHubServer, root: Path) -> GitHubConnector:
    return make(GitHubConfig(repo="acme/docs", base_url=server.url), "g", root)


def mirrored(connector: GitHubConnector, notes: MemoryNotes, cursor: Json, held: dict[str, str | None] | None) -> Json:
    """Scan, and fetch what is not held, as the pipeline does."""
    refs: list[Ref] = []
    for event in connector.scan(cursor, notes):
        if isinstance(event, Seen):
            refs.append(event.ref)
        elif isinstance(event, Checkpoint):
            cursor = event.cursor
    for ref in refs:
        if held is None or held.get(ref.key) != ref.token:
            connector.fetch(ref, None)
    return cursor


if __name__ == "__main__":
    main()
