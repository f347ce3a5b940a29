"""Search by meaning from the command line: offered, turned on, worked off, and refused in time."""

import tomllib
from typing import Any

import pytest

from corebrain.embed.letters import Letters
from corebrain.errors import Unavailable
from pipeline.config import engine_tables

EMBEDS = '[engine]\nembedder = "letters"\n\n[sources.docs]\nkind = "files"\npath = "docs"\n'


class Renamed(Letters):
    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name


class Down(Letters):
    def embed(self, texts: Any) -> Any:
        del texts
        raise Unavailable("the embedding server is down")


@pytest.fixture
def embeds(desk: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """A synced brain whose embedder is made of what stands in brain.toml, but of letters."""

    def build(name: str, **_: Any) -> Letters:
        return Down() if name == "down" else Renamed(name)

    monkeypatch.setattr(engine_tables, "build_embedder", build)
    desk.write(leave="# Parental leave\n\nSixteen weeks, paid.", vpn="# VPN\n\nUse the tunnel.")
    desk.configure(EMBEDS)
    return desk


def test_init_says_what_each_search_finds_and_costs(desk: Any) -> None:
    out = desk.brain("init").out
    assert "brain init --embedder minilm" in out
    assert "215 MB" in out
    assert "82 %" in out


def test_init_turns_it_on_and_no_longer_offers_it(desk: Any) -> None:
    answer = desk.brain("init", "--embedder", "minilm")
    assert answer.status == 0
    assert "--embedder" not in answer.out
    written = tomllib.loads((desk.folder / "brain.toml").read_text())
    assert written["engine"] == {"kind": "local", "embedder": "minilm"}


@pytest.mark.parametrize("name", ["nonsense", "minilm:large", "openai:m"])
def test_init_refuses_what_it_could_not_use_and_writes_nothing(desk: Any, name: str) -> None:
    answer = desk.brain("init", "--embedder", name)
    assert answer.status == 2
    assert answer.err.startswith("brain: ")
    assert not (desk.folder / "brain.toml").exists()


def test_a_sync_says_what_waits_and_jobs_run_embeds_it(embeds: Any) -> None:
    assert "2 passages found by words alone until" in embeds.brain("sync").out
    assert embeds.brain("search", "sixteenth", "--json").json["hits"] == []
    assert "2 passages found by words alone until `brain jobs run`" in embeds.brain("search", "sixteenth").err
    assert "2 passages wait to be embedded" in embeds.brain("jobs").out
    assert "0 of 2 passages embedded by no model yet, 2 waiting; `brain jobs run`" in embeds.brain("doctor").out
    assert embeds.brain("jobs", "--json").json["unembedded"] == 2
    assert embeds.brain("jobs", "run").status == 0
    assert embeds.brain("jobs", "--json").json == {"ok": True, "jobs": [], "unembedded": 0}
    assert "2 of 2 passages embedded by letters, 0 waiting" in embeds.brain("doctor").out
    first, *_ = embeds.brain("search", "sixteenth", "--json").json["hits"]
    assert first["title"] == "Parental leave"
    assert "found by words alone" not in embeds.brain("sync").out


def test_another_model_is_refused_until_it_is_wanted(embeds: Any) -> None:
    embeds.brain("sync")
    embeds.brain("jobs", "run")
    embeds.configure(EMBEDS.replace("letters", "other"))
    answer = embeds.brain("jobs", "run")
    assert answer.status == 1
    assert "vectors are of the model letters, not of other" in answer.out
    assert "brain jobs run --change-model" in embeds.brain("doctor").out
    assert embeds.brain("search", "leave", "--json").json["hits"], "words are still found"
    assert "search by words alone: the memory's vectors are of" in embeds.brain("search", "leave").err
    assert "2 passages wait for vectors of other" in embeds.brain("jobs", "run", "--change-model").out
    assert embeds.brain("search", "sixteenth", "--json").json["hits"]


def test_an_embedder_that_is_down_costs_no_search_and_fails_the_jobs(embeds: Any) -> None:
    embeds.configure(EMBEDS.replace("letters", "down"))
    assert embeds.brain("sync").status == 0
    assert embeds.brain("search", "leave", "--json").json["hits"]
    answer = embeds.brain("jobs", "run")
    assert answer.status == 1
    assert "the embedding server is down" in answer.out


def test_only_an_engine_with_an_embedder_changes_its_model(two: Any) -> None:
    answer = two.brain("jobs", "run", "--change-model")
    assert answer.status != 0
    assert "no embedder" in answer.err


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ('embedder_url = "http://127.0.0.1:1/v1"', "go with an embedder"),
        ('embedder = "openai:m"', "needs a model"),
        ('embedder = "openai:m"\nembedder_url = "ftp://x"', "not one"),
        ('embedder = "minilm"\nembedder_key = "k"', "goes with openai"),
        ('embedder = "nope"', "unknown embedder"),
    ],
)
def test_an_embedder_that_cannot_be_is_a_wrong_configuration(desk: Any, keys: str, said: str) -> None:
    (desk.folder / "docs").mkdir()
    desk.configure(f'[engine]\n{keys}\n\n[sources.docs]\nkind = "files"\npath = "docs"\n')
    answer = desk.brain("sync")
    assert answer.status == 2
    assert said in answer.err
