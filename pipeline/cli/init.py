"""`brain init`: writes a commented `brain.toml`."""

from argparse import Namespace
from pathlib import Path

from pipeline.cli.console import Console
from pipeline.cli.printable import printable
from pipeline.config.load import FILE_NAME
from pipeline.config.template import TEMPLATE
from pipeline.errors import SetupError


def run(options: Namespace, console: Console) -> int:
    """Write the file, say what to do next and what leaves this machine."""
    file: Path = options.config or Path(FILE_NAME)
    try:
        with file.open("x", encoding="utf-8") as fresh:
            fresh.write(TEMPLATE)
    except FileExistsError:
        raise SetupError(
            f"{file} exists already and is left as it is; edit it, or name another with --config"
        ) from None
    except OSError as error:
        raise SetupError(
            f"cannot write {file}: {(error.strerror or str(error)).lower()}; name another place"
        ) from error
    console.say(f"wrote {printable(str(file))}")
    console.say()
    console.say("next:")
    console.say("  brain add files ~/Documents    add a folder, as often as you like")
    console.say("  brain sync                     read it into the brain")
    console.say('  brain search "some words"      find it again')
    console.say()
    console.say("what leaves this machine: nothing. Documents are read here, and memory is one file in .brain.")
    console.answer(file=str(file), leaves_this_machine=[])
    return 0
