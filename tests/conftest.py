"""Settings of the whole test run: how long properties are tried, and which skips are allowed in CI."""

import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

ALLOWED_SKIPS = Path(__file__).with_name("skips.txt")
"""Reasons for which a test may be skipped in CI, one a line; a line that ends in `…` allows what begins so."""

settings.register_profile("ci", max_examples=60, deadline=None, derandomize=True)
settings.register_profile(
    "long", max_examples=5_000, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--properties", choices=["ci", "long"], default="ci", help="how long properties are tried")


def pytest_configure(config: pytest.Config) -> None:
    settings.load_profile(str(config.getoption("--properties")))


def allowed(reason: str) -> bool:
    """Whether *reason* stands in the file of skips."""
    lines = [line.strip() for line in ALLOWED_SKIPS.read_text(encoding="utf-8").splitlines()]
    known = [line for line in lines if line and not line.startswith("#")]
    return any(reason.startswith(line[:-1]) if line.endswith("…") else reason == line for line in known)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for reason in _new_skips(terminalreporter):
        terminalreporter.write_line(f"a skip that tests/skips.txt does not allow: {reason}", red=True)


def pytest_sessionfinish(session: pytest.Session) -> None:
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if os.environ.get("CI") and isinstance(reporter, pytest.TerminalReporter) and _new_skips(reporter):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def _new_skips(reporter: pytest.TerminalReporter) -> list[str]:
    reasons = set()
    for report in reporter.stats.get("skipped", []):
        if isinstance(report.longrepr, tuple):
            reasons.add(str(report.longrepr[2]).removeprefix("Skipped: "))
    return sorted(reason for reason in reasons if not allowed(reason))
