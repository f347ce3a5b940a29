"""`brain backup`: memory and state of one moment in one file."""

import time
from argparse import Namespace

from pipeline.archive import back_up
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.cli.reading import configured, never_synced
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet


def run(options: Namespace, console: Console) -> int:
    """Write the backup."""
    config = configured(options)
    if never_synced(config, console):
        raise SetupError("there is nothing to back up")
    with OpenBrain(SourceSet(config)) as brain:
        size = back_up(brain, options.file, time.time())
    console.say(f"wrote {printable(str(options.file))}, {size:,} bytes")
    console.answer(file=str(options.file), bytes=size)
    return 0
