"""The verbs that serve agents: `context` and `mcp`."""

import argparse
from pathlib import Path

from pipeline.cli.verb import Verb, add_json, positive


def _context(to: argparse.ArgumentParser) -> None:
    to.add_argument("--agent", metavar="A", help="what this agent was told, with what is shared (default: everything)")
    to.add_argument("--budget", type=positive, metavar="N", help="at most N tokens, of four characters (default 1500)")
    to.add_argument("--write", type=Path, metavar="FILE", help="write it to FILE instead, whole or not at all")
    add_json(to)


def _mcp(to: argparse.ArgumentParser) -> None:
    to.add_argument("--print-config", action="store_true", help="print what agent clients need to start it, and end")


VERBS = (
    Verb(
        "context",
        "print context.md: what an agent should know when it starts",
        "Print a brief in markdown: who the user is, active work, preferences, recent events and the latest learnings.",
        (
            ("brain context", "of everything below [brain] root"),
            ("brain context --agent support-01 --write context.md", "of one agent, into a file"),
        ),
        _context,
    ),
    Verb(
        "mcp",
        "the memory tools for agents, over MCP",
        "Serve the reading memory tools over standard input and output, by the Model Context Protocol. They reach what"
        "\nlies below [brain] root and change nothing. Needs the extra corebrain[mcp].",
        (("brain mcp --print-config", "what to paste into an agent client"), ("brain mcp", "as clients start it")),
        _mcp,
    ),
)
