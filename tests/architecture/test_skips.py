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


def named(ran: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.rpartition("allow: ")[2] for line in ran.stdout.splitlines() if "does not allow" in line]


def skipping(*reasons: str) -> str:
    return "\n\n".join(f"def test_{number}() -> None:\n    pytest.skip({why!r})" for number, why in enumerate(reasons))


def test_a_known_reason_passes_in_ci(suite: Path) -> None:
    assert run(suite, skipping("no token here", "needs the program pandoc"), CI="true").returncode == 0


def test_an_unknown_reason_fails_in_ci_and_is_named(suite: Path) -> None:
    reasons = ["no token", "no token here today", "Needs the program pandoc", "# known"]
    ran = run(suite, skipping("no token here", *reasons), CI="true")
    assert ran.returncode == 1
    assert named(ran) == sorted(reasons)


def test_an_unknown_reason_is_only_named_elsewhere(suite: Path) -> None:
    ran = run(suite, skipping("because"))
    assert ran.returncode == 0
    assert named(ran) == ["because"]


EVERY_WAY = """
@pytest.mark.skip(reason="by mark")
def test_marked() -> None: ...

@pytest.mark.skipif(True, reason="by condition")
class TestIt:
    def test_it(self) -> None: ...

@pytest.fixture
def absent() -> None:
    pytest.skip("by fixture")

def test_fixture(absent: None) -> None: ...

def test_other() -> None: ...
"""


def test_every_way_to_skip_counts(suite: Path) -> None:
    (suite / "test_module.py").write_text("import pytest\n\npytest.skip('by module', allow_module_level=True)\n")
    assert named(run(suite, EVERY_WAY, CI="true")) == ["by condition", "by fixture", "by mark", "by module"]


def test_the_long_profile_is_an_option_away() -> None:
    code = "from hypothesis import settings; print(settings().max_examples)"
    conftest = f"import runpy; module = runpy.run_path({str(TESTS / 'conftest.py')!r}); "
    for name, examples in (("ci", "60"), ("long", "5000")):
        program = conftest + f"module['settings'].load_profile({name!r}); {code}"
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        assert ran.stdout.strip() == examples
