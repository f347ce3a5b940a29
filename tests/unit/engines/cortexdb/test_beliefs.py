"""Beliefs of the server as hits: what they say, how sure they are, which are left out, in which order."""

from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.errors import EngineError
from corebrain.model.item import StoreItem
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import BeliefsRequest, ConsolidateRequest, ConsolidateStatus, FetchRequest

SCOPE = "app:tinymemory/app:documents"
HERE = Reach.exact(Namespace.ROOT)


def belief(**fields: Any) -> dict[str, Any]:
    claim = {"subject": {"name": "Iris"}, "predicate": "works_at", "object": {"value": "Birch"}}
    return {"id": "b1", "scope": SCOPE, "claim": claim, "stance": "supported", "confidence": 0.9, **fields}


@pytest.fixture
def held(engine: CortexEngine) -> CortexEngine:
    """An engine whose documents scope exists."""
    engine.store(StoreItem.document("something"))
    return engine


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "Iris works at Birch"),
        ({"stance": "contested"}, "Iris works at Birch (contested)"),
        ({"claim": {"predicate": "likes", "object": "tea"}}, "likes tea"),
        ({"claim": {"subject": "Iris", "predicate": "is_aged", "object": 41}}, "Iris is aged 41"),
        ({"claim": {"subject": {"value": "I"}, "predicate": {"name": "has_x"}, "object": {"name": "y"}}}, "I has x y"),
    ],
)
def test_a_belief_is_a_sentence(held: CortexEngine, double: DirectDouble, fields: dict[str, Any], text: str) -> None:
    double.log.beliefs = [belief(**fields)]
    for query in (None, "anything"):
        (hit,) = held.beliefs(BeliefsRequest(reach=HERE, query=query))
        assert (hit.text, hit.id, hit.kind.value, hit.meta.tags, hit.score) == (
            text,
            "b1",
            "learning",
            ("belief",),
            1.0,
        )


def test_no_stance_is_a_supported_one(held: CortexEngine, double: DirectDouble) -> None:
    double.log.beliefs = [{key: value for key, value in belief().items() if key != "stance"}]
    assert len(held.beliefs(BeliefsRequest(reach=HERE))) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"stance": "retracted"},
        {"stance": None},
        {"id": None},
        {"id": ""},
        {"claim": None},
        {"claim": {"subject": "I", "object": "x"}},
        {"claim": {"subject": "I", "predicate": "is"}},
        {"claim": {"subject": "I", "predicate": "is", "object": True}},
    ],
)
def test_a_belief_that_says_nothing_is_left_out(
    held: CortexEngine, double: DirectDouble, fields: dict[str, Any]
) -> None:
    double.log.beliefs = [belief(**fields)]
    assert held.beliefs(BeliefsRequest(reach=HERE)) == []


def test_a_belief_of_a_scope_that_is_not_ours_is_left_out(held: CortexEngine, double: DirectDouble) -> None:
    body = b'{"items":[{"id":"b","scope":"org:9/x:y","claim":{"predicate":"is","object":"x"}}]}'
    double.knobs.raw["v1/beliefs"] = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    assert held.beliefs(BeliefsRequest(reach=HERE)) == []


@pytest.mark.parametrize(
    ("given", "read"),
    [(0.25, 0.25), (7, 1.0), (-1, 0.0), (None, 0.5), ("high", 0.5), (True, 0.5), (float("nan"), 0.5)],
)
def test_how_sure_a_belief_is(held: CortexEngine, double: DirectDouble, given: Any, read: float) -> None:
    double.log.beliefs = [belief(confidence=given)]
    (hit,) = held.beliefs(BeliefsRequest(reach=HERE))
    assert hit.confidence == read


def test_a_belief_was_seen_at_its_first_time_that_reads(held: CortexEngine, double: DirectDouble) -> None:
    times = {"valid_from": "long ago", "updated_at": "2026-09-01T09:00:00Z", "created_at": "2026-01-01T00:00:00Z"}
    double.log.beliefs = [belief(**times)]
    (hit,) = held.beliefs(BeliefsRequest(reach=HERE))
    assert str(hit.meta.observed_at) == "2026-09-01T09:00:00Z"


def test_without_a_query_the_surest_come_first_then_the_newest(held: CortexEngine, double: DirectDouble) -> None:
    for number, (sure, day) in enumerate([(0.5, 3), (0.9, 1), (0.9, 2), (0.5, 4)]):
        claim = {"predicate": "is", "object": f"n{number}"}
        double.log.beliefs.append(
            belief(id=f"b{number}", claim=claim, confidence=sure, valid_from=f"2026-09-0{day}T00:00:00Z")
        )
    found = held.beliefs(BeliefsRequest(reach=HERE, limit=3))
    assert [hit.text for hit in found] == ["is n2", "is n1", "is n3"]
    assert [hit.score for hit in found] == [1.0, 1 / 2, 1 / 3]


def test_beliefs_of_several_scopes_take_turns_and_say_nothing_twice(engine: CortexEngine, double: DirectDouble) -> None:
    node = Namespace.agent("a")
    engine.store_many([StoreItem.document("x"), StoreItem.document("y", MemoryMeta(namespace=node))])
    other = "app:tinymemory/agent:a/app:documents"
    said = [("a1", other, "one"), ("a2", other, "two"), ("r1", SCOPE, "ONE"), ("r2", SCOPE, "three")]
    for name, scope, what in reversed(said):
        double.log.beliefs.append(belief(id=name, scope=scope, claim={"predicate": "is", "object": what}))
    wanted = BeliefsRequest(reach=Reach.of(node), query="anything", limit=5)
    assert [hit.text for hit in engine.beliefs(wanted)] == ["is ONE", "is three", "is two"]
    assert len(engine.beliefs(wanted.model_copy(update={"limit": 2}))) == 2
    assert [hit.meta.namespace for hit in engine.beliefs(wanted)] == [Namespace.ROOT, Namespace.ROOT, node]


def test_a_fetch_brings_beliefs_on_its_first_page_only(held: CortexEngine, double: DirectDouble) -> None:
    held.store_many([StoreItem.document(f"tea {number}") for number in range(4)])
    double.log.beliefs = [belief()]
    first = held.fetch(FetchRequest(query="tea", limit=2, beliefs=3))
    assert [hit.text for hit in first.beliefs] == ["Iris works at Birch"]
    second = held.fetch(FetchRequest(query="tea", limit=2, beliefs=3, cursor=first.next_cursor))
    assert (len(second.hits), second.beliefs) == (2, ())


def answered(double: DirectDouble, body: bytes) -> None:
    double.knobs.raw["v1/beliefs/build"] = b"HTTP/1.1 202 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)


@pytest.mark.parametrize(("body", "job"), [(b'{"job_id":"j7"}', "j7"), (b'{"build_id":8}', "8"), (b'{"id":"x"}', "x")])
def test_a_build_that_was_queued_is_started(held: CortexEngine, double: DirectDouble, body: bytes, job: str) -> None:
    answered(double, body)
    receipt = held.consolidate(ConsolidateRequest(reach=HERE))
    assert (receipt.status, receipt.jobs, receipt.scopes) == (ConsolidateStatus.STARTED, (job,), 1)


@pytest.mark.parametrize("body", [b"{}", b"[]", b'{"built":true}', b'{"id":null}'])
def test_a_build_that_says_nothing_is_an_engine_error(held: CortexEngine, double: DirectDouble, body: bytes) -> None:
    answered(double, body)
    with pytest.raises(EngineError, match="belief build"):
        held.consolidate(ConsolidateRequest(reach=HERE))


def test_nothing_held_is_a_build_that_completed_with_nothing(engine: CortexEngine) -> None:
    receipt = engine.consolidate(ConsolidateRequest(reach=HERE))
    assert (receipt.status, receipt.scopes, receipt.built) == (ConsolidateStatus.COMPLETED, 0, 0)
