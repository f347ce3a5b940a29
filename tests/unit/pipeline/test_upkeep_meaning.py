"""Idle work embeds what waits, also what others stored, and tries again when the embedder was down."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from corebrain.embed.letters import Letters
from corebrain.engines.local import LocalEngine
from corebrain.errors import Unavailable
from corebrain.layout import MemoryLayout
from corebrain.model.item import StoreItem
from pipeline.state.sqlite import SqliteState
from pipeline.upkeep import LOOK_S, Upkeep


class Shaky(Letters):
    is_down = False

    def embed(self, texts: Any) -> Any:
        if self.is_down:
            raise Unavailable("the embedding server is down")
        return super().embed(texts)


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[LocalEngine]:
    with LocalEngine(tmp_path / "memory.db", durability="process", embedder=Shaky()) as opened:
        yield opened


def test_what_was_stored_beside_is_embedded_at_the_next_look(engine: LocalEngine) -> None:
    clock, said = [0.0], list[str]()
    work = Upkeep(engine, MemoryLayout(), SqliteState(None), now=lambda: clock[0], say=said.append)
    engine.store(StoreItem.document("stored by an agent"))
    assert not work.is_due()
    clock[0] = LOOK_S
    assert work.is_due()
    assert not work.is_due(), "one look, not a look a round"
    while work.step():
        pass
    assert engine.embedding().embedded == 1
    clock[0] = 2 * LOOK_S
    assert not work.is_due()
    assert said == []


def test_an_embedder_that_was_down_is_tried_again(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, said = [0.0], list[str]()
    work = Upkeep(engine, MemoryLayout(), SqliteState(None), now=lambda: clock[0], say=said.append)
    engine.store(StoreItem.document("a text"))
    monkeypatch.setattr(Shaky, "is_down", True)
    assert not work.step()
    assert said == ["the engine's upkeep failed: the embedding server is down"]
    monkeypatch.setattr(Shaky, "is_down", False)
    clock[0] = LOOK_S
    assert work.is_due()
    while work.step():
        pass
    assert engine.embedding().embedded == 1


def test_an_engine_that_is_closed_is_not_due(engine: LocalEngine) -> None:
    clock, said = [0.0], list[str]()
    work = Upkeep(engine, MemoryLayout(), SqliteState(None), now=lambda: clock[0], say=said.append)
    engine.close()
    clock[0] = LOOK_S
    assert not work.is_due()
    assert len(said) == 1
