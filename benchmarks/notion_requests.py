"""Requests to Notion for a first sync, an idle one and one edit: ours counted, the peers' by their formulas.

    python benchmarks/notion_requests.py --pages 5000

The peers' formulas were read in their sources (August 2026): Onyx a7d66a8, Elastic connectors d2ab12f,
unstructured-ingest cbd0fbd, llama-index-readers-notion 0.6.0, langchain-community 0.4.2, dlt 3957506, Airbyte
source-notion, cortexdb-connectors 0.2.22. They leave out retries. W is the block requests of a page (one for each
hundred blocks at the top, one for every block that has children), 4 unless said otherwise.
"""

import argparse
import math
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from connectors.contract import Checkpoint, Json, Ref, Seen
from connectors.http import Timing
from connectors.notes import MemoryNotes
from connectors.notion.blocks import Renderer
from connectors.notion.connector import NotionConnector
from connectors.notion.service import notion_http
from connectors.testing.notion import made_up
from connectors.testing.notion_server import TOKEN, NotionServer

PER_SECOND = 3


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n")[0])
    parser.add_argument("--pages", type=int, default=500, help="documents in the stand-in (default 500)")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, default=4, metavar="W", help="block requests a page costs a peer")
    options = parser.parse_args()
    workspace = made_up(options.pages, options.seed)
    sources = sum(thing["object"] == "data_source" for thing in workspace.things.values())
    with NotionServer(workspace) as server:
        http = notion_http(server.url, requests_per_minute=0, timing=Timing())
        connector = NotionConnector(TOKEN, http=http, base_url=server.url)
        notes = MemoryNotes()
        began = time.perf_counter()
        first, cursor, refs = first_sync(connector, notes)
        seconds = time.perf_counter() - began
        idle = changes(connector, cursor, notes, refs)
        workspace.write(next(key for key, one in workspace.things.items() if one["object"] == "page"), ["edited"])
        edited = changes(connector, cursor, notes, refs)
        http.close()
    rows = [("corebrain, counted", first, idle, edited), *peers(options.pages, sources, options.blocks)]
    print(f"{options.pages:,} documents, {sources} of them databases; W = {options.blocks}\n")
    print(f"{'':28}{'first':>10}{'at 3/s':>10}{'no change':>11}{'at 3/s':>10}{'one edit':>10}")
    for name, *counts in rows:
        a, b, c = counts
        print(f"{name:28}{a:>10,}{clock(a):>10}{b:>11,}{clock(b):>10}{c:>10,}")
    bound = math.ceil(options.pages / 100) + sources + options.pages
    rate = rendering()
    print(f"\nfirst sync here {seconds:.1f} s without a pace, rendering {rate:,.0f} blocks/s")
    print(f"first {first} <= {bound}: {first <= bound}; no change {idle} <= 2; one edit {edited} <= 3")


def first_sync(connector: NotionConnector, notes: MemoryNotes) -> tuple[int, Json, dict[str, Ref]]:
    """Scan and fetch as the pipeline does: what was listed is fetched at each checkpoint."""
    refs: dict[str, Ref] = {}
    waiting: list[Ref] = []
    cursor: Json = None
    for event in connector.scan(None, notes):
        if isinstance(event, Seen):
            refs[event.ref.key] = event.ref
            if event.blob is None:
                waiting.append(event.ref)
        elif isinstance(event, Checkpoint):
            cursor = event.cursor
            for ref in waiting:
                connector.fetch(ref, None)
            waiting.clear()
    return connector.requests, cursor, refs


def changes(connector: NotionConnector, cursor: Json, notes: MemoryNotes, refs: dict[str, Ref]) -> int:
    """Scan from the cursor, fetch what has another token, and return the requests it took."""
    before = connector.requests
    for event in connector.scan(cursor, notes):
        if isinstance(event, Seen) and event.blob is None and event.ref.token != refs[event.ref.key].token:
            connector.fetch(event.ref, refs[event.ref.key].token)
    return connector.requests - before


def peers(pages: int, sources: int, w: int) -> Iterator[tuple[str, int, int, int]]:
    """Requests of the peers by their formulas; databases and rows as in the stand-in."""
    hundred = math.ceil(pages / 100)
    source_pages = math.ceil(sources / 100)
    rows = sources  # each of up to a hundred rows: one query
    onyx = 1 + source_pages + sources + hundred + pages * w + rows
    yield "Onyx", onyx, 2 + source_pages + sources, 2 + source_pages + sources + w
    yield "  and its deletion pass", onyx, onyx, onyx
    elastic = 1 + math.ceil((pages + sources) / 100) + (pages + sources) * w + rows
    yield "Elastic", elastic, elastic, elastic
    unstructured = pages * (2 + w) + pages
    yield "unstructured-ingest", unstructured, unstructured, unstructured
    llama = 2 + rows + pages * w
    yield "LlamaIndex", llama, llama, llama
    langchain = hundred + pages * w
    yield "LangChain (one database)", langchain, langchain, langchain
    yield "dlt", hundred + pages, hundred + pages, hundred + pages
    airbyte = 3 * hundred + pages * (1 + w)
    yield "Airbyte", airbyte, airbyte, airbyte
    cortex = sources * 2 + pages * (1 + w) + 1
    yield "cortexdb-connectors", cortex, 2 * sources + 1 + pages, 2 * sources + 1 + pages + w


def clock(requests: int) -> str:
    """The time that requests take at three a second."""
    seconds = requests / PER_SECOND
    return (
        f"{seconds:.0f} s"
        if seconds < 100
        else f"{seconds / 60:.0f} min"
        if seconds < 6000
        else f"{seconds / 3600:.1f} h"
    )


def rendering() -> float:
    """Blocks rendered in a second by one core."""
    blocks: list[dict[str, Any]] = []
    workspace = made_up(200, 3, now=datetime(2026, 12, 1, tzinfo=UTC))
    for children in workspace.blocks.values():
        blocks += children
    renderer = Renderer(lambda _: ())
    began = time.perf_counter()
    rounds = 0
    while time.perf_counter() - began < 1.0:
        renderer.render(blocks)
        rounds += 1
    return rounds * len(blocks) / (time.perf_counter() - began)


if __name__ == "__main__":
    main()
