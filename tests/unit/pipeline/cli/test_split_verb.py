"""`brain split`."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

DOCS = '[sources.docs]\nkind = "files"\npath = "docs"\n'


def test_a_split_gives_folders_nodes_of_their_own_and_every_document_stays_findable(two: Any) -> None:
    answer = two.brain("split", "docs")
    assert (answer.status, answer.out) == (0, "docs: 1 document moved to the node of its collection\n")
    (found,) = two.brain("search", "tunnel", "--json").json["hits"]
    assert found["namespace"] == "source:files/project:it"
    assert len(two.ids()) == 3
    assert two.brain("sync", "--json").json["sources"][0]["unchanged"] == 2
    again = two.brain("split", "docs", "--json").json
    assert (again["ok"], again["sources"][0]["moved"], again["jobs"]) == (True, 0, [])


@pytest.mark.parametrize(
    ("config", "name", "said"),
    [
        (DOCS, "dosc", "did you mean 'docs'?"),
        (f'{DOCS}split = "never"\n', "docs", 'says split = "never"'),
        (f'{DOCS}[sources.more]\nkind = "files"\npath = "more"\n', "more", "was never synced"),
    ],
)
def test_a_split_that_cannot_be_is_refused_before_anything_runs(desk: Any, config: str, name: str, said: str) -> None:
    desk.write(a__one="# One\n\nText.")
    desk.configure(DOCS)
    desk.brain("sync")
    before = desk.brain("dump").out
    desk.configure(config)
    answer = desk.brain("split", name)
    assert answer.status == 2
    assert said in answer.err
    assert desk.brain("dump").out == before


def test_an_interrupted_split_says_how_to_go_on(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def interrupted(stop: threading.Event, _: object) -> Iterator[None]:
        stop.set()
        yield

    with monkeypatch.context() as patched:
        patched.setattr("pipeline.cli.split.interrupts.heeded", interrupted)
        answer = two.brain("split", "docs")
    assert answer.status == 130
    assert "run `brain split docs` again to go on" in answer.err
    assert len(two.ids()) == 3
