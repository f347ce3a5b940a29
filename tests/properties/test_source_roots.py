"""`[sources.hr] root = "team:hr"`: whoever is laid out elsewhere never recalls it, whatever is asked and however.

Over random pairs of unrelated roots, documents and histories; synced as the pipeline syncs, on our own engines.
"""

import json
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from connectors.testing.scripted import ScriptedConnector
from corebrain import context
from corebrain.background import BackgroundRunner
from corebrain.brain import Brain
from corebrain.contract import MemoryEngine
from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest
from corebrain.layout import MemoryLayout
from corebrain.lifecycle import AgentMemory, CoreScope
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Role, Turn
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import ListRequest
from pipeline.options import SyncOptions
from pipeline.source import Source
from pipeline.splitting import split
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all

SECRET = "canaryword"
ROOTS = ["team:hr", "team:sales", "team:hr-2", "ws:acme/team:hr", "ws:acme/team:sales", "ws:globex/team:hr", "agent:hr"]
WORDS = st.lists(st.sampled_from(["salary", "refund", "leave", "quota"]), min_size=1, max_size=4).map(" ".join)
AGENTS = ["a", "hr", "team:hr"]


@contextmanager
def engine_of(kind: str) -> Iterator[MemoryEngine]:
    if kind == "reference":
        yield ReferenceEngine()
        return
    with tempfile.TemporaryDirectory() as folder, LocalEngine(Path(folder) / "memory.db") as engine:
        yield engine


@st.composite
def worlds(draw: st.DrawFn) -> dict[str, Any]:
    """Two unrelated roots, what is synced to each, how, and what is asked."""
    hidden, asking = (Namespace.parse(draw(st.sampled_from(ROOTS))) for _ in range(2))
    assume(not hidden.is_within(asking) and not asking.is_within(hidden))
    layout = MemoryLayout(asking)
    return {
        "hidden": MemoryLayout(hidden),
        "asking": layout.with_pooled_conversations(Namespace.parse("ws:pool")) if draw(st.booleans()) else layout,
        "secrets": draw(st.lists(WORDS, min_size=1, max_size=4)),
        "open": draw(st.lists(WORDS, max_size=3)),
        "split": draw(st.sampled_from(["never", "always", "later"])),
        "agent": draw(st.sampled_from(AGENTS)),
        "query": draw(WORDS),
        "built": draw(st.booleans()),
    }


def fill(engine: MemoryEngine, world: dict[str, Any]) -> None:
    """Sync one source to each root; the secret stands in each hidden document's title, text, tags and path."""
    secrets = {
        f"{SECRET}/{number}.md": f"---\ntags: [{SECRET}]\n---\n\n# {SECRET} {text}\n\nThe {SECRET} {text} is here."
        for number, text in enumerate(world["secrets"])
    }
    public = {f"x/{number}.md": f"# Open {text}\n\nEverybody's {text}." for number, text in enumerate(world["open"])}
    options = SyncOptions(split="always" if world["split"] == "always" else "never", threads=1)
    sources = [
        Source(name, ScriptedConnector(held, name=name), Brain(engine, layout), options)
        for name, held, layout in (("hr", secrets, world["hidden"]), ("sales", public, world["asking"]))
    ]
    state = SqliteState(None)
    report = sync_all(sources, state, at_once=1)
    assert report.ok, report
    if world["split"] == "later":
        assert all(split(source, state).ok for source in sources)
    state.close()
    if world["built"]:
        for job in report.jobs:
            BackgroundRunner(engine, world["hidden"]).run(job)


def everything_asked(engine: MemoryEngine, world: dict[str, Any], layout: MemoryLayout) -> str:
    """All that an agent of *layout*, and its host, come to read; the secret is asked for by name."""
    query = f"{world['query']} {SECRET}"
    memory = AgentMemory(engine, layout, world["agent"])
    memory = memory.with_core(CoreScope(node, f"Core {node}") for node in layout.ancestors())
    said: list[Any] = [memory.start_session(focus=query), memory.recall(query), memory.recall()]
    said += [memory.pre_turn("t", 1, "and now?"), memory.post_turn("t", 0, "tell me").to_json()]
    dropped = [Turn(role=Role.USER, text=world["query"])]
    said += [memory.recall_for_compaction("t", dropped, focus=query), memory.start_session("t")]
    said += Brain(engine, layout).search(query, limit=50)
    said += Brain(engine, layout).search(world["query"], limit=50)
    for reach in (layout.holistic_filter().reach, Reach.of(memory.namespace), Reach.subtree(memory.namespace)):
        said.append(context.compile(engine, context.ContextSpec(reach=reach)).markdown)
        said += _tools(memory.tools().reach(reach) if reach is not None else memory.tools(), query)
    said += [*engine.list(ListRequest(filter=layout.brain_filter(), limit=200)).items]
    return "\n".join(map(_printed, said)).replace(query, "")


def _tools(tools: Any, query: str) -> list[Any]:
    answers = [
        tools.call("memory_recall", {"question": query}),
        tools.call("memory_list", {"limit": 50}),
        *(tools.call("memory_explore", {"facet": facet}) for facet in ("source_id", "folder", "file_path", "tag")),
    ]
    return [*answers, tools.call("memory_fetch", {"query": query, "limit": 20})]


def _printed(said: Any) -> str:
    if isinstance(said, str):
        return said
    if hasattr(said, "to_json"):
        return str(said.to_json())
    return json.dumps(said, default=repr)


@pytest.mark.parametrize("kind", ["reference", "local"])
@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
def test_a_source_below_another_root_is_never_recalled(kind: str, world: dict[str, Any]) -> None:
    with engine_of(kind) as engine:
        fill(engine, world)
        assert SECRET in everything_asked(engine, world, world["hidden"]), "its own agents recall it"
        assert SECRET not in everything_asked(engine, world, world["asking"])


@pytest.mark.parametrize("kind", ["reference", "local"])
@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(worlds())
def test_an_agent_cannot_get_or_forget_it_by_its_id(kind: str, world: dict[str, Any]) -> None:
    with engine_of(kind) as engine:
        fill(engine, world)
        wanted = MetaFilter(reach=Reach.subtree(world["hidden"].root))
        ids = [hit.id for hit in engine.list(ListRequest(filter=wanted, limit=200)).items]
        tools = AgentMemory(engine, world["asking"], world["agent"]).tools()
        assert SECRET not in json.dumps(tools.call("memory_get", {"ids": ids}))
        assert tools.call("memory_forget", {"ids": ids})["forgotten"] == 0
        tools.call("memory_forget", {"filter": {"tags_any": [SECRET]}})
        assert len(engine.list(ListRequest(filter=wanted, limit=200)).items) == len(ids) > 0
        with pytest.raises(InvalidRequest):
            tools.call("memory_list", {"filter": {"reach": {"at": str(world["hidden"].root)}}})
