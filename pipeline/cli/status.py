"""`brain status`: documents, last sync, what is set aside and why."""

from argparse import Namespace
from typing import Any

from pipeline.assembly import OpenBrain, was_synced
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import configured, never_synced
from pipeline.config.complaints import nearest
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet
from pipeline.state.values import Aside
from pipeline.when import printed

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
        jobs = len(brain.state.jobs())
    for standing in stands:
        _tell(standing, console, whole=options.name is not None)
    if jobs:
        console.say(f"{counted(jobs, 'background job')} waiting; `brain jobs run` runs them")
    console.answer(synced=was_synced(config), sources=stands, jobs=jobs)
    return 0


def _standing(brain: OpenBrain, name: str) -> dict[str, Any]:
    source = brain.sources.by_name.get(name)
    standing: dict[str, Any] = {
        "name": name,
        "kind": source.keys.kind if source else None,
        "configured": source is not None,
        "documents": 0,
        "last_sync": None,
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
    }


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
    console.say(f"{name}: {counted(standing['documents'], 'document')}, {synced}{gone}")
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
