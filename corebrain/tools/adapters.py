"""The shapes of model runtimes: OpenAI-style functions, Anthropic tools, MCP. They only rename keys."""

import json
from typing import Any

from corebrain.recall.failure import typed
from corebrain.tools.memory_tools import MemoryTools


def openai_tools(tools: MemoryTools) -> list[dict[str, Any]]:
    """Return the `tools` of an OpenAI-style chat request."""
    return [{"type": "function", "function": spec.to_dict()} for spec in tools.specs()]


def openai_result(tools: MemoryTools, call: dict[str, Any]) -> dict[str, Any]:
    """Run one entry of a message's `tool_calls` and return the `tool` message that answers it.

    The arguments are JSON text there; text that is no JSON is answered like any other wrong argument. Runtimes that
    only look like it may pass the object itself.
    """
    function = call["function"]
    given = function.get("arguments") or "{}"
    try:
        arguments = json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):  # the latter for arguments nested without end
        text = f"invalid request: {function['name']}: the arguments are no JSON"
    else:
        text, _ = call_text(tools, function["name"], arguments)
    return {"role": "tool", "tool_call_id": call["id"], "content": text}


def anthropic_tools(tools: MemoryTools) -> list[dict[str, Any]]:
    """Return the `tools` of an Anthropic messages request."""
    return [
        {"name": spec.name, "description": spec.description, "input_schema": spec.parameters} for spec in tools.specs()
    ]


def anthropic_result(tools: MemoryTools, block: dict[str, Any]) -> dict[str, Any]:
    """Run one `tool_use` block and return the `tool_result` block that answers it."""
    text, failed = call_text(tools, block["name"], block.get("input"))
    return {"type": "tool_result", "tool_use_id": block["id"], "content": text, "is_error": failed}


def mcp_tools(tools: MemoryTools) -> list[dict[str, Any]]:
    """Return the `tools` of an MCP `tools/list` result."""
    return [
        {"name": spec.name, "description": spec.description, "inputSchema": spec.parameters} for spec in tools.specs()
    ]


def mcp_result(tools: MemoryTools, name: str, arguments: object = None) -> dict[str, Any]:
    """Run one MCP `tools/call` and return its result."""
    text, failed = call_text(tools, name, arguments)
    return {"content": [{"type": "text", "text": text}], "isError": failed}


def call_text(tools: MemoryTools, name: str, arguments: object = None) -> tuple[str, bool]:
    """Run a tool and return its JSON as text, or an error's text and true.

    The text can always be sent on: half a surrogate pair, which a model may have passed, is written as its escape. Of
    an engine's error that is none of ours only the class is told, for its words may hold anything.
    """
    try:
        text, failed = json.dumps(tools.call(name, arguments), ensure_ascii=False), False
    except Exception as error:  # noqa: BLE001  # the border to any engine: a model is always answered
        text, failed = str(typed(error)), True
    return text.encode("utf-8", "backslashreplace").decode(), failed
