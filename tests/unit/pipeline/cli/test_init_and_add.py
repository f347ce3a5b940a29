"""`brain init` and `brain add files`."""

import tomllib
from pathlib import Path
from typing import Any


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def test_init_writes_a_configuration_and_says_what_leaves_this_machine(desk: Any) -> None:
    answer = desk.brain("init")
    assert answer.status == 0
    assert "what leaves this machine: nothing" in answer.out
    assert "brain add files" in answer.out
    assert toml(desk.folder / "brain.toml")["engine"] == {"kind": "local"}


def test_init_overwrites_nothing(desk: Any) -> None:
    desk.configure("# mine\n")
    answer = desk.brain("init")
    assert answer.status == 2
    assert (
        answer.err == "brain: brain.toml exists already and is left as it is; edit it, or name another with --config\n"
    )
    assert (desk.folder / "brain.toml").read_text() == "# mine\n"


def test_init_elsewhere_and_as_json(desk: Any) -> None:
    answer = desk.brain("init", "--config", "other.toml", "--json")
    assert answer.json == {"ok": True, "file": "other.toml", "leaves_this_machine": []}
    assert (desk.folder / "other.toml").exists()
    assert desk.brain("--config", "none/other.toml", "init").status == 2


def test_add_names_a_source_by_its_folder(desk: Any) -> None:
    (desk.folder / "my docs").mkdir()
    desk.brain("init")
    answer = desk.brain("add", "files", "my docs")
    assert answer.status == 0
    assert "`brain sync my-docs`" in answer.out
    assert toml(desk.folder / "brain.toml")["sources"] == {"my-docs": {"kind": "files", "path": "my docs"}}
    assert "# The configuration of this brain" in (desk.folder / "brain.toml").read_text()


def test_add_takes_a_name(desk: Any) -> None:
    (desk.folder / "docs").mkdir()
    desk.configure("")
    assert desk.brain("add", "files", "docs", "--name", "handbook", "--json").json["name"] == "handbook"
    assert list(toml(desk.folder / "brain.toml")["sources"]) == ["handbook"]


def test_a_relative_path_is_written_from_the_file_it_goes_into(desk: Any, monkeypatch: Any) -> None:
    below = desk.folder / "a" / "docs"
    below.mkdir(parents=True)
    desk.configure("")
    monkeypatch.chdir(desk.folder / "a")
    desk.brain("add", "files", "docs")
    desk.brain("add", "files", "..", "--name", "all")
    sources = toml(desk.folder / "brain.toml")["sources"]
    assert sources["docs"]["path"] == "a/docs"
    assert (desk.folder / sources["all"]["path"]).resolve() == desk.folder


def test_a_home_path_stays_as_written(desk: Any, monkeypatch: Any) -> None:
    desk.configure("")
    (desk.folder / "below").mkdir()
    monkeypatch.chdir(desk.folder / "below")
    assert desk.brain("add", "files", "~", "--name", "home").status == 0
    assert toml(desk.folder / "brain.toml")["sources"]["home"]["path"] == "~"


def test_add_refuses_what_a_sync_would_refuse(desk: Any) -> None:
    (desk.folder / "docs").mkdir()
    (desk.folder / "file.txt").write_text("x")
    assert "brain init" in desk.brain("add", "files", "docs").err
    desk.configure("")
    assert "does not exist" in desk.brain("add", "files", "doks").err
    assert "is a file" in desk.brain("add", "files", "file.txt").err
    assert "cannot be called 'notion'" in desk.brain("add", "files", "docs", "--name", "notion").err
    assert "cannot name a source" in desk.brain("add", "files", "docs", "--name", "a/b").err
    assert (desk.folder / "brain.toml").read_text() == ""
    assert desk.brain("add", "files", "docs").status == 0
    again = desk.brain("add", "files", "docs", "--name", "again")
    assert again.status == 2
    assert "the same folder" in again.err
    assert "already" in desk.brain("add", "files", "docs").err


def test_a_folder_called_like_another_kind_gets_a_name_of_its_own(desk: Any) -> None:
    (desk.folder / "pdf").mkdir()
    desk.configure("")
    assert desk.brain("add", "files", "pdf", "--json").json["name"] == "pdf-folder"


def test_a_path_with_quotes_comes_back_as_it_was(desk: Any) -> None:
    odd = 'od"d \\ [x] #1'
    (desk.folder / odd).mkdir()
    desk.configure("[brain]\n")
    assert desk.brain("add", "files", odd, "--name", "odd").status == 0
    assert toml(desk.folder / "brain.toml")["sources"]["odd"]["path"] == odd
