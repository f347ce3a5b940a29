"""The brief that `[context]` keeps in a file: when it is written, and when the last one stays."""

from dataclasses import dataclass, field
from pathlib import Path

import pytest

from connectors.files.connector import FilesConnector
from corebrain.contract import EngineDescriptor
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import Unavailable
from corebrain.layout import MemoryLayout
from corebrain.lifecycle import AgentMemory
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace
from corebrain.model.requests import ListPage, ListRequest
from pipeline.brief import KeptBrief, check_place
from pipeline.config.models import ContextTable
from pipeline.errors import SetupError
from pipeline.state.sqlite import SqliteState
from pipeline.upkeep import Upkeep


class Moody(ReferenceEngine):
    """An engine whose listings fail while a test says so."""

    fails = False

    def list(self, request: ListRequest) -> ListPage:
        if self.fails:
            raise Unavailable("the server is away")
        return super().list(request)


@dataclass
class Desk:
    """A memory with one learning, a clock, and what was said."""

    file: Path
    engine: Moody = field(default_factory=Moody)
    clock: float = 1_000_000.0
    said: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.learn("Prefers tea.")

    def learn(self, text: str) -> None:
        self.engine.store(StoreItem.learning(text, LearningKind.PREFERENCE, 0.9))

    def kept(self, **table: object) -> KeptBrief:
        keys = ContextTable.model_validate({"file": self.file.name, **table})
        return KeptBrief(self.engine, MemoryLayout(), keys, self.file, now=lambda: self.clock, say=self.said.append)

    @property
    def written(self) -> str:
        return self.file.read_text(encoding="utf-8")


@pytest.fixture
def desk(tmp_path: Path) -> Desk:
    return Desk(tmp_path / "context.md")


def test_brief_is_due_at_once_then_when_it_has_grown_old(desk: Desk) -> None:
    kept = desk.kept(every="15m")
    assert kept.is_due()
    kept.write()
    assert "- Prefers tea." in desk.written
    assert not kept.is_due()
    desk.clock += 899
    assert not kept.is_due()
    desk.clock += 1
    assert kept.is_due()


def test_brief_of_a_server_grows_old_only_when_that_is_asked_for(desk: Desk) -> None:
    class Served(Moody):
        @property
        def descriptor(self) -> EngineDescriptor:
            return super().descriptor.model_copy(update={"needs_endpoint": True})

    desk.engine = Served()
    kept = desk.kept()
    assert kept.is_due()
    kept.write()
    desk.clock += 365 * 86_400
    assert not kept.is_due()
    asked = desk.kept(every="15m")
    asked.write()
    desk.clock += 900
    assert asked.is_due()


def test_brief_grows_old_in_a_quarter_of_an_hour_unless_told_otherwise(desk: Desk) -> None:
    kept = desk.kept()
    kept.write()
    desk.clock += 899
    assert not kept.is_due()
    desk.clock += 1
    assert kept.is_due()


def test_file_is_its_owners_alone_and_utf_8(desk: Desk) -> None:
    desk.learn("Grüßt auf Deutsch.")
    desk.kept().write()
    assert desk.file.stat().st_mode & 0o777 == 0o600
    assert "Grüßt" in desk.file.read_bytes().decode("utf-8")


def test_clock_that_went_back_does_not_leave_the_brief_to_grow_old(desk: Desk) -> None:
    kept = desk.kept(every="15m")
    kept.write()
    desk.clock -= 86_400
    assert kept.is_due()


def test_last_whole_brief_stays_while_the_engine_fails_and_it_is_said_once(desk: Desk) -> None:
    kept = desk.kept()
    kept.write()
    before = desk.written
    desk.engine.fails = True
    kept.write()
    kept.write()
    assert desk.written == before
    assert desk.said == [f"{desk.file} was not refreshed: Learnings: unavailable: the server is away"]
    desk.engine.fails = False
    desk.learn("Prefers coffee now.")
    kept.write()
    assert "- Prefers coffee now." in desk.written
    desk.engine.fails = True
    kept.write()
    assert len(desk.said) == 2, "a new trouble is said anew"


def test_place_that_cannot_be_written_is_said_and_costs_nothing_else(desk: Desk) -> None:
    desk.file = desk.file.parent / "nowhere" / "context.md"
    kept = desk.kept()
    kept.write()
    (said,) = desk.said
    assert said.startswith(f"{desk.file} was not refreshed: cannot write {desk.file}: no such file or directory;")
    assert not kept.is_due()


def test_memory_that_holds_nothing_more_leaves_an_empty_file(desk: Desk) -> None:
    kept = desk.kept()
    kept.write()
    desk.engine = Moody()
    kept = desk.kept()
    kept.write()
    assert desk.written == ""


def test_agent_and_budget_choose_what_is_in_it(desk: Desk) -> None:
    for agent in ("support", "sales"):
        memory = AgentMemory(desk.engine, MemoryLayout(), agent)
        memory.post_turn("t1", 0, f"The user works on {agent} payments.")
    desk.kept(agent="support").write()
    assert "support payments" in desk.written
    assert "sales payments" not in desk.written
    desk.kept().write()
    assert "sales payments" in desk.written
    desk.kept(budget=70).write()
    assert 0 < len(desk.written) <= 280


def test_an_agents_brief_reaches_above_its_node_and_below_but_not_beside(desk: Desk) -> None:
    for node in ("agent:support", "agent:support/agent:helper", "agent:sales"):
        learning = StoreItem.learning(f"Told to {node}.", LearningKind.FACT, 0.9)
        desk.engine.store(learning.with_meta(MemoryMeta(namespace=Namespace.parse(node))))
    desk.kept(agent="support").write()
    for shown in ("Prefers tea.", "Told to agent:support.", "Told to agent:support/agent:helper."):
        assert f"- {shown}" in desk.written
    assert "sales" not in desk.written


def test_upkeep_writes_it_once_all_else_is_done_and_when_it_is_due(desk: Desk) -> None:
    upkeep = Upkeep(
        desk.engine,
        MemoryLayout(),
        SqliteState(None),
        now=lambda: desk.clock,
        say=desk.said.append,
        brief=desk.kept(),
    )
    assert upkeep.is_due()
    assert not upkeep.step()
    assert not upkeep.is_due()
    assert "- Prefers tea." in desk.written
    plain = Upkeep(desk.engine, MemoryLayout(), SqliteState(None), now=lambda: desk.clock, say=desk.said.append)
    assert not plain.is_due()


def test_brief_is_not_written_where_a_source_would_read_it_back(tmp_path: Path) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    (tmp_path / "alias").symlink_to(docs)
    sources = {"docs": FilesConnector(docs, exclude=["briefs/"])}
    for inside in ("docs/context.md", "docs/deep/context.md", "alias/context.md"):
        with pytest.raises(SetupError, match="lies in the source docs"):
            check_place(tmp_path / inside, sources)
    for outside in ("context.md", "docs/briefs/context.md", "docs/.context.md", "docs2/context.md"):
        check_place(tmp_path / outside, sources)
