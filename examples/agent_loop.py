"""An agent's life with a memory, offline: three sessions, a compaction, a company that shares what it knows.

    python examples/agent_loop.py --engine reference
    python examples/agent_loop.py --engine local
    python examples/agent_loop.py --engine cortexdb
    python examples/agent_loop.py --engine tinyhumans

The host's part is `one_turn`; it is the same on every engine. The two servers are stand-ins on this machine.
"""

import argparse
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.contract import MemoryEngine
from corebrain.engines.registry import build_engine, list_engines
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, CoreScope
from corebrain.model.instant import Instant
from corebrain.model.item import LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ToolCallRef
from corebrain.model.namespace import Namespace

STAND_INS = {"cortexdb": DirectDouble, "tinyhumans": HostedDouble}
COMPANY = Namespace.parse("ws:acme")
TEAM = Namespace.parse("ws:acme/team:support")
SCRIPT = {
    "Hi, I am Iris and I run the checkout team. Please answer with numbered lists.": "1. Welcome, Iris.",
    "Birch Ltd misses credits since Tuesday. What is their account?": "1. Birch Ltd is on the Premier plan, BRC-4417.",
    "When do refunds settle, and are the amounts in dollars?": "1. Within five business days. 2. No, in euros.",
}


def model(context: str, said: str) -> str:
    """Stand in for a language model: it would read *context*, the pack, before what was *said*."""
    del context
    return SCRIPT.get(said, "1. Noted.")


def one_turn(memory: AgentMemory, thread: str, index: int, said: str, at: Instant) -> str:
    """Serve one user turn: recall and log, answer, log the answer, run what became due."""
    turn = memory.pre_turn(thread, index, said, at=at)
    show(f"{memory.agent_id} is asked: {said}", turn.pack.markdown)
    if turn.log_error is not None:
        print(f"(the turn was not logged: {turn.log_error})")
    reply = model(turn.pack.markdown, said)
    calls = [ToolCallRef(name="crm_lookup")] if "account" in said else []
    report = memory.post_turn(thread, index + 1, reply, calls, at=Instant(at.ns + 1_000_000_000))
    for job in report.jobs:  # a host would queue these; here they run at once
        memory.run_background(job)
    return reply


def story(engine: MemoryEngine) -> None:
    """Tell the whole lifecycle once."""
    support = AgentMemory(engine, MemoryLayout(TEAM), "support-01").with_core([CoreScope(COMPANY, "Company")])
    support.brain().ingest(
        BrainDocument(source=BrainSource.FILES, title="Refund policy", text="Refunds settle within five business days.")
    )
    support.promote(COMPANY, StoreItem.learning("Amounts are always in euros.", LearningKind.PROCEDURE, 0.9))

    first_day = Instant.parse("2026-09-14T09:00:00Z")
    for step, said in enumerate(SCRIPT):
        one_turn(support, "monday", 2 * step, said, Instant(first_day.ns + step * 60_000_000_000))

    report = support.run_background(support.history_build())
    print(f"\nThe belief build ended as {report.outcome.outcome.value}.")

    show("The next morning the agent starts again", support.start_session("monday", focus="who is Iris").markdown)
    dropped = [Turn(role=Role.USER, text=said) for said in SCRIPT]
    show("Its prompt is full and the oldest turns leave", support.recall_for_compaction("monday", dropped).markdown)

    colleague = AgentMemory(engine, MemoryLayout(TEAM), "support-02")
    show(
        "A colleague takes over",
        colleague.pre_turn("handover", 0, "What is with the credits of Birch Ltd?").pack.markdown,
    )


def show(title: str, markdown: str) -> None:
    """Print a pack under a title."""
    print(f"\n=== {title} ===\n")
    print(markdown or "(nothing is known yet)")


@contextmanager
def opened(kind: str) -> Iterator[MemoryEngine]:
    """Build the engine; what it needs, a file or a server, goes when the story ends."""
    with ExitStack() as until_the_end:
        needs: dict[str, object] = {}
        if kind == "local":
            folder = until_the_end.enter_context(tempfile.TemporaryDirectory())
            needs = {"path": Path(folder) / "memory.db"}
        elif kind in STAND_INS:
            server = until_the_end.enter_context(STAND_INS[kind]())
            needs = {"credential": TOKEN, "endpoint": server.endpoint}
        yield until_the_end.enter_context(build_engine(kind, **needs))


def main() -> None:
    """Read the command line and tell the story."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--engine", default="reference", choices=list_engines())
    with opened(parser.parse_args().engine) as engine:
        story(engine)


if __name__ == "__main__":
    main()
