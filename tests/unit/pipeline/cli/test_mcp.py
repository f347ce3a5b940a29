"""`mcp`: the reading tools over stdio, asked by the SDK's own client of a process of its own."""

import asyncio
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters

from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace
from corebrain.tools import WRITE_TOOL_NAMES

REPOSITORY = Path(__file__).parents[4]


def server(desk: Any, **environment: str) -> StdioServerParameters:
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", "pipeline.cli", "mcp", "--config", str(desk.folder / "brain.toml")],
        env={"PYTHONPATH": str(REPOSITORY), "PATH": os.defpath, **environment},
        cwd=str(desk.folder),
    )


def asked(
    parameters: StdioServerParameters, *calls: tuple[str, dict[str, Any]], mode: str = "auto"
) -> tuple[Any, list[Any]]:
    """Start a server, list its tools and make the calls; return the tools and the answers."""

    async def talk() -> tuple[Any, list[Any]]:
        settings: Any = {"mode": mode}
        async with Client(parameters, read_timeout_seconds=30, **settings) as client:
            tools = (await client.list_tools()).tools
            return tools, [await client.call_tool(name, arguments) for name, arguments in calls]

    return asyncio.run(talk())


def value(answer: Any) -> Any:
    assert not answer.is_error, answer
    (content,) = answer.content
    return json.loads(content.text)


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_client_lists_and_calls_the_reading_tools(two: Any, mode: str) -> None:
    tools, (fetched, recalled, listed) = asked(
        server(two),
        ("memory_fetch", {"query": "parental leave"}),
        ("memory_recall", {"question": "How long is parental leave?"}),
        ("memory_list", {"filter": {"kinds": ["document"]}, "limit": 2}),
        mode=mode,
    )
    assert [tool.name for tool in tools] == [
        "memory_recall",
        "memory_fetch",
        "memory_list",
        "memory_get",
        "memory_explore",
    ]
    assert all(tool.input_schema["additionalProperties"] is False for tool in tools)
    assert "Sixteen weeks" in value(fetched)["hits"][0]["text"]
    assert value(recalled)["citations"]
    assert len(value(listed)["items"]) == 2
    assert value(listed)["next_cursor"]


def test_what_a_tool_refuses_is_said_in_words_and_the_server_goes_on(two: Any) -> None:
    before = two.brain("dump").out
    attacks: list[tuple[str, dict[str, Any]]] = [
        ("memory_forget", {"filter": {"kinds": ["document"]}}),
        ("memory_store", {"learning": {"text": "injected"}}),
        ("memory_list", {"filter": {"namespace": "team:other"}}),
        ("memory_fetch", {"query": " "}),
        ("no_such_tool", {}),
    ]
    _, answers = asked(server(two), *attacks, ("memory_list", {}))
    assert [answer.is_error for answer in answers] == [True] * len(attacks) + [False]
    texts = [answer.content[0].text for answer in answers]
    assert texts[0] == "unsupported: memory_forget: these tools are read-only"
    assert "the host fixes" in texts[2]
    assert {call[0] for call in attacks[:2]} == set(WRITE_TOOL_NAMES)
    assert two.brain("dump").out == before


def test_the_tools_reach_the_root_of_the_configuration_and_no_further(desk: Any) -> None:
    desk.write(a="# A\n\nours")
    desk.configure('[brain]\nroot = "team:ours"\n[sources.docs]\nkind = "files"\npath = "docs"\n')
    desk.brain("sync")
    with LocalEngine(desk.folder / ".brain" / "memory.db") as engine:
        for place in ("root", "team:theirs", "team:ours"):
            item = StoreItem.learning(f"kept at {place}", LearningKind.FACT, 0.9)
            engine.store(item.with_meta(MemoryMeta(namespace=Namespace.parse(place))))
    _, (listed,) = asked(server(desk), ("memory_list", {}))
    assert {item["text"] for item in value(listed)["items"]} == {"kept at team:ours", "# A\n\n# A\n\nours"}


def test_the_secrets_of_sources_are_not_needed_to_read(two: Any) -> None:
    config = two.folder / "brain.toml"
    config.write_text(config.read_text() + '[sources.wiki]\nkind = "notion"\ntoken = "${NO_SUCH_TOKEN_HERE}"\n')
    assert two.brain("status").status == 2
    _, (listed,) = asked(server(two), ("memory_list", {}))
    assert len(value(listed)["items"]) == 3


def test_what_is_synced_while_it_serves_is_found(two: Any) -> None:
    async def talk() -> list[int]:
        counts = []
        async with Client(server(two), read_timeout_seconds=30) as client:
            for name in ("one", "two"):
                answer = await client.call_tool("memory_list", {"filter": {"kinds": ["document"]}})
                counts.append(len(json.loads(answer.content[0].text)["items"]))  # type: ignore[union-attr]  # it is text
                two.write(**{name: f"# {name}\n\ntext"})
                assert two.brain("sync").status == 0
        return counts

    assert asyncio.run(talk()) == [3, 4]


# -- without a client


def test_the_snippet_for_clients_starts_this_brain(two: Any) -> None:
    answer = two.brain("mcp", "--print-config")
    assert answer.status == 0
    entry = json.loads(answer.out)["mcpServers"]["corebrain"]
    assert Path(entry["command"]).is_absolute()
    assert entry["args"][-3:] == ["mcp", "--config", str(two.folder / "brain.toml")]
    parameters = StdioServerParameters(
        command=entry["command"], args=entry["args"], env={"PYTHONPATH": str(REPOSITORY), "PATH": os.defpath}
    )
    tools, _ = asked(parameters)
    assert len(tools) == 5


def test_the_snippet_asks_for_what_the_engine_needs_and_holds_no_secret(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MEMORY_KEY", "s3cr3t")
    desk.configure(
        '[engine]\nkind = "cortexdb"\nkey = "${MEMORY_KEY}"\nendpoint = "${MEMORY_URL:-http://127.0.0.1:9}"\n'
        '[sources.wiki]\nkind = "notion"\ntoken = "${NOTION_TOKEN}"\n'
    )
    answer = desk.brain("mcp", "--print-config")
    assert json.loads(answer.out)["mcpServers"]["corebrain"]["env"] == {"MEMORY_KEY": "the value of MEMORY_KEY"}
    assert "fill in env" in answer.err
    assert "s3cr3t" not in answer.out + answer.err


def test_a_snippet_of_a_file_that_is_none_is_refused(desk: Any) -> None:
    assert desk.brain("mcp", "--print-config", "--config", "no.toml").status == 2
    desk.configure("[engine")
    assert desk.brain("mcp", "--print-config").status == 2


def test_a_snippet_needs_a_file_to_name(desk: Any) -> None:
    answer = desk.brain("mcp", "--print-config")
    assert answer.status == 2
    assert "brain init" in answer.err


def test_nothing_is_served_before_the_first_sync(desk: Any) -> None:
    desk.configure("")
    answer = desk.brain("mcp")
    assert answer.status == 2
    assert "run `brain sync`" in answer.err
    assert not (desk.folder / ".brain").exists()


def test_a_missing_library_is_named_with_how_to_get_it(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    answer = two.brain("mcp")
    assert answer.status == 2
    assert 'pip install "corebrain[mcp]"' in answer.err


def test_a_wrong_configuration_is_still_told(two: Any) -> None:
    two.configure("[brain]\nrot = 'root'\n")
    answer = two.brain("mcp")
    assert answer.status == 2
    assert "did you mean" in answer.err
