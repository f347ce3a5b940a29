"""What both engines do while something goes wrong for a while, knob by knob of the doubles."""

import logging
from collections.abc import Callable

import httpx
import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.conformance.doubles.served import ServedDouble
from corebrain.engines.cortexdb.digests import label_digest
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.cortexdb.writer import CortexWriter
from corebrain.errors import Conflict, CorebrainError, EngineError, InvalidRequest, Unavailable, Unsupported
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Conversation, Document, Role, StoreItem, Turn
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    EraseRequest,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
    RecallRequest,
    WriteOptions,
)

Wire = tuple[CortexWriter, ServedDouble]
MakeHosted = Callable[..., TinyHumansEngine]
WHOLE = Reach.subtree(Namespace.ROOT)


def writes(double: ServedDouble) -> int:
    return len([line for line in double.seen.lines if line.startswith("POST") and "experience" in line])


def texts(double: ServedDouble) -> list[str]:
    return [event["content"]["text"] for event in double.log.events]


def test_a_store_waits_out_limits_and_hidden_listings_that_follow_its_write(wire: Wire) -> None:
    engine, double = wire
    double.knobs.arm_after_write(limited=2, hidden=3)
    assert not engine.store(StoreItem.document("hello")).replayed
    assert (double.knobs.rate_limit_events, double.knobs.hide_listing_for) == (0, 0)
    assert writes(double) == 1


def test_a_hosted_wait_takes_a_limit_for_not_yet_however_long_it_holds(
    make_hosted: MakeHosted, hosted: HostedDouble
) -> None:
    hosted.knobs.arm_after_write(limited=12, hidden=0)  # four times the attempts of one read
    make_hosted().store(StoreItem.document("hello"))
    assert hosted.knobs.rate_limit_events == 0


def test_what_was_only_accepted_is_read_once_it_is_indexed(
    double: DirectDouble, make: Callable[..., CortexEngine], make_hosted: MakeHosted, hosted: HostedDouble
) -> None:
    engine, turn = make(), Conversation(turns=(Turn(role=Role.USER, text="hello"),))
    double.knobs.index_ms = 600_000
    assert not engine.store_with(turn, WriteOptions.accepted()).replayed
    assert engine.list(ListRequest()).items == engine.fetch(FetchRequest(query="hello")).hits == ()
    assert engine.store_with(turn, WriteOptions.accepted()).replayed  # by its key alone
    engine.store(StoreItem.document("waited for"))
    assert [hit.text for hit in engine.list(ListRequest()).items] == ["waited for"]
    hosted.knobs.index_ms = 30
    make_hosted().store(StoreItem.document("waited for"))  # there is no wait to ask for: it is looked for
    assert len([line for line in hosted.seen.lines if "/memory/events" in line]) > 2


def test_a_refused_write_leaves_the_rest_of_its_batch_unsent_and_what_went_before_stored(wire: Wire) -> None:
    engine, double = wire
    batch = [StoreItem.document(f"note {number}") for number in range(5)]
    double.knobs.fail_nth_experience = 3
    with pytest.raises(InvalidRequest):
        engine.store_many(batch)
    assert texts(double) == ["note 0", "note 1"]
    receipts = engine.store_many(batch)
    assert [receipt.replayed for receipt in receipts] == [True, True, False, False, False]
    assert sorted(texts(double)) == [f"note {number}" for number in range(5)]


def test_an_applied_write_whose_reply_is_lost_is_there_once(wire: Wire) -> None:
    engine, double = wire
    double.knobs.apply_then_fail = 1
    for _ in range(2):
        try:
            engine.store(StoreItem.document("hello"))
        except Unavailable:
            assert not engine.descriptor.hosted  # Direct sends a write once
    assert texts(double) == ["hello"]


def test_an_item_twice_in_a_batch_is_sent_once(wire: Wire) -> None:
    engine, double = wire
    item = StoreItem.document("hello")
    receipts = engine.store_many([item, StoreItem.document("other"), item])
    assert [receipt.replayed for receipt in receipts] == [False, False, True]
    assert writes(double) == 2


def test_a_limited_hosted_write_is_tried_three_times_and_then_given_up(
    make_hosted: MakeHosted, hosted: HostedDouble
) -> None:
    hosted.knobs.rate_limit_experience = 3
    with pytest.raises(Unavailable):
        make_hosted().store(StoreItem.document("hello"))
    assert (writes(hosted), texts(hosted)) == (3, [])
    assert len(set(hosted.seen.claims) - {None}) == 1


@pytest.mark.parametrize("status", [b"409 No", b"400 No"])
def test_a_conflict_of_the_first_attempt_is_told_and_nothing_is_looked_for(
    make_hosted: MakeHosted, hosted: HostedDouble, status: bytes
) -> None:
    body = b'{"success":false,"error":"taken","errorCode":"CONFLICT"}'
    hosted.knobs.raw["memory/experience"] = b"HTTP/1.1 %s\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body)
    with pytest.raises(Conflict, match="taken"):
        make_hosted().store(StoreItem.document("hello"))
    assert [line.split("?")[0] for line in hosted.seen.lines] == ["GET /memory/events", "POST /memory/experience"]


def test_a_hosted_turn_is_looked_up_before_it_is_written(make_hosted: MakeHosted, hosted: HostedDouble) -> None:
    turn = Conversation(turns=(Turn(role=Role.USER, text="hello"),))
    engine = make_hosted()
    assert not engine.store_with(turn, WriteOptions.accepted()).replayed
    assert engine.store_with(turn, WriteOptions.accepted()).replayed
    assert [line.split("?")[0] for line in hosted.seen.lines] == [
        "GET /memory/events",
        "POST /memory/experience",
        "GET /memory/events",
    ]


def test_a_lost_part_alone_is_written_again(wire: Wire) -> None:
    engine, double = wire
    turns = tuple(Turn(role=Role.USER, text=f"turn {number}") for number in range(3))
    item = Conversation(turns=turns)
    engine.store(item)
    double.log.lose_last("app:tinymemory/app:conversations")
    assert engine.export(ListRequest()).incomplete == (item.fingerprint(),)
    double.seen.clear()
    assert not engine.store(item).replayed
    assert writes(double) == 1
    assert engine.export(ListRequest()).items[0].item == item


def headless(engine: CortexWriter, double: ServedDouble) -> Document:
    item = Document(title="Long", body=Body(text="".join(f"# Part {n}\n{'word ' * 20_000}\n" for n in range(6))))
    engine.store(item)
    label = f"tm:i:{label_digest(item.fingerprint())}"
    first = next(event for event in double.log.events if event["context"]["labels"][0] == label)
    double.log.forget({"scope": first["scope"], "selector": {"memory_ids": [first["id"]]}})
    return item


@pytest.mark.parametrize("limit", [1, 2, 50])
def test_a_document_without_its_first_piece_is_named_once_by_an_export(wire: Wire, limit: int) -> None:
    engine, double = wire
    whole = [StoreItem.document(f"note {number}") for number in range(3)]
    engine.store_many(whole[:2])
    item = headless(engine, double)
    engine.store(whole[2])
    incomplete: list[str] = []
    items: list[str] = []
    cursor = None
    while True:
        page = engine.export(ListRequest(limit=limit, cursor=cursor))
        incomplete += page.incomplete
        items += [exported.id for exported in page.items]
        cursor = page.next_cursor
        if cursor is None:
            break
    assert incomplete == [item.fingerprint()]
    assert sorted(items) == sorted(each.fingerprint() for each in whole)


def test_what_is_held_in_part_is_forgotten_by_filter_too(wire: Wire) -> None:
    engine, double = wire
    headless(engine, double)
    assert double.log.events
    assert engine.forget(ForgetTarget.of_filter(MetaFilter(reach=WHOLE, kinds=(ItemKind.DOCUMENT,)))).forgotten == 1
    assert double.log.events == []


def test_a_limited_forget_is_tried_again_by_the_hosted_engine_alone(wire: Wire) -> None:
    engine, double = wire
    item = StoreItem.document("hello")
    engine.store(item)
    double.knobs.rate_limit_forget = 2
    if not engine.descriptor.hosted:
        with pytest.raises(Unavailable):
            engine.forget(ForgetTarget.of_ids(item.fingerprint()))
        double.knobs.rate_limit_forget = 0
    assert engine.forget(ForgetTarget.of_ids(item.fingerprint())).forgotten == 1
    used = [claim for line, claim in zip(double.seen.lines, double.seen.claims, strict=True) if "forget" in line]
    assert (len(set(used)) == len(used)) or used == [None, None]


def test_a_server_that_keeps_forgotten_events_is_told_to_redact_them(wire: Wire) -> None:
    engine, double = wire
    items = [StoreItem.document(f"note {number}") for number in range(3)]
    engine.store_many(items)
    double.log.keeps_forgotten = True
    assert engine.forget(ForgetTarget.of_ids(items[0].fingerprint())).forgotten == 1
    assert texts(double) == ["note 1", "note 2"]
    assert engine.forget(ForgetTarget.of_filter(MetaFilter(kinds=(ItemKind.DOCUMENT,)))).forgotten == 2
    assert texts(double) == []
    route = "memory/forget" if engine.descriptor.hosted else "v1/forget"
    assert [body.get("cascade") for body in double.seen.of(route)] == [None, "redact_events"] * 2
    double.log.keeps_forgotten = False
    engine.store(items[0])
    double.seen.clear()
    engine.forget(ForgetTarget.of_ids(items[0].fingerprint()))
    assert len(double.seen.of(route)) == 1


@pytest.mark.parametrize("padding", [998, 1_200])
def test_a_listing_of_scopes_that_may_be_cut_short_stops_what_must_be_complete(
    wire: Wire, padding: int, caplog: pytest.LogCaptureFixture
) -> None:
    engine, double = wire
    engine.store(StoreItem.document("hello"))
    double.log.pad(padding)
    listed = ListRequest(filter=MetaFilter(kinds=(ItemKind.DOCUMENT,)))
    must: list[Callable[[], object]] = [
        lambda: engine.export(listed),
        lambda: engine.forget(ForgetTarget.of_ids("0" * 40)) if padding > 1_000 else None,
        lambda: engine.erase(EraseRequest(reach=Reach.subtree(Namespace.agent("nobody")), whole_tree=False)),
    ]
    with caplog.at_level(logging.WARNING, "corebrain"):
        assert [hit.text for hit in engine.list(listed).items] == ["hello"]
        known = GetRequest(ids=(StoreItem.document("hello").fingerprint(),), reach=WHOLE)
        assert len(engine.get(known)) == len(engine.fetch(FetchRequest(query="hello", max_scopes=1)).hits) == 1
    assert ("there may be more" in caplog.text) is (padding > 1_000)
    for call in must[:2]:
        if padding > 1_000:
            with pytest.raises(EngineError, match="may be more"):
                call()
        else:
            call()
    must[2]()  # nothing lies below that node, so nothing is cut short


def test_scopes_are_read_four_at_a_time_and_their_age_asked_eight_at_a_time(wire: Wire) -> None:
    engine, double = wire
    for number in range(12):
        meta = MemoryMeta(namespace=Namespace.agent(f"a{number}"))
        turns = (Turn(role=Role.USER, text="refunds"), Turn(role=Role.USER, text="again"))
        engine.store_with(Conversation(turns=turns, meta=meta), WriteOptions.accepted())
    double.knobs.listing_delay_ms = 60
    wanted = MetaFilter.of_kinds(ItemKind.CONVERSATION)
    assert len(engine.fetch(FetchRequest(query="refunds", filter=wanted, limit=20)).hits) == 12
    assert 2 <= double.seen.most_listings_at_once <= 4  # one lookup a node puts each conversation together
    hosted = engine.descriptor.hosted
    other = TinyHumansEngine(TOKEN, double.endpoint) if hosted else CortexEngine(TOKEN, double.endpoint)
    double.seen.most_listings_at_once = 0
    with other:
        other.fetch(FetchRequest(query="refunds", filter=wanted, limit=1, max_scopes=1))
    assert 5 <= double.seen.most_listings_at_once <= 8


def test_a_hosted_erasure_that_is_incomplete_is_tried_three_times(
    make_hosted: MakeHosted, hosted: HostedDouble
) -> None:
    engine = make_hosted()
    engine.store(StoreItem.document("hello"))
    hosted.knobs.erasure_incomplete = 2
    assert engine.erase(EraseRequest(reach=Reach.exact(Namespace.ROOT))).erased_scopes == 1
    engine.store(StoreItem.document("hello"))
    hosted.knobs.erasure_incomplete = 3
    with pytest.raises(Unavailable, match=r"\[ERASURE_INCOMPLETE\] POST memory/v1/erasures"):
        engine.erase(EraseRequest(reach=Reach.exact(Namespace.ROOT)))
    assert len(hosted.log.events) == 1


def test_a_host_that_cannot_erase_is_unsupported(make_hosted: MakeHosted, hosted: HostedDouble) -> None:
    engine = make_hosted()
    engine.store(StoreItem.document("hello"))
    hosted.knobs.erase_all_missing = True
    with pytest.raises(Unsupported):
        engine.erase(EraseRequest(reach=WHOLE, whole_tree=True))
    hosted.knobs.lacks = frozenset({"memory/v1/erasures"})
    with pytest.raises(Unsupported):
        engine.erase(EraseRequest(reach=Reach.exact(Namespace.ROOT)))
    assert len(hosted.log.events) == 1


def ask(double: ServedDouble, method: str, route: str, **request: object) -> httpx.Response:
    headers = {"Authorization": f"Bearer {TOKEN}", "Idempotency-Key": "mine"}
    return httpx.request(method, f"{double.endpoint}/{route}", headers=headers, **request)  # type: ignore[arg-type]  # handed on


def test_the_hosted_double_is_as_strict_as_the_host(hosted: HostedDouble) -> None:
    repeated = ask(hosted, "GET", "memory/events?scope=app:a&labels=x&labels=y")
    assert (repeated.status_code, repeated.json()["errorCode"]) == (400, "VALIDATION")
    body = {"scope": "app:a", "question": "?", "use_pack_id": "pack_test"}
    for extra in ({"answer_instructions": None}, {"view": "holistic"}):
        refused = ask(hosted, "POST", "memory/answer", json={**body, **extra})
        assert (refused.status_code, refused.json()["errorCode"]) == (400, "VALIDATION")
        hosted._claims.clear()
    assert ask(hosted, "POST", "memory/answer", json=body).json()["success"] is True
    assert ask(hosted, "POST", "memory/answer", json=body).json()["errorCode"] == "CONFLICT"
    for scope in ("app:a/../b", "app:a b", "/".join(["app:a"] * 32)):
        assert ask(hosted, "GET", "memory/events", params={"scope": scope}).status_code == 400
    hosted._claims.clear()
    strange = ask(hosted, "POST", "memory/v1/erasures", json={"scope": "app:a", "confirm_all": True})
    assert (strange.status_code, strange.json()["error_code"]) == (400, "UNKNOWN_FIELD")
    hosted._claims.clear()
    for route in ("memory/experience/bulk", "memory/health", "memory/beliefs/build", "memory/beliefs"):
        assert ask(hosted, "POST", route, json={}).status_code == 404
    assert ask(hosted, "POST", "memory/forget", json={"scope": 7}).json()["success"] is False


def test_the_direct_double_is_unaccommodating(double: DirectDouble) -> None:
    scope = "app:tinymemory/app:documents"
    event = {"scope": scope, "content": {"text": "one"}, "context": {"labels": ["a"]}, "idempotency_key": "k"}
    assert ask(double, "POST", "v1/experience", json=event).status_code == 202
    assert ask(double, "POST", "v1/experience", json=event).json()["replayed_from_idempotency"] is True
    other = {**event, "content": {"text": "two"}}
    conflict = ask(double, "POST", "v1/experience", json=other)
    assert (conflict.status_code, conflict.json()["error_code"]) == (409, "IDEMPOTENCY_CONFLICT")
    wrong: list[dict[str, object]] = [{"idempotency_key": "k" * 65}, {"colour": 1}, {"scope": "odd:x"}, {"content": {}}]
    for bad in wrong:
        assert ask(double, "POST", "v1/experience", json={**event, **bad}).status_code == 422
    huge = {**event, "content": {"text": "x" * 1_048_577}, "idempotency_key": "h"}
    assert ask(double, "POST", "v1/experience", json=huge).status_code == 422
    page = ask(double, "GET", "v1/events", params={"scope": scope, "limit": 1, "page": 2}).json()
    assert (len(page["items"]), page["has_more"], page["next_cursor"]) == (1, True, "1")
    selectors: list[tuple[dict[str, object], int]] = [
        ({"selector": {"ids": ["evt_1"]}}, 422),
        ({}, 422),
        ({"selector": {"memory_ids": ["evt_1"]}, "confirm_all": True}, 400),
        ({"selector": {"memory_ids": ["evt_1"]}}, 200),
    ]
    for selector, status in selectors:
        assert ask(double, "POST", "v1/forget", json={"scope": scope, **selector}).status_code == status
    assert ask(double, "POST", "v1/experience", json=other).status_code == 202  # the key is free again


def test_a_pack_that_shows_only_an_excerpt_is_read_whole(wire: Wire) -> None:
    engine, double = wire
    item = StoreItem.document("refunds take five days, " + "said at length " * 50)
    engine.store(item)
    double.knobs.excerpt_bytes = 20
    (hit,) = engine.fetch(FetchRequest(query="refunds")).hits
    assert hit.text == item.render_text()
    (citation,) = engine.recall(RecallRequest(question="refunds")).citations
    assert citation.snippet == "refunds take five da"


def test_an_error_of_one_scope_fails_the_whole_read(wire: Wire) -> None:
    engine, double = wire
    engine.store(StoreItem.document("hello"))
    double.knobs.recall_down = True
    with pytest.raises(CorebrainError, match="answered 500"):
        engine.fetch(FetchRequest(query="hello"))


def test_an_engine_of_its_own_reads_what_another_wrote(double: DirectDouble) -> None:
    items = [StoreItem.document("one"), StoreItem.document("two", MemoryMeta(namespace=Namespace.agent("a")))]
    with CortexEngine(TOKEN, double.endpoint) as first, CortexEngine(TOKEN, double.endpoint) as second:
        first.store_many(items)
        assert {hit.id for hit in second.list(ListRequest()).items} == {item.fingerprint() for item in items}
        assert all(receipt.replayed for receipt in second.store_many(items))
