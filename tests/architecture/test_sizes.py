"""Modules and functions a person can hold in the head, and names that say what is inside."""

import ast
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("corebrain", "connectors", "pipeline")
MODULE_LINES = 400
FUNCTION_LINES = 60
METHODS = 12
VAGUE = {"utils", "util", "helpers", "helper", "base", "manager", "common", "misc"}
NESTING = 3
BY_LAW = {"MemoryEngine", "LocalEngine", "ReferenceEngine", "CortexEngine"} | {
    "Ledger",
    "Books",
    "StateStore",
    "SqliteState",
    "AgentMemory",
}
"""Contracts have as many methods as their law, and so have the classes that keep it."""


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def test_no_module_is_longer_than_four_hundred_lines() -> None:
    long = {str(path.relative_to(ROOT)): len(path.read_text().splitlines()) for path in modules()}
    assert {path: lines for path, lines in long.items() if lines > MODULE_LINES} == {}


def test_no_function_is_longer_than_sixty_lines() -> None:
    long = []
    for path in modules():
        for node in ast.walk(parsed(path)):
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
        tree = parsed(path)
        if tree.body and not ast.get_docstring(tree):
            undescribed.append(str(path.relative_to(ROOT)))
    assert undescribed == []


def depth(node: ast.AST, level: int = 0) -> int:
    """How deep conditions, loops and `try` stand in each other; an `elif` is no step, nor is a function inside."""
    deepest = level
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.Lambda):
            continue
        is_step = isinstance(child, ast.For | ast.AsyncFor | ast.While | ast.If | ast.Try | ast.TryStar | ast.Match)
        is_elif = isinstance(node, ast.If) and isinstance(child, ast.If) and node.orelse == [child]
        deepest = max(deepest, depth(child, level + (is_step and not is_elif)))
    return deepest


def test_nothing_nests_deeper_than_three() -> None:
    deep = set()
    for path in modules():
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and depth(node) > NESTING:
                deep.add(f"{module}.{node.name}")
    assert deep == set()


def test_nesting_is_counted_as_it_reads() -> None:
    def deepest(source: str) -> int:
        return depth(ast.parse(source))

    assert deepest("if a:\n  pass\nelif b:\n  pass\nelif c:\n  pass\nelse:\n  pass") == 1
    assert deepest("for a in b:\n  try:\n    pass\n  except E:\n    if c:\n      pass") == 3
    assert deepest("if a:\n  pass\nelse:\n  if b:\n    pass\n  c()") == 2
    assert deepest("def f():\n  def g():\n    if a:\n      pass") == 0


def test_a_public_class_has_at_most_twelve_methods() -> None:
    large = {}
    for path in modules():
        for node in ast.walk(parsed(path)):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_") and node.name not in BY_LAW:
                public = [each for each in node.body if isinstance(each, ast.FunctionDef) and each.name[0] != "_"]
                if len(public) > METHODS:
                    large[f"{path.relative_to(ROOT)} {node.name}"] = len(public)
    assert large == {}


def test_no_class_is_called_by_a_vague_name() -> None:
    vague = re.compile("(?:Utils?|Helpers?|Base|Manager|Common|Misc)$|^(?:Base|Abstract)[A-Z]")
    named = [
        f"{path.relative_to(ROOT)} {node.name}"
        for path in modules()
        for node in ast.walk(parsed(path))
        if isinstance(node, ast.ClassDef) and vague.search(node.name)
    ]
    assert named == []
