"""`brain optimize`: a small file, and no byte of what was forgotten."""

from argparse import Namespace
from pathlib import Path

from corebrain.engines.local.engine import LocalEngine
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.cli.reading import configured, never_synced
from pipeline.source_set import SourceSet


def run(options: Namespace, console: Console) -> int:
    """Optimize the engine; exit 1 when a reader kept it from the end."""
    config = configured(options)
    if never_synced(config, console):
        console.answer(before=0, after=0, copies=[])
        return 0
    with OpenBrain(SourceSet(config)) as brain:
        if not isinstance(brain.engine, LocalEngine):
            console.note(f"the {brain.engine.descriptor.id} engine looks after itself")
            console.answer(before=0, after=0, copies=[])
            return 0
        done = brain.engine.optimize()
        copies = _copies(brain.engine.path)
    console.say(f"{done.after:,} bytes, {done.before:,} before")
    if not done.is_settled:
        console.note("another process was reading: old bytes may be left; run `brain optimize` again when it has ended")
    for copy in copies:
        console.say(f"{printable(str(copy))} may still hold what was forgotten; delete it when it is not needed")
    console.answer(ok=done.is_settled, before=done.before, after=done.after, copies=[str(copy) for copy in copies])
    return 0 if done.is_settled else 1


def _copies(file: Path) -> list[Path]:
    """Return the older copies of a memory file that migrations and restores left."""
    logs = ("-wal", "-shm")
    return sorted(path for path in file.parent.glob(f"{file.name}.*") if not path.name.endswith(logs))
