"""What syncs log, and what they record for OpenTelemetry."""

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from opentelemetry import metrics as telemetry
from opentelemetry import trace as tracing
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import InMemoryMetricReader
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import StatusCode

from connectors.errors import AuthError, DocumentRefused
from connectors.testing.scripted import ScriptedConnector

TWO = {"a.md": "# A\n\nAlpha.", "b.md": "# B\n\nBeta."}


def events(caplog: pytest.LogCaptureFixture) -> list[dict[str, Any]]:
    """The events logged since the last look."""
    found = [vars(record)["event"] for record in caplog.records if record.name == "corebrain.sync"]
    caplog.clear()
    return found


def outcomes(found: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {(event["key"], event["outcome"]) for event in found if event["event"] == "item"}


def test_every_document_is_one_event_and_every_source_a_line(bench: Any, caplog: pytest.LogCaptureFixture) -> None:
    source = ScriptedConnector({**TWO, "c.md": "# C\n\nGamma.", "d.md": "# D\n\nDelta."})
    source.faults.poison("b.md", DocumentRefused("b.md is locked", "unlock it"))
    with caplog.at_level(logging.DEBUG, "corebrain"):
        bench.sync(source)
        first = events(caplog)
        source.put("a.md", "# A\n\nAleph.")
        source.put("c.md", "# C\n\nGamma.")
        source.remove("d.md")
        source.rename("a.md", "e.md")
        source.put("a.md", "# A\n\nAnother.")
        bench.sync(source)
        second = events(caplog)
    assert outcomes(first) == {("a.md", "new"), ("b.md", "set aside"), ("c.md", "new"), ("d.md", "new")}
    assert [event.get("error") for event in first if event.get("key") == "b.md"] == ["b.md is locked"]
    assert outcomes(second) == {("a.md", "changed"), ("e.md", "new"), ("c.md", "unchanged"), ("d.md", "gone")}
    assert len(second) == len(outcomes(second)) + 1
    (told,) = (event for event in first if event["event"] == "source")
    assert (told["name"], told["new"], told["set_aside"], told["error"]) == ("scripted", 3, 1, None)


def test_info_is_one_line_a_source(bench: Any, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, "corebrain"):
        bench.sync(ScriptedConnector(TWO))
    assert [record.getMessage().partition(" (")[0] for record in caplog.records] == ["scripted: 2 new"]


# -- metrics


@pytest.fixture
def reader(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemoryMetricReader]:
    """What is recorded, as the SDK sees it."""
    reader = InMemoryMetricReader()
    provider = MeterProvider([reader], shutdown_on_exit=False)
    monkeypatch.setattr(telemetry, "get_meter", provider.get_meter)
    yield reader
    provider.shutdown()


def recorded(reader: InMemoryMetricReader) -> dict[tuple[str, str], Any]:
    """Name and outcome of every point -> its value."""
    data = reader.get_metrics_data()
    assert data is not None
    found: dict[tuple[str, str], Any] = {}
    for metric in data.resource_metrics[0].scope_metrics[0].metrics:
        for point in metric.data.data_points:
            attributes = dict(point.attributes or {})
            assert attributes.pop("corebrain.source") == "scripted"
            found[metric.name, str(next(iter(attributes.values()), ""))] = getattr(point, "value", None) or getattr(
                point, "count", 0
            )
    return found


def test_a_sync_is_recorded_where_opentelemetry_is_loaded(bench: Any, reader: InMemoryMetricReader) -> None:
    source = ScriptedConnector(TWO)
    source.faults.poison("b.md", DocumentRefused("b.md is locked", "unlock it"))
    bench.sync(source)
    source.put("a.md", "# A\n\nAleph.")
    bench.sync(source)
    found = recorded(reader)
    assert found["corebrain.sync.runs", "True"] == found["corebrain.sync.duration", ""] == 2
    assert found["corebrain.sync.documents", "new"] == found["corebrain.sync.documents", "changed"] == 1
    assert (found["corebrain.sync.items", "stored"], found["corebrain.sync.items", "forgotten"]) == (2, 1)
    assert found["corebrain.sync.set_aside", ""] == 1


# -- traces


@pytest.fixture
def spans(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """Every span that ended, as the SDK sees it."""
    exporter = InMemorySpanExporter()
    provider = TracerProvider(shutdown_on_exit=False)
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    monkeypatch.setattr(tracing, "get_tracer", provider.get_tracer)
    yield exporter
    provider.shutdown()


def test_a_sync_is_a_trace_of_its_steps(bench: Any, spans: InMemorySpanExporter) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    found = {span.name: span for span in spans.get_finished_spans()}
    whole = found["corebrain.sync"]
    assert whole.parent is None
    told = dict(whole.attributes or {})
    assert (told["corebrain.source"], told["corebrain.new"], told["corebrain.set_aside"]) == ("scripted", 2, 0)
    assert whole.status.status_code is StatusCode.UNSET
    for step in ("scan", "store", "forget"):
        assert found[f"corebrain.sync.{step}"].parent == whole.get_span_context()
    batch = found["corebrain.sync.batch"]
    assert batch.parent == found["corebrain.sync.store"].get_span_context()
    assert dict(batch.attributes or {}) == {"corebrain.items": 2}


def test_a_sync_that_failed_is_a_trace_that_says_so(bench: Any, spans: InMemorySpanExporter) -> None:
    source = ScriptedConnector(TWO)
    source.faults.fail("", AuthError("the token is refused"))
    bench.sync(source)
    (whole,) = (span for span in spans.get_finished_spans() if span.name == "corebrain.sync")
    assert (whole.status.status_code, whole.status.description) == (StatusCode.ERROR, "the token is refused")


def test_without_opentelemetry_nothing_of_it_is_imported() -> None:
    code = (
        "import sys\n"
        "from pipeline import metrics, traces\n"
        "from pipeline.report import SourceReport\n"
        "report = SourceReport(name='a', source='files')\n"
        "metrics.record(report)\n"
        "with traces.span('sync', source='a') as span:\n"
        "    traces.tell(span, report)\n"
        "sys.exit('opentelemetry' in sys.modules)\n"
    )
    subprocess.run([sys.executable, "-c", code], cwd=Path(__file__).parents[3], check=True)
