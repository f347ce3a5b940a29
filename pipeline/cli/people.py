"""`brain forget --agent`: what an agent was told in its conversations."""

import re
import sys
from argparse import Namespace

from corebrain.lifecycle import AgentMemory, forget_history
from corebrain.model.instant import Instant
from pipeline.assembly import OpenBrain, memory_file
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import configured, never_synced
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet

_DAY = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def run(options: Namespace, console: Console) -> int:
    """Forget an agent's turns, and the learnings that builds distilled from them; asks first."""
    if options.name is not None:
        raise SetupError("forget a source or an agent, not both at once: leave one of NAME and --agent out")
    before = _moment(options.before)
    config = configured(options)
    if never_synced(config, console):
        console.answer(agent=options.agent, forgotten=0)
        return 0
    with OpenBrain(SourceSet(config)) as brain:
        agent = AgentMemory(brain.engine, brain.sources.layout(), options.agent)
        whose = f"of {printable(agent.agent_id)}"
        if options.dry_run or not options.yes:
            held = forget_history(agent, options.thread, before, dry_run=True).forgotten
            if options.dry_run:
                console.say(f"would forget {counted(held, 'item')} {whose}")
                console.answer(agent=agent.agent_id, forgotten=0, would_forget=held, dry_run=True)
                return 0
            if not _agreed(f"forget {counted(held, 'item')} {whose}? This cannot be undone. [y/N]", console):
                console.failed("nothing was forgotten")
                return 1
        forgotten = forget_history(agent, options.thread, before).forgotten
    left = "; `brain optimize` makes it unreadable in the file too" if forgotten and memory_file(config) else ""
    console.say(f"forgot {counted(forgotten, 'item')} {whose}{left}")
    console.answer(agent=agent.agent_id, forgotten=forgotten)
    return 0


def _moment(text: str | None) -> Instant | None:
    """Read a day, from its beginning in UTC, or a time of RFC 3339; `InvalidRequest` when it is neither."""
    if text is None:
        return None
    return Instant.parse(f"{text}T00:00:00Z" if _DAY.fullmatch(text) else text)


def _agreed(question: str, console: Console) -> bool:
    if console.as_json or not sys.stdin.isatty():
        raise SetupError("forgetting an agent's conversations needs a yes; repeat it with --yes")
    console.note(question)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
