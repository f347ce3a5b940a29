"""Kill real syncs at random moments while their folder changes; what is held in the end must equal a fresh sync.

python tests/crash/random_kills.py [--kills 500] [--seed 1]
"""

import argparse
import json
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHILD = """
import sys
from pathlib import Path
from connectors.files.connector import FilesConnector
from corebrain.brain import Brain
from corebrain.engines.local import LocalEngine
from pipeline.options import SyncOptions
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all

home = Path(sys.argv[1])
engine, state = LocalEngine(home / "memory.db"), SqliteState(home / "state.db")
print("ready", flush=True)
options = SyncOptions(max_delete=1.0, split="always")
source = Source("docs", FilesConnector(home.parent / "docs"), Brain(engine), options)
report = sync_all([source], state)
print(report.to_json(), flush=True)
state.close()
engine.close()
"""

DUMP = """
import json, sys
from pathlib import Path
from corebrain.engines.local import LocalEngine
from corebrain.model.requests import ListRequest
from pipeline.state.sqlite import SqliteState

home = Path(sys.argv[1])
engine, state = LocalEngine(home / "memory.db"), SqliteState(home / "state.db")
items, cursor = {}, None
while True:
    page = engine.export(ListRequest(limit=200, cursor=cursor))
    items |= {one.id: [str(one.item.meta.namespace), one.item.title, one.item.text] for one in page.items}
    cursor = page.next_cursor
    if cursor is None:
        break
ledger = state.ledger("docs")
records = {r.ref.key: [r.raw, r.filed, [f.id for f in r.facts]] for r in ledger.records()}
left = [ledger.doomed(100), sorted(ledger.intents())]
print(json.dumps({"engine": items, "records": records, "left": left}, sort_keys=True))
state.close()
engine.close()
"""


def edit(folder: Path, chance: random.Random) -> None:
    """Change about a third of a small tree: new, edited, renamed, removed, moved folders, twins."""
    for _ in range(8):
        files = sorted(path for path in folder.rglob("*.md"))
        what = chance.choice(["new", "new", "edit", "rename", "remove", "twin", "folder"])
        if what == "new" or len(files) < 5:
            path = folder / f"f{chance.randrange(4)}" / f"{chance.randrange(10**6)}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(f"# {path.stem}\n\n" + " ".join(chance.choices(WORDS, k=chance.randrange(5, 400))))
            continue
        path = chance.choice(files)
        if what == "edit":
            path.write_text(path.read_text() + "\n\nedited " + chance.choice(WORDS))
        elif what == "rename":
            path.rename(path.with_name(f"r{chance.randrange(10**6)}.md"))
        elif what == "remove":
            path.unlink()
        elif what == "twin":
            shutil.copyfile(path, path.with_name(f"t{chance.randrange(10**6)}.md"))
        else:
            target = folder / f"moved{chance.randrange(10**6)}"
            path.parent.rename(target) if path.parent != folder else None


WORDS = [f"word{number}" for number in range(300)]


def run(code: str, home: Path, kill_after: float | None = None) -> str:
    """Run *code* in a process of its own; kill it that long after it is ready."""
    child = subprocess.Popen([sys.executable, "-c", code, str(home)], stdout=subprocess.PIPE, text=True)
    assert child.stdout is not None
    if kill_after is None:
        output, _ = child.communicate(timeout=120)
        assert child.returncode == 0, "a sync that nobody killed failed"
        return output
    child.stdout.readline()
    time.sleep(kill_after)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    return ""


def trial(world: Path, kills: int, chance: random.Random) -> None:
    """One folder with a history of kills, compared with a fresh brain of the same folder."""
    docs, home, fresh = world / "docs", world / "home", world / "fresh"
    docs.mkdir(parents=True)
    for _ in range(6):
        edit(docs, chance)
    for _ in range(kills):
        edit(docs, chance)
        run(CHILD, home, kill_after=chance.uniform(0.0, 0.12))
    report = json.loads(run(CHILD, home).splitlines()[-1])
    assert report["ok"], report
    run(CHILD, fresh)
    held, wanted = json.loads(run(DUMP, home)), json.loads(run(DUMP, fresh))
    assert held["left"] == [[], []], held["left"]
    assert held["records"] == wanted["records"], "the books differ from a fresh sync's"
    assert held["engine"] == wanted["engine"], "the engine holds something else than a fresh sync's"


def say(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kills", type=int, default=500)
    parser.add_argument("--each", type=int, default=10, help="kills a folder sees before it is compared")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    chance = random.Random(options.seed)  # noqa: S311 - a test's dice
    done = 0
    began = time.monotonic()
    while done < options.kills:
        with tempfile.TemporaryDirectory() as folder:
            trial(Path(folder), min(options.each, options.kills - done), chance)
        done += min(options.each, options.kills - done)
        say(f"{done} kills, all equal to an undisturbed sync ({time.monotonic() - began:.0f} s)")
    say(f"random kills: {done} of {done} equal to an undisturbed sync")


if __name__ == "__main__":
    main()
