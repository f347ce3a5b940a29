"""The verbs that look after a brain: `verify`, `optimize`, `backup`, `restore`."""

import argparse
from pathlib import Path

from pipeline.cli.verb import Verb, add_json


def _verify(to: argparse.ArgumentParser) -> None:
    to.add_argument("name", nargs="?", metavar="NAME", help="one source (default: every one)")
    to.add_argument("--fix", action="store_true", help="mend what differs: read again what is missing, forget the rest")
    to.add_argument("--deep", action="store_true", help="also read and index every item again, and compare")
    add_json(to)


def _backup(to: argparse.ArgumentParser) -> None:
    to.add_argument("file", type=Path, metavar="FILE", help="where to; an earlier backup there is replaced")
    add_json(to)


def _restore(to: argparse.ArgumentParser) -> None:
    to.add_argument("file", type=Path, metavar="FILE", help="what `brain backup` wrote")
    add_json(to)


VERBS = (
    Verb(
        "verify",
        "prove that memory holds what the books say",
        "Check the engine's file, and each source's books against the engine. With --fix, what memory lost is read"
        "\nagain, what no book knows is forgotten, and a state of another root or engine is rebuilt. Exits 1 when"
        "\nsomething differs still.",
        (
            ("brain verify", "look only"),
            ("brain verify handbook --fix", "mend one source"),
            ("brain verify --deep", "take the time"),
        ),
        _verify,
    ),
    Verb(
        "optimize",
        "make the file small, and what was forgotten unreadable",
        "Write the engine's file anew: small, quick to search, and with no byte left of what was forgotten. Needs free"
        "\nroom of twice the file. Reading goes on meanwhile.",
        (("brain optimize", "after forgetting much, or somebody"),),
        add_json,
    ),
    Verb(
        "backup",
        "write memory and state into one file",
        "Write the engine's memory and the state, as they are at one moment, into one file. All goes on meanwhile."
        "\nbrain.toml is not in it: it may hold secrets, keep it yourself.",
        (("brain backup ~/brain-backup.zip", "now"),),
        _backup,
    ),
    Verb(
        "restore",
        "bring back what a backup holds",
        "Make memory and state what they were. What is there now is kept beside it. No sync may be running.",
        (("brain restore ~/brain-backup.zip", "into the brain of this configuration"),),
        _restore,
    ),
)
