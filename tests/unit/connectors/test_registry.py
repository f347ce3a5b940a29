from importlib.metadata import EntryPoint
from pathlib import Path

import pytest
from pydantic import BaseModel

from connectors import registry
from connectors.errors import ConfigError
from connectors.files.connector import FilesConnector
from connectors.files.kind import FilesConfig
from connectors.testing.scripted import ScriptedConnector


def test_files_is_built_in_and_made_from_its_table(tmp_path: Path) -> None:
    made = registry.make("files", "handbook", {"path": str(tmp_path), "include": ["*.md"]})
    assert isinstance(made, FilesConnector)
    assert (made.name, made.root) == ("handbook", str(tmp_path))
    assert registry.config_model("files") is FilesConfig
    assert registry.kinds()[0] == "files"


def test_every_built_in_kind_is_found() -> None:
    assert all(issubclass(registry.config_model(kind), BaseModel) for kind in registry.BUILT_IN)


def test_relative_path_starts_from_the_base_and_home_from_the_home(tmp_path: Path) -> None:
    relative = registry.make("files", "a", {"path": "docs"}, base=tmp_path)
    home = registry.make("files", "a", {"path": "~/docs"}, base=tmp_path)
    assert isinstance(relative, FilesConnector)
    assert isinstance(home, FilesConnector)
    assert relative.root == str(tmp_path / "docs")
    assert home.root == str(Path("~/docs").expanduser())


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({}, "source a: the key 'path' is missing"),
        ({"path": "x", "inclde": ["*"]}, "unknown key 'inclde', did you mean 'include'?"),
        ({"path": "x", "zzz": 1}, "unknown key 'zzz', known are exclude, follow_links, hidden"),
        ({"path": "x", "include": "*.md"}, "include: input should be a valid tuple"),
        ({"path": "x", "include": []}, "include: tuple should have at least 1 item"),
        ({"path": "x", "max_bytes": "200MiB"}, "max_bytes: input should be less than or equal to 104857600"),
        ({"path": "x", "max_bytes": 0}, "max_bytes: input should be greater than or equal to 1"),
        ({"path": "x", "max_bytes": "much"}, "max_bytes: could not parse"),
        ({"path": " "}, "source a: the path of a files source is blank"),
        ({"path": "x", "exclude": ["../x"]}, "source a: the pattern '../x' leaves the folder"),
        ({"path": "~nobody-of-that-name/x"}, "names a home folder that does not exist"),
    ],
)
def test_wrong_config_is_refused_naming_source_key_and_remedy(config: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError) as refused:
        registry.make("files", "a", config)
    assert message in str(refused.value)


def test_message_never_holds_a_value() -> None:
    with pytest.raises(ConfigError) as refused:
        registry.make("files", "a", {"path": ["canary-secret"], "tokn": "canary-secret"})
    assert "canary-secret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert refused.value.__suppress_context__


@pytest.mark.parametrize(("kind", "advice"), [("file", "did you mean 'files'?"), ("zzzz", "known are files")])
def test_unknown_kind_names_the_nearest(kind: str, advice: str) -> None:
    with pytest.raises(ConfigError, match=f"there is no source kind '{kind}'") as refused:
        registry.make(kind, "a", {})
    assert advice in str(refused.value)


def test_sizes_may_be_written_with_a_unit() -> None:
    assert FilesConfig.model_validate({"path": "x", "max_bytes": "64MiB"}).max_bytes == 64 * 2**20


class GmailConfig(BaseModel):
    label: str


GMAIL = registry.Kind(GmailConfig, lambda config, name, _base: ScriptedConnector({config.label: "x"}, name=name))


@pytest.fixture
def third_party(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A package of somebody else's, as its entry points say."""
    (tmp_path / "acme_gmail_for_test.py").write_text("KIND = 'not a kind'\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    values = {"broken": "no_such_module_for_test:KIND", "odd": "acme_gmail_for_test:KIND", "files": "x:y"}
    points = [EntryPoint(name, value, registry.GROUP) for name, value in values.items()]

    class Loaded(EntryPoint):
        def load(self) -> object:
            return GMAIL

    points.append(Loaded("gmail", "acme:KIND", registry.GROUP))
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else [])


@pytest.mark.usefixtures("third_party")
def test_third_party_adds_a_kind_by_an_entry_point() -> None:
    made = registry.make("gmail", "mail", {"label": "inbox"})
    assert isinstance(made, ScriptedConnector)
    assert (made.name, made.keys) == ("mail", ("inbox",))
    assert registry.kinds() == (*registry.BUILT_IN, "broken", "gmail", "odd")


@pytest.mark.usefixtures("third_party")
def test_third_party_cannot_replace_a_built_in_kind() -> None:
    assert registry.config_model("files") is FilesConfig


@pytest.mark.usefixtures("third_party")
@pytest.mark.parametrize(
    ("kind", "message"), [("broken", "cannot be loaded"), ("odd", "is no connectors.registry.Kind")]
)
def test_broken_third_party_is_a_config_error(kind: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        registry.config_model(kind)
