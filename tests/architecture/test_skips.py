"""In CI a skip needs a reason that stands in `tests/skips.txt`; a run that skips in silence is red."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    shutil.copy(TESTS / "conftest.py", tmp_path)
    (tmp_path / "skips.txt").write_text("# known\nno token here\nneeds the program …\n")
    return tmp_path


def run(suite: Path, body: str, **environment: str) -> subprocess.CompletedProcess[str]:
    (suite / "test_one.py").write_text(f"import pytest\n\n{body}\n")
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir", str(suite), str(suite)],
        env={**{name: value for name, value in os.environ.items() if name != "CI"}, **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=suite,
    )


def skipping(*reasons: str) -> str:
    return "\n\n".join(f"def test_{number}() -> None:\n    pytest.skip({why!r})" for number, why in enumerate(reasons))


def test_a_known_reason_passes_in_ci(suite: Path) -> None:
    assert run(suite, skipping("no token here", "needs the program pandoc"), CI="true").returncode == 0


def test_an_unknown_reason_fails_in_ci_and_is_named(suite: Path) -> None:
    reasons = ["no token", "no token here today", "Needs the program pandoc", "# known"]
    ran = run(suite, skipping("no token here", *reasons), CI="true")
    assert ran.returncode == 1
    named = [line.rpartition("allow: ")[2] for line in ran.stdout.splitlines() if "does not allow" in line]
    assert named == sorted(reasons)


def test_an_unknown_reason_is_only_named_elsewhere(suite: Path) -> None:
    ran = run(suite, skipping("because"))
    assert ran.returncode == 0
    assert "tests/skips.txt does not allow: because" in ran.stdout


@pytest.mark.parametrize(
    "body",
    [
        "@pytest.mark.skip(reason='because')\ndef test_it() -> None: ...",
        "pytest.skip('because', allow_module_level=True)",
        "@pytest.mark.skipif(True, reason='because')\nclass TestIt:\n    def test_it(self) -> None: ...",
        "@pytest.fixture\ndef a() -> None:\n    pytest.skip('because')\n\ndef test_it(a: None) -> None: ...",
    ],
)
def test_every_way_to_skip_counts(suite: Path, body: str) -> None:
    assert run(suite, body + "\n\ndef test_other() -> None: ...", CI="true").returncode == 1


def test_the_long_profile_is_an_option_away(suite: Path) -> None:
    body = "from hypothesis import settings\n\ndef test_it() -> None:\n    assert settings().max_examples == 60"
    assert run(suite, body).returncode == 0
    assert run(suite, body.replace("60", "5_000")).returncode == 1
