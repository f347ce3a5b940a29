"""Fifteen probes: items that differ from each other by one field, each with the filter that must find it alone."""

from typing import NamedTuple

from corebrain.conformance import items
from corebrain.contract import Item
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import ItemKind, SourceKind, SourceRef, ToolCallRef, TurnRange


class Probe(NamedTuple):
    """An item, and the filter that admits it and none of the other probes."""

    field: str
    item: Item
    filter: MetaFilter


def probes(workspace: str, marker: str) -> list[Probe]:
    """Return the probes, one for each field of a filter but `reach` and `workspace`."""

    def probe(field: str, wanted: object, **fields: object) -> Probe:
        item = items.document(workspace, f"{marker} {field} probe", **fields)
        return Probe(field, item, _filter(workspace, field, wanted))

    def plain(field: str, value: str) -> Probe:
        return probe(field, value, **{field: value})

    filed = SourceRef(kind=SourceKind.FOLDER, id=f"{marker}-notes")  # no file: `sources` must not find it
    return [
        probe("folder", f"/{marker}/src", folder=f"/{marker}/src/app"),
        probe("file_path", f"/{marker}/docs", file_path=f"/{marker}/docs/guide.md"),
        plain("language", "rust"),
        plain("repo", f"owner/{marker}"),
        plain("commit", f"commit-{marker}"),
        plain("url", f"https://probe.example/{marker}"),
        *_of_other_kinds(workspace, marker),
        plain("agent_id", f"{marker}-agent"),
        probe("tool_call", f"{marker}-tool", tool_call=ToolCallRef(name=f"{marker}-tool")),
        probe("source_id", filed.id, source=filed),
        probe("sources", (SourceKind.FILE,), source=SourceRef(kind=SourceKind.FILE)),
        probe("tags_any", (f"{marker}-wanted", f"{marker}-absent"), tags=(f"{marker}-wanted",)),
        _observed(workspace, marker),
    ]


def _filter(workspace: str, field: str, wanted: object) -> MetaFilter:
    return MetaFilter.model_validate({"workspace": workspace, field: wanted})


def _of_other_kinds(workspace: str, marker: str) -> list[Probe]:
    """Threads and turns belong to conversations, and `kinds` needs a kind of which there is one."""
    thread, turns = f"{marker}-thread", TurnRange(first=4, last=5)
    learning = StoreItem.learning(f"{marker} kinds probe", LearningKind.FACT, 0.5, items.meta(workspace))
    return [
        Probe(
            "thread_id",
            items.conversation(workspace, f"{marker} thread probe", thread_id=thread),
            _filter(workspace, "thread_id", thread),
        ),
        Probe(
            "turns",
            items.conversation(workspace, f"{marker} turns probe", turns=turns),
            _filter(workspace, "turns", turns),
        ),
        Probe("kinds", learning, _filter(workspace, "kinds", (ItemKind.LEARNING,))),
    ]


def _observed(workspace: str, marker: str) -> Probe:
    seen = Instant.parse("2001-01-01T00:00:00Z")
    window = MetaFilter(
        workspace=workspace,
        observed_after=Instant.parse("2000-01-01T00:00:00Z"),
        observed_before=Instant.parse("2002-01-01T00:00:00Z"),
    )
    return Probe("observed_at", items.document(workspace, f"{marker} observed probe", observed_at=seen), window)
