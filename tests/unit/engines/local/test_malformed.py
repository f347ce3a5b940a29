"""A malformed request is refused before the file is read or written."""

from collections.abc import Callable
from contextlib import AbstractContextManager
from typing import Any

import pytest

from corebrain.engines.local.connection import Database
from corebrain.engines.local.engine import LocalEngine
from corebrain.errors import InvalidRequest
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import ItemKind
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateRequest,
    EraseRequest,
    ExploreRequest,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
    WriteOptions,
)

UNSURE = StoreItem.learning("x", LearningKind.FACT, 1.5)
"""An item that may not be stored."""

CALLS: dict[str, Callable[[LocalEngine], object]] = {
    "store": lambda engine: engine.store(StoreItem.document(" ")),
    "store_with": lambda engine: engine.store_with(UNSURE, WriteOptions.visible()),
    "store_many": lambda engine: engine.store_many([StoreItem.document("good"), UNSURE]),
    "store_many, empty": lambda engine: engine.store_many([]),
    "store_many, too many": lambda engine: engine.store_many([StoreItem.document(str(n)) for n in range(101)]),
    "store_many_with": lambda engine: engine.store_many_with([], WriteOptions.accepted()),
    "forget, nothing": lambda engine: engine.forget(ForgetTarget()),
    "forget, no ids": lambda engine: engine.forget(ForgetTarget.of_ids()),
    "forget, empty filter": lambda engine: engine.forget(ForgetTarget.of_filter(MetaFilter())),
    "erase": lambda engine: engine.erase(EraseRequest(reach=WHOLE_TREE)),
    "consolidate": lambda engine: engine.consolidate(
        ConsolidateRequest(reach=WHOLE_TREE, kinds=(ItemKind.DOCUMENT,) * 2)
    ),
    "get": lambda engine: engine.get(GetRequest(ids=())),
    "list": lambda engine: engine.list(ListRequest(limit=0)),
    "list, foreign cursor": lambda engine: engine.list(ListRequest(cursor="not ours")),
    "export": lambda engine: engine.export(ListRequest(limit=0)),
    "explore": lambda engine: engine.explore(ExploreRequest(facet=Facet.KIND, limit=0)),
    "fetch": lambda engine: engine.fetch(FetchRequest(query=" ", mode=FetchMode.KEYWORD)),
    "recall": lambda engine: engine.recall(RecallRequest(question=" ")),
    "beliefs": lambda engine: engine.beliefs(BeliefsRequest(limit=0)),
    "newest": lambda engine: engine.newest(ListRequest(limit=0), 10),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_malformed_call_reads_and_writes_nothing(
    engine: LocalEngine, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def touched(*_: Any, **__: Any) -> AbstractContextManager[Any]:
        raise AssertionError("the file was touched")

    for door in ("reading", "writing", "apart", "rewriting"):
        monkeypatch.setattr(Database, door, touched)
    with pytest.raises(InvalidRequest) as caught:
        CALLS[name](engine)
    message = str(caught.value)
    assert message == message.strip()
    assert not message.endswith(".")


def test_a_well_formed_call_touches_the_file(engine: LocalEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """The doors above are those that every call goes through."""
    monkeypatch.delattr(Database, "reading")
    monkeypatch.delattr(Database, "writing")
    for call in (lambda: engine.list(ListRequest()), lambda: engine.store(StoreItem.document("good"))):
        with pytest.raises(AttributeError):
            call()
