import json

import pytest

from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError
from corebrain.model.requests import ListPage, ListRequest
from corebrain.tools import (
    MemoryTools,
    anthropic_result,
    anthropic_tools,
    mcp_result,
    mcp_tools,
    openai_result,
    openai_tools,
)


@pytest.fixture
def tools() -> MemoryTools:
    return MemoryTools(ReferenceEngine())


def test_adapters_only_rename_keys(tools: MemoryTools) -> None:
    specs = [spec.to_dict() for spec in tools.specs()]
    assert openai_tools(tools) == [{"type": "function", "function": spec} for spec in specs]
    for shaped, key in ((anthropic_tools(tools), "input_schema"), (mcp_tools(tools), "inputSchema")):
        assert shaped == [
            {"name": spec["name"], "description": spec["description"], key: spec["parameters"]} for spec in specs
        ]


def test_openai_call_is_answered_by_a_tool_message(tools: MemoryTools) -> None:
    arguments = json.dumps({"document": {"text": "Grüße"}})
    stored = openai_result(tools, {"id": "c1", "function": {"name": "memory_store", "arguments": arguments}})
    assert (stored["role"], stored["tool_call_id"]) == ("tool", "c1")
    assert json.loads(stored["content"])["replayed"] is False
    listed = openai_result(tools, {"id": "c2", "function": {"name": "memory_list", "arguments": ""}})
    assert "Grüße" in listed["content"]


def test_openai_arguments_may_be_the_object_itself(tools: MemoryTools) -> None:
    call = {"id": "c", "function": {"name": "memory_list", "arguments": {"limit": 0}}}
    assert "`limit`" in openai_result(tools, call)["content"]


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("memory_get", {"ids": ["\ud800"]}, '{"items": [], "missing": ["\\ud800"]}'),
        ("memory_list", {"\ud800": 1}, "`\\ud800` is unknown"),
        ("memory_list", {"\ud800": {"reach": 1}}, "`\\ud800.reach` is not yours"),
        ("no\ud800tool", {}, "unknown tool"),
    ],
)
def test_half_a_surrogate_pair_is_answered_as_its_escape(
    tools: MemoryTools, name: str, arguments: dict[str, object], said: str
) -> None:
    answer = anthropic_result(tools, {"id": "u", "name": name, "input": arguments})["content"]
    assert said in answer
    assert answer.encode()


@pytest.mark.parametrize("arguments", ["{", "nonsense", "[" * 200_000])
def test_openai_arguments_that_are_no_json_are_answered_in_words(tools: MemoryTools, arguments: str) -> None:
    answer = openai_result(tools, {"id": "c", "function": {"name": "memory_list", "arguments": arguments}})
    assert answer["content"] == "invalid request: memory_list: the arguments are no JSON"


def test_anthropic_block_is_answered_by_a_result_block(tools: MemoryTools) -> None:
    good = anthropic_result(tools, {"id": "u1", "name": "memory_list", "input": {}})
    assert good == {"type": "tool_result", "tool_use_id": "u1", "content": '{"items": []}', "is_error": False}
    bad = anthropic_result(tools, {"id": "u2", "name": "memory_list", "input": {"limit": 0}})
    assert bad["is_error"] is True
    assert bad["content"].startswith("invalid request: memory_list: `limit`")


def test_engine_that_breaks_its_contract_is_answered_without_its_words() -> None:
    class Broken(ReferenceEngine):
        def list(self, request: ListRequest) -> ListPage:
            raise ValueError(f"password=hunter2 {request.limit}")

    answer = anthropic_result(MemoryTools(Broken()), {"id": "u", "name": "memory_list", "input": {}})
    assert (answer["content"], answer["is_error"]) == ("engine error: the engine raised ValueError", True)


def test_mcp_call_is_answered_by_text_content() -> None:
    class Full(ReferenceEngine):
        def list(self, request: ListRequest) -> ListPage:
            raise EngineError(f"disk is full at {request.limit}")

    assert mcp_result(MemoryTools(ReferenceEngine()), "memory_list") == {
        "content": [{"type": "text", "text": '{"items": []}'}],
        "isError": False,
    }
    assert mcp_result(MemoryTools(Full()), "memory_list", {"limit": 3}) == {
        "content": [{"type": "text", "text": "engine error: disk is full at 3"}],
        "isError": True,
    }
