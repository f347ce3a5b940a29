"""`brain run`: keeps schedules, watches folders, does idle work, until it is stopped."""

import time
from argparse import Namespace

from corebrain.documents.types import DocumentConverter
from pipeline.assembly import OpenBrain
from pipeline.brief import KeptBrief, check_place
from pipeline.cli.console import Console
from pipeline.cli.keeping import Voice, described, keep, tended
from pipeline.cli.printable import printable
from pipeline.config.engine_tables import CortexEngineTable, LocalEngineTable
from pipeline.config.load import load
from pipeline.config.models import Config
from pipeline.daemon import Tended
from pipeline.errors import SetupError
from pipeline.health import Pulse, last_beat
from pipeline.source_set import SourceSet
from pipeline.upkeep import Upkeep

LEASE = "brain run"
"""Name of the lease by which one process keeps a brain's schedules; no source is called so."""


def run(options: Namespace, console: Console) -> int:
    """Keep everything that has a schedule or is to be watched."""
    config = load(options.config)
    if options.check:
        return _check(config, console)
    sources = SourceSet(config)
    names = [name for name, source in sources.by_name.items() if source.keys.watch or source.keys.schedule()]
    if config.context_file is not None:
        check_place(config.context_file, sources.connectors)
    elif not names:
        raise SetupError('nothing is to be run; give a source watch = true, every = "15m" or a cron in brain.toml')
    with OpenBrain(sources) as brain:
        config.data.mkdir(mode=0o700, parents=True, exist_ok=True)
        began = time.time()
        lease = brain.state.lease(LEASE, began)
        pulse = Pulse(config.data, began)

        def choose(converter: DocumentConverter) -> list[Tended]:
            chosen = [tended(brain, name, converter, watched=sources.by_name[name].keys.watch) for name in names]
            for one in chosen:
                console.note(printable(described(brain, one)))
            for name in sources.by_name:
                if name not in names:
                    console.note(f"{printable(name)}: neither watched nor scheduled, it is left to `brain sync`")
            return chosen

        def beat(now: float, line: str, syncing: tuple[str, ...]) -> None:
            lease.beat(now)
            pulse.beat(now, line, syncing)

        try:
            return keep(brain, console, choose, upkeep=lambda voice: _upkeep(brain, voice), beat=beat, summed=True)
        finally:
            pulse.end()
            lease.release()


def _upkeep(brain: OpenBrain, voice: Voice) -> Upkeep:
    table, file = brain.config.engine, brain.config.context_file
    layout = brain.sources.layout()
    kept = None
    if file is not None:
        kept = KeptBrief(brain.engine, layout, brain.config.context, file, now=time.time, say=voice.note)
    return Upkeep(
        brain.engine,
        layout,
        brain.state,
        now=time.time,
        say=voice.note,
        build_beliefs=isinstance(table, LocalEngineTable | CortexEngineTable) and table.build_beliefs,
        brief=kept,
    )


def _check(config: Config, console: Console) -> int:
    """Say whether a `brain run` of this brain is alive; for health checks."""
    beat = last_beat(config.data)
    trouble = "`brain run` is not running" if beat is None else beat.trouble(time.time())
    if beat is None or trouble is not None:
        console.failed(str(trouble))
        return 1
    console.say(printable(f"running, pid {beat.pid}: {beat.line}"))
    return 0
