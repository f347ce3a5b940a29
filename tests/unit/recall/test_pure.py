"""Settling and rendering decide from values alone: they can name no engine, no thread, no clock and no file."""

import ast
from pathlib import Path

import pytest

RECALL = Path(__file__).parents[3] / "corebrain" / "recall"
PURE = ("collections", "dataclasses", "itertools", "math", "re", "typing", "pydantic", "corebrain.errors")


def imports_of(module: str) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse((RECALL / f"{module}.py").read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            found.add(str(node.module))
    return found


@pytest.mark.parametrize("module", ["settle", "render", "reads", "types"])
def test_what_follows_the_reads_imports_values_only(module: str) -> None:
    values = (*PURE, "corebrain.model", "corebrain.recall.reads", "corebrain.recall.settle", "corebrain.recall.types")
    assert {name for name in imports_of(module) if not name.startswith(values)} == set()


def test_reading_names_the_engine() -> None:
    assert "corebrain.contract" in imports_of("gather")
