"""Counting: facet counters kept in the transaction of every write, and explore by counters or by a scan."""

import json
from collections import Counter
from collections.abc import Sequence
from typing import Any

import apsw

from corebrain.contract import explore_page
from corebrain.engines.local import filters, listing, nodes
from corebrain.engines.local.schema import KIND_CODES, KINDS
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import ExplorePage, ExploreRequest

COUNTED = (
    *(Facet.KIND, Facet.SOURCE, Facet.SOURCE_ID, Facet.WORKSPACE, Facet.FOLDER, Facet.LANGUAGE, Facet.REPO),
    *(Facet.AGENT, Facet.TOOL_CALL, Facet.TAG),
)
"""Facets with counters. A thread, a path or a url is nearly an item's own: a counter would double the item."""

_TAGGED = "tagged"  # pseudo facet: items with at least one tag
_ONE = ""
_COLUMNS = {
    Facet.KIND: "i.kind",
    Facet.SOURCE: "i.source",
    Facet.SOURCE_ID: "i.source_id",
    Facet.WORKSPACE: "i.workspace",
    Facet.FOLDER: "i.folder",
    Facet.FILE_PATH: "i.file_path",
    Facet.LANGUAGE: "i.language",
    Facet.REPO: "i.repo",
    Facet.URL: "i.url",
    Facet.THREAD: "i.thread_id",
    Facet.AGENT: "i.agent_id",
    Facet.TOOL_CALL: "i.tool",
    Facet.TAG: "i.tags",
    Facet.NAMESPACE: "n.path",
}
Deltas = Counter[tuple[str, int, int, str]]
"""Changes of counters, by facet, node, kind and value."""


def tally(deltas: Deltas, kind: ItemKind, meta: MemoryMeta, node: int, by: int) -> None:
    """Add an item (*by* 1) to the changes, or take it away (*by* -1)."""
    code = KIND_CODES[kind]
    for facet, value in _held(kind, meta):
        if value is not None:
            deltas[facet, node, code, value] += by


def _held(kind: ItemKind, meta: MemoryMeta) -> tuple[tuple[str, str | None], ...]:
    """Return what `Facet.values` says of every counted facet, spelt out: asking it took a tenth of an ingest."""
    return (
        ("kind", kind.value),
        ("source", meta.source.kind.value),
        ("source_id", meta.source.id),
        ("workspace", meta.workspace),
        ("folder", meta.folder),
        ("language", meta.language),
        ("repo", meta.repo),
        ("agent", meta.agent_id),
        ("tool_call", meta.tool_call.name if meta.tool_call else None),
        (_TAGGED, _ONE if meta.tags else None),
        *(("tag", tag) for tag in meta.tags),
    )


def apply(connection: apsw.Connection, deltas: Deltas) -> None:
    """Write the changes; a counter that comes to nothing goes."""
    rows = [(*key, change) for key, change in deltas.items() if change]
    connection.executemany(
        "INSERT INTO facets VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT(facet, node, kind, value) DO UPDATE SET items = items + excluded.items",
        rows,
    )
    gone = [key for *key, change in rows if change < 0]
    connection.executemany(
        "DELETE FROM facets WHERE facet = ? AND node = ? AND kind = ? AND value = ? AND items = 0", gone
    )


def explore(connection: apsw.Connection, request: ExploreRequest) -> ExplorePage:
    """Count the values of a facet: exactly where counters stand, else over the first `scan_limit` items listed."""
    if filters.is_only_place(request.filter) and request.facet in {*COUNTED, Facet.NAMESPACE}:
        return _counted(connection, request)
    return _scanned(connection, request)


def _counted(connection: apsw.Connection, request: ExploreRequest) -> ExplorePage:
    facet = request.facet
    total = sum(_sums(connection, Facet.KIND.value, request.filter, "f.value").values())
    if facet is Facet.NAMESPACE:
        return explore_page(
            request,
            _sums(connection, Facet.KIND.value, request.filter, "n.path"),
            total=total,
            missing=0,
            truncated=False,
        )
    counts = _sums(connection, facet.value, request.filter, "f.value")
    holders = _sums(connection, _TAGGED, request.filter, "f.value") if facet is Facet.TAG else counts
    missing = total - sum(holders.values())
    return explore_page(request, counts, total=total, missing=missing, truncated=False)


def _sums(connection: apsw.Connection, facet: str, wanted: MetaFilter, value: str) -> Counter[str]:
    condition, values = nodes.reach_sql(wanted.reach or WHOLE_TREE)
    codes = ", ".join(map(str, filters.kinds(wanted)))
    rows = connection.execute(
        f"SELECT {value}, sum(f.items) FROM nodes n CROSS JOIN facets f ON f.facet = ? AND f.node = n.node "  # noqa: S608  # values are bound
        f"AND f.kind IN ({codes}) WHERE {condition} GROUP BY 1",
        (facet, *values),
    )
    return Counter(dict(rows))


def _scanned(connection: apsw.Connection, request: ExploreRequest) -> ExplorePage:
    numbers, more = listing.numbers(connection, request.filter, request.scan_limit, None)
    counts: Counter[str] = Counter()
    missing = 0
    for (held,) in listing.read(connection, numbers, _COLUMNS[request.facet]):
        values = _values(request.facet, held)
        counts.update(values)
        missing += not values
    return explore_page(request, counts, total=len(numbers), missing=missing, truncated=more)


def _values(facet: Facet, held: Any) -> Sequence[str]:
    if held is None:
        return ()
    if facet is Facet.TAG:
        return tuple(json.loads(held))
    return (KINDS[held].value,) if facet is Facet.KIND else (held,)
