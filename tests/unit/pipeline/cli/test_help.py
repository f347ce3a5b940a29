"""`brain --help`: frozen, quick, and only what is built."""

import importlib
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pipeline.cli.arguments import VERBS, parser

SNAPSHOT = Path(__file__).parent / "help.txt"
REPOSITORY = Path(__file__).parents[4]


def whole_help() -> str:
    """Return the help of the command and of every verb."""
    top = parser()
    (verbs,) = (action for action in top._actions if action.dest == "verb")
    below: Any = verbs.choices
    parts = [top.format_help(), *(below[verb.name].format_help() for verb in VERBS)]
    (kinds,) = (action for action in below["add"]._actions if action.dest == "kind")
    parts += [kind.format_help() for kind in kinds.choices.values()]
    return f"\n{'-' * 80}\n".join(parts)


def test_help_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    assert whole_help() == SNAPSHOT.read_text(encoding="utf-8"), f"if this is meant, write it to {SNAPSHOT.name}"


def test_every_verb_of_the_help_is_built() -> None:
    for verb in VERBS:
        assert callable(importlib.import_module(f"pipeline.cli.{verb.name}").run)


def test_help_imports_nothing_that_takes_time() -> None:
    code = (
        "import sys; from pipeline.cli.main import main; main(['--help']);"
        "heavy = {'pydantic', 'rich', 'apsw', 'httpx', 'corebrain', 'connectors'};"
        "sys.exit(repr(sorted(heavy & set(sys.modules))))"
    )
    run = subprocess.run([sys.executable, "-c", code], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert run.stderr.strip() == "[]"
