"""A double on loopback and engines that talk to it without long waits; both wires, for what must hold on each."""

from collections.abc import Callable, Iterator

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.conformance.doubles.served import ServedDouble
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.writer import CortexWriter


@pytest.fixture
def timing() -> Timing:
    """The waits of tests: short gaps, and ends that a busy machine does not reach."""
    return Timing(backoff_s=0.002, poll_s=0.002, slow_poll_s=0.004, ranked_s=0.1)


@pytest.fixture
def double() -> Iterator[DirectDouble]:
    """A Direct server of its own for each test."""
    with DirectDouble() as served:
        yield served


@pytest.fixture
def hosted() -> Iterator[HostedDouble]:
    """A hosted server of its own for each test."""
    with HostedDouble() as served:
        yield served


@pytest.fixture
def make(double: DirectDouble, timing: Timing) -> Iterator[Callable[..., CortexEngine]]:
    """Make engines of the Direct double; all are closed afterwards."""
    made: list[CortexEngine] = []

    def made_with(credential: str | Credential = TOKEN, **settings: object) -> CortexEngine:
        made.append(CortexEngine(credential, double.endpoint, **{"timing": timing, **settings}))  # type: ignore[arg-type]  # settings by name, as tests give them
        return made[-1]

    yield made_with
    for engine in made:
        engine.close()


@pytest.fixture
def engine(make: Callable[..., CortexEngine]) -> CortexEngine:
    """An engine of the Direct double."""
    return make()


@pytest.fixture
def make_hosted(hosted: HostedDouble, timing: Timing) -> Iterator[Callable[..., TinyHumansEngine]]:
    """Make engines of the hosted double; all are closed afterwards."""
    made: list[TinyHumansEngine] = []

    def made_with(credential: str | Credential = TOKEN, **settings: object) -> TinyHumansEngine:
        made.append(TinyHumansEngine(credential, hosted.endpoint, **{"timing": timing, **settings}))  # type: ignore[arg-type]  # settings by name, as tests give them
        return made[-1]

    yield made_with
    for engine in made:
        engine.close()


Wire = tuple[CortexWriter, ServedDouble]
"""An engine and the server it talks to."""


@pytest.fixture(params=["direct", "hosted"])
def wire(request: pytest.FixtureRequest) -> Wire:
    """Both wires, one after the other."""
    if request.param == "direct":
        return request.getfixturevalue("make")(), request.getfixturevalue("double")
    return request.getfixturevalue("make_hosted")(), request.getfixturevalue("hosted")
