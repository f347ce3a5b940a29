"""`brain jobs`: background belief builds, and the engine's upkeep."""

import threading
import time
from argparse import Namespace

from corebrain.background import BackgroundRunner
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import CorebrainError
from corebrain.jobs import BuildBeliefs, IngestBrain, JobReport, read_job
from pipeline.assembly import OpenBrain
from pipeline.cli import interrupts
from pipeline.cli.console import Console
from pipeline.cli.failures import told
from pipeline.cli.printable import printable
from pipeline.cli.reading import configured, never_synced
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet
from pipeline.unembedded import unembedded

UPKEEP_S = 30.0
"""Seconds of upkeep after the jobs."""


def run(options: Namespace, console: Console) -> int:
    """List the waiting jobs, or run them."""
    config = configured(options)
    if never_synced(config, console):
        console.answer(**{"reports": []} if options.action else {"jobs": []})
        return 0
    with OpenBrain(SourceSet(config), trial=True) as brain:
        if options.change_model:
            _change_model(brain, console)
        return _run_all(brain, console) if options.action or options.change_model else _list(brain, console)


def _change_model(brain: OpenBrain, console: Console) -> None:
    if not isinstance(brain.engine, LocalEngine):
        raise SetupError("only the local engine has an embedder: leave out --change-model")
    brain.engine.change_model()
    console.say(f"{brain.engine.embedding().waiting:,} passages wait for vectors of {brain.engine.embedding().model}")


def _list(brain: OpenBrain, console: Console) -> int:
    jobs = [read_job(body) for _, body in brain.state.jobs()]
    for job in jobs:
        console.say(printable(_named(job)))
    waiting = unembedded(brain.engine)
    if waiting:
        console.say(f"{waiting:,} passages wait to be embedded")
    if jobs or waiting:
        console.say("`brain jobs run` runs them")
    else:
        console.say("no job waits")
    console.answer(jobs=[job.to_dict() for job in jobs], unembedded=waiting)
    return 0


def _run_all(brain: OpenBrain, console: Console) -> int:
    """Run the jobs in order, dropping each that ended; one that fails is kept, and the others run."""
    runner = BackgroundRunner(brain.engine, brain.sources.layout())
    reports: list[JobReport] = []
    errors: list[str] = []
    stop = threading.Event()
    with interrupts.heeded(stop, console):
        for number, body in brain.state.jobs():
            if stop.is_set():
                break
            job = read_job(body)
            try:
                report = runner.run(job)
            except CorebrainError as error:
                errors.append(f"{_named(job)}: {told(error)}")
                continue
            for follow_up in report.follow_ups:
                brain.state.add_job(follow_up.to_json(), time.time())
            brain.state.drop_job(number)
            reports.append(report)
            console.say(f"{printable(_named(job))}: {printable(_outcome(report))}")
        left = 0
        try:
            left = _upkeep(brain, stop, console)
        except CorebrainError as error:
            errors.append(f"upkeep: {told(error)}")
    for line in errors:
        console.say(f"{printable(line)}; it is kept, run it again")
    console.say(f"{len(reports)} done, {len(errors)} failed, upkeep {'done' if not left else 'left for the next run'}")
    console.answer(ok=not errors, reports=[report.to_dict() for report in reports], errors=errors, upkeep_left=left)
    if stop.is_set():
        return interrupts.INTERRUPTED
    return 1 if errors else 0


def _upkeep(brain: OpenBrain, stop: threading.Event, console: Console) -> int:
    """Do half a minute of upkeep, and go on while passages wait to be embedded; return what is left."""
    if not isinstance(brain.engine, LocalEngine):
        return 0
    left, before = 0, -1
    while not stop.is_set():
        left = brain.engine.maintain(UPKEEP_S).left
        waiting = unembedded(brain.engine)
        if waiting in {0, before}:
            break
        before = waiting
        console.note(f"{waiting:,} passages wait to be found by meaning")
    return left


def _named(job: BuildBeliefs | IngestBrain) -> str:
    if isinstance(job, BuildBeliefs):
        return f"{job.name} at {job.request.reach.at}"
    return f"{job.name} of {len(job.documents):,} documents"


def _outcome(report: JobReport) -> str:
    outcome = report.outcome
    reason = f" ({outcome.reason})" if outcome.reason else ""
    built = report.consolidation.built if report.consolidation else None
    counted = f", {built:,} beliefs built" if built is not None else ""
    return f"{outcome.outcome.value}{reason}{counted}"
