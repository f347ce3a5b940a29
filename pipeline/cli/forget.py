"""`brain forget`: removes one source from memory and state."""

import sys
import time
from argparse import Namespace

from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import Reach
from corebrain.model.requests import ForgetTarget, ListRequest
from pipeline.assembly import OpenBrain
from pipeline.cli import people
from pipeline.cli.console import Console
from pipeline.cli.printable import counted, printable
from pipeline.cli.reading import configured
from pipeline.config.complaints import nearest
from pipeline.errors import SetupError
from pipeline.folders import remember
from pipeline.heartbeat import Heartbeat
from pipeline.source_set import SourceSet


def run(options: Namespace, console: Console) -> int:
    """Forget the source's documents; every other source stays whole. With --agent, see `people`."""
    if options.agent is not None:
        return people.run(options, console)
    _check(options)
    config = configured(options)
    name: str = options.name
    with OpenBrain(SourceSet(config), trial=True) as brain:
        criterion = _documents(brain, name)
        if not _is_known(brain, name, criterion):
            raise SetupError(f"there is no source {name!r}; {nearest(name, {*brain.sources.by_name, *brain.books()})}")
        if not options.yes and not _agreed(brain, name, console):
            console.failed("nothing was forgotten")
            return 1
        with Heartbeat(brain.state, name, time.time):
            brain.state.ledger(name).clear()  # first: a crash now leaves documents that a repeated forget finds
            forgotten = brain.engine.forget(ForgetTarget.of_filter(criterion)).forgotten
        if brain.sources.folders.pop(name, None) is not None:
            remember(config, brain.sources.folders.values())
    console.say(f"forgot {counted(forgotten, 'document')} of {printable(name)}")
    if name in config.sources:
        console.say(
            f"[sources.{printable(name)}] still stands in {config.file}: remove it, or the next sync reads it again"
        )
    console.answer(name=name, forgotten=forgotten)
    return 0


def _check(options: Namespace) -> None:
    if options.name is None:
        raise SetupError("name the source to forget, or an agent with --agent")
    if options.thread or options.before or options.dry_run:
        raise SetupError("--thread, --before and --dry-run go with --agent; a source is forgotten whole")


def _documents(brain: OpenBrain, name: str) -> MetaFilter:
    """Return the filter of a source's documents: by its id, below the node they were stored at."""
    node = brain.held_node(name)
    if node is None and name in brain.sources.by_name:
        node = brain.sources.layout(brain.sources.by_name[name]).brain(brain.sources.node(name))
    reach = Reach.subtree(node or brain.sources.layout().root)
    return MetaFilter(reach=reach, kinds=(ItemKind.DOCUMENT,), source_id=name)


def _is_known(brain: OpenBrain, name: str, criterion: MetaFilter) -> bool:
    return (
        name in brain.sources.by_name
        or name in brain.books()
        or bool(brain.engine.list(ListRequest(filter=criterion, limit=1)).items)
    )


def _agreed(brain: OpenBrain, name: str, console: Console) -> bool:
    if console.as_json or not sys.stdin.isatty():
        raise SetupError(f"forgetting {name} needs a yes; repeat it with --yes")
    held = brain.state.ledger(name).held() if name in brain.books() else 0
    console.note(f"forget {counted(held, 'document')} of {printable(name)}? The source itself is not touched. [y/N]")
    return sys.stdin.readline().strip().lower() in {"y", "yes"}
