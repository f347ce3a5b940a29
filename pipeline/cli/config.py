"""`brain config`: the JSON Schema of `brain.toml`, and what is configured."""

import json
from argparse import Namespace

import tomlkit

from pipeline.cli.console import Console
from pipeline.cli.printable import lines
from pipeline.config.load import load
from pipeline.config.schema import json_schema
from pipeline.config.show import resolved


def run(options: Namespace, console: Console) -> int:
    """Print the schema or the configuration."""
    if options.action == "schema":
        print(json.dumps(json_schema(), indent=2))
        return 0
    config = load(options.config)
    shown = resolved(config)
    console.say(f"# {config.file or 'no brain.toml here or above: the defaults'}")
    console.say(lines(tomlkit.dumps(shown)).rstrip())
    console.answer(file=str(config.file) if config.file else None, config=shown)
    return 0
