"""What memory on CortexDB costs over the wire: live turns, packs, a thousand documents, and the work before sending.

    python benchmarks/cortex_wire.py
    python benchmarks/cortex_wire.py --turns 50 --documents 200 --delay-ms 0 20

The servers are stand-ins, each a process of its own on this machine; `--delay-ms` lets each of their requests take so
long beside its work, as a network would. A pack's time is held against the slowest single request of the same turn.
Encoding is measured in this process's own processor time. Exits 1 when a goal is missed; the last line is a summary.
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median

import httpx

from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.contract import Item, MemoryEngine
from corebrain.engines.cortexdb.connections import Connections
from corebrain.engines.cortexdb.events import encode_item
from corebrain.engines.registry import build_engine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.lifecycle import AgentMemory, RecallPolicy
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Role, Turn
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef, TurnRange
from corebrain.model.namespace import Namespace

KINDS = {"direct": "cortexdb", "hosted": "tinyhumans"}
POST_TURN_MS = 4.0
SLOWEST_TIMES, SLOWEST_PLUS_MS = 1.5, 3.0
ITEMS_A_SECOND = 10_000
INDEX_MS = 500  # until a turn that was only accepted can be read; a server is no faster
FOUR_SCOPES = RecallPolicy(team_limit=0, build_beliefs_every=0)  # learnings, the root's and the files' documents, turns
SEEN = Instant.parse("2026-03-02T09:00:00Z")


@dataclass
class Requests:
    """How long each request took, in milliseconds, by its line."""

    times: list[tuple[str, float]] = field(default_factory=list)

    def count(self, word: str) -> int:
        """Return how many requests name a word."""
        return sum(word in line for line, _ in self.times)


@contextmanager
def counted() -> Iterator[Requests]:
    """Note every request of every engine while this lasts, until its reply begins to come."""
    seen = Requests()
    handle = Connections.handle_request

    def noting(self: Connections, request: httpx.Request) -> httpx.Response:
        began = time.perf_counter()
        try:
            return handle(self, request)
        finally:
            seen.times.append((f"{request.method} {request.url.raw_path.decode()}", _ms(began)))

    Connections.handle_request = noting  # type: ignore[method-assign]  # this process measures and ends
    try:
        yield seen
    finally:
        Connections.handle_request = handle  # type: ignore[method-assign]  # as before


def _ms(began: float) -> float:
    return (time.perf_counter() - began) * 1000


@contextmanager
def served(surface: str, delay_ms: int, index_ms: int = 0) -> Iterator[MemoryEngine]:
    """Start a stand-in and make its engine."""
    command = [sys.executable, "-m", "corebrain.conformance.doubles", surface]
    command += ["--delay-ms", str(delay_ms), "--index-ms", str(index_ms)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            place = process.stdout.readline().strip() if process.stdout else ""
            with build_engine(KINDS[surface], credential=TOKEN, endpoint=place) as engine:
                yield engine
        finally:
            process.terminate()


def turns(delay_ms: int, count: int) -> tuple[float, float, float, float]:
    """Return p50 of post_turn, pre_turn, the slowest request within one, and of pre_turn's part of what is allowed."""
    with served("direct", delay_ms, INDEX_MS) as engine:
        memory = AgentMemory(engine, MemoryLayout(), "support-01").with_policy(FOUR_SCOPES)
        memory.brain().ingest(BrainDocument(source=BrainSource.FILES, text="Refunds settle in five days."))
        memory.pre_turn("warm", 0, "When do refunds settle?")
        post, pre, slowest, shares = [], [], [], []
        for number in range(count):
            with counted() as seen:
                began = time.perf_counter()
                memory.pre_turn(f"t{number}", 0, f"When do refunds settle, asked {number} times?")
                pre.append(_ms(began))
            slowest.append(max(took for _, took in seen.times))
            shares.append(pre[-1] / (slowest[-1] * SLOWEST_TIMES + SLOWEST_PLUS_MS))
            with counted() as seen:
                began = time.perf_counter()
                memory.post_turn(f"t{number}", 1, f"Five days, said {number} times.")
                post.append(_ms(began))
            if len(seen.times) != 1:
                sys.exit(f"a post_turn made {len(seen.times)} requests")
        return median(post), median(pre), median(slowest), median(shares)


def ingest(surface: str, count: int) -> tuple[float, Requests]:
    """Return the seconds and the requests of so many documents through `ingest_many`."""
    documents = [
        BrainDocument(
            source=BrainSource.FILES,
            title=f"Document {number}",
            text=f"# Document {number}\n\n" + f"Its word is w{number}. " * 40,
            meta=MemoryMeta(file_path=f"hr/d{number}.md", folder="hr", observed_at=SEEN),
        )
        for number in range(count)
    ]
    with served(surface, 0) as engine, counted() as seen:
        began = time.perf_counter()
        AgentMemory(engine, MemoryLayout(), "a").brain().ingest_many(documents)
        return time.perf_counter() - began, seen


def encoding(items: list[Item]) -> float:
    """Return items fingerprinted and made bodies in a second of this process's processor time; the best of five."""
    best = 0.0
    for _ in range(5):
        began = time.process_time()
        for item in items:
            encode_item(item, item.fingerprint(), "app:tinymemory/source:files/app:documents")
        best = max(best, len(items) / (time.process_time() - began))
    return best


def documents(count: int) -> list[Item]:
    """Return documents as a sync of files makes them."""
    node, source = Namespace.parse("source:files"), SourceRef(kind=SourceKind.FILE, id="docs")
    return [
        Document(
            title=f"Document {number}",
            body=Body(text=f"Its word is w{number}. " * 20),
            mime="text/markdown",
            meta=MemoryMeta(namespace=node, file_path=f"hr/d{number}.md", folder="hr", source=source, observed_at=SEEN),
        )
        for number in range(count)
    ]


def conversations(count: int) -> list[Item]:
    """Return turns as a live agent logs them."""
    node, source = Namespace.parse("agent:support-01"), SourceRef(kind=SourceKind.CONVERSATION, id="t1")
    return [
        Conversation(
            turns=(Turn(role=Role.USER, text=f"When do refunds settle? Asked {number} times.", at=SEEN),),
            meta=MemoryMeta(
                namespace=node,
                thread_id="t1",
                turns=TurnRange(first=number, last=number),
                agent_id="support-01",
                source=source,
            ),
        )
        for number in range(count)
    ]


def main() -> int:
    """Measure, print, and return 1 when a goal is missed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", type=int, default=25, help="live turns at each delay")
    parser.add_argument("--documents", type=int, default=1_000, help="documents ingested on each surface")
    parser.add_argument("--items", type=int, default=2_000, help="items encoded, five times over")
    parser.add_argument("--delay-ms", type=int, nargs="+", default=[0, 20], help="what each request takes at least")
    options = parser.parse_args()
    missed: list[str] = []

    print(f"{'request takes':>14} {'post_turn':>10} {'pre_turn':>10} {'slowest':>10} {'of 1.5 x slowest + 3 ms':>25}")
    first_post = first_share = 0.0
    for delay in options.delay_ms:
        post, pre, slowest, share = turns(delay, options.turns)
        print(f"{f'{delay} ms more':>14} {post:>8.2f}ms {pre:>8.2f}ms {slowest:>8.2f}ms {share:>24.2f}x")
        missed += [f"post_turn at {delay} ms"] if post > POST_TURN_MS + delay else []
        missed += [f"pre_turn at {delay} ms"] if share > 1 else []
        first_post, first_share = first_post or post, max(first_share, share)

    print(f"\n{'surface':>14} {'documents':>10} {'seconds':>10} {'requests':>10} {'writes':>8} {'listings':>9}")
    batches = -(-options.documents // 100)
    spent = {}
    for surface in KINDS:
        seconds, seen = ingest(surface, options.documents)
        listings = seen.count("/events?")
        spent[surface] = f"{len(seen.times)} requests {seconds:.1f}s"
        print(
            f"{surface:>14} {options.documents:>10} {seconds:>10.2f} {len(seen.times):>10}"
            f" {seen.count('/experience'):>8} {listings:>9}"
        )
        lookups, waits = 2 * batches, batches  # fifty ids a lookup
        missed += [f"listings of {surface}"] if listings > lookups + 2 * waits else []

    rates = {"documents": encoding(documents(options.items)), "turns": encoding(conversations(options.items))}
    print()
    for name, rate in rates.items():
        print(f"{name} fingerprinted and encoded: {rate:,.0f} a second and core")
        missed += [f"encoding of {name}"] if rate < ITEMS_A_SECOND else []

    print(
        f"\npost_turn p50 {first_post:.2f} ms, pre_turn {first_share:.2f} of what is allowed,"
        f" {options.documents} documents: direct {spent['direct']}, hosted {spent['hosted']};"
        f" encoding {min(rates.values()):,.0f}/s; {'missed: ' + ', '.join(missed) if missed else 'all goals met'}"
    )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
