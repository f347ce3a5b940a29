"""Memory as tools for a model, in a scope the host fixes."""

from corebrain.tools.adapters import (
    anthropic_result,
    anthropic_tools,
    call_text,
    mcp_result,
    mcp_tools,
    openai_result,
    openai_tools,
)
from corebrain.tools.memory_tools import MemoryTools
from corebrain.tools.schemas import TOOL_NAMES, WRITE_TOOL_NAMES, ToolSpec
from corebrain.tools.scope import ToolScope

__all__ = [
    "TOOL_NAMES",
    "WRITE_TOOL_NAMES",
    "MemoryTools",
    "ToolScope",
    "ToolSpec",
    "anthropic_result",
    "anthropic_tools",
    "call_text",
    "mcp_result",
    "mcp_tools",
    "openai_result",
    "openai_tools",
]
