"""`brain.toml`: found, read, checked; what is wrong is named with file, line and the nearest known word."""

import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict, SecretStr

from connectors import registry
from connectors.files.connector import FilesConnector
from pipeline.config.load import found_from, load, parsed
from pipeline.config.models import Config
from pipeline.config.show import resolved
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet

Read = Callable[..., Config]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    """Check the text of a configuration in a temporary folder."""

    def check(content: str, **variables: str) -> Config:
        return parsed(content, tmp_path / "brain.toml", variables=variables)

    return check


@pytest.fixture
def refused(read: Read) -> Callable[..., str]:
    """Return what is said of a configuration that is wrong."""

    def said(content: str, **variables: str) -> str:
        with pytest.raises(SetupError) as caught:
            read(content, **variables)
        return caught.value.message

    return said


FILES = '[sources.docs]\nkind = "files"\npath = "docs"\n'


class WikiConfig(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)
    token: SecretStr
    space: str = "all"


@pytest.fixture
def wiki(monkeypatch: pytest.MonkeyPatch) -> None:
    """A kind of source that needs a secret."""

    def make(config: WikiConfig, name: str, base: Path) -> FilesConnector:
        return FilesConnector(base / config.space, name=name)

    module: Any = types.ModuleType("wiki_kind")
    module.KIND = registry.Kind(WikiConfig, make)
    monkeypatch.setitem(__import__("sys").modules, "wiki_kind", module)
    monkeypatch.setitem(registry.BUILT_IN, "wiki", "wiki_kind:KIND")


# -- where it is


def test_the_nearest_file_upwards_is_taken(tmp_path: Path) -> None:
    below = tmp_path / "a" / "b"
    below.mkdir(parents=True)
    (tmp_path / "brain.toml").write_text("")
    assert found_from(below) == tmp_path / "brain.toml"
    (below.parent / "brain.toml").write_text("")
    assert found_from(below) == below.parent / "brain.toml"


def test_without_a_file_the_defaults_hold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("pipeline.config.load.found_from", lambda _: None)
    config = load(None)
    assert config.file is None
    assert config.data == tmp_path / ".brain"
    assert config.engine.kind == "local"
    assert not config.sources


def test_a_named_file_that_is_missing_is_said(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"there is no .*brain init"):
        load(tmp_path / "nope.toml")


def test_a_folder_instead_of_a_file_is_said(tmp_path: Path) -> None:
    with pytest.raises(SetupError, match=r"cannot read .*is a directory"):
        load(tmp_path)


def test_a_file_of_another_encoding_is_said(tmp_path: Path) -> None:
    (tmp_path / "brain.toml").write_bytes('[brain]\nroot = "r\u00f6t"'.encode("latin-1"))
    with pytest.raises(SetupError, match="not UTF-8"):
        load(tmp_path / "brain.toml")


def test_a_byte_order_mark_is_no_fault(tmp_path: Path) -> None:
    (tmp_path / "brain.toml").write_text("[brain]\n", encoding="utf-8-sig")
    assert load(tmp_path / "brain.toml").brain.root == "root"


def test_paths_start_at_the_file(read: Read, tmp_path: Path) -> None:
    config = read('[brain]\ndata = "memory"\n' + FILES)
    assert config.data == tmp_path / "memory"
    connector = SourceSet(config).connectors["docs"]
    assert isinstance(connector, FilesConnector)
    assert connector.root == str(tmp_path / "docs")


# -- what is wrong


def test_broken_toml_is_said_with_its_line(refused: Callable[..., str]) -> None:
    assert "line 2" in refused("[brain]\nroot = \n")


def test_an_unknown_table_gets_the_nearest_one(refused: Callable[..., str]) -> None:
    assert "did you mean 'sources'" in refused("[source.x]\n")


def test_an_unknown_key_gets_file_line_and_the_nearest_one(refused: Callable[..., str]) -> None:
    said = refused('[brain]\n\nrot = "root"\n')
    assert "brain.toml:3: [brain] rot" in said
    assert "did you mean 'root'" in said


@pytest.mark.parametrize(
    ("key", "nearest"), [("inclode", "include"), ("max_delet", "max_delete"), ("spilt", "split"), ("pth", "path")]
)
def test_an_unknown_key_of_a_source_gets_the_nearest_of_its_kind_or_ours(
    refused: Callable[..., str], key: str, nearest: str
) -> None:
    said = refused(FILES + f"{key} = 1\n")
    assert f"brain.toml:4: [sources.docs] {key}" in said
    assert f"did you mean '{nearest}'" in said


@pytest.mark.parametrize("key", ["webhook", "ocr", "schedule"])
def test_a_key_that_is_not_built_is_refused(refused: Callable[..., str], key: str) -> None:
    assert f"{key} is no known key" in refused(FILES + f'{key} = "1h"\n')


def test_a_scrub_that_there_is_not_is_refused(refused: Callable[..., str]) -> None:
    assert "scrub" in refused('[brain]\nscrub = "secret"\n')


def test_an_unknown_kind_and_engine_get_the_nearest_one(refused: Callable[..., str]) -> None:
    assert "did you mean 'files'" in refused('[sources.docs]\nkind = "file"\n')
    assert "did you mean 'local'" in refused('[engine]\nkind = "locl"\n')


def test_a_source_without_kind_or_path_says_what_it_needs(refused: Callable[..., str]) -> None:
    assert "[sources.docs] needs the key kind" in refused("[sources.docs]\n")
    assert "[sources.docs] needs the key path" in refused('[sources.docs]\nkind = "files"\n')


def test_a_value_of_the_wrong_shape_names_its_key_and_never_the_value(refused: Callable[..., str]) -> None:
    said = refused(FILES + 'split = "sometimes-canary"\n')
    assert "[sources.docs] split" in said
    assert "canary" not in said
    assert "[brain] root" in refused('[brain]\nroot = "team"\n')
    assert "max_bytes" in refused(FILES + 'max_bytes = "2GiB"\n')


def test_a_table_that_is_a_value_is_said(refused: Callable[..., str]) -> None:
    assert "brain is a table" in refused('brain = "x"\n')
    assert "docs is no table" in refused('[sources]\ndocs = "x"\n')


@pytest.mark.parametrize("name", ["a b", "-x", ".x", "a/b", "", "x" * 65])
def test_a_name_that_cannot_be_used_is_refused(refused: Callable[..., str], name: str) -> None:
    assert "cannot name a source" in refused(f'[sources."{name}"]\nkind = "files"\npath = "x"\n')


def test_names_in_any_script_are_fine(read: Read) -> None:
    assert list(read('[sources."Büro-2.0"]\nkind = "files"\npath = "x"\n').sources) == ["Büro-2.0"]


# -- what contradicts itself


def set_of(config: Config) -> SourceSet:
    return SourceSet(config)


def test_a_source_may_not_take_the_id_of_another_kind(read: Read) -> None:
    with pytest.raises(SetupError, match="cannot be called 'notion'"):
        set_of(read(FILES.replace("docs]", "notion]")))
    assert "files" in set_of(read(FILES.replace("docs]", "files]"))).by_name


def test_two_sources_of_one_folder_are_refused(read: Read, tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "link").symlink_to("docs")
    with pytest.raises(SetupError, match="docs and again are the same folder"):
        set_of(read(FILES + '[sources.again]\nkind = "files"\npath = "link/"\n'))


@pytest.mark.parametrize(
    ("kind", "keys", "other"),
    [
        ("github", 'repo = "acme/api"', 'repo = "acme/web"'),
        ("web", 'start = ["https://docs.acme.example/"]', 'start = ["https://www.acme.example/"]'),
        ("notion", "", "comments = true"),
    ],
)
def test_two_sources_that_read_the_same_are_refused(read: Read, kind: str, keys: str, other: str) -> None:
    token = 'token = "{}"\n' if kind != "web" else ""
    first = f'[sources.one]\nkind = "{kind}"\n{token.format("a")}{keys}\n'
    with pytest.raises(SetupError, match="the sources one and two read the same"):
        set_of(read(f'{first}[sources.two]\nkind = "{kind}"\n{token.format("b")}{keys}\nevery = "1h"\n'))
    assert set_of(read(f'{first}[sources.two]\nkind = "{kind}"\n{token.format("a")}{other}\n')).by_name.keys() == {
        "one",
        "two",
    }


@pytest.mark.parametrize(("depth", "split", "fits"), [(6, "auto", True), (7, "auto", False), (7, "never", True)])
def test_a_root_too_deep_for_collections_is_refused(read: Read, depth: int, split: str, fits: bool) -> None:
    root = "/".join(f"team:t{number}" for number in range(depth))
    config = read(FILES + f'root = "{root}"\nsplit = "{split}"\n')
    if fits:
        assert str(set_of(config).layout(config.sources["docs"]).root) == root
    else:
        with pytest.raises(SetupError, match=r'set split = "never" in \[sources.docs\]'):
            set_of(config)


def test_a_root_with_no_room_at_all_is_refused(read: Read) -> None:
    root = "/".join(f"team:t{number}" for number in range(8))
    with pytest.raises(SetupError, match="nearer to the top"):
        set_of(read(FILES + f'root = "{root}"\nsplit = "never"\n'))


def test_a_source_is_filed_below_its_own_root_or_the_brains(read: Read) -> None:
    config = read(
        '[brain]\nroot = "team:acme"\n' + FILES + '[sources.hr]\nkind = "files"\npath = "hr"\nroot = "team:hr"\n'
    )
    sources = set_of(config)
    assert str(sources.layout(config.sources["docs"]).root) == "team:acme"
    assert str(sources.layout(config.sources["hr"]).root) == "team:hr"


# -- variables


def test_variables_defaults_and_files_are_filled_in(read: Read, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("from-file\n")
    config = read(f'[brain]\ndata = "${{BASE}}/${{NAME:-plain}}/${{file:{tmp_path}/secret}}"\n', BASE="/srv")
    assert config.brain.data == "/srv/plain/from-file"


def test_an_empty_variable_takes_the_default(read: Read) -> None:
    assert read('[brain]\ndata = "${D:-there}"\n', D="").brain.data == "there"


def test_a_value_is_not_expanded_again(read: Read) -> None:
    assert read('[brain]\ndata = "${A}"\n', A="${B}", B="x").brain.data == "${B}"


def test_other_fields_stay_as_written(read: Read) -> None:
    config = read(FILES + 'include = ["${A}/*"]\n', A="x")
    assert getattr(config.sources["docs"].own, "include") == ("${A}/*",)  # noqa: B009 - of a model mypy knows as BaseModel


def test_the_path_of_a_folder_may_hold_a_variable(read: Read) -> None:
    config = read('[sources.docs]\nkind = "files"\npath = "${SHARE}/docs"\n', SHARE="/srv")
    assert config.sources["docs"].values["path"] == "/srv/docs"


def test_a_missing_variable_names_itself_and_its_field(refused: Callable[..., str], tmp_path: Path) -> None:
    said = refused('[brain]\ndata = "${NOPE}"\n')
    assert "brain.toml:2: [brain] data: the variable NOPE is not set" in said
    assert "is empty" in refused('[brain]\ndata = "${NOPE}"\n', NOPE="")
    assert "no such file" in refused(f'[brain]\ndata = "${{file:{tmp_path}/none}}"\n')
    assert "names no variable" in refused('[brain]\ndata = "${NO PE}"\n')


@pytest.mark.usefixtures("wiki")
def test_a_secret_is_never_shown(read: Read, refused: Callable[..., str]) -> None:
    table = '[sources.w]\nkind = "wiki"\n'
    config = read(table + 'token = "canary-literal"\n')
    assert resolved(config)["sources"]["w"]["token"] == "**********"
    config = read(table + 'token = "${WIKI_TOKEN}"\n', WIKI_TOKEN="canary-env")
    assert resolved(config)["sources"]["w"]["token"] == "${WIKI_TOKEN}"
    assert config.sources["w"].values["token"] == "canary-env"
    assert "canary" not in repr(config)
    config = read(table + 'token = "${WIKI_TOKEN:-canary-default}"\n')
    assert "canary" not in str(resolved(config))
    said = refused(table + 'token = "${WIKI_TOKEN}"\nspaces = 1\n', WIKI_TOKEN="canary-env")
    assert "did you mean 'space'" in said
    assert "canary" not in said


def test_what_a_variable_held_is_not_shown(read: Read) -> None:
    shown = resolved(read('[brain]\ndata = "${D}"\n', D="/canary"))
    assert shown["brain"]["data"] == "${D}"


# -- documents


def test_the_parser_of_a_format_can_be_chosen(read: Read, refused: Callable[..., str]) -> None:
    config = read('[documents]\npdf = "pypdf"\nworkers = 1\ntimeout_s = 5\n')
    assert config.documents.parsers == {"pdf": "pypdf"}
    assert (config.documents.workers, config.documents.timeout_s) == (1, 5.0)
    assert resolved(config)["documents"]["pdf"] == "pypdf"
    assert "choose one of auto, pdfium, pypdf" in refused('[documents]\npdf = "acrobat"\n')
    assert "did you mean 'docx'" in refused('[documents]\ndocxx = "auto"\n')
    assert "is no known key" in refused("[documents]\nparsers = {}\n")


def test_the_size_limit_of_a_source_comes_before_the_general_one(read: Read) -> None:
    config = read(
        '[documents]\nmax_bytes = "1KiB"\n' + FILES + '[sources.big]\nkind = "files"\npath = "b"\nmax_bytes = 9\n'
    )
    limits = {name: source.own.model_dump()["max_bytes"] for name, source in config.sources.items()}
    assert limits == {"docs": 1024, "big": 9}
