"""OpenTelemetry traces of syncs, recorded where the process has OpenTelemetry loaded (extra `[otel]`).

A host sets its tracer provider, or the command is started by `opentelemetry-instrument`; in every other process nothing
is imported and nothing recorded. Each sync of a source is one span, `corebrain.sync`, with the counts of its report as
attributes (`corebrain.new`, …) and an error as its status; below it lie `corebrain.sync.scan`, `corebrain.sync.store`,
with one `corebrain.sync.batch` for each batch the engine is given, and `corebrain.sync.forget`.
"""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pipeline.report import SourceReport

_TRACER = "corebrain"
_COUNTS = ("new", "changed", "moved", "unchanged", "gone", "stored", "forgotten", "requests", "bytes_fetched")


@contextmanager
def span(name: str, **attributes: str | int) -> Iterator[Any]:
    """Run the block in a span below the current one, and yield it; `None` without OpenTelemetry.

    Args:
        name: What is done; `corebrain.` is put before it.
        attributes: What is known of it; `corebrain.` is put before each name.
    """
    telemetry: Any = sys.modules.get("opentelemetry.trace")
    if telemetry is None:
        yield None
        return
    named = {f"corebrain.{key}": value for key, value in attributes.items()}
    with telemetry.get_tracer(_TRACER).start_as_current_span(f"corebrain.{name}", attributes=named) as made:
        yield made


def tell(made: Any, report: SourceReport) -> None:
    """Say in the span of a sync how it ended; nothing without OpenTelemetry."""
    if made is None:
        return
    for count in _COUNTS:
        made.set_attribute(f"corebrain.{count}", getattr(report, count))
    made.set_attribute("corebrain.set_aside", len(report.set_aside))
    if report.error is not None:
        made.set_status(sys.modules["opentelemetry.trace"].StatusCode.ERROR, report.error)
