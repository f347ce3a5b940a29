"""The memory tools over the Model Context Protocol (modelcontextprotocol.io), on standard input and output."""

import asyncio
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from anyio import to_thread
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp_types import CallToolRequestParams, CallToolResult, ListToolsResult, PaginatedRequestParams, Tool

from corebrain.tools import MemoryTools, mcp_result, mcp_tools

INSTRUCTIONS = (
    "The company's memory: documents from where they live, what agents were told, and what was learnt. Search it "
    "before you answer from general knowledge, and say where a fact came from."
)


def server_of(tools: MemoryTools) -> Server[Any]:
    """Return a server that lists and calls *tools*; what a tool refuses is answered as its error, in words."""

    async def listed(context: ServerRequestContext[Any], params: PaginatedRequestParams | None) -> ListToolsResult:
        del context, params  # a handful of tools is one page
        return ListToolsResult(tools=[Tool.model_validate(spec) for spec in mcp_tools(tools)])

    async def called(context: ServerRequestContext[Any], params: CallToolRequestParams) -> CallToolResult:
        del context
        answer = await to_thread.run_sync(mcp_result, tools, params.name, params.arguments)
        return CallToolResult.model_validate(answer)

    return Server("corebrain", version=_version(), instructions=INSTRUCTIONS, on_list_tools=listed, on_call_tool=called)


def serve(tools: MemoryTools) -> None:
    """Serve *tools* on this process's standard input and output until the client closes them."""
    asyncio.run(_served(server_of(tools)))


async def _served(server: Server[Any]) -> None:
    async with stdio_server() as (incoming, outgoing):
        await server.run(incoming, outgoing, server.create_initialization_options())


def _version() -> str:
    try:
        return version("corebrain")
    except PackageNotFoundError:
        return "0"
