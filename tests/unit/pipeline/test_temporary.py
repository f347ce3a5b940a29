"""Temporary files lie beside the brain and outlive nobody."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from pipeline.temporary import FOLDER, OLD_S, temporary_files_in


def test_temporary_files_lie_below_the_data_folder_and_go_with_the_context(tmp_path: Path) -> None:
    before = tempfile.gettempdir()
    with temporary_files_in(tmp_path), tempfile.NamedTemporaryFile(delete=False) as file:
        kept = Path(file.name)
        assert kept.is_relative_to(tmp_path / FOLDER)
        if os.name == "posix":
            assert kept.parent.stat().st_mode & 0o777 == 0o700
    assert list((tmp_path / FOLDER).iterdir()) == []
    assert tempfile.gettempdir() == before


def test_a_brain_that_was_never_synced_gets_no_folder(tmp_path: Path) -> None:
    with temporary_files_in(tmp_path / "none"):
        assert not Path(tempfile.gettempdir()).is_relative_to(tmp_path / "none")
    assert not (tmp_path / "none").exists()


def test_what_a_killed_process_left_goes_and_what_a_living_one_has_stays(tmp_path: Path) -> None:
    code = (
        "import os, sys, tempfile; from pathlib import Path; from pipeline.temporary import temporary_files_in\n"
        "with temporary_files_in(Path(sys.argv[1])):\n"
        "    os.write(tempfile.mkstemp()[0], b'canary')\n"
        "    os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], cwd=Path(__file__).parents[3], check=False)
    (left,) = (tmp_path / FOLDER).iterdir()
    assert list(left.iterdir()), "the killed process left its file"
    with temporary_files_in(tmp_path), temporary_files_in(tmp_path):
        assert not left.exists()
        assert len(list((tmp_path / FOLDER).iterdir())) == 2


@pytest.mark.parametrize(("age", "stays"), [(60.0, True), (OLD_S + 60.0, False)])
def test_what_another_machine_left_goes_when_it_is_old(tmp_path: Path, age: float, stays: bool) -> None:
    other = tmp_path / FOLDER / "0badcafe-1-aaaaaaaa"
    other.mkdir(parents=True)
    moment = other.stat().st_mtime - age
    os.utime(other, (moment, moment))
    with temporary_files_in(tmp_path):
        assert other.exists() is stays
