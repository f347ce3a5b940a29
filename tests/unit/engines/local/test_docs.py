"""The code of docs/agents.md runs, in order, as one program."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from corebrain.engines.local.engine import LocalEngine

PAGE = Path(__file__).parents[4] / "docs" / "agents.md"


def test_every_piece_of_code_of_the_page_runs_in_order(
    engine: LocalEngine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    pieces = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    assert len(pieces) >= 2
    printed = io.StringIO()
    names: dict[str, object] = {"engine": engine}
    with contextlib.redirect_stdout(printed):
        for piece in pieces:
            exec(compile(piece, str(PAGE), "exec"), names)  # noqa: S102  # our own page, run as its readers run it
    assert "memory_store" not in printed.getvalue()
    assert (tmp_path / "memory.db.before-restore-1").exists()
