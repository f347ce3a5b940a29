"""The benchmark of live turns measures every goal it names; whether they are met is the machine's affair."""

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
SCRIPT = ROOT / "benchmarks" / "agent_turns.py"


def test_script_prints_a_table_and_a_summary_of_every_goal() -> None:
    command = [sys.executable, str(SCRIPT), "--engine", "local", "--burst", "10"]
    done = subprocess.run(
        command, capture_output=True, check=False, encoding="utf-8", env={"PYTHONPATH": str(ROOT)}, timeout=120
    )
    assert done.stderr == ""
    assert "| pre_turn | 71 |" in done.stdout
    assert "| post_turn | 71 |" in done.stdout
    assert "| assembly | 100 |" in done.stdout
    goals = ("pre_turn p50", "pre_turn p95", "post_turn p50", "assembly p50", "door p50")
    told = "".join(rf"{goal} -?[\d.]+ \(goal [\d.]+\),? ?" for goal in goals)
    assert re.fullmatch(rf"{told}ms; loop lag p95 [\d.]+ ms at \d+ turns/s", done.stdout.splitlines()[-1])
