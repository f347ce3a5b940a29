"""`brain watch`: syncs, then keeps watching folders."""

from argparse import Namespace

from corebrain.documents.types import DocumentConverter
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.keeping import can_be_watched, keep, named, tended
from pipeline.cli.printable import printable
from pipeline.config.load import load
from pipeline.daemon import Tended
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet, place_of


def run(options: Namespace, console: Console) -> int:
    """Sync what is named, or everything that can be watched, and again whatever changes."""
    sources = SourceSet(load(options.config))
    names = named(sources, options.names)
    deaf = [name for name in names if not can_be_watched(sources, name)]
    if deaf and (options.names or len(deaf) == len(names)):
        raise SetupError(f"{deaf[0]} cannot be watched; give it every or cron, and use `brain run`")
    with OpenBrain(sources) as brain:

        def choose(converter: DocumentConverter) -> list[Tended]:
            return [tended(brain, name, converter, watched=True, scheduled=False) for name in names if name not in deaf]

        for name in names:
            if name in deaf:
                console.note(f"{printable(name)} cannot be watched, it is left out")
            else:
                place = place_of(sources.connectors[name])
                console.note(f"watching {printable(name)}{f' in {printable(place)}' if place else ''}; Ctrl-C ends it")
        return keep(brain, console, choose)
