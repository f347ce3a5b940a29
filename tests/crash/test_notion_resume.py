"""A sync of Notion killed on its way goes on; `tests/crash/notion_resume.py` does it with 10,000 pages."""

import subprocess
import sys
from pathlib import Path

import pytest


@pytest.mark.slow
def test_a_killed_sync_of_notion_reads_no_stored_page_again() -> None:
    script = Path(__file__).with_name("notion_resume.py")
    ran = subprocess.run(
        [sys.executable, str(script), "--pages", "500", "--kills", "2"],
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr[-2000:]
    assert "exit -9" in ran.stdout
