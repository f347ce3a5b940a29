"""Prints how an engine does: `python -m corebrain.conformance ENGINE`.

Exit status: 0 every check passed, 1 one did not, 2 there is no such engine.
"""

import argparse
import contextlib
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.conformance.doubles.served import ServedDouble
from corebrain.conformance.errors import EngineFailed
from corebrain.conformance.loading import load_engine
from corebrain.conformance.suite import run_all
from corebrain.contract import MemoryEngine
from corebrain.engines.registry import build_engine, list_engines
from corebrain.errors import CorebrainError

_STAND_INS: dict[str, Callable[[], ServedDouble]] = {"cortexdb": DirectDouble, "tinyhumans": HostedDouble}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run every check, print the report, and return the exit status."""
    parser = argparse.ArgumentParser(
        prog="python -m corebrain.conformance",
        description="Hold a memory engine to the contract: every check, and what it found.",
        epilog="Run it only on a memory that may be lost: an engine that breaks the contract may do anything to it.",
    )
    kinds = ", ".join(list_engines())
    parser.add_argument(
        "engine",
        help=f"one of {kinds}, or module:factory, called without arguments; servers are stand-ins on this machine",
    )
    parser.add_argument("--json", action="store_true", help="print the report as one JSON object")
    options = parser.parse_args(arguments)
    try:
        with _opened(options.engine) as engine:
            report = run_all(engine)
    except CorebrainError as error:
        print(error, file=sys.stderr)
        return 2
    except EngineFailed as error:
        print(error, file=sys.stderr)
        return 1
    print(json.dumps({"ok": report.ok, **report.to_dict()}, indent=2) if options.json else report.text())
    return 0 if report.ok else 1


@contextlib.contextmanager
def _opened(name: str) -> Iterator[MemoryEngine]:
    """Make the engine and close it; a folder or a stand-in that it needs goes with it."""
    if ":" in name:
        with load_engine(name) as engine:
            yield engine
        return
    with contextlib.ExitStack() as until_the_end:
        settings: dict[str, object] = {}
        if name == "local":
            folder = until_the_end.enter_context(tempfile.TemporaryDirectory(prefix="corebrain-conformance-"))
            settings = {"path": Path(folder) / "memory.db"}
        elif name in _STAND_INS:
            double = until_the_end.enter_context(_STAND_INS[name]())
            settings = {"credential": TOKEN, "endpoint": double.endpoint}
        yield until_the_end.enter_context(build_engine(name, **settings))


if __name__ == "__main__":
    sys.exit(main())
