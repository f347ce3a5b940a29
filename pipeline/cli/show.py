"""`brain show`: one document in full."""

import re
from argparse import Namespace
from typing import Any

from corebrain.model.requests import GetRequest, Hit
from pipeline.assembly import OpenBrain
from pipeline.cli.console import Console
from pipeline.cli.printable import lines, printable
from pipeline.cli.reading import configured, described, never_synced, title_and_text
from pipeline.errors import SetupError
from pipeline.source_set import SourceSet
from pipeline.state.values import Record

SHORTEST = 6
_PREFIX = re.compile(rf"[0-9a-f]{{{SHORTEST},40}}")
_WHOLE = 40  # characters of an id


def run(options: Namespace, console: Console) -> int:
    """Show the document of that id."""
    prefix = options.id.lower()
    if not _PREFIX.fullmatch(prefix):
        raise SetupError(
            f"{options.id!r} is no id; give its first {SHORTEST} characters or more, as search prints them"
        )
    config = configured(options)
    if never_synced(config, console):
        raise SetupError(f"no document {prefix}: nothing is held yet")
    with OpenBrain(SourceSet(config), trial=True) as brain:
        whole, record = _resolved(brain, prefix)
        hits = brain.engine.get(GetRequest(ids=(whole,)))
        if not hits:
            raise SetupError(f"there is no document {prefix}; `brain list` shows what is held")
        said = {**described(brain, hits[0]), **_details(hits[0], record)}
    _tell(said, hits[0], console)
    console.answer(**said, text=hits[0].text)
    return 0


def _resolved(brain: OpenBrain, prefix: str) -> tuple[str, Record | None]:
    """Return the whole id, and the record it belongs to where the books know it."""
    found = brain.state.holdings(prefix, 10)
    ids = sorted({holding.id for holding in found})
    if len(ids) > 1:
        raise SetupError(f"{prefix} begins {len(ids)} ids: {', '.join(ids)}; give more of it")
    if not ids:
        if len(prefix) < _WHOLE:
            raise SetupError(f"there is no document {prefix}; `brain list` shows what is held")
        return prefix, None
    return ids[0], brain.state.ledger(found[0].source).record_of(found[0].key)


def _details(hit: Hit, record: Record | None) -> dict[str, Any]:
    pages = 1 + hit.text.count("\f")
    return {
        "converter": record.converter if record else None,
        "format": record.format if record else None,
        "key": record.ref.key if record else None,
        "language": hit.meta.language,
        "tags": list(hit.meta.tags),
        "pages": pages if pages > 1 or (record is not None and record.format == "pdf") else None,
        "observed_at": str(hit.meta.observed_at) if hit.meta.observed_at else None,
    }


def _tell(said: dict[str, Any], hit: Hit, console: Console) -> None:
    title, text = title_and_text(hit)
    if title:
        console.say(console.marked(printable(title), [(0, len(printable(title)))]))
    rows = {
        "id": said["id"],
        "source": said["source"],
        "place": said["place"],
        "url": said["url"],
        "node": said["namespace"],
        "format": said["format"],
        "converter": said["converter"],
        "pages": said["pages"],
        "language": said["language"],
        "tags": ", ".join(said["tags"]),
        "as of": said["observed_at"],
    }
    for name, value in rows.items():
        if value and not (name == "url" and value == said["place"]):
            console.say(f"  {name:<9}  {printable(str(value))}")
    console.say()
    console.say(lines(text))
