"""Which table of the word index a branch is given: areas apart while few, an area together until the table is full."""

from collections.abc import Callable

import pytest

from corebrain.engines.local import placing
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import Conversation, Document


def tables(engine: LocalEngine, kind: int) -> dict[str, set[int]]:
    with engine._database.reading() as connection:
        rows = connection.execute(
            "SELECT b.area, p.shard FROM placements p JOIN branches b USING (branch) WHERE p.kind = ?", (kind,)
        ).fetchall()
    found: dict[str, set[int]] = {}
    for area, shard in rows:
        found.setdefault(str(area), set()).add(int(str(shard)))
    return found


def test_collections_of_an_area_share_a_table_and_another_area_has_its_own(
    engine: LocalEngine, document: Callable[..., Document]
) -> None:
    engine.store_many([document("x", f"team:{team}/source:files/project:c{n}") for team in "ab" for n in range(20)])
    of_areas = tables(engine, 0)
    assert {area: len(found) for area, found in of_areas.items()} == {"team:a": 1, "team:b": 1}
    assert of_areas["team:a"].isdisjoint(of_areas["team:b"])


def test_a_full_table_takes_no_further_branch_of_its_area(
    engine: LocalEngine, document: Callable[..., Document], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(placing, "FULL", 600)
    engine.store_many([document("x", f"team:a/source:files/project:c{n}") for n in range(8)])
    assert len(tables(engine, 0)["team:a"]) == 2


def test_agents_that_talk_side_by_side_spread(engine: LocalEngine, turn: Callable[..., Conversation]) -> None:
    engine.store_many([turn("x", 0, at=f"team:a/agent:a{n}") for n in range(50)])
    assert len(tables(engine, 1)["team:a"]) == 3


def test_areas_beyond_the_free_tables_share(engine: LocalEngine, document: Callable[..., Document]) -> None:
    engine.store_many([document("x", f"team:t{n}/source:files") for n in range(40)])
    of_areas = tables(engine, 0)
    assert len(of_areas) == 40
    assert len(set().union(*of_areas.values())) == placing._FREELY
