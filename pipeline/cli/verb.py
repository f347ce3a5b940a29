"""What a verb of the command line is, and the arguments that several share. Imports nothing that takes time."""

import argparse
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verb:
    """One verb; its module below `pipeline.cli` runs it.

    Attributes:
        name: What is typed.
        help: One line for `brain --help`.
        text: What it does, for `brain VERB --help`.
        examples: Command lines, each with what it is for.
        add: Adds its arguments.
    """

    name: str
    help: str
    text: str
    examples: tuple[tuple[str, str], ...]
    add: Callable[[argparse.ArgumentParser], None]


def add_json(to: argparse.ArgumentParser) -> None:
    """Add `--json`."""
    to.add_argument("--json", action="store_true", help="print one JSON object")


def positive(text: str) -> int:
    """Read a number from 1 up."""
    number = int(text) if text.isascii() and text.isdigit() else 0
    if number < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is no number from 1 up")
    return number
