"""`brain mcp`: the memory tools for agents, read-only, at the scope the configuration fixes."""

import importlib.util
import json
import sys
from argparse import Namespace
from pathlib import Path

from corebrain.model.namespace import Reach
from corebrain.tools import MemoryTools
from pipeline.assembly import OpenBrain, was_synced
from pipeline.cli.console import Console
from pipeline.config.load import found_from, load, reading_only, without_sources
from pipeline.config.models import Config
from pipeline.config.variables import asked_in
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet

NAME = "corebrain"
"""What the server is called in a client's configuration."""


def run(options: Namespace, console: Console) -> int:
    """Serve until the client closes our input; with --print-config, print what a client needs."""
    if options.print_config:
        entry = _client_config(options)
        print(json.dumps({"mcpServers": {NAME: entry}}, indent=2))
        if "env" in entry:
            console.note("fill in env: clients start `brain mcp` with an environment of their own")
        return 0
    config = _config(options)
    if importlib.util.find_spec("mcp") is None:
        raise SetupError('`brain mcp` needs the MCP library: run pip install "corebrain[mcp]"')
    if not was_synced(config):
        raise SetupError(f"nothing was synced yet in {config.folder}; run `brain sync` before agents read")
    from pipeline.serve.mcp import serve  # noqa: PLC0415 - brings an HTTP stack, and only this needs it

    with OpenBrain(SourceSet(config)) as brain:
        root = config.root_of()
        serve(MemoryTools(brain.engine).placed_at(root).reach(Reach.subtree(root)).read_only())
    del console  # standard output belongs to the protocol
    return 0


def _config(options: Namespace) -> Config:
    """Return the configuration, without its sources when those cannot be set up here.

    Agent clients start us with an environment of their own, where the tokens of sources are not; reading needs none.
    """
    try:
        return load(options.config)
    except SetupError:
        return reading_only(options.config)


def _client_config(options: Namespace) -> dict[str, object]:
    file = options.config or found_from(Path.cwd())
    if file is None:
        raise SetupError("agent clients need a brain.toml to name; run `brain init` here first")
    program = Path(sys.executable).with_name("brain")
    command = [str(program)] if program.exists() else [sys.executable, "-m", "pipeline.cli"]
    arguments = [*command[1:], "mcp", "--config", str(Path(file).absolute())]
    entry: dict[str, object] = {"command": command[0], "args": arguments}
    tables = [table for table in without_sources(Path(file)).values() if isinstance(table, dict)]
    asked = dict.fromkeys(name for table in tables for name in asked_in(table))
    return {**entry, "env": {name: f"the value of {name}" for name in asked}} if asked else entry
