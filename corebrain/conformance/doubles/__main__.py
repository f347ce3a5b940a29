"""Serves a stand-in for CortexDB until interrupted: `python -m corebrain.conformance.doubles direct`.

Prints its address first. It accepts one token, `tiny_live_test`, and forgets everything when it ends.
"""

import argparse
import contextlib
import sys
import threading
from collections.abc import Callable, Sequence

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.served import ServedDouble

SURFACES: dict[str, Callable[[int], ServedDouble]] = {"direct": DirectDouble, "hosted": HostedDouble}


def main(arguments: Sequence[str] | None = None) -> int:
    """Serve one surface; returns 0 once interrupted."""
    parser = argparse.ArgumentParser(prog="python -m corebrain.conformance.doubles", description=__doc__.split(":")[0])
    parser.add_argument("surface", choices=SURFACES)
    parser.add_argument("--port", type=int, default=0, help="0 takes a free one")
    parser.add_argument("--delay-ms", type=int, default=0, help="what every request takes beside its work")
    parser.add_argument("--index-ms", type=int, default=0, help="until what was only accepted can be read")
    options = parser.parse_args(arguments)
    with SURFACES[options.surface](options.port) as double:
        double.knobs.delay_ms = options.delay_ms
        double.knobs.index_ms = options.index_ms
        sys.stdout.write(f"{double.endpoint}\n")
        sys.stdout.flush()
        with contextlib.suppress(KeyboardInterrupt):
            threading.Event().wait()
    return 0


if __name__ == "__main__":
    sys.exit(main())
