"""What the command line writes and prints of a configuration: the template, added sources, the schema."""

import json
import tomllib
from pathlib import Path

import pytest

from connectors.files.kind import FilesConfig
from pipeline.config import edit
from pipeline.config.engine_tables import LocalEngineTable
from pipeline.config.load import parsed
from pipeline.config.models import BrainTable, ContextTable, SourceTable
from pipeline.config.schema import json_schema
from pipeline.config.template import TEMPLATE
from pipeline.errors import SetupError

KEYS = {"kind": "files", "path": "~/handbook"}


def uncommented(text: str) -> str:
    """Return the template with its example keys in force; its prose starts with a capital letter."""
    return "\n".join(
        line.removeprefix("# ") if line.startswith(("# [", "# ")) and ("=" in line or "[" in line) else line
        for line in text.splitlines()
    )


def test_the_template_is_a_valid_configuration(tmp_path: Path) -> None:
    assert parsed(TEMPLATE, tmp_path / "brain.toml").engine.kind == "local"


def test_every_example_of_the_template_is_valid(tmp_path: Path) -> None:
    lines = [line for line in TEMPLATE.splitlines() if not line.startswith("# Keys that hold")]
    text = uncommented("\n".join(lines[3:]))
    config = parsed(text, tmp_path / "brain.toml")
    assert config.documents.parsers == {"pdf": "pypdf"}
    assert config.sources["handbook"].keys.root == "team:hr"


def test_an_added_source_leaves_comments_and_order() -> None:
    text = edit.with_source(TEMPLATE, "handbook", KEYS)
    assert text.startswith(TEMPLATE.rstrip("\n")[:200])
    for comment in [line for line in TEMPLATE.splitlines() if "#" in line]:
        assert comment in text
    assert tomllib.loads(text)["sources"]["handbook"] == KEYS


def test_a_second_source_joins_the_first() -> None:
    once = edit.with_source("", "one", KEYS)
    twice = edit.with_source(once, "two", {"kind": "files", "path": 'odd "name" #1'})
    assert tomllib.loads(twice)["sources"] == {"one": KEYS, "two": {"kind": "files", "path": 'odd "name" #1'}}


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(SetupError, match="already"):
        edit.with_source(edit.with_source("", "one", KEYS), "one", KEYS)
    with pytest.raises(SetupError, match="cannot name a source"):
        edit.with_source("", "a b", KEYS)


def test_what_would_not_be_valid_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "brain.toml"
    file.write_text("")
    with pytest.raises(SetupError, match="did you mean 'path'"):
        edit.write('[sources.x]\nkind = "files"\npaht = "y"\n', file)
    assert file.read_text() == ""
    assert list(tmp_path.iterdir()) == [file]


def test_a_written_file_keeps_its_mode_and_link(tmp_path: Path) -> None:
    real = tmp_path / "real.toml"
    real.write_text("")
    real.chmod(0o600)
    (tmp_path / "brain.toml").symlink_to("real.toml")
    edit.write("[brain]\n", tmp_path / "brain.toml")
    assert (tmp_path / "brain.toml").is_symlink()
    assert real.read_text() == "[brain]\n"
    assert real.stat().st_mode & 0o777 == 0o600


def test_the_schema_knows_every_key() -> None:
    schema = json.loads(json.dumps(json_schema()))
    tables = schema["properties"]
    assert set(tables) == {"brain", "engine", "context", "documents", "sources"}
    assert set(tables["context"]["properties"]) == set(ContextTable.model_fields)
    assert set(tables["brain"]["properties"]) == set(BrainTable.model_fields)
    assert set(tables["engine"]["oneOf"][0]["properties"]) == set(LocalEngineTable.model_fields)
    assert tables["documents"]["properties"]["pdf"]["enum"] == ["auto", "pdfium", "pypdf"]
    assert "parsers" not in tables["documents"]["properties"]
    (files,) = (one for one in tables["sources"]["additionalProperties"]["oneOf"] if one["title"] == "files")
    assert set(files["properties"]) == set(SourceTable.model_fields) | set(FilesConfig.model_fields)
    assert files["required"] == ["kind", "path"]
    assert all(table.get("additionalProperties") is False for table in (schema, tables["brain"], files))
