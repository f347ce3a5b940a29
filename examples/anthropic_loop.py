"""Memory in an Anthropic-style loop: the pack goes into `system`, the tools into `tools`, results into a user message.

The model is scripted, so this runs offline; put a client's `messages.create` in its place.

    python examples/anthropic_loop.py
"""

from typing import Any

from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory
from corebrain.model.meta import ToolCallRef
from corebrain.tools import anthropic_result, anthropic_tools

Block = dict[str, Any]


def scripted_model(system: str, messages: list[Block], tools: list[Block]) -> Block:
    """Look something up once, then answer from what came back."""
    content = messages[-1]["content"]
    if isinstance(content, str):
        if "Refund policy" not in system or "memory_fetch" not in [tool["name"] for tool in tools]:
            raise SystemExit("the pack or the memory tools are missing")
        use = {"type": "tool_use", "id": "toolu_1", "name": "memory_list", "input": {"filter": {"kinds": ["learning"]}}}
        return {"stop_reason": "tool_use", "content": [use]}
    return {"stop_reason": "end_turn", "content": [{"type": "text", "text": "Five business days."}]}


def chat(memory: AgentMemory, thread: str, index: int, said: str) -> str:
    """Serve one user turn, tools included, and return the reply."""
    turn = memory.pre_turn(thread, index, said)
    messages: list[Block] = [{"role": "user", "content": said}]
    tools = memory.tools().read_only()
    called: list[ToolCallRef] = []
    while True:
        answer = scripted_model(turn.pack.markdown, messages, anthropic_tools(tools))
        messages.append({"role": "assistant", "content": answer["content"]})
        uses = [block for block in answer["content"] if block["type"] == "tool_use"]
        if not uses:
            reply = "".join(block["text"] for block in answer["content"])
            memory.post_turn(thread, index + 1, reply, called)
            return reply
        called += [ToolCallRef(name=use["name"], id=use["id"]) for use in uses]
        messages.append({"role": "user", "content": [anthropic_result(tools, use) for use in uses]})


def main() -> None:
    """Talk once, then show what the next session knows."""
    memory = AgentMemory(ReferenceEngine(), MemoryLayout(), "support-01")
    policy = "Refunds settle within five business days."
    memory.brain().ingest(BrainDocument(source=BrainSource.FILES, title="Refund policy", text=policy))
    print(chat(memory, "t1", 0, "When do refunds settle?"))
    print(memory.start_session("t1").markdown)


if __name__ == "__main__":
    main()
