"""README and docs hold what they say: each block of code runs, each command works, each link leads somewhere.

The two install commands need a network: `.ci/run` runs them, word by word, in a fresh clone.
"""

import os
import re
import shutil
import stat
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from pipeline.config.load import parsed
from pipeline.config.schema import json_schema

REPOSITORY = Path(__file__).parents[2]
README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
CONFIGURATION = (REPOSITORY / "docs" / "configuration.md").read_text(encoding="utf-8")
COMMAND_LINE = (REPOSITORY / "docs" / "command-line.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_LINK = re.compile(r"\]\(([^)#]+)\)")
INSTALL = "python3.11 -m venv .venv && .venv/bin/pip install"

pytestmark = pytest.mark.slow


def blocks(text: str, language: str) -> list[str]:
    """Return the code blocks of a language, in order."""
    return [code for named, code in _BLOCK.findall(text) if named == language]


def commands() -> list[str]:
    """Return every shell command of the README, one a line."""
    return [line for block in blocks(README, "sh") for line in block.splitlines() if line.strip()]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that looks like a checkout after the install: `.venv/bin/brain`, configs, and a home with a handbook."""
    folder = tmp_path_factory.mktemp("checkout")
    shutil.copytree(REPOSITORY / "configs", folder / "configs", ignore=shutil.ignore_patterns(".brain"))
    (folder / ".venv" / "bin").mkdir(parents=True)
    program = folder / ".venv" / "bin" / "brain"
    program.write_text(f'#!/bin/sh\nPYTHONPATH="{REPOSITORY}" exec "{sys.executable}" -m pipeline.cli "$@"\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    for handbook in (folder / "handbook", folder / "home" / "handbook"):
        handbook.mkdir(parents=True)
        (handbook / "leave.md").write_text("# Parental leave\n\nSixteen weeks, paid.")
    return folder


def run(checkout: Path, command: str) -> str:
    """Run a shell command there, and return what it printed."""
    variables = {
        **os.environ,
        "HOME": str(checkout / "home"),
        "PATH": f"{checkout / '.venv' / 'bin'}:{os.environ['PATH']}",
    }
    ran = subprocess.run(
        ["sh", "-c", command], cwd=checkout, env=variables, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, f"{command}\n{ran.stdout}{ran.stderr}"
    return ran.stdout


def test_the_two_install_commands_are_the_ones_that_ci_runs() -> None:
    installs = [command for command in commands() if command.startswith(INSTALL)]
    assert len(installs) == 2
    ci = (REPOSITORY / ".ci" / "run").read_text(encoding="utf-8")
    assert "readme_command 1" in ci
    assert "readme_command 2" in ci
    assert installs[0].endswith(".venv/bin/brain --config configs/quickstart.toml sync")
    assert installs[1].endswith(".venv/bin/python -m pytest")


def test_every_command_works(checkout: Path) -> None:
    ran = []
    for command in commands():
        if command == ".ci/run":
            assert os.access(REPOSITORY / command, os.X_OK)
            continue
        if command.startswith(INSTALL):
            command = command.rpartition(" && ")[2]  # noqa: PLW2901 - its last part, after the install
            if "pytest" in command:
                continue
        ran.append((command, run(checkout, command)))
    said = dict(ran)
    assert "Family Day  [quickstart]" in said['.venv/bin/brain --config configs/quickstart.toml search "petting zoo"']
    assert "Parental leave" in said['brain search "parental leave"']
    assert "handbook: 1 document" in said["brain status"]


@pytest.mark.parametrize("code", blocks(README, "python"), ids=["five lines", "embedding"])
def test_every_python_block_runs(code: str, checkout: Path, monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    monkeypatch.chdir(checkout)
    shutil.rmtree(checkout / "memory", ignore_errors=True)
    exec(compile(code, "README.md", "exec"), {"__name__": "readme"})  # noqa: S102 - that is the point
    out = capsys.readouterr().out
    assert "build_beliefs" in out or "leave.md" in out, out


def test_the_five_lines_are_five() -> None:
    assert len(blocks(README, "python")[0].splitlines()) == 5


def test_the_embedding_example_is_the_one_of_the_examples() -> None:
    example = (REPOSITORY / "examples" / "embed.py").read_text(encoding="utf-8")
    assert example.rpartition('"""\n\n')[2] == blocks(README, "python")[1]


@pytest.mark.parametrize("page", ["README.md", "CHANGELOG.md", "docs/configuration.md", "docs/command-line.md"])
def test_every_link_leads_somewhere(page: str) -> None:
    file = REPOSITORY / page
    for link in _LINK.findall(file.read_text(encoding="utf-8")):
        if not link.startswith("https://"):
            assert (file.parent / link).exists(), link


def test_the_documented_configuration_is_valid_and_names_every_key(tmp_path: Path) -> None:
    (example,) = blocks(CONFIGURATION, "toml")
    config = parsed(example, tmp_path / "brain.toml")
    written = tomllib.loads(example)
    tables = json_schema()["properties"]
    (files,) = (one for one in tables["sources"]["additionalProperties"]["oneOf"] if one["title"] == "files")
    assert config.sources["handbook"].keys.root == "team:hr"
    keys = {*tables["brain"]["properties"], *tables["engine"]["oneOf"][0]["properties"], *files["properties"]}
    for key in (keys | set(written["documents"])) - {"pdf"}:
        assert f"{key}`" in CONFIGURATION, f"docs/configuration.md does not explain {key}"


def test_the_tables_of_the_readme_say_what_is_built() -> None:
    from connectors import registry  # noqa: PLC0415 - only here
    from corebrain.documents.registry import PARSERS  # noqa: PLC0415 - only here

    rows = README[README.index("| Source |") : README.index("| Engine |")].splitlines()
    states = {row.split("|")[1].strip().lower(): row.split("|")[2].strip() for row in rows[2:] if row}
    works = {re.split(r"\W", name)[0] for name, state in states.items() if state.startswith("works")}
    assert works == set(registry.BUILT_IN), "the table of sources says what works"
    formats = README[README.index("| Format |") : README.index("## From idea to file")].lower()
    named = {"markdown": "markdown", "plain_text": "text", "ipynb": "notebooks", "eml": "e-mail"}
    for name in PARSERS:
        assert named.get(name, name) in formats, name


def test_the_json_keys_are_those_documented(checkout: Path) -> None:
    import json  # noqa: PLC0415 - only here

    for verb in ("status", 'search "leave"', "list", "explore", "doctor", "config show", "jobs"):
        found = json.loads(run(checkout, f"brain --config configs/quickstart.toml {verb} --json"))
        name = verb.partition(' "')[0]
        (row,) = (line for line in COMMAND_LINE.splitlines() if line.startswith(f"| `{name}` |"))
        first, *keys = found
        assert first == "ok"
        for key in keys:
            assert f"`{key}`" in row, f"docs/command-line.md does not name {key} of {verb}"
