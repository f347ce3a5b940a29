"""Every field of a filter, every value against every value, exactly as `MetaFilter.matches` says."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corebrain.engines.local.engine import LocalEngine
from corebrain.model.filter import MetaFilter, redacted_id
from corebrain.model.instant import Instant
from corebrain.model.item import Document
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import FetchMode, FetchRequest, ForgetTarget, ListRequest

PHONE = "user:+15551234567"
NAMES = (
    "",
    "x",
    "a",
    "a/",
    "a/b",
    "a/b/",
    "a/b//",
    "a/bc",
    "a/b/c.rs",
    "/",
    "/a",
    "//",
    "A",
    "a\0b",
    "é",
    PHONE,
    redacted_id(PHONE),
)
NODES = (
    "root",
    "team:a",
    "team:a/agent:w",
    "team:a/service:s",
    "team:a/service:s/agent:x",
    "team:ab",
    "service:s/team:a",
)
PLAIN = ("workspace", "folder", "file_path", "language", "repo", "commit", "url", "thread_id", "agent_id")
MOMENTS = (-(10**18) - 1, -1, 0, 1, 10**9 - 1, 10**9, 250 * 10**18)


def plain(field: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    return [{field: name} for name in NAMES], [{field: name} for name in (*NAMES, "\ud800")]


CASES: dict[str, tuple[list[dict[str, Any]], list[dict[str, Any]]]] = {
    **{field: plain(field) for field in PLAIN},
    "source_id": ([{"source": SourceRef(id=name)} for name in NAMES], [{"source_id": name} for name in NAMES]),
    "sources": (
        [{"source": SourceRef(kind=kind)} for kind in SourceKind],
        [{"sources": (kind, SourceKind.LINK)} for kind in SourceKind],
    ),
    "tool_call": (
        [{"tool_call": ToolCallRef(name=name, id="1")} for name in NAMES],
        [{"tool_call": name} for name in NAMES],
    ),
    "turns": (
        [{"turns": TurnRange(first=a, last=b)} for a, b in ((0, 0), (0, 1), (1, 1), (0, 2**32 - 1))],
        [{"turns": TurnRange(first=a, last=b)} for a, b in ((0, 0), (0, 1), (1, 1), (0, 2**32 - 1), (5, 5))],
    ),
    "tags_any": (
        [{"tags": tags} for tags in (("a",), ("b",), ("a", "b"), ("",), ("a", "a"), ("ab",))],
        [
            {"tags_any": tags}
            for tags in (
                ("a",),
                ("a", "b"),
                ("",),
                ("c",),
                ("a", "a"),
                ("\ud800",),
                tuple("abcdefghijklmnopqrstuvwxyz"),
            )
        ],
    ),
    "observed": (
        [{"observed_at": Instant(ns)} for ns in MOMENTS],
        [
            *({"observed_after": Instant(ns)} for ns in MOMENTS),
            *({"observed_before": Instant(ns)} for ns in MOMENTS),
            {"observed_after": Instant(-1), "observed_before": Instant(10**9)},
        ],
    ),
    "reach": (
        [{"namespace": Namespace.parse(node)} for node in NODES],
        [
            {"reach": Reach(at=Namespace.parse(node), inherit=inherit, descendants=descendants)}
            for node in (*NODES, "team:none", "team:a/agent:none")
            for inherit in (True, False)
            for descendants in (True, False)
        ],
    ),
}


@pytest.mark.parametrize("field", CASES)
def test_a_filter_admits_exactly_what_it_says(
    tmp_path: Path, document: Callable[..., Document], listed: Callable[..., list[Any]], field: str
) -> None:
    held, asked = CASES[field]
    metas = [MemoryMeta(**fields) for fields in ({}, *held)]
    items = [document(f"same words {n}").with_meta(meta) for n, meta in enumerate(metas)]
    with LocalEngine(tmp_path / "memory.db", durability="process") as engine:
        engine.store_many(items)
        for fields in ({}, *asked):
            wanted = MetaFilter(**fields)
            admitted = {item.fingerprint() for item in items if wanted.matches(item.kind, item.meta)}
            assert {hit.id for hit in listed(engine, wanted, page=5)} == admitted, fields
            request = FetchRequest(query="words", mode=FetchMode.KEYWORD, filter=wanted, limit=100)
            assert {hit.id for hit in engine.fetch(request).hits} == admitted, fields


@pytest.mark.parametrize("field", CASES)
def test_forgetting_by_a_filter_removes_exactly_what_it_admits(
    tmp_path: Path, document: Callable[..., Document], verified: Callable[[LocalEngine], None], field: str
) -> None:
    held, asked = CASES[field]
    items = [document("same words").with_meta(MemoryMeta(**fields)) for fields in ({}, *held)]
    everything = MetaFilter(reach=Reach(at=Namespace.ROOT, descendants=True))
    with LocalEngine(tmp_path / "memory.db", durability="process") as engine:
        for fields in asked[:3]:
            engine.store_many(items)
            wanted = MetaFilter(**fields)
            kept = {
                i.fingerprint()
                for i in items
                if everything.matches(i.kind, i.meta) and not wanted.matches(i.kind, i.meta)
            }
            engine.forget(ForgetTarget.of_filter(wanted))
            assert {hit.id for hit in engine.list(ListRequest(filter=everything, limit=100)).items} == kept
        verified(engine)
