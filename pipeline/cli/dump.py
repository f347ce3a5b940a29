"""`brain dump`: what engine and state hold, as canonical JSON lines.

Equal brains print equal lines, whatever order they were filled in: keys are sorted, lines are sorted, and what only
tells of the runs (times, attempts, row numbers) is left out.
"""

import hashlib
import heapq
import json
from argparse import Namespace
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from itertools import islice
from tempfile import TemporaryFile
from typing import IO, Any

from corebrain.contract import Item
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Document
from corebrain.model.requests import ListRequest
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.reading import configured, never_synced
from pipeline.config.complaints import nearest
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet
from pipeline.state.contract import Ledger
from pipeline.state.rows import ref_to_json

_RUN = 10_000
"""Lines sorted in memory at a time; longer dumps are merged from files."""


def run(options: Namespace, console: Console) -> int:
    """Print the lines: what the engine holds first, then what the books say."""
    config = configured(options)
    if never_synced(config, console):
        return 0
    with OpenBrain(SourceSet(config), trial=True) as brain:
        names = brain.books()
        if options.name is not None and options.name not in {*names, *brain.sources.by_name}:
            raise SetupError(
                f"there is no source {options.name!r}; {nearest(options.name, {*names, *brain.sources.by_name})}"
            )
        for line in _sorted(_engine(brain, options.name)):
            print(line, end="")
        for name in names if options.name is None else [options.name]:
            if name in names:
                for held in _books(brain.state.ledger(name)):
                    print(_line(held))
        if options.name is None:
            for body in sorted(body for _, body in brain.state.jobs()):
                print(_line({"job": json.loads(body)}))
    return 0


def _engine(brain: OpenBrain, name: str | None) -> Iterator[str]:
    request = ListRequest(filter=MetaFilter(source_id=name), limit=200)
    while True:
        page = brain.engine.export(request)
        for exported in page.items:
            yield _line({"engine": {**exported.to_dict(), **_hashed(exported.item)}}) + "\n"
        for item_id in page.incomplete:
            yield _line({"engine": {"id": item_id, "incomplete": True}}) + "\n"
        if page.next_cursor is None:
            return
        request = request.model_copy(update={"cursor": page.next_cursor})


def _hashed(item: Item) -> dict[str, str]:
    """Return the hash of a document's text, to be compared with a glance."""
    if not isinstance(item, Document):
        return {}
    return {"text_sha256": hashlib.sha256(item.text.encode("utf-8", "surrogatepass")).hexdigest()}


def _books(ledger: Ledger) -> Iterator[dict[str, Any]]:
    row, name = ledger.row(), ledger.name
    yield {"source": name, "complete": row.complete, "cursor": row.cursor, "split": row.split, "error": row.error}
    for record in ledger.records():
        yield {
            "record": {
                "source": name,
                "ref": json.loads(ref_to_json(record.ref)),
                "token": record.token,
                "raw": record.raw,
                "format": record.format,
                "converter": record.converter,
                "filed": record.filed,
                "pinned": asdict(record.pinned),
                "items": [asdict(fact) for fact in record.facts],
            }
        }
    for key, intent in sorted(ledger.intents().items()):
        yield {"intent": {"source": name, "key": key, "items": intent.ids}}
    for aside in ledger.asides():
        yield {"set_aside": {"source": name, "key": aside.key, "error": aside.error, "advice": aside.advice}}


def _line(held: dict[str, Any]) -> str:
    return json.dumps(held, sort_keys=True, separators=(",", ":"))


def _sorted(lines: Iterable[str]) -> Iterator[str]:
    """Sort any number of lines in bounded memory."""
    source = iter(lines)
    runs: list[IO[str]] = []
    try:
        while run := sorted(islice(source, _RUN)):
            if len(run) < _RUN and not runs:
                yield from run
                return
            runs.append(_spilled(run))
        yield from heapq.merge(*runs)
    finally:
        for file in runs:
            file.close()


def _spilled(run: list[str]) -> IO[str]:
    file: IO[str] = TemporaryFile("w+", encoding="ascii", newline="\n")  # noqa: SIM115 - `_sorted` closes it
    file.writelines(run)
    file.seek(0)
    return file
