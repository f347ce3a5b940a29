"""The double answers as CortexDB does, told by CortexDB's own client; and that client reads what our engine wrote.

The client is `cortexdbai` 0.12 (Apache-2.0), an implementation we did not write.
"""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.envelope import read_envelope
from corebrain.model.item import Conversation, Role, StoreItem, Turn
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import BeliefsRequest, ConsolidateRequest, ListRequest

v1 = pytest.importorskip("cortexdb.v1", reason="the client cortexdbai is not installed")

SCOPE = "app:tinymemory/app:documents"
WHOLE = Reach.subtree(Namespace.ROOT)


@pytest.fixture
def client(double: DirectDouble) -> Iterator[Any]:
    double.knobs.whoami_caller = "user:7"
    with v1.V1Client(double.endpoint, actor="user:7", bearer=TOKEN) as made:
        yield made


def test_the_client_gets_what_it_expects_of_every_route(client: Any) -> None:
    assert client.whoami()["caller"] == "user:7"
    first = client.experience(SCOPE, text="refunds take five days", labels=["a"], idempotency_key="k1", wait="indexed")
    assert (first["status"], first["replayed_from_idempotency"]) == ("captured", False)
    again = client.experience(SCOPE, text="refunds take five days", labels=["a"], idempotency_key="k1")
    assert (again["event_id"], again["replayed_from_idempotency"]) == (first["event_id"], True)
    bulk = client.experience_bulk(SCOPE, [{"text": "one"}, {"text": "two", "labels": ["b"]}], wait="indexed")
    assert len({result["event_id"] for result in bulk["results"]} | {first["event_id"]}) == 3

    page = client.events(SCOPE, limit=4)
    assert (len(page["items"]), page["has_more"]) == (4, True)
    assert [item["content"]["text"] for item in page["items"]] == ["two", "two", "one", "one"]
    rest = client.events(SCOPE, limit=4, cursor=page["next_cursor"])
    assert {item["content"]["text"] for item in rest["items"]} == {"refunds take five days"}
    assert len(client.events(SCOPE, labels=["a", "b"])["items"]) == 4

    pack = client.recall(SCOPE, query="refunds", view="granular", include=["events"])
    assert [event["content"]["text"] for event in pack["layers"]["events"]] == ["refunds take five days"]
    answer = client.answer(SCOPE, "When are refunds?", use_pack_id=pack["pack_id"])
    assert "When are refunds?" in answer["answer"]
    listed = client._get("/v1/scopes/list", params={"prefix": "app:tinymemory"})  # it has no method of its own for them
    assert listed == {"items": [{"path": SCOPE}]}
    assert client.build_beliefs(SCOPE)["built"] == 3
    assert len(client.beliefs(SCOPE)["items"]) == 3
    assert client.forget(SCOPE, memory_ids=[first["event_id"]])["forgotten"] == 1
    assert {item["content"]["text"] for item in client.events(SCOPE)["items"]} == {"one", "two"}
    assert len(client.beliefs(SCOPE)["items"]) == 2


def test_the_client_raises_its_own_errors_of_the_doubles_refusals(client: Any, double: DirectDouble) -> None:
    with pytest.raises(v1.V1APIError, match="422 EMPTY_SELECTOR_WITHOUT_CONFIRMATION"):
        client.forget(SCOPE)  # neither a selector nor confirm_all: a whole scope would go
    with pytest.raises(v1.V1APIError, match="422 UNREGISTERED_SCOPE_TYPE"):
        client.experience("odd:x/app:documents", text="hello")
    double.knobs.accept_token = "another"
    with pytest.raises(v1.V1APIError, match="401"):
        client.whoami()


def test_the_asynchronous_client_gets_the_same(double: DirectDouble) -> None:
    double.knobs.whoami_caller = "user:7"

    async def story() -> tuple[str, int, int]:
        async with v1.AsyncV1Client(double.endpoint, actor="user:7", bearer=TOKEN) as client:
            caller = (await client.whoami())["caller"]
            written = await client.experience(SCOPE, text="refunds take five days", wait="indexed")
            await client.experience_bulk(SCOPE, [{"text": "one"}, {"text": "two"}])
            pack = await client.recall(SCOPE, query="refunds", view="granular")
            with pytest.raises(v1.V1APIError, match="400 MISSING_PACK"):  # it can name none
                await client.answer(SCOPE, "When?")
            forgotten = await client.forget(SCOPE, memory_ids=[written["event_id"]])
            return caller, len(pack["layers"]["events"]), forgotten["forgotten"]

    assert asyncio.run(story()) == ("user:7", 1, 1)
    assert len(double.log.events) == 2


def test_what_the_engine_wrote_is_read_back_by_the_client(
    client: Any, make: Callable[..., CortexEngine], double: DirectDouble
) -> None:
    engine = make()
    long = StoreItem.document("".join(f"# Part {number}\n{'word ' * 20_000}\n" for number in range(4)))
    turn = Conversation(turns=(Turn(role=Role.USER, text="hello"),), meta=MemoryMeta(thread_id="t1"))
    plain = StoreItem.document("refunds take five days", MemoryMeta(tags=("billing",)))
    engine.store_many([long, turn, plain])
    engine.consolidate(ConsolidateRequest(reach=WHOLE))

    read: dict[str, str] = {}
    for scope in (SCOPE, "app:tinymemory/app:conversations"):
        for raw in reversed(client.events(scope, limit=200)["items"][::2]):
            envelope = read_envelope(raw["content"]["text"], raw["context"]["labels"])
            assert envelope is not None
            read[envelope.id] = read.get(envelope.id, "") + envelope.text
    assert read == {long.fingerprint(): long.text, turn.fingerprint(): "hello", plain.fingerprint(): plain.text}
    found = client.recall(SCOPE, query="refunds", view="granular", include=["events"])["layers"]["events"]
    assert [event["content"]["text"] for event in found] == ["refunds take five days"]
    told = {belief["claim"]["object"]["value"] for belief in client.beliefs(SCOPE)["items"]}
    assert "refunds take five days" in told
    assert len(engine.beliefs(BeliefsRequest(reach=WHOLE))) == len(double.log.events)


def test_what_the_client_wrote_is_not_taken_for_an_item(client: Any, make: Callable[..., CortexEngine]) -> None:
    client.experience(SCOPE, text="a note of another program", labels=["tm:i:0000000000000000"])
    client.experience(SCOPE, text='{"v":2,"not":"ours"}')
    engine = make()
    assert engine.list(ListRequest()).items == ()
    assert engine.export(ListRequest()).incomplete == ()
