"""OpenTelemetry metrics of syncs, recorded where the process has OpenTelemetry loaded (extra `[otel]`).

A host sets its meter provider, or the command is started by `opentelemetry-instrument`; in every other process nothing
is imported and nothing recorded. Instruments, all with the attribute `corebrain.source`:

- `corebrain.sync.runs` {run}, with `corebrain.ok`; `corebrain.sync.duration` s
- `corebrain.sync.documents` {document}, with `corebrain.outcome`: new, changed, moved, unchanged, gone
- `corebrain.sync.items` {item}, with `corebrain.outcome`: stored, forgotten
- `corebrain.sync.requests` {request}; `corebrain.sync.fetched` By
- `corebrain.sync.set_aside` {document}: how many are set aside now
"""

import sys
from typing import Any

from pipeline.report import SourceReport

_METER = "corebrain"
_DOCUMENTS = ("new", "changed", "moved", "unchanged", "gone")
_ITEMS = ("stored", "forgotten")


def record(report: SourceReport) -> None:
    """Record one source's sync; a no-op without OpenTelemetry."""
    telemetry: Any = sys.modules.get("opentelemetry.metrics")
    if telemetry is None:
        return
    meter = telemetry.get_meter(_METER)  # instruments of one name are one: the provider keeps them
    source = {"corebrain.source": report.name}

    def count(name: str, unit: str, amount: int, **more: str | bool) -> None:
        attributes = {**source, **{f"corebrain.{key}": value for key, value in more.items()}}
        meter.create_counter(f"corebrain.sync.{name}", unit=unit).add(amount, attributes)

    count("runs", "{run}", 1, ok=report.error is None)
    for outcome in _DOCUMENTS:
        count("documents", "{document}", getattr(report, outcome), outcome=outcome)
    for outcome in _ITEMS:
        count("items", "{item}", getattr(report, outcome), outcome=outcome)
    count("requests", "{request}", report.requests)
    count("fetched", "By", report.bytes_fetched)
    meter.create_histogram("corebrain.sync.duration", unit="s").record(report.seconds, source)
    meter.create_gauge("corebrain.sync.set_aside", unit="{document}").set(len(report.set_aside), source)
