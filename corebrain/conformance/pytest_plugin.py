"""A pytest plugin: one test per check of the contract, for any engine.

```text
pytest -p corebrain.conformance.pytest_plugin --engine mybrain.engine:make
```

Every test runs alone, in a workspace of its own, on one engine that is made once and closed at the end. `-k
namespaces` runs one check. Without `--engine` the plugin adds nothing.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest

from corebrain.conformance.loading import load_engine
from corebrain.conformance.suite import CHECKS, Check, run_one
from corebrain.contract import MemoryEngine
from corebrain.errors import ConfigError

_ENGINE = pytest.StashKey[MemoryEngine]()


class CheckMissed(Exception):
    """Carries what a check found to the terminal."""


class CheckItem(pytest.Item):
    """The test of one check."""

    check: Check

    def runtest(self) -> None:
        """Run the check; raise when the engine does not pass it."""
        outcome = run_one(self.check, self.config.stash[_ENGINE])
        if not outcome.ok:
            raise CheckMissed(f"{outcome.check} {outcome.state.value}: {outcome.detail}\ndue: {outcome.passes_when}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: object = None) -> str:
        """Say what was found; our own frames would say nothing."""
        del style
        return str(excinfo.value) if excinfo.errisinstance(CheckMissed) else str(excinfo.getrepr())

    def reportinfo(self) -> tuple[Path, None, str]:
        """Name the check."""
        return self.path, None, f"conformance: {self.check.name}"


class Checks(pytest.Collector):
    """All checks of the contract."""

    def collect(self) -> Iterator[CheckItem]:
        """Make a test of each."""
        for check in CHECKS:
            item = CheckItem.from_parent(self, name=check.name)
            item.check = check
            yield item


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--engine`."""
    parser.getgroup("corebrain").addoption(
        "--engine", metavar="MODULE:FACTORY", help="hold the engine that this makes to the contract, one test a check"
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the engine, so that a wrong name is told before anything runs."""
    place = config.getoption("engine")
    if place is None:
        return
    try:
        config.stash[_ENGINE] = load_engine(str(place))
    except ConfigError as error:
        raise pytest.UsageError(f"--engine: {error.message}") from error


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Put the checks before whatever else was collected; first of all hooks, so that `-k` sees them."""
    if _ENGINE in config.stash:
        items[:0] = Checks.from_parent(session, name="conformance", nodeid="conformance").collect()


def pytest_unconfigure(config: pytest.Config) -> None:
    """Close the engine."""
    if _ENGINE in config.stash:
        config.stash[_ENGINE].close()
