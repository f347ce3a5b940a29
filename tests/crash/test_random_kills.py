"""A few of the random kills that `tests/crash/random_kills.py` makes by the hundred."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_syncs_killed_at_random_end_as_an_undisturbed_one() -> None:
    script = Path(__file__).with_name("random_kills.py")
    ran = subprocess.run(
        [sys.executable, str(script), "--kills", "12", "--each", "6", "--seed", "7"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "12 of 12 equal" in ran.stdout
