"""`brain search`: conditions, reasons, pages."""

import io
import sys
from typing import Any

import pytest

from corebrain.engines.local import LocalEngine
from corebrain.model.instant import Instant
from corebrain.model.item import Conversation, Learning, LearningKind, Role, Turn
from corebrain.model.meta import MemoryMeta, TurnRange
from corebrain.model.namespace import Namespace


@pytest.fixture
def told(two: Any) -> Any:
    """The brain of two folders, with a turn and a learning in its engine, and a tagged page."""
    two.write(tagged="---\ntags: [people, draft]\n---\n# Visits\n\nVisitors sign the leave book.")
    assert two.brain("sync").status == 0
    with LocalEngine(two.folder / ".brain" / "memory.db") as engine:
        meta = MemoryMeta(
            namespace=Namespace.parse("agent:coder"),
            agent_id="coder",
            thread_id="t",
            turns=TurnRange(first=0, last=0),
            observed_at=Instant.parse("2026-05-07T09:00:00Z"),
        )
        engine.store(Conversation(turns=(Turn(role=Role.USER, text="I take my leave in May."),), meta=meta))
        engine.store(Learning(text="Leave is asked for by mail.", kind=LearningKind.FACT, confidence=0.9))
    return two


def found(desk: Any, *arguments: str) -> list[str]:
    return [hit["snippet"] for hit in desk.brain("search", *arguments, "--json").json["hits"]]


def test_documents_are_found_unless_another_kind_is_named(told: Any) -> None:
    assert len(found(told, "leave")) == 3
    assert found(told, "leave", "--kind", "conversation") == ["user: I take my leave in May."]
    assert found(told, "leave", "--kind", "learning") == ["Leave is asked for by mail."]
    assert len(found(told, "leave", "--kind", "learning", "--kind", "conversation")) == 2


def test_a_node_narrows_the_search(told: Any) -> None:
    assert found(told, "leave", "--node", "agent:coder", "--kind", "conversation") == ["user: I take my leave in May."]
    assert found(told, "leave", "--node", "source:web") == []
    assert len(found(told, "leave", "--node", "source:files")) == 3


def test_a_time_narrows_the_search(told: Any) -> None:
    turns = ("leave", "--kind", "conversation")
    assert found(told, *turns, "--since", "2026-05-07", "--until", "2026-05-07")
    assert found(told, *turns, "--since", "May 2026", "--until", "may 2026")
    assert found(told, *turns, "--until", "2026-05-06") == []
    assert found(told, *turns, "--since", "2026-05-07T10:00:00Z") == []


def test_a_tag_narrows_the_search(told: Any) -> None:
    (only,) = found(told, "leave", "--tag", "people")
    assert "Visitors sign the leave book." in only
    assert found(told, "leave", "--tag", "none", "--tag", "draft") == [only]
    assert found(told, "leave", "--tag", "none") == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--node", "nothing"], "--node 'nothing'"),
        (["--since", "whenever"], "give a date as 2026-05-01"),
        (["--until", "2026-13-45"], "cannot read --until"),
        (["--kind", "thing"], "invalid choice"),
        (["--cursor", "%%%"], "cursor"),
    ],
)
def test_a_condition_that_cannot_be_read_is_refused(told: Any, arguments: list[str], said: str) -> None:
    answer = told.brain("search", "leave", *arguments)
    assert answer.status == 2
    assert said in answer.err


def test_reasons_name_the_words_and_their_places(told: Any) -> None:
    answer = told.brain("search", "parental", "weeks", "zebra", "--explain")
    assert "  why: title: parental; text: weeks; not in it: zebra; score " in answer.out
    (hit,) = told.brain("search", "parental", "weeks", "zebra", "--explain", "--json").json["hits"]
    assert hit["why"]["title"] == ["parental"]
    assert hit["why"]["text"] == ["weeks"]
    assert hit["why"]["missing"] == ["zebra"]
    assert hit["why"]["mode"] == "keyword"
    assert "why" not in told.brain("search", "parental", "--json").json["hits"][0]


def test_reasons_name_the_time_that_was_asked_for(told: Any) -> None:
    (hit,) = told.brain("search", "leave on 7 May 2026", "--kind", "conversation", "--explain", "--json").json["hits"]
    assert hit["why"]["time"] == "2026-05-07"


def test_a_file_is_found_by_its_name_and_the_reason_says_so(told: Any) -> None:
    hit, *_ = told.brain("search", "vpn.md", "--explain", "--json").json["hits"]
    assert hit["file_path"] == "it/vpn.md"
    assert "vpn" in hit["why"]["name"]


def test_a_search_goes_on_where_it_stopped(told: Any) -> None:
    first = told.brain("search", "leave", "--limit", "2", "--json").json
    rest = told.brain("search", "leave", "--limit", "2", "--json", "--cursor", first["next"]).json
    assert (len(first["hits"]), len(rest["hits"]), rest["next"]) == (2, 1, None)
    assert len({hit["id"] for hit in (*first["hits"], *rest["hits"])}) == 3


class Keys(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_a_terminal_is_shown_page_by_page_until_it_says_stop(told: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", Keys("\nq\n"))
    answer = told.brain("search", "leave", "--limit", "1")
    assert answer.out.count("(") == 2
    assert answer.err.count("Enter for more") == 2
    monkeypatch.setattr(sys, "stdin", Keys("\n\n\n\n"))
    assert told.brain("search", "leave", "--limit", "1").out.count("(") == 3
    monkeypatch.setattr(sys, "stdin", Keys(""))
    assert told.brain("search", "leave", "--limit", "1").out.count("(") == 1


def test_a_pipe_gets_one_page(told: Any) -> None:
    assert told.brain("search", "leave", "--limit", "1").out.count("(") == 1


def test_inflected_words_of_another_language_are_marked(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    desk.write(vertrag="# Recht\n\nDie Verträge der Firma laufen im Mai aus und werden nicht erneuert.")
    desk.configure('[sources.docs]\nkind = "files"\npath = "docs"\n')
    desk.brain("sync")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    monkeypatch.setattr(sys, "stdin", Keys(""))
    assert "\x1b[1mVerträge\x1b[0m" in desk.brain("search", "Vertrag").out
