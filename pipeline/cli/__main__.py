"""`python -m pipeline.cli`: the command `brain`."""

from pipeline.cli.main import entry

entry()
