"""What the reading verbs share: opening a brain, narrowing to a source, saying that nothing was synced yet."""

from argparse import Namespace
from pathlib import PurePosixPath
from typing import Any

from corebrain.contract import MemoryEngine
from corebrain.layout import BrainSource
from corebrain.model.filter import MetaFilter
from corebrain.model.requests import Hit, ListRequest
from pipeline.assembly import OpenBrain, was_synced
from pipeline.cli.console import Console
from pipeline.config.complaints import nearest
from pipeline.config.engine_tables import RemoteEngineTable
from pipeline.config.load import load
from pipeline.config.models import Config
from pipeline.errors import SetupError
from pipeline.source_set import SOURCE_IDS, place_of

SHORT_ID = 10
"""Characters of an id that are shown; `brain show` takes the first 6 or more."""


def never_synced(config: Config, console: Console) -> bool:
    """Tell whether there is nothing to read yet, and say what to do."""
    if was_synced(config):
        return False
    if config.engine.kind == "reference":
        console.note('the reference engine keeps nothing between commands: set [engine] kind = "local"')
    elif config.file is None:
        console.note("nothing was synced here yet: run `brain sync FOLDER`, or `brain init` for several sources")
    elif not config.sources:
        console.note(f"{config.file} names no source yet: run `brain add files FOLDER`, then `brain sync`")
    else:
        console.note("nothing was synced yet: run `brain sync`")
    return True


def configured(options: Namespace) -> Config:
    """Return the configuration that the command line names."""
    return load(options.config)


def wanted(brain: OpenBrain, source: str | None) -> MetaFilter:
    """Return the filter of `--source`: a source's documents, those of a source node, or all of the brain's root.

    Raises:
        SetupError: No source is called so.
    """
    if source is None:
        return brain.sources.layout().brain_filter()
    if source in brain.sources.by_name:
        layout = brain.sources.layout(brain.sources.by_name[source])
        return layout.brain_filter(brain.sources.node(source)).model_copy(update={"source_id": source})
    if source in brain.books():  # synced once, configured no more
        return brain.sources.layout().brain_filter().model_copy(update={"source_id": source})
    nodes = {*SOURCE_IDS, *(str(brain.sources.node(name)) for name in brain.sources.by_name)}
    if source.lower() in nodes or source in nodes:
        return brain.sources.layout().brain_filter(BrainSource.parse(source))
    raise SetupError(f"there is no source {source!r}; {nearest(source, {*brain.sources.by_name, *nodes})}")


def place(brain: OpenBrain, hit: Hit) -> str:
    """Return where a person finds a document: its path below the source's folder, else its url, else its path."""
    meta = hit.meta
    name = meta.source.id
    root = place_of(brain.sources.connectors[name]) if name in brain.sources.connectors else None
    if root is not None and meta.file_path:
        return str(PurePosixPath(root) / _path(brain, hit.id, meta.file_path))
    return meta.url or meta.file_path or str(meta.namespace)


def _path(brain: OpenBrain, item: str, shown: str) -> str:
    """Return the path below the source's folder: a server is told the last name alone, the books know the rest."""
    if not isinstance(brain.config.engine, RemoteEngineTable):
        return shown
    return next((held.key.replace("!/", "/") for held in brain.state.holdings(item, 1)), shown)


def title_and_text(hit: Hit) -> tuple[str, str]:
    """Take the rendered text apart: the title (empty when there is none), and the text below it."""
    if hit.text.startswith("# "):
        title, _, text = hit.text[2:].partition("\n\n")
        if "\n" not in title:
            return title, text
    return "", hit.text


def described(brain: OpenBrain, hit: Hit) -> dict[str, Any]:
    """Return what every `--json` says of a document."""
    title, _ = title_and_text(hit)
    return {
        "id": hit.id,
        "title": title,
        "source": hit.meta.source.id,
        "place": place(brain, hit),
        "file_path": hit.meta.file_path,
        "url": hit.meta.url,
        "namespace": str(hit.meta.namespace),
    }


def pages(engine: MemoryEngine, criterion: MetaFilter, limit: int) -> list[Hit]:
    """Return up to *limit* items that a filter admits."""
    found: list[Hit] = []
    cursor = None
    while len(found) < limit:
        page = engine.list(ListRequest(filter=criterion, limit=min(200, limit - len(found)), cursor=cursor))
        found += page.items
        cursor = page.next_cursor
        if cursor is None:
            break
    return found
