"""`--verbose` and `--log-json`: what a sync logs, on standard error."""

import json
import logging
import sys
from argparse import Namespace
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from pipeline.cli.console import Console
from pipeline.cli.printable import printable


@contextmanager
def shown(options: Namespace, console: Console) -> Iterator[None]:
    """Log as the command line asks until the context ends; progress makes way for it."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines() if options.log_json else _Plain("%(asctime)s %(levelname)s %(message)s"))
    logger = logging.getLogger("corebrain")
    level = logger.level
    logger.setLevel(logging.DEBUG if options.verbose else logging.INFO)
    logger.addHandler(handler)
    console.tells_progress = False
    try:
        yield
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)


class JsonLines(logging.Formatter):
    """One JSON object a line: `at` (RFC 3339, UTC), `level`, `message`, and the fields of the event."""

    def format(self, record: logging.LogRecord) -> str:
        moment = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        told = {"at": moment.replace("+00:00", "Z"), "level": record.levelname.lower(), "message": record.getMessage()}
        return json.dumps({**told, **getattr(record, "event", {})})


class _Plain(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        return printable(super().format(record))
