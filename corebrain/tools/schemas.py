"""The tools' names, descriptions and JSON schemas, frozen by a fixture (spec 06 section 2)."""

from collections.abc import Sequence
from copy import deepcopy
from enum import StrEnum
from typing import Any, ClassVar

from corebrain.model.facet import Facet
from corebrain.model.item import LearningKind, Role
from corebrain.model.meta import ItemKind, SourceKind
from corebrain.model.requests import MAX_GET_IDS, FetchMode
from corebrain.model.value import Value

Schema = dict[str, Any]

TOOL_NAMES = (
    "memory_recall",
    "memory_fetch",
    "memory_list",
    "memory_get",
    "memory_explore",
    "memory_store",
    "memory_forget",
)
"""Every tool, in the order of the specs."""

WRITE_TOOL_NAMES = ("memory_store", "memory_forget")
"""The tools that change memory."""

MAX_LIMIT = 50
DEFAULT_LIMIT = 10
DEFAULT_CONFIDENCE = 0.8

_DESCRIPTIONS = {
    "memory_recall": "Ask memory a question and get a short answer with the items it rests on. "
    "Use it when you need a fact, not the raw notes.",
    "memory_fetch": "Search memory and get the best matching items in full, best first. "
    "When next_cursor is returned, pass it as cursor for the next page.",
    "memory_list": "Page through memory without a query, for example everything of one thread or file. "
    "When next_cursor is returned, pass it as cursor for the next page.",
    "memory_get": "Read items again by the ids that another memory tool returned.",
    "memory_explore": "Count what memory holds, by kind, source, folder, thread, tag and so on, "
    "to find out where to look.",
    "memory_store": "Keep something for later: exactly one of a learning (one lasting statement), "
    "a document, or a conversation.",
    "memory_forget": "Remove items for good: exactly one of their ids, or a filter that sets at least one field.",
}


class ToolSpec(Value):
    """One tool as a model sees it; `parameters` is a JSON schema."""

    omitted: ClassVar[frozenset[str]] = frozenset()
    name: str
    description: str
    parameters: Schema


def tool_specs(modes: Sequence[FetchMode], *, writes: bool) -> list[ToolSpec]:
    """Return the specs a model is offered: no fetch without a mode, no writes on read-only tools.

    The schemas are copies: what a host does to them changes nothing that is checked.
    """
    offered = [name for name in TOOL_NAMES if writes or name not in WRITE_TOOL_NAMES]
    return [
        ToolSpec(name=name, description=_DESCRIPTIONS[name], parameters=deepcopy(parameters(name, modes)))
        for name in offered
        if modes or name != "memory_fetch"
    ]


def parameters(name: str, modes: Sequence[FetchMode]) -> Schema:
    """Return the closed JSON schema of a tool's arguments."""
    match name:
        case "memory_recall":
            return _object(
                {"question": _STRING, "filter": _FILTER, "limit": _LIMIT, "instructions": _STRING}, "question"
            )
        case "memory_fetch":
            mode = _enum(mode.value for mode in modes) | {"default": _preferred(modes)}
            return _object(
                {"query": _STRING, "mode": mode, "filter": _FILTER, "limit": _LIMIT, "cursor": _STRING}, "query"
            )
        case "memory_list":
            return _object({"filter": _FILTER, "limit": _LIMIT, "cursor": _STRING})
        case "memory_get":
            return _object({"ids": _IDS}, "ids")
        case "memory_explore":
            return _object({"facet": _FACET, "filter": _FILTER, "limit": _LIMIT}, "facet")
        case "memory_store":
            return _object(
                {"learning": _LEARNING, "document": _DOCUMENT, "conversation": _CONVERSATION, "tags": _STRINGS}
            )
        case _:
            return _object({"ids": _IDS, "filter": _FILTER})


def _preferred(modes: Sequence[FetchMode]) -> str | None:
    if not modes:
        return None
    return (FetchMode.HYBRID if FetchMode.HYBRID in modes else modes[0]).value


def _object(properties: Schema, *required: str) -> Schema:
    closed: Schema = {"type": "object", "properties": properties, "additionalProperties": False}
    return closed | {"required": list(required)} if required else closed


def _enum(values: Any) -> Schema:
    return {"type": "string", "enum": list(values)}


def _members(enum: type[StrEnum]) -> Schema:
    return _enum(member.value for member in enum)


def _array(items: Schema, **bounds: int) -> Schema:
    return {"type": "array", "items": items, **bounds}


_STRING: Schema = {"type": "string"}
_TIME: Schema = {"type": "string", "format": "date-time"}
_STRINGS = _array(_STRING)
_IDS = _array(_STRING, minItems=1, maxItems=MAX_GET_IDS)
_LIMIT: Schema = {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT}
_FACET = _enum(facet.value for facet in Facet if facet is not Facet.NAMESPACE)
_FILTER = _object(
    {
        "kinds": _array(_members(ItemKind)),
        "sources": _array(_members(SourceKind)),
        "tags_any": _STRINGS,
        **dict.fromkeys(("workspace", "folder", "file_path", "repo", "url", "thread_id", "agent_id"), _STRING),
        "observed_after": _TIME,
        "observed_before": _TIME,
    }
)
_LEARNING = _object(
    {
        "text": _STRING,
        "learning_kind": _members(LearningKind) | {"default": LearningKind.FACT.value},
        "confidence": {"type": "number", "minimum": 0, "maximum": 1, "default": DEFAULT_CONFIDENCE},
        "evidence": _STRING,
    },
    "text",
)
_DOCUMENT = _object({"text": _STRING, "title": _STRING}, "text")
_CONVERSATION = _object(
    {"turns": _array(_object({"role": _members(Role), "text": _STRING}, "role", "text"), minItems=1)}, "turns"
)
