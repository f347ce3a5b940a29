"""`brain context`: what an agent should know when it starts, printed or written to a file."""

from argparse import Namespace

from corebrain.context import DEFAULT_BUDGET
from pipeline.assembly import OpenBrain
from pipeline.brief import brief, check_place, write
from pipeline.cli.console import Console
from pipeline.cli.printable import lines, printable
from pipeline.cli.reading import configured, never_synced
from pipeline.source_set import SourceSet


def run(options: Namespace, console: Console) -> int:
    """Print or write context.md."""
    config = configured(options)
    never_synced(config, console)
    sources = SourceSet(config)
    if options.write is not None:
        check_place(options.write, sources.connectors)
    with OpenBrain(sources, trial=True) as brain:
        layout = brain.sources.layout()
        document = brief(brain.engine, layout, agent=options.agent, budget=options.budget or DEFAULT_BUDGET)
    if document.failed:
        console.failed("; ".join(f"{section.heading}: {section.reason}" for section in document.failed))
        return 1
    if not document.markdown:
        console.note("memory holds nothing to brief an agent on yet")
    if options.write is not None:
        write(document, options.write)
        console.say(f"wrote {printable(str(options.write))}, {document.tokens:,} tokens")
    elif document.markdown:
        console.say(lines(document.markdown).rstrip("\n"))
    console.answer(**document.to_dict(), file=str(options.write) if options.write else None)
    return 0
