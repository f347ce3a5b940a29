"""Memory in a pydantic-ai agent: the pack goes into the instructions, the tools into a toolset.

The model is scripted, so this runs offline; name a real one in its place. Needs `pip install pydantic-ai-slim`.

    python examples/pydantic_ai_agent.py
"""

import json
from functools import partial

from pydantic_ai import Agent, ModelRetry, RunContext, Tool
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel

from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory
from corebrain.model.meta import ToolCallRef
from corebrain.tools import MemoryTools, call_text


def scripted_model(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
    """Keep one learning, then answer from what the instructions hold."""
    if isinstance(messages[-1].parts[-1], ToolReturnPart):
        return ModelResponse(parts=[TextPart("Five business days.")])
    offered = [tool.name for tool in info.function_tools]
    if "memory_store" not in offered or "Refund policy" not in (info.instructions or ""):
        raise SystemExit("the memory tools or the pack are missing")
    learning = {"text": "The user wants short answers.", "learning_kind": "preference"}
    return ModelResponse(parts=[ToolCallPart("memory_store", {"learning": learning})])


def toolset(tools: MemoryTools) -> list[Tool[str]]:
    """Return memory tools as pydantic-ai's; a wrong call goes back to the model in words, and it may try again."""

    def called(name: str, **arguments: object) -> object:
        text, failed = call_text(tools, name, arguments)
        if failed:
            raise ModelRetry(text)
        return json.loads(text)

    return [
        Tool.from_schema(partial(called, spec.name), spec.name, spec.description, spec.parameters)
        for spec in tools.specs()
    ]


def hosted(memory: AgentMemory) -> Agent[str, str]:
    """Return an agent whose dependency is the markdown of the turn's pack."""
    agent = Agent(FunctionModel(scripted_model), deps_type=str, tools=toolset(memory.tools()))

    @agent.instructions
    def known(context: RunContext[str]) -> str:
        return f"You are a support agent.\n\n{context.deps}"

    return agent


def chat(agent: Agent[str, str], memory: AgentMemory, thread: str, index: int, said: str) -> str:
    """Serve one user turn, tools included, and return the reply."""
    turn = memory.pre_turn(thread, index, said)
    ran = agent.run_sync(said, deps=turn.pack.markdown)
    parts = [part for message in ran.new_messages() for part in message.parts]
    called = [
        ToolCallRef(name=part.tool_name, id=part.tool_call_id) for part in parts if isinstance(part, ToolCallPart)
    ]
    memory.post_turn(thread, index + 1, ran.output, called)
    return ran.output


def main() -> None:
    """Talk once, then show what the next session knows."""
    memory = AgentMemory(ReferenceEngine(), MemoryLayout(), "support-01")
    policy = "Refunds settle within five business days."
    memory.brain().ingest(BrainDocument(source=BrainSource.FILES, title="Refund policy", text=policy))
    print(chat(hosted(memory), memory, "t1", 0, "When do refunds settle? Short, please."))
    print(memory.start_session("t1").markdown)


if __name__ == "__main__":
    main()
