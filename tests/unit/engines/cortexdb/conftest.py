"""A double on loopback and engines that talk to it without long waits."""

from collections.abc import Callable, Iterator

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.timing import Timing


@pytest.fixture
def timing() -> Timing:
    """The waits of tests."""
    return Timing(backoff_s=0.002, poll_s=0.002, slow_poll_s=0.004, listed_s=0.1, ranked_s=0.1, erased_s=0.1)


@pytest.fixture
def double() -> Iterator[DirectDouble]:
    """A server of its own for each test."""
    with DirectDouble() as served:
        yield served


@pytest.fixture
def make(double: DirectDouble, timing: Timing) -> Iterator[Callable[..., CortexEngine]]:
    """Make engines of the double; all are closed afterwards."""
    made: list[CortexEngine] = []

    def made_with(credential: str | Credential = TOKEN, **settings: object) -> CortexEngine:
        made.append(CortexEngine(credential, double.endpoint, **{"timing": timing, **settings}))  # type: ignore[arg-type]  # settings by name, as tests give them
        return made[-1]

    yield made_with
    for engine in made:
        engine.close()


@pytest.fixture
def engine(make: Callable[..., CortexEngine]) -> CortexEngine:
    """An engine of the double."""
    return make()
