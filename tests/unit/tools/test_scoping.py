"""Every rule that keeps a model in its place, with the attack on it."""

from collections.abc import Sequence
from typing import Any

import pytest

from corebrain.contract import Hits, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.item import Learning, LearningKind, StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ForgetReport, ForgetTarget, GetRequest, Hit, ListRequest
from corebrain.tools import TOOL_NAMES, WRITE_TOOL_NAMES, MemoryTools, ToolScope

NODES = {
    "root": "root",
    "team": "team:acme",
    "own": "team:acme/agent:writer",
    "below": "team:acme/agent:writer/agent:helper",
    "sibling": "team:acme/agent:editor",
    "stranger": "team:globex/agent:writer",
    "sandbox": "team:acme/agent:writer/service:news",
}
OWN = Namespace.parse(NODES["own"])
VISIBLE = {"root", "team", "own"}
HIDDEN = set(NODES) - VISIBLE


def item(name: str) -> Learning:
    meta = MemoryMeta(namespace=Namespace.parse(NODES[name]), tags=("rule",))
    return StoreItem.learning(f"rule of {name}", LearningKind.FACT, 0.5, meta)


def identity(names: Sequence[str] | set[str]) -> list[str]:
    return [item(name).fingerprint() for name in sorted(names)]


@pytest.fixture
def full(engine: MemoryEngine) -> MemoryEngine:
    engine.store_many([item(name) for name in NODES])
    return engine


@pytest.fixture
def placed(full: MemoryEngine) -> MemoryTools:
    return MemoryTools(full).placed_at(OWN)


def held(engine: MemoryEngine) -> set[str]:
    """Every item there is, sandboxes included."""
    found = engine.get(GetRequest(ids=tuple(identity(set(NODES))), reach=Reach.subtree(Namespace.ROOT)))
    sandbox = engine.get(
        GetRequest(ids=tuple(identity({"sandbox"})), reach=Reach.exact(Namespace.parse(NODES["sandbox"])))
    )
    return {hit.text.removeprefix("rule of ") for hit in [*found, *sandbox]}


ATTACKS: list[dict[str, Any]] = [
    {"namespace": "root"},
    {"reach": {"at": "root", "descendants": True}},
    {"filter": {"reach": {"at": "root"}}},
    {"filter": {"namespace": None}},
    {"learning": {"text": "x", "namespace": "root"}},
    {"document": {"text": "x", "meta": {"namespace": "root"}}},
    {"conversation": {"turns": [{"role": "user", "text": "x"}, {"role": "user", "text": "y", "reach": 1}]}},
    {"tags": [["deep", {"deeper": [{"namespace": 1}]}]]},
    {"unknown": {"reach": None}},
]


@pytest.mark.parametrize("arguments", ATTACKS)
@pytest.mark.parametrize("name", TOOL_NAMES)
def test_model_may_not_name_a_node_anywhere_in_its_arguments(name: str, arguments: dict[str, Any]) -> None:
    engine = ReferenceEngine()
    with pytest.raises(InvalidRequest, match="the host fixes it"):
        MemoryTools(engine).placed_at(OWN).call(name, arguments)
    assert len(engine) == 0


def test_arguments_nested_without_end_are_searched_too() -> None:
    nested: Any = {"namespace": "root"}
    for _ in range(50_000):
        nested = {"a": [nested]}
    with pytest.raises(InvalidRequest, match="the host fixes it"):
        MemoryTools(ReferenceEngine()).call("memory_list", nested)


def test_text_that_speaks_of_namespaces_is_text() -> None:
    engine = ReferenceEngine()
    MemoryTools(engine).placed_at(OWN).call("memory_store", {"document": {"text": "namespace", "title": "reach"}})
    assert engine.list(ListRequest()).items[0].meta.namespace == OWN


def test_stores_land_at_the_place_and_nowhere_else(engine: MemoryEngine) -> None:
    tools = MemoryTools(engine).placed_at(OWN)
    tools.call("memory_store", {"learning": {"text": "a"}})
    tools.call("memory_store", {"document": {"text": "team:acme", "title": "root"}})
    tools.call("memory_store", {"conversation": {"turns": [{"role": "user", "text": "b"}]}})
    assert {hit.meta.namespace for hit in engine.list(ListRequest()).items} == {OWN}


@pytest.mark.parametrize(
    ("name", "arguments", "key"),
    [
        ("memory_list", {"limit": 50}, "items"),
        ("memory_list", {"limit": 50, "filter": {"tags_any": ["rule"]}}, "items"),
        ("memory_fetch", {"query": "rule", "mode": "keyword", "limit": 50}, "hits"),
        ("memory_get", {"ids": identity(set(NODES))}, "items"),
    ],
)
def test_reads_see_the_place_and_its_ancestors_only(
    placed: MemoryTools, name: str, arguments: dict[str, Any], key: str
) -> None:
    seen = {hit["text"].removeprefix("rule of ") for hit in placed.call(name, arguments)[key]}
    assert seen == VISIBLE


def test_recall_and_explore_stay_in_reach(placed: MemoryTools) -> None:
    answer = placed.call("memory_recall", {"question": "rule", "limit": 50})
    assert {citation["snippet"].removeprefix("rule of ") for citation in answer["citations"]} == VISIBLE
    assert placed.call("memory_explore", {"facet": "tag"})["total"] == len(VISIBLE)


def test_unknown_and_out_of_reach_ids_look_alike(placed: MemoryTools) -> None:
    wanted = [*identity(HIDDEN), "f" * 40]
    assert placed.call("memory_get", {"ids": wanted}) == {"items": [], "missing": wanted}


def test_nothing_out_of_reach_is_forgotten_by_id(placed: MemoryTools, full: MemoryEngine) -> None:
    wanted = identity(HIDDEN)
    assert placed.call("memory_forget", {"ids": wanted}) == {"forgotten": 0, "skipped": wanted}
    assert held(full) == set(NODES)


def test_nothing_out_of_reach_is_forgotten_by_filter(placed: MemoryTools, full: MemoryEngine) -> None:
    assert placed.call("memory_forget", {"filter": {"tags_any": ["rule"]}})["forgotten"] == len(VISIBLE)
    assert held(full) == HIDDEN


@pytest.mark.parametrize("wanted", [{}, {"kinds": []}, {"sources": [], "tags_any": []}, {"kinds": None, "url": None}])
def test_filter_that_sets_nothing_does_not_forget_the_whole_reach(
    placed: MemoryTools, full: MemoryEngine, wanted: dict[str, Any]
) -> None:
    with pytest.raises(InvalidRequest, match="sets no field"):
        placed.call("memory_forget", {"filter": wanted})
    assert held(full) == set(NODES)


def test_engine_that_hands_back_ids_nobody_asked_for_does_not_make_them_forgotten() -> None:
    class Generous(ReferenceEngine):
        def get(self, request: GetRequest) -> Hits:
            del request
            return [Hit(id=each, kind=item("own").kind, text="", meta=MemoryMeta()) for each in identity(set(NODES))]

        def forget(self, target: ForgetTarget) -> ForgetReport:
            assert target.ids == tuple(identity({"own"}))
            return ForgetReport(forgotten=1)

    forgotten = MemoryTools(Generous()).placed_at(OWN).call("memory_forget", {"ids": identity({"own"})})
    assert forgotten == {"forgotten": 1, "skipped": []}


def test_read_only_tools_neither_offer_nor_run_writes_and_do_not_read_their_arguments(full: MemoryEngine) -> None:
    tools = MemoryTools(full).placed_at(OWN).read_only()
    assert not {spec.name for spec in tools.specs()} & set(WRITE_TOOL_NAMES)
    for name in WRITE_TOOL_NAMES:
        with pytest.raises(Unsupported, match="read-only"):
            tools.call(name, {"namespace": "root"})
    assert held(full) == set(NODES)


def test_placing_resets_the_reach_and_reach_replaces_it(full: MemoryEngine) -> None:
    wide = MemoryTools(full, ToolScope(reach=Reach.subtree(Namespace.ROOT)))
    assert wide.placed_at(OWN).scope == ToolScope.at(OWN) == ToolScope(place=OWN, reach=Reach.of(OWN))
    narrow = wide.placed_at(OWN).reach(Reach.exact(OWN))
    assert narrow.scope == ToolScope(place=OWN, reach=Reach.exact(OWN))
    assert [hit["text"] for hit in narrow.call("memory_list")["items"]] == ["rule of own"]
    assert narrow.read_only().placed_at(OWN).scope.writes is False


def test_tools_without_a_place_read_the_tree_but_no_sandbox(full: MemoryEngine) -> None:
    tools = MemoryTools(full)
    assert tools.scope == ToolScope()
    seen = {hit["text"].removeprefix("rule of ") for hit in tools.call("memory_list", {"limit": 50})["items"]}
    assert seen == set(NODES) - {"sandbox"}
    assert tools.call("memory_forget", {"ids": identity({"sandbox"})})["forgotten"] == 0


def test_no_answer_names_a_node(placed: MemoryTools) -> None:
    answers = [
        placed.call("memory_list"),
        placed.call("memory_fetch", {"query": "rule", "mode": "keyword"}),
        placed.call("memory_recall", {"question": "rule"}),
        placed.call("memory_get", {"ids": identity({"own"})}),
    ]
    assert not any("namespace" in str(answer) or "agent:writer" in str(answer) for answer in answers)
