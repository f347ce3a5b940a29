"""`context`: the brief of a brain or an agent; `forget --agent`: what an agent was told, gone."""

import io
from pathlib import Path
from typing import Any

import pytest

from corebrain import context
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import EngineError
from corebrain.layout import MemoryLayout
from corebrain.lifecycle import AgentMemory
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ConsolidateRequest, ListRequest


def told(desk: Any) -> None:
    """Two agents, each told something, and a learning that all share."""
    with LocalEngine(desk.folder / ".brain" / "memory.db") as engine:
        for agent, day in (("support", 1), ("sales", 2)):
            memory = AgentMemory(engine, MemoryLayout(), agent)
            for turn in (0, 2):
                at = f"2026-0{day}-1{turn}T09:00:00Z"
                memory.pre_turn("t1", turn, f"The user works on {agent} payments, number {turn}.", at=at)
                memory.post_turn("t1", turn + 1, "Noted.", at=at)
        engine.store(StoreItem.learning("Prefers short answers.", LearningKind.PREFERENCE, 0.9))
        engine.store(
            StoreItem.learning("Only support knows this.", LearningKind.FACT, 0.9).with_meta(
                MemoryMeta(namespace=Namespace.parse("agent:support"))
            )
        )


@pytest.fixture
def talked(two: Any) -> Any:
    told(two)
    return two


def texts(desk: Any) -> list[str]:
    with LocalEngine(desk.folder / ".brain" / "memory.db") as engine:
        return [hit.text for hit in engine.list(ListRequest(limit=100)).items]


# -- context


def test_the_brief_is_what_the_library_compiles(talked: Any) -> None:
    answer = talked.brain("context", "--json")
    assert answer.status == 0
    with LocalEngine(talked.folder / ".brain" / "memory.db") as engine:
        expected = context.compile(engine)
    assert answer.json["refs"] == list(expected.refs)
    assert answer.json["tokens"] == expected.tokens
    assert answer.json["engine"] == "local"
    printed = talked.brain("context").out
    assert printed.startswith("---\ngenerated_at: ")
    assert "- Prefers short answers." in printed
    assert "sales payments" in printed
    assert printed.endswith("\n")


def test_an_agents_brief_holds_its_own_and_what_is_shared_but_no_other_agents(talked: Any) -> None:
    support = talked.brain("context", "--agent", "support").out
    assert "support payments" in support
    assert "Only support knows this." in support
    assert "Prefers short answers." in support
    assert "sales" not in support
    assert "Only support knows this." not in talked.brain("context", "--agent", "sales").out


def test_the_budget_holds(talked: Any) -> None:
    whole = talked.brain("context", "--json").json
    budget = whole["tokens"] - 20
    small = talked.brain("context", "--budget", str(budget), "--json").json
    assert 0 < small["tokens"] <= budget
    assert talked.brain("context", "--budget", "0").status == 2


def test_a_file_is_written_whole_and_a_link_stays_a_link(talked: Any) -> None:
    real = talked.folder / "real.md"
    real.write_text("old")
    link = talked.folder / "context.md"
    link.symlink_to(real)
    answer = talked.brain("context", "--write", "context.md")
    assert answer.status == 0
    assert answer.out.startswith("wrote context.md, ")
    assert link.is_symlink()
    assert "- Prefers short answers." in real.read_text(encoding="utf-8")
    assert [path.name for path in talked.folder.iterdir() if path.name.endswith(".new")] == []
    assert talked.brain("context", "--write", "nowhere/context.md").status == 2


def test_what_a_terminal_would_act_on_is_written_out(two: Any) -> None:
    with LocalEngine(two.folder / ".brain" / "memory.db") as engine:
        engine.store(StoreItem.learning("evil \x1b[31mred", LearningKind.FACT, 0.9))
    assert "\x1b" not in two.brain("context").out
    assert two.brain("context", "--write", "c.md").status == 0


def test_an_empty_memory_is_briefed_with_nothing_and_leaves_no_file(desk: Any) -> None:
    answer = desk.brain("context", "--json")
    assert answer.status == 0
    assert (answer.json["markdown"], answer.json["tokens"]) == ("", 0)
    assert not (desk.folder / ".brain").exists()


# -- forget --agent


def test_forgetting_an_agent_leaves_every_other_and_the_documents(talked: Any) -> None:
    assert talked.brain("forget", "--agent", "support", "--dry-run").out == "would forget 4 items of support\n"
    assert len(texts(talked)) == 3 + 8 + 2
    answer = talked.brain("forget", "--agent", "support", "--yes", "--json")
    assert answer.json == {"ok": True, "agent": "support", "forgotten": 4}
    left = texts(talked)
    assert len(left) == 3 + 4 + 2
    assert not [text for text in left if "support payments" in text]
    assert "Only support knows this." in left, "what was stored on purpose stays"
    assert talked.brain("verify", "--deep").status == 0


def test_what_was_distilled_from_the_turns_goes_with_them(talked: Any) -> None:
    with LocalEngine(talked.folder / ".brain" / "memory.db") as engine:
        engine.consolidate(ConsolidateRequest(reach=Reach.subtree(Namespace.ROOT)))
    assert "support payments" in talked.brain("context").out
    talked.brain("forget", "--agent", "support", "--yes")
    talked.brain("optimize")
    assert "support payments" not in talked.brain("context").out
    assert b"support payments" not in b"".join(path.read_bytes() for path in Path(".brain").glob("memory.db*"))


@pytest.mark.parametrize(
    ("narrowed", "forgotten"),
    [
        (("--before", "2026-01-12"), 2),
        (("--before", "2026-01-12T10:00:00+00:00"), 4),
        (("--thread", "t1"), 4),
        (("--thread", "other"), 0),
    ],
)
def test_forgetting_may_be_narrowed(talked: Any, narrowed: tuple[str, ...], forgotten: int) -> None:
    answer = talked.brain("forget", "--agent", "support", *narrowed, "--yes", "--json")
    again = talked.brain("forget", "--agent", "support", *narrowed, "--yes").out
    assert again == "forgot 0 items of support\n", "nothing is left for `brain optimize`"
    assert answer.json["forgotten"] == forgotten


def test_forgetting_an_agent_asks_first(talked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert talked.brain("forget", "--agent", "support").status == 2
    terminal: Any = io.StringIO("n\ny\n")
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    refused = talked.brain("forget", "--agent", "support")
    assert refused.status == 1
    assert "forget 4 items of support?" in refused.err
    assert len(texts(talked)) == 13
    assert talked.brain("forget", "--agent", "support").status == 0
    assert len(texts(talked)) == 9


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("docs", "--agent", "support"),
        ("docs", "--dry-run"),
        ("docs", "--thread", "t1"),
        ("--agent", " "),
        ("--agent", "support", "--before", "yesterday"),
        ("--agent", "support", "--thread", " "),
    ],
)
def test_a_forget_that_makes_no_sense_is_refused(talked: Any, arguments: tuple[str, ...]) -> None:
    answer = talked.brain("forget", *arguments, "--yes")
    assert answer.status == 2
    assert answer.err.startswith("brain: ")
    assert len(texts(talked)) == 13


# -- a file that is kept, and an engine that fails


def test_a_brief_is_not_written_into_a_source(talked: Any) -> None:
    answer = talked.brain("context", "--write", "docs/context.md")
    assert answer.status == 2
    assert "lies in the source docs" in answer.err
    assert not (talked.folder / "docs" / "context.md").exists()
    talked.configure((talked.folder / "brain.toml").read_text() + '\n[context]\nfile = "more/context.md"\n')
    assert talked.brain("run").status == 2
    assert talked.brain("context", "--write", "context.md").status == 0


def test_an_engine_that_fails_costs_the_brief_and_leaves_the_file(talked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    talked.brain("context", "--write", "context.md")
    before = (talked.folder / "context.md").read_text(encoding="utf-8")

    def broken(*_: object) -> None:
        raise EngineError("the file is damaged")

    monkeypatch.setattr(LocalEngine, "newest", broken)
    answer = talked.brain("context", "--write", "context.md")
    assert answer.status == 1
    assert answer.err == "brain: Learnings: engine error: the file is damaged\n"
    assert (talked.folder / "context.md").read_text(encoding="utf-8") == before
    assert talked.brain("context", "--json").json["ok"] is False
