"""The code of docs/agent-memory.md runs, in order, as one program, and its pack is the one that is printed."""

import contextlib
import io
import re
from pathlib import Path

PAGE = Path(__file__).parents[3] / "docs" / "agent-memory.md"


def test_every_piece_of_code_of_the_page_runs_in_order() -> None:
    text = PAGE.read_text(encoding="utf-8")
    pieces = re.findall(r"```python\n(.*?)```", text, re.DOTALL)
    assert len(pieces) >= 7
    printed = io.StringIO()
    names: dict[str, object] = {}
    with contextlib.redirect_stdout(printed):
        for piece in pieces:
            exec(compile(piece, str(PAGE), "exec"), names)  # noqa: S102  # our own page, run as its readers run it
    (shown,) = re.findall(r"```markdown\n(.*?)```", text, re.DOTALL)
    assert printed.getvalue().startswith(shown)
    assert "memory_recall" in printed.getvalue()
