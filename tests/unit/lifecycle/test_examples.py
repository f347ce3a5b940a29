"""Every example of hosting a memory runs offline and shows what it promises."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


def run(*command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONIOENCODING": "utf-8"}
    script = ROOT / "examples" / command[0]
    done = subprocess.run(
        [sys.executable, str(script), *command[1:]],
        capture_output=True,
        check=False,
        encoding="utf-8",
        env=environment,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_acceptance_a4_agent_loop_shows_the_whole_lifecycle_offline_on_the_reference_engine() -> None:
    told = run("agent_loop.py", "--engine", "reference")
    assert "- Refund policy: Refunds settle within five business days." in told
    assert "## Company\n\n- Amounts are always in euros." in told
    assert "The belief build ended as done." in told
    assert "## Earlier in this thread" in told
    assert "## Earlier in this conversation" in told
    assert "## Team conversations\n\n- [2026-09-14 09:01] user: Birch Ltd" in told


@pytest.mark.parametrize(("kind", "build"), [("local", "done"), ("cortexdb", "done"), ("tinyhumans", "scheduled")])
def test_agent_loop_runs_the_same_host_function_on_every_engine(kind: str, build: str) -> None:
    told = run("agent_loop.py", "--engine", kind)
    assert "- Refund policy: Refunds settle within five business days." in told
    assert "## Company\n\n- Amounts are always in euros." in told
    assert f"The belief build ended as {build}." in told
    assert "## Earlier in this thread" in told
    assert "## Earlier in this conversation" in told
    assert "## Team conversations\n\n- [2026-09-14 09:01] user: Birch Ltd" in told


@pytest.mark.parametrize("name", ["openai_loop.py", "anthropic_loop.py", "pydantic_ai_agent.py"])
def test_model_loop_answers_from_memory_and_remembers_its_tools(name: str) -> None:
    told = run(name)
    assert told.startswith("Five business days.\n# Memory\n")
    assert "- assistant: Five business days. [tools: memory_" in told
    assert "## Brain\n\n- Refund policy:" in told


def test_every_example_is_run_by_some_test() -> None:
    told = "".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("*.py"))
    assert [path.name for path in (ROOT / "examples").glob("*.py") if path.name not in told] == []
