"""`python -m corebrain.conformance` and the pytest plugin, as somebody with an engine of their own uses them."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from corebrain.conformance.__main__ import main
from corebrain.conformance.loading import load_engine
from corebrain.conformance.report import Report
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import ConfigError

REPOSITORY = Path(__file__).parents[3]
MINE = """
from corebrain import ReferenceEngine
from corebrain.conformance.faults.reading import CountsShort

class Kept(ReferenceEngine):
    def close(self):
        with open("closed.txt", "a") as file:
            file.write("closed\\n")

def sound():
    return Kept()

def short():
    return CountsShort(Kept())

def nothing():
    return object()

class Shop:
    make = staticmethod(sound)

number = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "an_engine_of_mine.py").write_text(MINE)
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "an_engine_of_mine", raising=False)
    return tmp_path


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(REPOSITORY), str(folder)])}
    command = [sys.executable, *arguments]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    "name", ["reference", "local", "cortexdb", "tinyhumans", "an_engine_of_mine:sound", "an_engine_of_mine:Shop.make"]
)
def test_an_engine_that_passes_exits_zero(name: str, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name]) == 0
    assert capsys.readouterr().out.splitlines()[-1].startswith("18 of 18 passed")
    assert not (folder / "memory.db").exists()


def test_what_failed_is_printed_last_with_what_was_due_and_found(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["an_engine_of_mine:short"]) == 1
    shown = capsys.readouterr().out.splitlines()
    assert shown[0] == "conformance of reference"
    assert shown[-1].startswith("16 of 18 passed")
    failed = [number for number, line in enumerate(shown) if " failed " in line]
    passed = [number for number, line in enumerate(shown) if " passed " in line and "of 18" not in line]
    assert min(failed) > max(passed)
    assert shown[failed[0] + 1].strip().startswith("due: Counts per kind")
    assert shown[failed[0] + 2].strip().startswith("found: explore of kind counts")
    assert (folder / "closed.txt").read_text() == "closed\n"


def test_json_is_one_object_that_reads_back(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    del folder
    assert main(["an_engine_of_mine:short", "--json"]) == 1
    told = json.loads(capsys.readouterr().out)
    report = Report.from_dict(told)
    assert told["ok"] is report.ok is False
    assert report.failed == ("explore", "namespaces")
    assert len(report.outcomes) == 18


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("nope", "unknown engine 'nope', known are"),
        ("no_such_module_here:make", "no module 'no_such_module_here' to import"),
        ("an_engine_of_mine:absent", "module an_engine_of_mine has no 'absent'"),
        ("an_engine_of_mine:number", "cannot be called"),
        ("an_engine_of_mine:nothing", "makes a object, not a MemoryEngine"),
        (":make", "is not module:factory"),
    ],
)
def test_a_wrong_name_exits_two_and_says_what_is_known(
    name: str, told: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    del folder
    assert main([name]) == 2
    shown = capsys.readouterr()
    assert told in shown.err
    assert shown.out == ""


def test_a_broken_import_inside_the_module_is_not_hidden(folder: Path) -> None:
    (folder / "an_engine_of_mine.py").write_text("import a_library_that_is_not_there")
    with pytest.raises(ModuleNotFoundError, match="a_library_that_is_not_there"):
        load_engine("an_engine_of_mine:make")


def test_the_command_runs_as_a_module(folder: Path) -> None:
    ran = python(folder, "-m", "corebrain.conformance", "an_engine_of_mine:sound")
    assert (ran.returncode, ran.stderr) == (0, "")
    assert "18 of 18 passed" in ran.stdout


PLUGIN = ("-m", "pytest", "-p", "corebrain.conformance.pytest_plugin", "-p", "no:cacheprovider")


def test_the_plugin_gives_one_test_a_check_and_closes_the_engine(folder: Path) -> None:
    ran = python(folder, *PLUGIN, "-v", "--engine", "an_engine_of_mine:sound")
    assert ran.returncode == 0, ran.stdout
    assert "17 passed" in ran.stdout
    assert "conformance::fetch_filters PASSED" in ran.stdout
    assert (folder / "closed.txt").read_text() == "closed\n"


def test_the_plugin_says_what_was_found_and_shows_no_frames(folder: Path) -> None:
    ran = python(folder, *PLUGIN, "--engine", "an_engine_of_mine:short")
    assert ran.returncode == 1
    assert "2 failed, 15 passed" in ran.stdout
    assert "explore failed: explore of kind counts" in ran.stdout
    assert "Traceback" not in ran.stdout
    assert "suite.py" not in ran.stdout


def test_the_plugin_runs_one_check_by_name_and_leaves_other_tests_alone(folder: Path) -> None:
    (folder / "test_mine.py").write_text("def test_mine():\n    pass\n")
    assert "18 passed" in python(folder, *PLUGIN, "--engine", "an_engine_of_mine:sound").stdout
    one = python(folder, *PLUGIN, "--engine", "an_engine_of_mine:short", "-k", "recall")
    assert "1 passed" in one.stdout
    assert "1 passed" in python(folder, *PLUGIN).stdout


def test_the_plugin_refuses_a_wrong_name_before_anything_runs(folder: Path) -> None:
    ran = python(folder, *PLUGIN, "--engine", "an_engine_of_mine:absent")
    assert ran.returncode == 4
    assert "--engine: module an_engine_of_mine has no 'absent'" in ran.stderr


def test_a_class_is_a_factory_too() -> None:
    engine = load_engine("corebrain.engines.reference:ReferenceEngine")
    assert isinstance(engine, ReferenceEngine)


def test_a_name_without_a_colon_is_no_place() -> None:
    with pytest.raises(ConfigError, match="is not module:factory, as in"):
        load_engine("reference")
