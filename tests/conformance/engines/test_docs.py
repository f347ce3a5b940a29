"""The code of docs/engines.md runs, in order, as one program, and prints what the page shows."""

import contextlib
import io
import re
from pathlib import Path

from corebrain.conformance import CHECKS

PAGE = Path(__file__).parents[3] / "docs" / "engines.md"


def test_every_piece_of_code_of_the_page_runs_and_prints_what_is_shown() -> None:
    text = PAGE.read_text(encoding="utf-8")
    pieces = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(pieces) == 5
    printed = io.StringIO()
    names: dict[str, object] = {"__name__": "engines_page"}
    with contextlib.redirect_stdout(printed):
        for piece in pieces:
            exec(compile(piece, str(PAGE), "exec"), names)  # noqa: S102  # our own page, run as its readers run it
    shown = re.findall(r"```text\n(.*?)```", text, re.DOTALL)
    assert len(shown) == 2
    assert all(part in printed.getvalue() for part in shown)
    assert printed.getvalue().endswith("False\n")


def test_the_page_names_the_checks_that_there_are() -> None:

    table = PAGE.read_text(encoding="utf-8").partition("## When it does not pass")[2]
    named = {name for row in re.findall(r"^\| (`.*?`) \|", table, re.MULTILINE) for name in re.findall(r"`(\w+)`", row)}
    assert named <= {check.name for check in CHECKS}
    assert len(named) >= 10
