"""`brain list`: what is held."""

from argparse import Namespace

from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.cli.reading import SHORT_ID, configured, described, never_synced, pages, wanted
from pipeline.source_set import SourceSet


def run(options: Namespace, console: Console) -> int:
    """List documents."""
    config = configured(options)
    if never_synced(config, console):
        console.answer(documents=[], more=False)
        return 0
    with OpenBrain(SourceSet(config), trial=True) as brain:
        held = pages(brain.engine, wanted(brain, options.source), options.limit + 1)
        shown = [described(brain, hit) for hit in held[: options.limit]]
    for said in shown:
        title = f"  {printable(said['title'])}" if said["title"] else ""
        console.say(f"{said['id'][:SHORT_ID]}  {printable(said['place'])}{title}")
    more = len(held) > options.limit
    if more and not console.as_json:
        console.note(f"there are more; `brain list --limit {options.limit * 10}` shows them")
    if not shown and not console.as_json:
        console.note("nothing is held")
    console.answer(documents=shown, more=more)
    return 0
