"""Memory in an OpenAI-style chat loop: the pack goes into the system message, the tools into `tools`.

The model is scripted, so this runs offline; put a client's `chat.completions.create` in its place.

    python examples/openai_loop.py
"""

import json
from typing import Any

from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory
from corebrain.model.meta import ToolCallRef
from corebrain.tools import openai_result, openai_tools

Message = dict[str, Any]


def scripted_model(messages: list[Message], tools: list[Message]) -> Message:
    """Call the first tool it may once, then answer from what came back."""
    if messages[-1]["role"] == "user":
        offered = [tool["function"]["name"] for tool in tools]
        if "memory_store" not in offered:
            raise SystemExit("the memory tools are not on offer")
        learning = {"learning": {"text": "The user wants short answers.", "learning_kind": "preference"}}
        function = {"name": "memory_store", "arguments": json.dumps(learning)}
        return {"role": "assistant", "tool_calls": [{"id": "call-1", "type": "function", "function": function}]}
    return {"role": "assistant", "content": "Five business days."}


def chat(memory: AgentMemory, thread: str, index: int, said: str) -> str:
    """Serve one user turn, tools included, and return the reply."""
    turn = memory.pre_turn(thread, index, said)
    messages: list[Message] = [
        {"role": "system", "content": f"You are a support agent.\n\n{turn.pack.markdown}"},
        {"role": "user", "content": said},
    ]
    tools = memory.tools()
    called: list[ToolCallRef] = []
    while True:
        message = scripted_model(messages, openai_tools(tools))
        messages.append(message)
        if not message.get("tool_calls"):
            reply = str(message["content"])
            memory.post_turn(thread, index + 1, reply, called)
            return reply
        for call in message["tool_calls"]:
            called.append(ToolCallRef(name=call["function"]["name"], id=call["id"]))
            messages.append(openai_result(tools, call))


def main() -> None:
    """Talk once, then show what the next session knows."""
    memory = AgentMemory(ReferenceEngine(), MemoryLayout(), "support-01")
    policy = "Refunds settle within five business days."
    memory.brain().ingest(BrainDocument(source=BrainSource.FILES, title="Refund policy", text=policy))
    print(chat(memory, "t1", 0, "When do refunds settle? Short, please."))
    print(memory.start_session("t1").markdown)


if __name__ == "__main__":
    main()
