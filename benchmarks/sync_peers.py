"""Following 2,000 changing files: seconds, and what each got wrong, beside tools that keep a store in step.

    python benchmarks/sync_peers.py [--peers DIR] [--files 2000]

Every tool follows one folder into a store of its own, without embeddings (a constant vector where one is needed), a
process a step: all files new; nothing changed; 1 % changed (edits, edits that keep size and mtime, deletions, renames,
one of two twins edited); then the folder empty, as a disk that is not mounted. Seconds are those of the sync itself:
imports and start are left out. After each step the texts in the store are compared with the files:

    stale    texts held that no file has any more
    lost     texts of files that are not held
    doubled  texts held more often than files have them

DIR holds a virtual environment for each peer; make them with pip, for instance

    python -m venv DIR/llamaindex   && DIR/llamaindex/bin/pip install llama-index-core llama-index-readers-file
    python -m venv DIR/langchain    && DIR/langchain/bin/pip install langchain-classic langchain-community greenlet
    python -m venv DIR/unstructured && DIR/unstructured/bin/pip install unstructured-ingest "unstructured[md]"
    python -m venv DIR/cocoindex    && DIR/cocoindex/bin/pip install cocoindex

unstructured would fetch a spaCy model at its first document; its tokenizer is replaced, as in corebrain itself.
"""

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
PEERS = {
    "corebrain": "corebrain_folder",
    "llamaindex": "llamaindex_pipeline",
    "langchain": "langchain_index",
    "unstructured": "unstructured_local",
    "cocoindex": "cocoindex_flow",
}
STEPS = ("all new", "no change", "1 % changed", "emptied")
MARK = re.compile(r"mark[a-z]\w+")
PER_FOLDER = 100
PATIENCE_S = 600


@dataclass
class Outcome:
    """What one tool did in one step."""

    seconds: float = 0.0
    stale: int = 0
    lost: int = 0
    doubled: int = 0
    failure: str = ""


@dataclass
class Folder:
    """The files, and what a store should hold: each text has a mark of its own, twins share theirs.

    Attributes:
        root: Where the files lie.
        marks: Mark by path.
    """

    root: Path
    marks: dict[str, str] = field(default_factory=dict)

    def write(self, path: str, mark: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"# Document of {mark}\n\n" + "Some words of an ordinary text. " * 20 + "\n")
        self.marks[path] = mark

    def fill(self, count: int) -> None:
        for number in range(count - 2):
            self.write(f"f{number // PER_FOLDER:03}/d{number:05}.md", f"marka{number:05}")
        self.write("twins/one.md", "marktwin0")
        self.write("twins/two.md", "marktwin0")

    def change(self) -> None:
        """Change one file in a hundred, each way a file can change."""
        paths = [path for path in sorted(self.marks) if not path.startswith("twins")][::100]
        kinds = (self._edit, self._edit_unseen, self._delete, self._rename)
        for number, path in enumerate(paths):
            kinds[number % len(kinds)](path)
        self.write("twins/two.md", "marktwin1")

    def _edit(self, path: str) -> None:
        self.write(path, self.marks[path].replace("marka", "markblonger"))

    def _edit_unseen(self, path: str) -> None:
        """Edit without a trace in size and mtime, as tools that copy times do."""
        before = (self.root / path).stat()
        self.write(path, self.marks[path].replace("marka", "markc"))
        os.utime(self.root / path, ns=(before.st_atime_ns, before.st_mtime_ns))

    def _delete(self, path: str) -> None:
        (self.root / path).unlink()
        del self.marks[path]

    def _rename(self, path: str) -> None:
        target = f"{path.removesuffix('.md')}-renamed.md"
        (self.root / path).rename(self.root / target)
        self.marks[target] = self.marks.pop(path)

    def empty(self) -> None:
        """Take everything away, as an unmounted disk does; what was known should stay."""
        shutil.rmtree(self.root)
        self.root.mkdir()

    def judge(self, texts: list[str]) -> Outcome:
        held = Counter(mark for text in texts for mark in set(MARK.findall(text)))
        wanted = Counter(self.marks.values())
        return Outcome(
            stale=len(held.keys() - wanted.keys()),
            lost=len(wanted.keys() - held.keys()),
            doubled=sum(held[mark] > count for mark, count in wanted.items()),
        )


def python_of(peer: str, peers: Path | None) -> str | None:
    """Return the interpreter a peer runs in; `None` when there is none."""
    if peer == "corebrain":
        return sys.executable
    python = peers / peer / "bin" / "python" if peers else None
    return str(python) if python and python.exists() else None


def step(python: str, script: str, folder: Folder, store: Path) -> Outcome:
    """Let one tool follow the folder once."""
    environment = {**os.environ, "PYTHONPATH": str(HERE.parent) if python == sys.executable else ""}
    try:
        ran = subprocess.run(
            [python, str(HERE / "peers" / f"{script}.py"), str(folder.root), str(store)],
            env=environment,
            cwd=store,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return Outcome(failure=f"not done after {PATIENCE_S} s")
    if ran.returncode != 0:
        return Outcome(failure=(ran.stderr.strip().splitlines() or ["no reason given"])[-1][:90])
    said = json.loads(ran.stdout.splitlines()[-1])
    outcome = folder.judge(said["texts"])
    outcome.seconds = said["seconds"]
    return outcome


def follow(python: str, script: str, count: int, place: Path) -> dict[str, Outcome]:
    """Run the steps of one tool; a failed one ends them."""
    folder, store = Folder(place / "docs"), place / "store"
    store.mkdir(parents=True)
    changes: tuple[Callable[[], None], ...] = (
        lambda: folder.fill(count),
        lambda: None,
        folder.change,
        folder.empty,
    )
    outcomes: dict[str, Outcome] = {}
    for name, change in zip(STEPS, changes, strict=True):
        change()
        outcomes[name] = step(python, script, folder, store)
        if outcomes[name].failure:
            break
    return outcomes


def told(outcome: Outcome) -> str:
    if outcome.failure:
        return f"failed: {outcome.failure}"
    wrong = [(outcome.stale, "stale"), (outcome.lost, "lost"), (outcome.doubled, "doubled")]
    said = ", ".join(f"{count:,} {what}" for count, what in wrong if count) or "right"
    return f"{outcome.seconds:8.2f} s  {said}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--peers", type=Path, metavar="DIR", help="holds a virtual environment for each peer")
    parser.add_argument("--files", type=int, default=2_000)
    parser.add_argument("--only", choices=PEERS, action="append", help="only this one; may be repeated")
    options = parser.parse_args()
    ours: dict[str, Outcome] = {}
    print(f"{'':14}{'step':14}{'sync':>10}  what is wrong with the store")
    for peer in options.only or PEERS:
        python = python_of(peer, options.peers)
        if python is None:
            print(f"{peer:14}not run: no {options.peers or 'DIR'}/{peer}/bin/python; see --help")
            continue
        with tempfile.TemporaryDirectory() as place:
            outcomes = follow(python, PEERS[peer], options.files, Path(place))
        ours = ours or outcomes
        for name, outcome in outcomes.items():
            print(f"{peer if name == STEPS[0] else '':14}{name:14}{told(outcome)}", flush=True)
    wrong = sum(each.stale + each.lost + each.doubled for each in ours.values())
    seconds = ", ".join(f"{name} {outcome.seconds:.2f} s" for name, outcome in ours.items())
    print(f"{next(iter(options.only or PEERS))}: {seconds}; {wrong} texts wrong")


if __name__ == "__main__":
    main()
