"""`brain restore`: makes memory and state what a backup holds."""

import time
from argparse import Namespace

from pipeline.archive import restore
from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.cli.reading import configured


def run(options: Namespace, console: Console) -> int:
    """Restore the backup."""
    done = restore(configured(options), options.file, time.time())
    console.say(f"restored what {printable(str(options.file))} held at {printable(done.made)}")
    for path in done.kept:
        console.say(f"what was there is kept in {printable(str(path))}; delete it when you are sure")
    console.answer(file=str(options.file), made=done.made, kept=[str(path) for path in done.kept])
    return 0
