"""An agent whose memory lies on a CortexDB server: a day, a night's work on it, the next day.

    python examples/cortex_agent.py                                        # a stand-in on this machine
    CORTEXDB_KEY=… python examples/cortex_agent.py --url https://cortexdb.example.com
    TINYHUMANS_TOKEN=… python examples/cortex_agent.py --hosted --url https://api.tinyhumans.ai

Everything is filed below a node of this run's own and forgotten at the end, so it may run beside other memory.
"""

import argparse
import os
import sys
import uuid
from collections.abc import Iterator
from contextlib import contextmanager

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.contract import MemoryEngine
from corebrain.engines.registry import build_engine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, RecallPolicy
from corebrain.model.filter import MetaFilter
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ForgetTarget, RecallRequest

FACT = "Refunds settle within five business days."


def day(engine: MemoryEngine, node: Namespace) -> None:
    """Live through one agent's life below *node*."""
    memory = AgentMemory(engine, MemoryLayout(node), "support-01").with_policy(RecallPolicy(build_beliefs_every=2))
    ingested = memory.brain().ingest(BrainDocument(source=BrainSource.FILES, title="Refund policy", text=FACT))

    turn = memory.pre_turn("monday", 0, "When do refunds settle?")
    show("What the model reads before it answers", turn.pack.markdown)
    report = memory.post_turn("monday", 1, "Within five business days.")

    jobs = [*report.jobs, *([ingested.job] if ingested.job else [])]  # a host queues them for the night
    for job in jobs:
        print(f"{job.name}: {memory.run_background(job).outcome.outcome.value}")
    if not jobs:
        print("The server builds beliefs by itself.")

    show("The next morning", memory.start_session("monday", focus="refunds").markdown)
    wanted = MetaFilter(reach=Reach.subtree(node))
    answer = engine.recall(RecallRequest(question="How long do refunds take?", filter=wanted, limit=3))
    show("Asked outright", answer.answer)
    print(f"It rests on {len(answer.citations)} items.")


def show(title: str, text: str) -> None:
    """Print a text under a title."""
    print(f"\n=== {title} ===\n\n{text or '(nothing)'}\n")


@contextmanager
def opened(url: str, *, hosted: bool) -> Iterator[MemoryEngine]:
    """Make the engine of a server, or of a stand-in that goes with it."""
    kind = "tinyhumans" if hosted else "cortexdb"
    if not url:
        stand_in = HostedDouble() if hosted else DirectDouble()
        with stand_in as double, build_engine(kind, credential=TOKEN, endpoint=double.endpoint) as engine:
            yield engine
        return
    variable = "TINYHUMANS_TOKEN" if hosted else "CORTEXDB_KEY"
    key = os.environ.get(variable, "")
    if not key:
        sys.exit(f"set {variable} to the credential of {url}")
    with build_engine(kind, credential=key, endpoint=url) as engine:
        yield engine


def main() -> None:
    """Read the command line and run the day."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--url", default="", help="the server; a stand-in on this machine when left out")
    parser.add_argument("--hosted", action="store_true", help="speak TinyHumans' surface instead of CortexDB's own")
    options = parser.parse_args()
    node = Namespace.parse(f"ws:example-{uuid.uuid4().hex[:8]}")
    with opened(options.url, hosted=options.hosted) as engine:
        print(f"{engine.descriptor.label}: {engine.health().state.value}")
        try:
            day(engine, node)
        finally:
            gone = engine.forget(ForgetTarget.of_filter(MetaFilter(reach=Reach.subtree(node)))).forgotten
            print(f"Forgot the {gone} items of this run.")


if __name__ == "__main__":
    main()
