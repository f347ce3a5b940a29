"""CortexDB passes every check, spoken to over a real connection."""

from collections.abc import Iterator

import pytest

from corebrain import conformance
from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.timing import Timing

QUICK = Timing(backoff_s=0.005, poll_s=0.005, slow_poll_s=0.005, ranked_s=2.0)


@pytest.fixture
def double() -> Iterator[DirectDouble]:
    with DirectDouble() as served:
        yield served


@pytest.mark.parametrize("scope_root", ["", "org:42"])
def test_cortexdb_passes_every_check_and_ends_empty(double: DirectDouble, scope_root: str) -> None:
    with CortexEngine(TOKEN, double.endpoint, scope_root=scope_root, timing=QUICK) as engine:
        conformance.run(engine)
    assert double.log.events == []


def test_cortexdb_passes_each_check_alone(double: DirectDouble) -> None:
    with CortexEngine(TOKEN, double.endpoint, timing=QUICK) as engine:
        report = conformance.run_all(engine)
    assert report.failed == ()
    assert all(outcome.assertions > 0 for outcome in report.outcomes)
