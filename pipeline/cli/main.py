"""The command `brain`: reads the command line, runs the verb, turns every foreseen error into one line."""

import importlib
import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext

from pipeline.cli.arguments import UsageError, parser
from pipeline.cli.console import Console

OK, FAILED, WRONG, INTERRUPTED = 0, 1, 2, 130


def entry() -> None:
    """Run the command line of this process and end it with the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    sys.exit(main(sys.argv[1:]))


def main(arguments: Sequence[str]) -> int:
    """Run one command line.

    Returns:
        The exit status: 0 all well, 1 a source or the engine failed, 2 the command, config or state is wrong, 130
        interrupted.
    """
    console = Console(as_json="--json" in arguments)
    try:
        options = parser().parse_args(arguments)
    except UsageError as error:
        console.failed(str(error))
        return WRONG
    except SystemExit:  # --help was printed
        return OK
    if options.version:
        return _version(console)
    if options.verb is None:
        parser().print_help()
        return WRONG
    try:
        status = _run(options, console)
        sys.stdout.flush()
    except BrokenPipeError:  # the reader of our output has seen enough; nothing more may be flushed into it
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except KeyboardInterrupt:
        console.failed("interrupted; run the command again")
        return INTERRUPTED
    return status


def _version(console: Console) -> int:
    from importlib.metadata import PackageNotFoundError, version  # noqa: PLC0415 - takes time, and only this needs it

    try:
        console.say(f"corebrain {version('corebrain')}")
    except PackageNotFoundError:
        console.say("corebrain from a checkout")
    return OK


def _logs(options: Namespace, console: Console) -> AbstractContextManager[None]:
    """Show what is logged, of verbs that log and when it is asked for."""
    if not (getattr(options, "verbose", False) or getattr(options, "log_json", False)):
        return nullcontext()
    from pipeline.cli import logs  # noqa: PLC0415 - takes time, and only this needs it

    return logs.shown(options, console)


def _run(options: Namespace, console: Console) -> int:
    """Run the verb's module; errors that a person can act on end in one line."""
    failures = importlib.import_module("pipeline.cli.failures")
    try:
        verb = importlib.import_module(f"pipeline.cli.{options.verb}")
        with _logs(options, console):
            status: int = verb.run(options, console)
    except failures.FORESEEN as error:
        if options.debug or isinstance(error, BrokenPipeError):
            raise
        console.failed(failures.told(error))
        return int(failures.status_of(error))
    return status
