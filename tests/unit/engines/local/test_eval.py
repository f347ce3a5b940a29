"""What the memory eval must find on the local engine without a model, before and after belief builds."""

import importlib.util
import sys
import tomllib
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

SCRIPT = Path(__file__).parents[4] / "benchmarks" / "memory_eval.py"


@pytest.fixture(scope="module")
def evaluation() -> ModuleType:
    spec = importlib.util.spec_from_file_location("memory_eval", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["memory_eval"] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def outcomes(evaluation: ModuleType) -> list[dict[str, Any]]:
    scenarios = tomllib.loads(SCRIPT.with_suffix(".toml").read_text(encoding="utf-8"))["scenario"]
    found: list[dict[str, Any]] = evaluation.evaluate("local", scenarios, None, None).outcomes
    return found


@pytest.mark.parametrize("phase", ["recall", "synthesis"])
def test_every_lexical_probe_and_contradiction_is_answered_freshest_first(
    evaluation: ModuleType, outcomes: list[dict[str, Any]], phase: str
) -> None:
    of_phase = [each for each in outcomes if each["phase"] == phase]
    assert evaluation.percent([each for each in of_phase if each["style"] == "lexical"], "hit") >= 95
    assert evaluation.percent([each for each in of_phase if each["scenario"] == "contradictions"], "hit") == 100
    assert evaluation.percent(of_phase, "fresh_first") >= 80
    assert evaluation.percent(of_phase, "leak") == 0


@pytest.mark.parametrize("grade", ["hit", "fresh_first"])
def test_builds_of_beliefs_do_no_harm(evaluation: ModuleType, outcomes: list[dict[str, Any]], grade: str) -> None:
    before, after = (
        evaluation.percent([each for each in outcomes if each["phase"] == phase], grade)
        for phase in ("recall", "synthesis")
    )
    assert after >= before > 0
