"""`brain status`: documents, last and next sync, what is set aside and why, and whether `brain run` is alive."""

import json
import time
from argparse import Namespace
from typing import Any

from pipeline.assembly import OpenBrain, was_synced
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import configured, never_synced
from pipeline.config.complaints import nearest
from pipeline.errors import SetupError
from pipeline.health import is_overdue, last_beat
from pipeline.source_set import SourceSet
from pipeline.state.values import Aside
from pipeline.when import printed

_COUNTS = ("new", "changed", "moved", "unchanged", "gone")

SHOWN_RUNS = 5
"""Last runs that are shown of a source that is named; `--json` has 20."""

SHOWN_ASIDES = 3
"""Items set aside that are shown of each source when none is named."""


def run(options: Namespace, console: Console) -> int:
    """Say how each source stands."""
    config = configured(options)
    never_synced(config, console)
    with OpenBrain(SourceSet(config), trial=True) as brain:
        names = list(dict.fromkeys([*brain.sources.by_name, *brain.books()]))
        if options.name is not None:
            if options.name not in names:
                raise SetupError(f"there is no source {options.name!r}; {nearest(options.name, names)}")
            names = [options.name]
        stands = [_standing(brain, name) for name in names]
        if options.name is not None:
            stands = [{**standing, "runs": _runs(brain, standing["name"])} for standing in stands]
        jobs = len(brain.state.jobs())
    beat = last_beat(config.data)
    for standing in stands:
        _tell(standing, console, whole=options.name is not None)
        _tell_runs(standing.get("runs", []), console)
    if jobs:
        console.say(f"{counted(jobs, 'background job')} waiting; `brain jobs run` runs them")
    if beat is not None:
        console.say(printable(beat.trouble(time.time()) or f"`brain run` is running, pid {beat.pid}: {beat.line}"))
    alive = {"run": beat.trouble(time.time()) is None} if beat is not None else {}
    console.answer(synced=was_synced(config), sources=stands, jobs=jobs, **alive)
    return 0


def _standing(brain: OpenBrain, name: str) -> dict[str, Any]:
    source = brain.sources.by_name.get(name)
    standing: dict[str, Any] = {
        "name": name,
        "kind": source.keys.kind if source else None,
        "configured": source is not None,
        "documents": 0,
        "last_sync": None,
        "next_sync": None,
        "overdue": False,
        "failing_since": None,
        "error": None,
        "set_aside": [],
    }
    if name not in brain.books():
        return standing
    ledger = brain.state.ledger(name)
    row = ledger.row()
    return {
        **standing,
        "documents": ledger.held(),
        "last_sync": printed(row.last_success) if row.last_success is not None else None,
        "failing_since": printed(row.failing_since) if row.failing_since is not None else None,
        "error": row.error,
        "set_aside": [_aside(aside) for aside in ledger.asides()],
        **_next(brain, name),
    }


def _runs(brain: OpenBrain, name: str) -> list[dict[str, Any]]:
    """Return the last runs, newest first: when each began, and what it reported."""
    if name not in brain.books():
        return []
    kept = [(started, json.loads(report)) for started, report in brain.state.runs(name, 20)]
    return [
        {"started": printed(started), **{key: report.get(key) for key in (*_COUNTS, "seconds", "error")}}
        for started, report in kept
    ]


def _tell_runs(runs: list[dict[str, Any]], console: Console) -> None:
    for run in runs[:SHOWN_RUNS]:
        did = ", ".join(f"{run[key]:,} {key}" for key in _COUNTS if run[key]) or "nothing there"
        why = f"; stopped: {printable(run['error'])}" if run["error"] else ""
        console.say(f"  {run['started']}: {did} ({run['seconds']:.1f} s){why}")


def _next(brain: OpenBrain, name: str) -> dict[str, Any]:
    """Say when a schedule syncs the source next, and whether that is late: it is not while it is being synced."""
    source = brain.sources.by_name.get(name)
    if source is None or source.keys.schedule() is None:
        return {}
    moment = brain.state.ledger(name).next_run()
    beat = last_beat(brain.config.data)
    late = is_overdue(moment, time.time()) and (beat is None or name not in beat.syncing)
    return {"next_sync": printed(moment) if moment is not None else None, "overdue": late}


def _aside(aside: Aside) -> dict[str, Any]:
    return {
        "key": aside.key,
        "error": aside.error,
        "advice": aside.advice,
        "attempts": aside.attempts,
        "since": printed(aside.since),
        "next_try": printed(aside.next_try),
    }


def _tell(standing: dict[str, Any], console: Console, *, whole: bool) -> None:
    name = printable(standing["name"])
    synced = f"last synced {standing['last_sync']}" if standing["last_sync"] else "no sync finished yet"
    gone = "" if standing["configured"] else f"; no longer configured, `brain forget {name}` removes it"
    following = f", next {standing['next_sync']}" if standing["next_sync"] else ""
    if standing["overdue"]:
        following = f", overdue since {standing['next_sync']}: `brain run` keeps its schedule"
    console.say(f"{name}: {counted(standing['documents'], 'document')}, {synced}{following}{gone}")
    if standing["error"]:
        since = f"failing since {standing['failing_since']}: " if standing["failing_since"] else ""
        console.say(f"  {since}{printable(standing['error'])}")
    asides = standing["set_aside"]
    for aside in asides if whole else asides[:SHOWN_ASIDES]:
        reason = f"{aside['error']}; {aside['advice']}".rstrip("; ")
        tries = f"tried {counted(aside['attempts'], 'time')}, next {aside['next_try']}"
        console.say(f"  set aside: {printable(aside['key'])}: {printable(reason)} ({tries})")
    if not whole and len(asides) > SHOWN_ASIDES:
        console.say(f"  and {len(asides) - SHOWN_ASIDES:,} more; `brain status {name}` shows them")
