"""The benchmark of the wire runs, counts requests as promised and ends with a summary; times are not judged here."""

import os
import subprocess
import sys
from pathlib import Path

REPOSITORY = Path(__file__).parents[4]


def test_a_small_run_counts_requests_and_ends_with_a_summary() -> None:
    sizes = ["--turns", "1", "--documents", "120", "--delay-ms", "0", "--items", "20"]
    command = [sys.executable, "benchmarks/cortex_wire.py", *sizes]
    environment = {**os.environ, "PYTHONPATH": str(REPOSITORY)}
    ran = subprocess.run(command, cwd=REPOSITORY, env=environment, capture_output=True, text=True, check=False)
    assert ran.returncode in {0, 1}, ran.stderr
    rows = [line.split() for line in ran.stdout.splitlines()]
    (direct,) = [row for row in rows if row[:1] == ["direct"]]
    (hosted,) = [row for row in rows if row[:1] == ["hosted"]]
    # two batches: three lookups of fifty ids, a wait each, a look at the ranking each; Direct also asks who it is
    assert direct[3:] == ["128", "120", "5"]
    assert hosted[3:] == ["127", "120", "5"]
    summary = ran.stdout.splitlines()[-1]
    assert summary.startswith("post_turn p50 ")
    assert "listings of" not in summary
