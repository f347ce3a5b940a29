"""Modules and functions a person can hold in the head, and names that say what is inside."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("corebrain", "connectors", "pipeline")
MODULE_LINES = 400
FUNCTION_LINES = 60
METHODS = 12
VAGUE = {"utils", "util", "helpers", "helper", "base", "manager", "common", "misc"}
CONTRACTS = {"MemoryEngine", "Ledger", "StateStore"}
"""Contracts have as many methods as their law; so have the classes that keep it."""


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def test_no_module_is_longer_than_four_hundred_lines() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()}
    assert {path: lines for path, lines in long.items() if lines > MODULE_LINES} == {}


def test_no_function_is_longer_than_sixty_lines() -> None:
    long = []
    for path in modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > FUNCTION_LINES:
                    long.append(f"{path.relative_to(ROOT)}:{node.lineno} {node.name} has {lines}")
    assert long == []


def test_names_say_what_is_inside() -> None:
    vague = [
        str(path.relative_to(ROOT))
        for path in modules()
        if VAGUE & {part.lower() for part in path.with_suffix("").parts[-2:]}
    ]
    assert vague == []


def test_public_modules_and_functions_are_described() -> None:
    undescribed = []
    for path in modules():
        tree = ast.parse(path.read_text())
        if tree.body and not ast.get_docstring(tree):
            undescribed.append(str(path.relative_to(ROOT)))
    assert undescribed == []
