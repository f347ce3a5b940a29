"""A split that dies at any step loses sight of nothing, and the next split or sync finishes it."""

from collections.abc import Callable
from typing import Any

import pytest

from corebrain.model.requests import ListRequest
from pipeline.splitting import split
from pipeline.state.sqlite import SqliteState


def paths(world: Any) -> list[str]:
    """Where every document that the engine holds came from, wherever it is filed."""
    engine = world.engine()
    try:
        return sorted(str(hit.meta.file_path) for hit in engine.list(ListRequest(limit=200)).items)
    finally:
        engine.close()


def decision(world: Any) -> str | None:
    """What the books say of splitting."""
    state = SqliteState(world.folder / "state.db")
    try:
        kept: str | None = state.ledger("scripted").row().split
        return kept
    finally:
        state.close()


@pytest.mark.parametrize("finish", ["split", "sync"])
@pytest.mark.parametrize("kind", ["reference", "local"])
def test_a_split_killed_at_any_step_hides_nothing_and_is_finished_by_the_next(
    kind: str, finish: str, make_world: Callable[..., Any], scenario: Any
) -> None:
    always = make_world(kind, scenario.first_documents(), split="always")
    always.run()
    wanted, everything = always.dump(), paths(always)
    assert len(set(everything)) == len(everything) >= 8
    finished = 0
    for at in range(1, 1_000):
        world = make_world(kind, scenario.first_documents())
        world.run()
        try:
            world.run(scenario.tripwire(at), split)
        except scenario.crash:
            assert set(paths(world)) == set(everything), f"killed at step {at}: a document is unfindable"
            if finish == "sync" and decision(world) == "no":
                continue  # killed before anything was decided
            world.run(work=split if finish == "split" else None)
            assert world.dump() == wanted, f"killed at step {at}"
            assert decision(world) == "yes"
            finished += 1
        else:
            assert world.dump() == wanted
            break
    assert finished > 8, "a split has more steps than that"
