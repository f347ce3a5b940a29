"""A host in another language on the same CortexDB: what it wrote is read, known as there, and forgotten."""

import copy
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.served import ServedDouble
from corebrain.engines.cortexdb.digests import label_digest
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Learning, LearningKind, StoreItem, read_item
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
    WriteOptions,
)

Wire = tuple[CortexWriter, ServedDouble]
VECTORS: list[dict[str, Any]] = json.loads((Path(__file__).parent / "bodies.json").read_text())["vectors"]
WHOLE = MetaFilter(reach=Reach.subtree(Namespace.ROOT))


def writes(double: ServedDouble) -> list[str]:
    return [line for line in double.seen.lines if line.startswith("POST") and "experience" in line]


@pytest.fixture
def shared(wire: Wire) -> Wire:
    """A memory that holds the vectors of the reference as another host appended them."""
    _, double = wire
    for vector in VECTORS:
        double.log.append(copy.deepcopy(vector["body"]))
    return wire


def test_what_another_host_wrote_is_listed_under_its_id(shared: Wire) -> None:
    engine, _ = shared
    listed = {hit.id: hit.text for hit in engine.list(ListRequest(filter=WHOLE)).items}
    assert set(listed) == {vector["id"] for vector in VECTORS}
    for vector in VECTORS:
        assert vector["body"]["content"]["text"] in listed[vector["id"]]
    ids = tuple(vector["id"] for vector in VECTORS)
    reach = Reach.subtree(Namespace.ROOT)
    assert [hit.id for hit in engine.get(GetRequest(ids=ids, reach=reach))] == list(ids)


def test_an_item_another_host_wrote_is_a_replay(shared: Wire) -> None:
    engine, double = shared
    for vector in VECTORS:
        assert engine.store(read_item(vector["item"])).replayed
    assert writes(double) == []


def test_a_live_turn_another_host_wrote_is_a_replay_by_its_key_alone(
    engine: CortexEngine, double: DirectDouble
) -> None:
    vector = VECTORS[0]
    double.log.append(copy.deepcopy(vector["body"]))
    engine.health()
    double.seen.clear()
    assert engine.store_with(read_item(vector["item"]), WriteOptions.accepted()).replayed
    assert double.seen.lines == ["POST /v1/experience"]
    assert len(double.log.events) == 1


def test_what_another_host_wrote_is_forgotten_by_id_and_by_filter(shared: Wire) -> None:
    engine, double = shared
    assert engine.forget(ForgetTarget.of_ids(VECTORS[0]["id"])).forgotten == 1
    assert engine.forget(ForgetTarget.of_filter(MetaFilter(file_path="/Users/priya/Documents"))).forgotten == 1
    assert engine.forget(
        ForgetTarget.of_filter(MetaFilter(thread_id=VECTORS[5]["item"]["meta"]["thread_id"]))
    ).forgotten
    assert len(double.log.events) == len(VECTORS) - 3


def v2(item_id: str, kind: str, text: str, **more: Any) -> str:
    return json.dumps(
        {"v": 2, "id": item_id, "kind": kind, "text": text, "meta": {"source": {"kind": "agent"}}, **more}
    )


@pytest.mark.parametrize("prefix", ["", "[user] "])
def test_older_events_whose_text_is_the_envelope_are_read(wire: Wire, prefix: str) -> None:
    engine, double = wire
    olds = {
        "documents": v2("a" * 40, "document", "an old note", title="Old"),
        "learnings": v2("b" * 40, "learning", "an old fact", learning_kind="fact", confidence=0.5),
        "conversations": v2("c" * 40, "conversation", "an old turn", turn={"index": 0, "count": 1, "role": "user"}),
    }
    for leaf, text in olds.items():
        labels = [f"tm:i:{label_digest(json.loads(text)['id'])}"]
        scope = f"app:tinymemory/app:{leaf}"
        double.log.append({"scope": scope, "content": {"text": prefix + text}, "context": {"labels": labels}})
    expected = {"# Old\n\nan old note", "an old fact", "user: an old turn"}
    assert {hit.text for hit in engine.list(ListRequest()).items} == expected
    assert {hit.text for hit in engine.fetch(FetchRequest(query="old")).hits} == expected
    assert engine.forget(ForgetTarget.of_ids("a" * 40, "b" * 40, "c" * 40)).forgotten == 3
    assert double.log.events == []


def test_a_learning_without_a_kind_is_another_and_one_without_confidence_is_none(
    engine: CortexEngine, double: DirectDouble
) -> None:
    for item_id, more in (("a" * 40, {"confidence": 0.5}), ("b" * 40, {"learning_kind": "fact"})):
        labels = [f"tm:i:{label_digest(item_id)}"]
        text = v2(item_id, "learning", "an old fact", **more)
        double.log.append(
            {"scope": "app:tinymemory/app:learnings", "content": {"text": text}, "context": {"labels": labels}}
        )
    page = engine.export(ListRequest())
    (exported,) = page.items
    assert isinstance(exported.item, Learning)
    assert exported.item.learning_kind is LearningKind.OTHER
    assert page.incomplete == ("b" * 40,)


def test_no_call_leaves_a_thread_behind(shared: Wire) -> None:
    engine, _ = shared
    calls: list[Callable[[], object]] = [
        lambda: engine.fetch(FetchRequest(query="refunds settle", filter=WHOLE, beliefs=2, max_scopes=3)),
        lambda: engine.recall(RecallRequest(question="refunds", filter=WHOLE)),
        lambda: engine.beliefs(BeliefsRequest(reach=Reach.subtree(Namespace.ROOT), query="refunds")),
        lambda: engine.store_many([StoreItem.document("a"), StoreItem.document("b")]),
        lambda: engine.forget(ForgetTarget.of_ids("0" * 40)),
    ]
    for call in calls * 2:
        call()
        assert not [thread.name for thread in threading.enumerate() if thread.name.startswith("cortexdb")]
