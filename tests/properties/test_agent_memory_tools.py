"""Whatever a model passes, its tools answer with JSON or a typed error, and touch nothing out of their reach."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from corebrain.contract import MemoryEngine
from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import CorebrainError
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import EraseRequest, ListRequest
from corebrain.tools import TOOL_NAMES, MemoryTools, anthropic_result
from corebrain.tools.schemas import tool_specs

OWN = Namespace.parse("team:acme/agent:writer")
NODES = ["root", "team:acme", "team:acme/agent:writer", "team:acme/agent:editor", "team:globex", "service:news"]
ITEMS = [
    StoreItem.learning(
        f"rule of {node}", LearningKind.FACT, 0.5, MemoryMeta(namespace=Namespace.parse(node), tags=("rule",))
    )
    for node in NODES
]
HELD = [item.fingerprint() for item in ITEMS]
SCHEMAS = {spec.name: spec.parameters for spec in tool_specs(ReferenceEngine().descriptor.fetch_modes, writes=True)}

WORDS = st.sampled_from([*HELD, "rule", "namespace", "", " ", "\ud800", "team:acme", "2026-01-01T00:00:00Z"])
IDS = st.lists(st.sampled_from(HELD), min_size=1, max_size=4)
NUMBERS = st.integers(-3, 300) | st.floats() | st.booleans()
KEYS = st.sampled_from(
    [
        "ids",
        "filter",
        "limit",
        "query",
        "question",
        "cursor",
        "learning",
        "document",
        "text",
        "namespace",
        "reach",
        "\ud800",
    ]
)
JSON = st.recursive(
    st.none() | WORDS | NUMBERS,
    lambda below: st.lists(below, max_size=4) | st.dictionaries(KEYS, below, max_size=4),
    max_leaves=12,
)


def fitting(schema: dict[str, Any]) -> st.SearchStrategy[Any]:
    """Values of the schema's shape: most calls get past the parser."""
    match schema["type"]:
        case "object":
            fields = {name: IDS if name == "ids" else fitting(below) for name, below in schema["properties"].items()}
            required = {name: fields.pop(name) for name in schema.get("required", ())}
            return st.fixed_dictionaries(required, optional=fields)
        case "array":
            return st.lists(fitting(schema["items"]), max_size=3)
        case "string":
            return st.sampled_from(schema["enum"]) if "enum" in schema else WORDS
        case _:
            return st.integers(0, 51) if schema["type"] == "integer" else st.floats(0, 1)


BY_ID = st.tuples(st.sampled_from(["memory_get", "memory_forget"]), st.fixed_dictionaries({"ids": IDS}))
CALLS = BY_ID | st.sampled_from(TOOL_NAMES).flatmap(
    lambda name: st.tuples(st.just(name), fitting(SCHEMAS[name]) | JSON)
)


def texts(engine: MemoryEngine, reach: Reach) -> list[tuple[str, str]]:
    page = engine.list(ListRequest(filter=MetaFilter(reach=reach), limit=100))
    return [(str(hit.meta.namespace), hit.text) for hit in page.items]


@pytest.fixture
def local(tmp_path: Path) -> Iterator[LocalEngine]:
    with LocalEngine(tmp_path / "memory.db", durability="process") as engine:
        yield engine


@given(calls=st.lists(CALLS, min_size=1, max_size=4))
def test_no_arguments_reach_beyond_the_scope(calls: list[tuple[str, Any]]) -> None:
    check_confined(ReferenceEngine(), calls)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])  # emptied before each example
@given(calls=st.lists(CALLS, min_size=1, max_size=4))
def test_no_arguments_reach_beyond_the_scope_of_the_local_engine(
    local: LocalEngine, calls: list[tuple[str, Any]]
) -> None:
    local.erase(EraseRequest(reach=Reach.subtree(Namespace.ROOT), whole_tree=True))
    local.erase(EraseRequest(reach=Reach.subtree(Namespace.parse("service:news"))))
    check_confined(local, calls)


def check_confined(engine: MemoryEngine, calls: list[tuple[str, Any]]) -> None:
    """Make the calls and look whether anything was shown, or changed, that lies beyond the scope."""
    engine.store_many(ITEMS)
    tools = MemoryTools(engine).placed_at(OWN)
    hidden = [Reach.exact(Namespace.parse(node)) for node in NODES if not OWN.is_within(Namespace.parse(node))]
    visible = [Reach.exact(Namespace.parse(node)) for node in ("root", "team:acme")]
    before = [texts(engine, reach) for reach in hidden]
    above = [texts(engine, reach) for reach in visible]
    for name, arguments in calls:
        try:
            answer = json.dumps(tools.call(name, arguments))
        except CorebrainError:
            continue
        assert not any(
            f"rule of {node}" in answer for node in ("team:acme/agent:editor", "team:globex", "service:news")
        )
    assert [texts(engine, reach) for reach in hidden] == before
    assert all(set(texts(engine, reach)) <= set(held) for reach, held in zip(visible, above, strict=True))


@given(CALLS)
def test_adapter_always_has_an_answer(call: tuple[str, Any]) -> None:
    name, arguments = call
    tools = MemoryTools(ReferenceEngine()).placed_at(OWN).read_only()
    block = anthropic_result(tools, {"id": "u", "name": name, "input": arguments})
    assert block["content"].encode()  # what no JSON can carry would break the runtime that sends it on
    if block["is_error"]:
        assert block["content"].split(": ")[0] in {"invalid request", "unsupported"}
