"""The engine over the Direct surface: which requests it makes, and what it makes of replies."""

import logging
import traceback
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.contract import HealthState, MemoryEngine
from corebrain.engines.cortexdb.credentials import Credential
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.failures import message_head
from corebrain.engines.cortexdb.timing import Timing
from corebrain.errors import (
    ConfigError,
    CorebrainError,
    EngineError,
    InvalidRequest,
    Unauthorized,
    Unavailable,
    Unsupported,
)
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Conversation, Document, LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    BeliefsRequest,
    ConsolidateRequest,
    EraseRequest,
    FetchMode,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
    WriteOptions,
)

Make = Callable[..., CortexEngine]
DOCUMENTS = "app:tinymemory/app:documents"
ALICE = Namespace.agent("alice")


def posted(double: DirectDouble) -> list[str]:
    return [line for line in double.seen.lines if line.startswith("POST")]


def turn(text: str, **fields: Any) -> Conversation:
    return Conversation(turns=(Turn(role=Role.USER, text=text),), meta=MemoryMeta(**fields))


def long_document() -> Document:
    text = "".join(f"# Part {number}\n{'word ' * 10_000}needle{number}\n\f" for number in range(8))
    return Document(title="Long", body=Body(text=text))


def texts(engine: MemoryEngine, **wanted: Any) -> set[str]:
    return {hit.text for hit in engine.list(ListRequest(filter=MetaFilter(**wanted), limit=500)).items}


def test_a_live_turn_is_one_request(engine: CortexEngine, double: DirectDouble) -> None:
    engine.health()
    double.seen.lines.clear()
    receipt = engine.store_with(turn("hello"), WriteOptions.accepted())
    assert double.seen.lines == ["POST /v1/experience"]
    assert not receipt.replayed
    assert engine.store_with(turn("hello"), WriteOptions.accepted()).replayed
    assert len(double.log.events) == 1


def test_a_live_turn_waits_for_no_listing(engine: CortexEngine, double: DirectDouble) -> None:
    double.knobs.hide_listing_for = 100
    engine.store_with(turn("hello"), WriteOptions.accepted())
    assert double.knobs.hide_listing_for == 100


def test_a_visible_store_waits_until_it_is_listed(engine: CortexEngine, double: DirectDouble) -> None:
    double.knobs.hide_listing_for = 4
    engine.store(StoreItem.document("hello"))
    assert double.knobs.hide_listing_for == 0
    assert "POST /v1/experience?wait=indexed" in double.seen.lines


def test_a_store_that_is_never_listed_is_unavailable_and_a_replay_later(
    make: Make, double: DirectDouble, timing: Timing
) -> None:
    engine = make(timing=replace(timing, listed_s=0.05))
    double.knobs.hide_listing_for = 100_000
    with pytest.raises(Unavailable, match="not listed yet"):
        engine.store(StoreItem.document("hello"))
    double.knobs.hide_listing_for = 0
    assert engine.store(StoreItem.document("hello")).replayed


def test_a_failing_ranking_does_not_fail_a_store(engine: CortexEngine, double: DirectDouble) -> None:
    double.knobs.recall_down = True
    assert not engine.store(StoreItem.document("hello")).replayed


def test_a_write_that_was_applied_and_failed_is_a_replay_when_stored_again(
    engine: CortexEngine, double: DirectDouble
) -> None:
    double.knobs.apply_then_fail = 1
    with pytest.raises(Unavailable):
        engine.store(StoreItem.document("hello"))
    assert len(posted(double)) == 1
    assert engine.store(StoreItem.document("hello")).replayed
    assert len(double.log.events) == 1


def test_a_batch_is_looked_up_once_a_scope_and_waited_for_once(engine: CortexEngine, double: DirectDouble) -> None:
    engine.health()
    double.seen.lines.clear()
    receipts = engine.store_many([StoreItem.document(f"note {number}") for number in range(50)])
    assert [receipt.replayed for receipt in receipts] == [False] * 50
    listings = [line for line in double.seen.lines if line.startswith("GET /v1/events")]
    assert len(listings) == 2
    assert len(posted(double)) == 51  # fifty writes and one look at the ranking


def test_a_long_document_is_one_bulk_and_reads_back_whole(engine: CortexEngine, double: DirectDouble) -> None:
    item = long_document()
    engine.store(item)
    (bulk,) = double.seen.of("v1/experience/bulk")
    assert bulk["ordering"] == "strict_temporal"
    assert "".join(body["content"]["text"] for body in bulk["items"]) == item.text
    assert len(bulk["items"]) == len(double.log.events) > 1
    (exported,) = engine.export(ListRequest()).items
    assert exported.item == item
    assert engine.get(GetRequest(ids=(item.fingerprint(),)))[0].text == item.render_text()


def test_a_long_document_is_found_by_its_best_piece(engine: CortexEngine) -> None:
    item = long_document()
    engine.store(item)
    (hit,) = engine.fetch(FetchRequest(query="needle7")).hits
    assert hit.id == item.fingerprint()
    assert hit.text.startswith("# Long\n\n")
    assert "needle7" in hit.text
    assert {tag.partition(":")[0] for tag in hit.meta.tags} == {"page", "section"}


def test_a_document_that_lost_a_piece_is_named_and_mended(engine: CortexEngine, double: DirectDouble) -> None:
    item = long_document()
    engine.store(item)
    double.log.lose_last(DOCUMENTS)
    pieces = len(double.log.events)
    page = engine.export(ListRequest())
    assert (page.items, page.incomplete) == ((), (item.fingerprint(),))
    assert engine.list(ListRequest()).items == ()
    assert not engine.store(item).replayed
    assert len(double.log.events) == pieces + 1
    assert len(double.seen.of("v1/experience/bulk")) == len(double.seen.of("v1/experience")) == 1
    assert engine.export(ListRequest()).items[0].item == item


def test_a_long_conversation_is_found_whole(engine: CortexEngine) -> None:
    turns = (Turn(role=Role.USER, text="about refunds"), Turn(role=Role.ASSISTANT, text="five days"))
    item = Conversation(turns=turns)
    engine.store(item)
    (hit,) = engine.fetch(FetchRequest(query="refunds")).hits
    assert hit.text == item.render_text()
    assert texts(engine) == {item.render_text()}


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_pages_visit_every_item_once(engine: CortexEngine, limit: int) -> None:
    items = [StoreItem.document(f"note {number}") for number in range(7)]
    items += [StoreItem.document("elsewhere", MemoryMeta(namespace=ALICE))]
    learning = StoreItem.learning("a fact", LearningKind.FACT, 0.5)
    engine.store_many([*items, learning, turn("said")])
    seen: list[str] = []
    cursor = None
    while True:
        page = engine.list(ListRequest(limit=limit, cursor=cursor))
        seen += [hit.id for hit in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert len(seen) == len(set(seen)) == 10


@pytest.mark.parametrize("cursor", ["x", "l00", "f7b226f6666736574223a31307d"])
def test_a_foreign_cursor_is_refused_before_a_request(engine: CortexEngine, double: DirectDouble, cursor: str) -> None:
    for call in (engine.list, engine.export):
        with pytest.raises(InvalidRequest):
            call(ListRequest(cursor=cursor))
    assert double.seen.lines == []


def test_fetch_pages_go_on_where_they_ended(engine: CortexEngine) -> None:
    engine.store_many([StoreItem.document(f"refund {number}") for number in range(5)])
    first = engine.fetch(FetchRequest(query="refund", limit=3))
    second = engine.fetch(FetchRequest(query="refund", limit=3, cursor=first.next_cursor))
    assert len({hit.id for hit in (*first.hits, *second.hits)}) == 5
    assert [hit.score for hit in (*first.hits, *second.hits)] == [1 / (1 + rank) for rank in range(5)]
    assert second.next_cursor is None


def test_max_scopes_prefers_what_the_query_names_then_what_was_written_last(
    engine: CortexEngine, double: DirectDouble
) -> None:
    for name in ("alice", "bob", "carol-smith"):
        engine.store(StoreItem.document(f"plan of {name}", MemoryMeta(namespace=Namespace.agent(name))))

    def read(query: str) -> set[str]:
        double.seen.bodies.clear()
        wanted = MetaFilter.of_kinds(ItemKind.DOCUMENT)
        engine.fetch(FetchRequest(query=query, filter=wanted, max_scopes=1))
        return {body["scope"].split("/")[1] for body in double.seen.of("v1/recall")}

    assert read("the plan") == {"agent:carol-smith"}
    assert read("the plan of alice") == {"agent:alice"}


@pytest.mark.parametrize("mode", [FetchMode.KEYWORD, FetchMode.VECTOR])
def test_other_modes_are_unsupported_before_a_request(
    engine: CortexEngine, double: DirectDouble, mode: FetchMode
) -> None:
    with pytest.raises(Unsupported):
        engine.fetch(FetchRequest(query=" ", mode=mode))
    assert double.seen.lines == []


def test_recall_asks_over_the_fullest_pack_and_again_when_it_is_gone(
    engine: CortexEngine, double: DirectDouble
) -> None:
    engine.store(StoreItem.document("refunds take five days", MemoryMeta(namespace=ALICE)))
    double.seen.bodies.clear()
    double.knobs.expire_packs = 2
    answer = engine.recall(RecallRequest(question="refunds"))
    assert answer.model == "reasoning"
    assert [citation.snippet for citation in answer.citations] == ["refunds take five days"]
    asked = double.seen.of("v1/answer")
    assert len(asked) == 3
    assert asked[0]["answer_instructions"] is None
    assert asked[0]["scope"] == "app:tinymemory/agent:alice/app:documents"
    double.knobs.expire_packs = 3
    with pytest.raises(CorebrainError, match="not found"):
        engine.recall(RecallRequest(question="refunds"))


def test_recall_of_an_empty_memory_asks_nothing(engine: CortexEngine, double: DirectDouble) -> None:
    assert engine.recall(RecallRequest(question="anything")).answer == ""
    assert posted(double) == []


def test_forget_names_ids_and_never_confirms_all(engine: CortexEngine, double: DirectDouble) -> None:
    items = [StoreItem.document(f"note {number}", MemoryMeta(thread_id="t")) for number in range(3)]
    engine.store_many(items)
    assert engine.forget(ForgetTarget.of_ids(items[0].fingerprint(), "f" * 40)).forgotten == 1
    assert engine.forget(ForgetTarget.of_filter(MetaFilter(thread_id="t"))).forgotten == 2
    assert engine.forget(ForgetTarget.of_filter(MetaFilter(thread_id="t"))).forgotten == 0
    bodies = double.seen.of("v1/forget")
    assert [len(body["selector"]["memory_ids"]) for body in bodies] == [1, 2]
    assert all(set(body) == {"scope", "layers", "selector", "audit_note"} for body in bodies)
    assert double.log.events == []


def test_erase_deletes_the_deepest_first_and_gives_receipts(engine: CortexEngine, double: DirectDouble) -> None:
    engine.store_many([StoreItem.document("a", MemoryMeta(namespace=ALICE)), StoreItem.document("b")])
    double.knobs.erasure_status = "running"
    report = engine.erase(EraseRequest(reach=Reach.subtree(Namespace.ROOT), whole_tree=True))
    assert report.erased_scopes == len(report.receipts) == 2
    erased = [body["scope"] for body in double.seen.of("v1/erasures")]
    assert erased == ["app:tinymemory/agent:alice/app:documents", DOCUMENTS]


def test_an_erasure_that_fails_is_an_engine_error(engine: CortexEngine, double: DirectDouble) -> None:
    engine.store(StoreItem.document("a"))
    double.knobs.erasure_status = "failed"
    with pytest.raises(EngineError, match="did not complete"):
        engine.erase(EraseRequest(reach=Reach.exact(Namespace.ROOT)))


def test_beliefs_are_built_once_a_scope_and_read_both_ways(engine: CortexEngine, double: DirectDouble) -> None:
    engine.store_many([StoreItem.document("tea is hot", MemoryMeta(namespace=ALICE)), turn("hello there")])
    receipt = engine.consolidate(ConsolidateRequest(reach=Reach.subtree(Namespace.ROOT)))
    assert (receipt.built, receipt.scopes) == (2, 2)
    assert len(double.seen.of("v1/beliefs/build")) == 2
    for query in (None, "tea"):
        found = engine.beliefs(BeliefsRequest(reach=Reach.exact(ALICE), query=query))
        assert [(hit.text, hit.meta.namespace, hit.meta.tags) for hit in found] == [
            ("user said tea is hot", ALICE, ("belief",))
        ]
    page = engine.fetch(FetchRequest(query="tea", beliefs=5))
    assert "user said tea is hot" in {hit.text for hit in page.beliefs}


def test_a_read_is_tried_three_times_and_a_write_once(engine: CortexEngine, double: DirectDouble) -> None:
    double.knobs.rate_limit_events = 2
    assert engine.list(ListRequest()).items == ()
    double.knobs.rate_limit_events = 3
    with pytest.raises(Unavailable):
        engine.list(ListRequest())
    double.knobs.rate_limit_experience = 1
    with pytest.raises(Unavailable):
        engine.store_with(turn("hello"), WriteOptions.accepted())
    assert len(posted(double)) == 1


def test_a_changing_authorization_is_waited_for_longer(engine: CortexEngine, double: DirectDouble) -> None:
    double.knobs.state_change_events = 5
    assert engine.list(ListRequest()).items == ()
    double.knobs.state_change_events = 6
    with pytest.raises(Unavailable, match="AUTHORIZATION_STATE_CHANGED"):
        engine.list(ListRequest())


def test_the_actor_is_asked_once_sent_ever_after_and_forgotten_when_refused(
    engine: CortexEngine, double: DirectDouble
) -> None:
    double.knobs.whoami_caller = "user:7"
    engine.health()
    engine.health()
    assert double.seen.actors == [None, "user:7", "user:7"]
    double.knobs.accept_token = "another"
    assert engine.health().state is HealthState.DOWN
    double.knobs.accept_token = TOKEN
    double.knobs.whoami_caller = "user:8"
    engine.health()
    assert double.seen.actors[-1] == "user:8"


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_request_makes_the_actor_unknown_again(
    engine: CortexEngine, double: DirectDouble, status: int
) -> None:
    double.knobs.whoami_caller = "user:7"
    engine.health()
    double.knobs.raw["v1/admin/health"] = b"HTTP/1.1 %d No\r\nContent-Length: 0\r\nConnection: close\r\n\r\n" % status
    assert engine.health().state is HealthState.DOWN
    double.knobs.raw.clear()
    double.seen.clear()
    engine.health()
    assert double.seen.lines == ["GET /v1/auth/whoami", "GET /v1/admin/health"]


def test_a_server_without_actors_is_asked_for_one_once(engine: CortexEngine, double: DirectDouble) -> None:
    engine.health()
    engine.health()
    assert [line for line in double.seen.lines if "whoami" in line] == ["GET /v1/auth/whoami"]
    assert set(double.seen.actors) == {None}


def test_the_credential_is_asked_inside_every_attempt(make: Make, double: DirectDouble) -> None:
    tokens = iter(["old", "old", TOKEN, TOKEN, TOKEN])
    engine = make(Credential(lambda: next(tokens)))
    assert engine.health().state is HealthState.DOWN
    assert engine.health().is_serving
    assert double.seen.tokens[-1] == f"Bearer {TOKEN}"


@pytest.mark.parametrize("token", ["", "  ", "a\r\nb", "a\x00b", "clé"])
def test_a_token_no_header_can_carry_sends_nothing(make: Make, double: DirectDouble, token: str) -> None:
    with pytest.raises(Unauthorized):
        make(Credential(lambda: token)).list(ListRequest())
    assert double.seen.lines == []


@pytest.mark.parametrize(
    ("status", "state"), [(503, HealthState.DEGRADED), (429, HealthState.DEGRADED), (401, HealthState.DOWN)]
)
def test_health_keeps_the_servers_words_back(
    engine: CortexEngine, double: DirectDouble, status: int, state: HealthState
) -> None:
    double.knobs.fail_all = (status, "SECRET_WORDS")
    health = engine.health()
    assert health.state is state
    assert health.reason is not None
    assert "SECRET_WORDS" not in health.reason


@pytest.mark.parametrize(
    ("reply", "error"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{", Unavailable),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n<html>", EngineError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 67108865\r\n\r\n", EngineError),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", EngineError),
        (b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n", EngineError),
        (b"nonsense", Unavailable),
        (b"", Unavailable),
    ],
)
def test_a_server_that_lies_is_a_typed_error(
    engine: CortexEngine, double: DirectDouble, reply: bytes, error: type[CorebrainError]
) -> None:
    double.knobs.raw["v1/events"] = reply
    with pytest.raises(error) as raised:
        engine.list(ListRequest(filter=MetaFilter(reach=Reach.exact(Namespace.ROOT))))
    assert type(raised.value) is error


def test_a_cursor_that_repeats_is_an_engine_error(engine: CortexEngine, double: DirectDouble) -> None:
    body = b'{"items":[],"has_more":true,"next_cursor":"7"}'
    double.knobs.raw["v1/events"] = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with pytest.raises(EngineError, match="repeats"):
        engine.list(ListRequest(filter=MetaFilter(reach=Reach.exact(Namespace.ROOT))))


CANARY = "canary-7f3a9c-secret"


@pytest.mark.parametrize("status", [400, 401, 402, 404, 409, 429, 500, 503])
def test_no_error_and_no_log_holds_the_credential(
    make: Make, double: DirectDouble, caplog: pytest.LogCaptureFixture, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    double.knobs.fail_all = (status, "NO")
    double.knobs.accept_token = CANARY
    engine = make(CANARY)
    for call in (lambda: engine.store(StoreItem.document("x")), lambda: engine.fetch(FetchRequest(query="x"))):
        try:
            call()
        except CorebrainError as error:
            told = "".join(traceback.format_exception(error)) + repr(error) + message_head(error)
            assert CANARY not in told
    assert f"Bearer {CANARY}" in double.seen.tokens
    assert caplog.records
    assert CANARY not in caplog.text
    assert CANARY not in repr(engine) + repr(Credential.static(CANARY))


@pytest.mark.parametrize(
    "endpoint",
    ["ftp://example.com", "example.com", "http://example.com", "http://[::1", "https://u:p@example.com", "https://"],
)
def test_an_unsafe_endpoint_is_a_configuration_error(endpoint: str) -> None:
    with pytest.raises(ConfigError):
        CortexEngine(TOKEN, endpoint)


@pytest.mark.parametrize("endpoint", ["", "https://a.example/base", "http://localhost:1", "http://[::1]:9/x/"])
def test_a_safe_endpoint_is_taken(endpoint: str) -> None:
    with CortexEngine(TOKEN, endpoint) as engine:
        assert engine.descriptor.consolidation.value == ("on_demand" if endpoint else "automatic")


def test_a_blank_key_is_a_configuration_error() -> None:
    with pytest.raises(ConfigError):
        CortexEngine("  ")
