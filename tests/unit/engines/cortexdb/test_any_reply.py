"""Whatever JSON a server answers, a call ends with an answer or with a typed error."""

import contextlib
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from corebrain.engines.cortexdb.direct_wire import DirectWire
from corebrain.engines.cortexdb.engine import DIRECT
from corebrain.engines.cortexdb.hosted import HOSTED
from corebrain.engines.cortexdb.hosted_wire import HostedWire
from corebrain.engines.cortexdb.scopes import LegacyLayout
from corebrain.engines.cortexdb.timing import Timing
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.errors import CorebrainError
from corebrain.model.item import StoreItem
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateRequest,
    EraseRequest,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
)

ROOT = Reach.subtree(Namespace.ROOT)
CALLS: dict[str, Callable[[CortexWriter], object]] = {
    "store": lambda engine: engine.store(StoreItem.document("x")),
    "list": lambda engine: engine.list(ListRequest()),
    "export": lambda engine: engine.export(ListRequest()),
    "get": lambda engine: engine.get(GetRequest(ids=("0" * 40,))),
    "fetch": lambda engine: engine.fetch(FetchRequest(query="x", beliefs=2, max_scopes=1)),
    "recall": lambda engine: engine.recall(RecallRequest(question="x")),
    "forget": lambda engine: engine.forget(ForgetTarget.of_ids("0" * 40)),
    "erase": lambda engine: engine.erase(EraseRequest(reach=ROOT, whole_tree=True)),
    "consolidate": lambda engine: engine.consolidate(ConsolidateRequest(reach=ROOT)),
    "beliefs": lambda engine: engine.beliefs(BeliefsRequest(reach=ROOT, query="x")),
    "beliefs listed": lambda engine: engine.beliefs(BeliefsRequest(reach=ROOT)),
}
keys = st.sampled_from(
    (
        *("items", "scopes", "path", "results", "event_id", "id", "has_more", "next_cursor", "layers", "events"),
        *("pack_id", "answer", "diagnostics", "answer_model", "beliefs", "claim", "predicate", "object", "scope"),
        *("built", "job_id", "erasure_id", "status", "erased", "erasure_ids", "content", "text", "context", "labels"),
    )
)
leaves = st.sampled_from(
    [None, True, False, 0, 7, -1.5, float("nan"), "", "x", "completed", "running", "app:tinymemory/app:documents"]
)
replies = st.recursive(
    leaves, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(keys, inner, max_size=5), max_leaves=14
)


class Odd:
    """Answers everything with the same."""

    def __init__(self, reply: Any) -> None:
        self.reply = reply

    def read(self, *_: Any, **__: Any) -> Any:
        return self.reply

    once = read


@pytest.mark.parametrize("hosted", [False, True], ids=["direct", "hosted"])
@settings(max_examples=100, deadline=None)
@given(call=st.sampled_from(sorted(CALLS)), reply=replies)
def test_a_call_ends_well_or_with_a_typed_error(call: str, reply: Any, *, hosted: bool) -> None:
    passed = iter(range(10**9))
    timing = Timing(sleep=lambda _: None, now=lambda: float(next(passed)))  # every look at the clock is a second later
    wire = (HostedWire if hosted else DirectWire)(Odd(reply), timing)  # type: ignore[arg-type]  # all a wire asks of it
    engine = CortexWriter(HOSTED if hosted else DIRECT, wire, LegacyLayout(), timing)
    with contextlib.suppress(CorebrainError):
        CALLS[call](engine)
