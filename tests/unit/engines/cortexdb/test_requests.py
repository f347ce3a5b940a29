"""What each operation puts on the wire, line by line and body by body (spec 04 sections 1 and 7)."""

from typing import Any

import pytest

from corebrain.conformance.doubles.served import ServedDouble
from corebrain.engines.cortexdb.digests import label_digest
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Conversation, Document, LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta
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

Wire = tuple[CortexWriter, ServedDouble]
DOCUMENTS = "app:tinymemory/app:documents"
ENCODED = "app%3Atinymemory%2Fapp%3Adocuments"
ROOT = MetaFilter(reach=Reach.exact(Namespace.ROOT), kinds=(ItemKind.DOCUMENT,))


def route(wire: Wire, direct: str, hosted: str) -> str:
    return hosted if wire[0].descriptor.hosted else direct


@pytest.fixture
def quiet(wire: Wire) -> Wire:
    """An engine that knows its actor and a double that has seen nothing yet."""
    wire[0].health()
    wire[1].seen.clear()
    return wire


def test_a_listing_names_scope_limit_labels_and_cursor_in_one_parameter_each(quiet: Wire) -> None:
    engine, double = quiet
    for number in range(101):  # 202 copies: two pages
        double.log.append({"scope": DOCUMENTS, "content": {"text": f"{number}"}, "context": {"labels": []}})
    engine.list(ListRequest(filter=ROOT))
    base = f"GET /{route(quiet, 'v1/events', 'memory/events')}?scope={ENCODED}&limit=200"
    assert double.seen.lines == [base, f"{base}&cursor=200"]
    double.seen.clear()
    engine.get(GetRequest(ids=("a" * 40, "b" * 40), reach=Reach.exact(Namespace.ROOT)))
    labels = "%2C".join(f"tm%3Ai%3A{label_digest(each * 40)}" for each in "ab")
    assert double.seen.lines[0] == f"{base}&labels={labels}"


def test_a_subtree_lists_scopes_below_its_node(quiet: Wire) -> None:
    engine, double = quiet
    engine.list(ListRequest(filter=MetaFilter(reach=Reach.subtree(Namespace.agent("a")))))
    listed = route(quiet, "v1/scopes/list", "memory/scopes")
    assert double.seen.lines[0] == f"GET /{listed}?prefix=app%3Atinymemory%2Fagent%3Aa&limit=1000"


def test_the_body_of_a_fetch(quiet: Wire) -> None:
    engine, double = quiet
    narrowed = ROOT.model_copy(update={"thread_id": "t1"})
    engine.fetch(FetchRequest(query="refunds", filter=narrowed, limit=9))
    engine.fetch(FetchRequest(query="refunds", filter=ROOT, limit=2, beliefs=4))
    engine.fetch(FetchRequest(query="refunds", filter=ROOT, limit=400))
    bodies = double.seen.of(route(quiet, "v1/recall", "memory/recall"))
    assert bodies[0] == {
        "scope": DOCUMENTS,
        "query": "refunds",
        "view": "granular",
        "include": ["events"],
        "budgets": {"max_tokens": 8_388_608, "per_layer_limits": {"events": 30}},
        "filters": {"metadata": {"labels": ["tm:t:628b49d96dcde97a"]}},
    }
    assert bodies[1]["include"] == ["events", "beliefs"]
    assert bodies[1]["budgets"] == {"max_tokens": 8_388_608, "per_layer_limits": {"events": 9, "beliefs": 4}}
    assert bodies[2]["budgets"]["per_layer_limits"] == {"events": 1_000}


def test_a_small_fetch_asks_for_no_more_tokens_than_its_events_may_hold(quiet: Wire) -> None:
    engine, double = quiet
    engine.fetch(FetchRequest(query="refunds", filter=ROOT, limit=1))
    (body,) = double.seen.of(route(quiet, "v1/recall", "memory/recall"))
    assert body["budgets"] == {"max_tokens": 786_432 * 6, "per_layer_limits": {"events": 6}}


def test_the_bodies_of_a_recall(quiet: Wire) -> None:
    engine, double = quiet
    engine.store(StoreItem.document("refunds take five days"))
    double.seen.clear()
    for instructions in (None, "be brief"):
        engine.recall(RecallRequest(question="refunds?", filter=ROOT, limit=6, instructions=instructions))
    packs = double.seen.of(route(quiet, "v1/recall", "memory/recall"))
    limits = {"events": 12, "facts": 2, "beliefs": 2, "episodes": 1, "understanding": 1}
    assert packs[0] == {
        "scope": DOCUMENTS,
        "query": "refunds?",
        "view": "granular",
        "include": ["events", "facts", "beliefs", "episodes", "understanding"],
        "budgets": {"max_tokens": 8_388_608, "per_layer_limits": limits},
    }
    asked: dict[str, Any] = {
        "scope": DOCUMENTS,
        "question": "refunds?",
        "use_pack_id": "pack_test",
        "cite_sources": True,
        "include_context": True,
    }
    silent = asked if engine.descriptor.hosted else {**asked, "answer_instructions": None}
    answers = double.seen.of(route(quiet, "v1/answer", "memory/answer"))
    assert answers == [silent, {**asked, "answer_instructions": "be brief"}]


def test_an_answer_is_asked_over_the_pack_with_most_of_what_the_filter_admits(quiet: Wire) -> None:
    engine, double = quiet
    node = Namespace.parse("team:acme")
    engine.store_many([StoreItem.document(f"refunds {number}") for number in range(3)])
    engine.store(StoreItem.document("refunds", MemoryMeta(namespace=node)))
    double.seen.clear()
    wanted = MetaFilter(reach=Reach.of(node), kinds=(ItemKind.DOCUMENT,))
    answer = engine.recall(RecallRequest(question="refunds", filter=wanted, limit=2))
    (asked,) = double.seen.of(route(quiet, "v1/answer", "memory/answer"))
    assert asked["scope"] == DOCUMENTS
    assert [citation.snippet for citation in answer.citations] == ["refunds", "refunds 2"]  # the nearest node's first
    equal = wanted.model_copy(update={"reach": Reach.exact(node)})
    engine.recall(RecallRequest(question="refunds", filter=equal))
    assert double.seen.of(route(quiet, "v1/answer", "memory/answer"))[1]["scope"].startswith("app:tinymemory/team:acme")


def test_the_body_of_a_belief_read(quiet: Wire) -> None:
    engine, double = quiet
    engine.store(StoreItem.document("tea is hot"))
    double.seen.clear()
    engine.beliefs(BeliefsRequest(reach=Reach.exact(Namespace.ROOT), query="tea", limit=2))
    (body,) = double.seen.of(route(quiet, "v1/recall", "memory/recall"))
    limits = {"events": 0, "facts": 0, "episodes": 0, "understanding": 0, "beliefs": 2}
    assert body["include"] == ["beliefs"]
    assert body["budgets"] == {"max_tokens": 786_432 * 2, "per_layer_limits": limits}
    double.seen.clear()
    engine.beliefs(BeliefsRequest(reach=Reach.exact(Namespace.ROOT), limit=2))
    direct = ["GET /v1/scopes/list?prefix=app%3Atinymemory&limit=1000", f"GET /v1/beliefs?scope={ENCODED}&limit=2"]
    assert double.seen.lines == ([] if engine.descriptor.hosted else direct)


def test_the_bodies_of_builds_removals_and_erasures(quiet: Wire) -> None:
    engine, double = quiet
    engine.store_many([StoreItem.document("a"), StoreItem.learning("b", LearningKind.FACT, 0.5)])
    engine.consolidate(ConsolidateRequest(reach=Reach.exact(Namespace.ROOT), kinds=(ItemKind.DOCUMENT,)))
    assert double.seen.of("v1/beliefs/build") == ([] if engine.descriptor.hosted else [{"scope": DOCUMENTS}])
    engine.forget(ForgetTarget.of_ids(StoreItem.document("a").fingerprint()))
    (removal,) = double.seen.of(route(quiet, "v1/forget", "memory/forget"))
    assert removal == {
        "scope": DOCUMENTS,
        "layers": ["events"],
        "selector": {"memory_ids": ["evt_1"]},
        "audit_note": "tinymemory: forget",
    }
    engine.erase(EraseRequest(reach=Reach.exact(Namespace.ROOT)))
    (erasure,) = double.seen.of(route(quiet, "v1/erasures", "memory/v1/erasures"))
    body = {"scope": "app:tinymemory/app:learnings", "audit_note": "tinymemory: erase"}
    assert erasure == (body if engine.descriptor.hosted else {**body, "confirm_all": True})


def test_a_removal_names_a_hundred_events_at_most(quiet: Wire) -> None:
    engine, double = quiet
    engine.store_many([StoreItem.document(f"note {number}") for number in range(100)])
    engine.store(StoreItem.document("one more"))
    assert engine.forget(ForgetTarget.of_filter(MetaFilter(kinds=(ItemKind.DOCUMENT,)))).forgotten == 101
    removals = double.seen.of(route(quiet, "v1/forget", "memory/forget"))
    assert [len(body["selector"]["memory_ids"]) for body in removals] == [100, 1]


def test_health_is_one_request(quiet: Wire) -> None:
    engine, double = quiet
    assert engine.health().is_serving
    hosted = "GET /memory/scopes?prefix=tmh%3Aprobe&limit=1"
    assert double.seen.lines == [hosted if engine.descriptor.hosted else "GET /v1/admin/health"]


def test_an_event_that_derives_nothing_says_so(quiet: Wire) -> None:
    engine, double = quiet
    engine.store(Document(body=Body(text="raw"), meta=MemoryMeta(derive=False)))
    engine.store(Document(body=Body(text="plain")))
    for role in (Role.TOOL, Role.ASSISTANT):
        engine.store(Conversation(turns=(Turn(role=role, text="42 rows"),)))
    written = double.seen.of(route(quiet, "v1/experience", "memory/experience"))
    assert [body.get("directives") for body in written] == [{"extract": []}, None, {"extract": []}, None]
    assert [body["modality"] for body in written] == ["document", "document", "conversation", "conversation"]
    assert [body["content"]["role"] for body in written] == ["user", "user", "tool", "assistant"]
