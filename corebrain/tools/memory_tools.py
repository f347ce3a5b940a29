"""Memory as tools for a model: specs and strict, confined dispatch (spec 06)."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any

from corebrain.contract import Item, MemoryEngine
from corebrain.errors import InvalidRequest, Unsupported
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    ExploreRequest,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
)
from corebrain.model.text import is_blank
from corebrain.tools.arguments import read_arguments
from corebrain.tools.render import Json, answer_json, explore_json, got_json, page_json
from corebrain.tools.schemas import WRITE_TOOL_NAMES, ToolSpec, parameters, tool_specs
from corebrain.tools.scope import ToolScope

_SHAPES = ("learning", "document", "conversation")


def _now() -> Instant:
    return Instant.of(datetime.now(UTC))


class MemoryTools:
    """The tools of one scope on one engine. Immutable; builders return copies.

    Args:
        engine: Where memory is kept.
        scope: Whose memory; the model never chooses it.
        now: The clock that stamps what is stored.
    """

    def __init__(
        self, engine: MemoryEngine, scope: ToolScope | None = None, *, now: Callable[[], Instant] = _now
    ) -> None:
        self._engine = engine
        self._scope = scope or ToolScope()
        self._now = now
        self._calls: Mapping[str, Callable[[dict[str, Any]], Json]] = {
            "memory_recall": self._recall,
            "memory_fetch": self._fetch,
            "memory_list": self._list,
            "memory_get": self._get,
            "memory_explore": self._explore,
            "memory_store": self._store,
            "memory_forget": self._forget,
        }

    @property
    def scope(self) -> ToolScope:
        """Where the tools write and read."""
        return self._scope

    def placed_at(self, place: Namespace) -> "MemoryTools":
        """Return tools that write at *place* and read it with its ancestors."""
        return self._scoped(self._scope.model_copy(update={"place": place, "reach": Reach.of(place)}))

    def reach(self, reach: Reach) -> "MemoryTools":
        """Return tools that read, and may forget, exactly what *reach* covers; call after `placed_at`."""
        return self._scoped(self._scope.model_copy(update={"reach": reach}))

    def read_only(self) -> "MemoryTools":
        """Return tools without writes."""
        return self._scoped(self._scope.model_copy(update={"writes": False}))

    def _scoped(self, scope: ToolScope) -> "MemoryTools":
        return MemoryTools(self._engine, scope, now=self._now)

    def specs(self) -> list[ToolSpec]:
        """Return what a model is offered, in order; fetch only with a mode, write tools only with writes."""
        return tool_specs(self._engine.descriptor.fetch_modes, writes=self._scope.writes)

    def call(self, name: str, arguments: object = None) -> Json:
        """Run the tool *name* with a model's *arguments*, an object or nothing, and return its JSON.

        Raises:
            InvalidRequest: an unknown tool, or arguments that are wrong or choose a node.
            Unsupported: a write on read-only tools, or a fetch on an engine that ranks nothing.
            CorebrainError: the engine's own failure, unchanged.
        """
        if name not in self._calls:
            offered = ", ".join(spec.name for spec in self.specs())
            raise InvalidRequest(f"unknown tool {name[:60]!r}, the tools are {offered}")
        if name in WRITE_TOOL_NAMES and not self._scope.writes:
            raise Unsupported(f"{name}: these tools are read-only")
        modes = self._engine.descriptor.fetch_modes
        if name == "memory_fetch" and not modes:
            raise Unsupported(f"{name}: {self._engine.descriptor.id} declares no fetch mode")
        return self._calls[name](read_arguments(name, parameters(name, modes), arguments))

    def _recall(self, given: dict[str, Any]) -> Json:
        request = RecallRequest(
            question=given["question"],
            filter=self._confined(given),
            limit=given["limit"],
            instructions=given.get("instructions"),
        )
        return answer_json(self._engine.recall(request))

    def _fetch(self, given: dict[str, Any]) -> Json:
        request = FetchRequest(
            query=given["query"],
            mode=FetchMode(given["mode"]),
            filter=self._confined(given),
            limit=given["limit"],
            cursor=given.get("cursor"),
        )
        page = self._engine.fetch(request)
        return page_json("hits", page.hits, page.next_cursor)

    def _list(self, given: dict[str, Any]) -> Json:
        request = ListRequest(filter=self._confined(given), limit=given["limit"], cursor=given.get("cursor"))
        page = self._engine.list(request)
        return page_json("items", page.items, page.next_cursor)

    def _get(self, given: dict[str, Any]) -> Json:
        ids = _ids("memory_get", given)
        return got_json(self._engine.get(GetRequest(ids=ids, reach=self._scope.reach)), ids)

    def _explore(self, given: dict[str, Any]) -> Json:
        request = ExploreRequest(facet=Facet(given["facet"]), filter=self._confined(given), limit=given["limit"])
        return explore_json(self._engine.explore(request))

    def _store(self, given: dict[str, Any]) -> Json:
        shapes = [shape for shape in _SHAPES if shape in given]
        if len(shapes) != 1:
            asked = " and ".join(shapes) or "none"
            raise InvalidRequest(f"memory_store: exactly one of {', '.join(_SHAPES)} is needed, {asked} is given")
        meta = MemoryMeta(namespace=self._scope.place, tags=tuple(given.get("tags", ())), observed_at=self._now())
        receipt = self._engine.store(_item(given, meta))
        return {"id": receipt.id, "replayed": receipt.replayed}

    def _forget(self, given: dict[str, Any]) -> Json:
        if ("ids" in given) == ("filter" in given):
            raise InvalidRequest("memory_forget: exactly one of ids, filter is needed")
        if "ids" in given:
            return self._forget_ids(_ids("memory_forget", given))
        if _filter(given).is_empty:
            raise InvalidRequest("memory_forget: `filter` sets no field, at least one is needed")
        report = self._engine.forget(ForgetTarget.of_filter(self._confined(given)))
        return {"forgotten": report.forgotten, "skipped": []}

    def _forget_ids(self, ids: tuple[str, ...]) -> Json:
        """Forget only what is read back under the reach: forgetting by id would find an item anywhere."""
        readable = {hit.id for hit in self._engine.get(GetRequest(ids=ids, reach=self._scope.reach))}
        found = [item_id for item_id in ids if item_id in readable]
        forgotten = self._engine.forget(ForgetTarget.of_ids(*found)).forgotten if found else 0
        return {"forgotten": forgotten, "skipped": [item_id for item_id in ids if item_id not in readable]}

    def _confined(self, given: dict[str, Any]) -> MetaFilter:
        return _filter(given).model_copy(update={"reach": self._scope.reach})


def _filter(given: dict[str, Any]) -> MetaFilter:
    return MetaFilter(**given.get("filter", {}))


def _ids(tool: str, given: dict[str, Any]) -> tuple[str, ...]:
    for index, item_id in enumerate(given["ids"]):
        if is_blank(item_id):
            raise InvalidRequest(f"{tool}: `ids[{index}]` is blank")
    return tuple(dict.fromkeys(given["ids"]))


def _item(given: dict[str, Any], meta: MemoryMeta) -> Item:
    if "learning" in given:
        learning = given["learning"]
        return Learning(
            text=learning["text"],
            kind=LearningKind(learning["learning_kind"]),
            confidence=learning["confidence"],
            evidence=learning.get("evidence"),
            meta=meta,
        )
    if "document" in given:
        document = given["document"]
        return Document(title=document.get("title"), body=Body(text=document["text"]), meta=meta)
    turns = given["conversation"]["turns"]
    return Conversation(turns=tuple(Turn(role=Role(turn["role"]), text=turn["text"]) for turn in turns), meta=meta)
