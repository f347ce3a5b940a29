"""Requests and answers: enums, limits, which keys are written, and what a reader tolerates."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.contract import SCAN_PAGE, EngineDescriptor, HealthState
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import InvalidRequest
from corebrain.model import requests as r
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.first_sentence import CONSOLIDATED_TAG
from corebrain.model.item import LearningKind, Role, StoreItem, read_item
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, ToolCallRef, TurnRange
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.value import Value

AGENT = '{"source":{"kind":"agent"}}'


@pytest.mark.parametrize(
    ("enum", "wire"),
    [
        (ItemKind, "document conversation learning"),
        (Role, "user assistant system tool"),
        (LearningKind, "preference fact procedure correction other"),
        (r.FetchMode, "keyword vector hybrid"),
        (r.WaitFor, "accepted visible"),
        (r.Consolidation, "none on_demand scheduled automatic"),
        (r.ConsolidateStatus, "started scheduled completed"),
        (SourceKind, "folder file link github rss composio conversation agent import"),
        (HealthState, "ok degraded down"),
        (
            Facet,
            "kind source source_id workspace folder file_path language repo url thread agent tool_call tag namespace",
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_an_enum_has_the_wire_strings_of_the_table_in_order(enum: Any, wire: str) -> None:
    assert [member.value for member in enum] == wire.split()


def test_the_limits_are_those_of_the_table() -> None:
    limits = (r.MAX_STORE_MANY, r.MAX_GET_IDS, r.MAX_BUCKETS, r.DEFAULT_SCAN_LIMIT, r.MAX_SCAN_LIMIT, SCAN_PAGE)
    assert limits == (100, 200, 500, 5_000, 50_000, 200)
    assert (r.BELIEF_TAG, CONSOLIDATED_TAG) == ("belief", "consolidated")
    assert r.ExploreRequest(facet=Facet.TAG).scan_limit == 5_000


HIT = r.Hit(id="i", kind=ItemKind.DOCUMENT, text="t", meta=MemoryMeta())
HIT_JSON = f'{{"id":"i","kind":"document","text":"t","meta":{AGENT},"score":0.0}}'
LEARNT = HIT.model_copy(update={"kind": ItemKind.LEARNING, "confidence": 0.5, "score": 0.25})
LEARNT_JSON = f'{{"id":"i","kind":"learning","text":"t","meta":{AGENT},"score":0.25,"confidence":0.5}}'
REACH_JSON = '{"at":"root","inherit":true,"descendants":false}'

SHAPES: list[tuple[Value, str]] = [
    (r.FetchRequest(query="q", limit=5), '{"query":"q","mode":"hybrid","filter":{},"limit":5}'),
    (
        r.FetchRequest(query="q", limit=5, cursor="c", beliefs=2, max_scopes=3),
        '{"query":"q","mode":"hybrid","filter":{},"limit":5,"cursor":"c","beliefs":2,"max_scopes":3}',
    ),
    (r.ForgetTarget.of_ids("a", "b"), '{"ids":["a","b"]}'),
    (r.ForgetTarget.of_filter(MetaFilter(url="u")), '{"filter":{"url":"u"}}'),
    (r.ConsolidateReceipt.scheduled(), '{"status":"scheduled","scopes":0}'),
    (
        r.ConsolidateReceipt(status=r.ConsolidateStatus.COMPLETED, scopes=1, built=0),
        '{"status":"completed","scopes":1,"built":0}',
    ),
    (r.ExportPage(), '{"items":[]}'),
    (r.EraseReport(erased_scopes=0), '{"erased_scopes":0}'),
    (r.StoreReceipt(id="a", replayed=False), '{"id":"a","replayed":false}'),
    (r.WriteOptions.accepted(), '{"wait":"accepted"}'),
    (MemoryMeta(thread_id="", derive=False), '{"thread_id":"","source":{"kind":"agent"},"derive":false}'),
    (r.RecallRequest(question="q", limit=5), '{"question":"q","filter":{},"limit":5}'),
    (
        r.RecallRequest(question="q", limit=5, instructions=""),
        '{"question":"q","filter":{},"limit":5,"instructions":""}',
    ),
    (
        r.Citation(id="i", kind=ItemKind.LEARNING, snippet="s", meta=MemoryMeta()),
        f'{{"id":"i","kind":"learning","snippet":"s","meta":{AGENT}}}',
    ),
    (
        r.Citation(id="i", kind=ItemKind.LEARNING, snippet="s", meta=MemoryMeta(), score=0.0),
        f'{{"id":"i","kind":"learning","snippet":"s","meta":{AGENT},"score":0.0}}',
    ),
    (r.RecallAnswer(answer="a"), '{"answer":"a","citations":[]}'),
    (r.RecallAnswer(answer="a", model="m"), '{"answer":"a","citations":[],"model":"m"}'),
    (HIT, HIT_JSON),
    (LEARNT, LEARNT_JSON),
    (r.FetchPage(hits=(HIT,), beliefs=(LEARNT,)), f'{{"hits":[{HIT_JSON}],"beliefs":[{LEARNT_JSON}]}}'),
    (r.FetchPage(hits=(), next_cursor=""), '{"hits":[],"next_cursor":""}'),
    (r.ListRequest(limit=5), '{"filter":{},"limit":5}'),
    (r.ListRequest(limit=5, cursor="c"), '{"filter":{},"limit":5,"cursor":"c"}'),
    (r.ListPage(items=(HIT,)), f'{{"items":[{HIT_JSON}]}}'),
    (
        r.Exported.of(StoreItem.learning("tea", LearningKind.PREFERENCE, 0.9)),
        (
            '{"id":"126a17b5bee85d0816f1fcdf6269c39c791aff3f","item":{"type":"learning","text":"tea",'
            f'"kind":"preference","confidence":0.9,"meta":{AGENT}}}}}'
        ),
    ),
    (r.ExportPage(incomplete=("i",), next_cursor="2"), '{"items":[],"incomplete":["i"],"next_cursor":"2"}'),
    (r.ForgetReport(forgotten=2), '{"forgotten":2}'),
    (r.EraseRequest(reach=Reach()), f'{{"reach":{REACH_JSON},"kinds":[],"whole_tree":false}}'),
    (r.EraseReport(erased_scopes=1, receipts=("x",)), '{"erased_scopes":1,"receipts":["x"]}'),
    (
        r.ExploreRequest(facet=Facet.SOURCE_ID, limit=5),
        '{"facet":"source_id","filter":{},"limit":5,"scan_limit":5000}',
    ),
    (
        r.ExplorePage(facet=Facet.TAG, buckets=(r.Bucket(value="a", count=2),), total=3, missing=1),
        '{"facet":"tag","buckets":[{"value":"a","count":2}],"total":3,"missing":1,"more_buckets":0,"truncated":false}',
    ),
    (r.GetRequest(ids=("i",)), '{"ids":["i"]}'),
    (r.GetRequest(ids=("i",), reach=Reach()), f'{{"ids":["i"],"reach":{REACH_JSON}}}'),
    (r.WriteOptions(), '{"wait":"visible"}'),
    (r.ConsolidateRequest(reach=Reach()), f'{{"reach":{REACH_JSON}}}'),
    (
        r.ConsolidateReceipt(status=r.ConsolidateStatus.STARTED, jobs=("j",), scopes=2),
        '{"status":"started","jobs":["j"],"scopes":2}',
    ),
    (r.BeliefsRequest(limit=5), f'{{"reach":{REACH_JSON},"limit":5}}'),
    (r.BeliefsRequest(query="q", limit=5), f'{{"reach":{REACH_JSON},"query":"q","limit":5}}'),
    (TurnRange(first=0, last=2**32 - 1), '{"first":0,"last":4294967295}'),
    (TurnRange(first=2**32 - 1, last=0), '{"first":4294967295,"last":0}'),
    (ToolCallRef(name="n"), '{"name":"n"}'),
    (ToolCallRef(name="n", id=""), '{"name":"n","id":""}'),
    (SourceRef(), '{"kind":"agent"}'),
    (SourceRef(kind=SourceKind.RSS, id=""), '{"kind":"rss","id":""}'),
    (
        EngineDescriptor(id="e", label="E", description="d", fetch_modes=(r.FetchMode.VECTOR,)),
        (
            '{"id":"e","label":"E","description":"d","hosted":false,"needs_endpoint":false,"needs_key":false,'
            '"fetch_modes":["vector"],"consolidation":"none"}'
        ),
    ),
]


@pytest.mark.parametrize(("value", "text"), SHAPES, ids=[f"{type(value).__name__}" for value, _ in SHAPES])
def test_a_value_writes_exactly_the_keys_of_its_table(value: Value, text: str) -> None:
    assert value.to_json() == text
    assert json.dumps(value.to_dict(), separators=(",", ":")) == text
    assert type(value).from_json(text) == value


@pytest.mark.parametrize(("value", "text"), SHAPES, ids=[f"{type(value).__name__}" for value, _ in SHAPES])
def test_a_key_of_a_later_version_is_ignored(value: Value, text: str) -> None:
    later = {**json.loads(text), "self": 1, "cls": 2, "refers_to": {"day": "2026-01-01"}, "model_config": None}
    assert type(value).from_dict(later) == value
    assert type(value).from_json(json.dumps(later)) == value


def test_what_may_be_left_out_takes_its_default() -> None:
    assert r.FetchRequest.from_json('{"query":"q"}') == r.FetchRequest(query="q")
    assert r.RecallRequest.from_json('{"question":"q"}').filter == MetaFilter()
    assert r.WriteOptions.from_json("{}") == r.WriteOptions.visible()
    assert r.ConsolidateReceipt.from_json('{"status":"scheduled"}') == r.ConsolidateReceipt.scheduled()
    assert r.FetchPage.from_json('{"hits":[]}').beliefs == ()
    limits = (r.FetchRequest(query="q"), r.RecallRequest(question="q"), r.BeliefsRequest(), r.ListRequest())
    assert [request.limit for request in limits] == [10, 10, 10, 50]
    assert r.ExploreRequest(facet=Facet.TAG).limit == 50
    assert r.FetchRequest(query="q").beliefs == 0
    page = r.ExplorePage(facet=Facet.TAG)
    assert (page.total, page.missing, page.more_buckets, page.truncated) == (0, 0, 0, False)


def test_metadata_is_written_in_the_order_of_its_table_and_reads_back() -> None:
    text = (
        '{"namespace":"team:acme","workspace":"w","folder":"f","file_path":"p","language":"l","repo":"r","commit":"c",'
        '"url":"u","thread_id":"t","turns":{"first":0,"last":1},"agent_id":"a","tool_call":{"name":"n","id":"i"},'
        '"source":{"kind":"file","id":"s"},"tags":["x"],"observed_at":"2026-01-01T00:00:00Z","derive":true}'
    )
    meta = MemoryMeta.from_json(text)
    assert meta.to_json() == text
    attributed = {**json.loads(text), "observed_actor": {"id": "u1"}}
    assert MemoryMeta.from_dict(attributed) == meta
    assert "observed_actor" not in MemoryMeta.from_dict(attributed).to_dict()
    item = StoreItem.document("t", meta)
    assert item.to_json() == f'{{"type":"document","body":{{"text":"t"}},"meta":{text}}}'


def test_a_source_alone_makes_metadata() -> None:
    assert MemoryMeta.from_source(SourceKind.FILE, "notes").to_json() == '{"source":{"kind":"file","id":"notes"}}'
    assert MemoryMeta.from_source(SourceKind.IMPORT).to_json() == '{"source":{"kind":"import"}}'


@pytest.mark.parametrize(
    ("kind", "data"),
    [
        (r.FetchRequest, {}),
        (r.FetchRequest, {"query": "q", "limit": "many"}),
        (r.FetchRequest, {"query": "q", "beliefs": -1}),
        (r.FetchRequest, {"query": "q", "mode": "semantic"}),
        (r.ListRequest, {"filter": {"kinds": ["poem"]}}),
        (r.GetRequest, {"ids": "abc"}),
        (r.ForgetTarget, {"ids": [1]}),
        (r.ExploreRequest, {"facet": "colour"}),
        (r.EraseRequest, {}),
        (r.ConsolidateRequest, {"reach": {"at": "planet:mars"}}),
        (TurnRange, {"first": 0, "last": 2**32}),
        (TurnRange, {"first": 2**32, "last": 0}),
        (TurnRange, {"first": -1, "last": 0}),
        (TurnRange, {"first": 0, "last": -1}),
        (MemoryMeta, {"tags": "x"}),
        (MemoryMeta, {"source": {"kind": "moon"}}),
        (MemoryMeta, []),
        (MemoryMeta, None),
        (SourceRef, {"kind": None}),
    ],
    ids=str,
)
def test_a_wrong_shape_is_an_invalid_request_from_every_door(kind: type[Value], data: Any) -> None:
    with pytest.raises(InvalidRequest) as caught:
        kind.from_dict(data)
    with pytest.raises(InvalidRequest):
        kind.from_json(json.dumps(data))
    if isinstance(data, dict):
        with pytest.raises(InvalidRequest):
            kind(**data)
    assert caught.value.message
    assert not caught.value.message.endswith(".")


@pytest.mark.parametrize("text", ["", "{", "[1", b"\xff", '{"ids":["\\ud800"]}'])
def test_bad_json_is_an_invalid_request(text: str | bytes) -> None:
    with pytest.raises(InvalidRequest):
        r.GetRequest.from_json(text)


def test_a_message_names_the_field_and_never_what_was_given() -> None:
    with pytest.raises(InvalidRequest) as caught:
        MemoryMeta.from_dict({"url": {"secret": "hunter2"}})
    assert "url" in caught.value.message
    assert "hunter2" not in str(caught.value) + repr(caught.value)
    assert caught.value.__cause__ is None


def test_a_message_stays_short_whatever_was_given() -> None:
    with pytest.raises(InvalidRequest) as caught:
        read_item({"type": "x" * 10_000})
    assert caught.value.message.startswith("item: input tag 'xxx")
    assert len(caught.value.message) < 400


def test_an_item_of_no_kind_is_refused() -> None:
    with pytest.raises(InvalidRequest, match=r"StoreItem\.read"):
        StoreItem()
    with pytest.raises(InvalidRequest, match=r"StoreItem\.read"):
        StoreItem.from_json('{"type":"document","body":{"text":"t"}}')
    assert StoreItem.read('{"type":"document","body":{"text":"t"}}') == StoreItem.document("t")


def test_keys_that_are_no_text_are_ignored_like_any_unknown_key() -> None:
    keyed: Any = {1: 2, "url": "u"}
    assert MemoryMeta.from_dict(keyed) == MemoryMeta(url="u")


def test_values_are_immutable_and_compare_by_content() -> None:
    meta = MemoryMeta(tags=("x",))
    with pytest.raises(Exception, match="frozen"):
        meta.url = "u"
    assert len({meta, MemoryMeta.from_dict({"tags": ["x"]})}) == 1
    assert meta != MemoryMeta()
    assert MetaFilter(url=None).is_empty
    assert MetaFilter(kinds=()).is_empty


def test_a_value_with_a_lone_surrogate_cannot_be_written() -> None:
    with pytest.raises(InvalidRequest, match="cannot be written"):
        r.GetRequest(ids=("\ud800",)).to_json()


@pytest.mark.parametrize("limit", [0, -1, -(10**9)])
def test_no_limit_below_one_is_served(limit: int) -> None:
    engine = ReferenceEngine()
    engine.store(StoreItem.document("x"))
    for call in (
        lambda: engine.fetch(r.FetchRequest(query="x", limit=limit)),
        lambda: engine.fetch(r.FetchRequest(query="x", max_scopes=limit)),
        lambda: engine.recall(r.RecallRequest(question="x", limit=limit)),
        lambda: engine.list(r.ListRequest(limit=limit)),
        lambda: engine.export(r.ListRequest(limit=limit)),
        lambda: engine.explore(r.ExploreRequest(facet=Facet.TAG, limit=limit)),
        lambda: engine.explore(r.ExploreRequest(facet=Facet.TAG, scan_limit=limit)),
        lambda: engine.beliefs(r.BeliefsRequest(limit=limit)),
    ):
        with pytest.raises(InvalidRequest, match=r"limit|max_scopes"):
            call()


REFUSED: list[tuple[r.Request, str]] = [
    (r.ForgetTarget(), "either ids or a filter"),
    (r.ForgetTarget(ids=("a",), filter=MetaFilter(url="u")), "either ids or a filter"),
    (r.ForgetTarget.of_ids(), "no ids"),
    (r.ForgetTarget.of_filter(MetaFilter()), "empty filter"),
    (r.ExploreRequest(facet=Facet.KIND, limit=501), "limit is 501, from 1 to 500"),
    (r.ExploreRequest(facet=Facet.KIND, scan_limit=50_001), "scan_limit is 50001, from 1 to 50000"),
    (r.GetRequest(ids=()), "0 ids, from 1 to 200"),
    (r.GetRequest(ids=("i",) * 201), "201 ids, from 1 to 200"),
    (r.ConsolidateRequest(reach=Reach(), kinds=(ItemKind.DOCUMENT, ItemKind.DOCUMENT)), "twice"),
]


@pytest.mark.parametrize(("request_", "what"), REFUSED, ids=[what for _, what in REFUSED])
def test_a_malformed_request_is_refused_with_its_reason(request_: r.Request, what: str) -> None:
    with pytest.raises(InvalidRequest, match=what):
        request_.validate()


def test_a_lone_reach_makes_a_filter_that_may_forget() -> None:
    r.ForgetTarget.of_filter(MetaFilter(reach=Reach())).validate()
    r.GetRequest(ids=("i",) * 200).validate()
    r.ConsolidateRequest(reach=Reach(), kinds=tuple(ItemKind)).validate()


@pytest.mark.parametrize("blank", ["", " ", "\u2003\n", "\u0085"])
def test_nothing_blank_is_asked(blank: str) -> None:
    refused: list[r.Request] = [
        r.FetchRequest(query=blank),
        r.RecallRequest(question=blank),
        r.GetRequest(ids=(blank,)),
        r.BeliefsRequest(query=blank),
    ]
    for request in refused:
        with pytest.raises(InvalidRequest, match="blank"):
            request.validate()
    r.FetchRequest(query="\x1c").validate()  # a separator that only Python calls whitespace


def test_erasing_the_whole_tree_needs_its_word_only_without_kinds_and_with_descendants() -> None:
    whole = Reach.subtree(Namespace.ROOT)
    for allowed in (
        r.EraseRequest(reach=whole, whole_tree=True),
        r.EraseRequest(reach=whole, kinds=(ItemKind.DOCUMENT,)),
        r.EraseRequest(reach=Reach.of(Namespace.ROOT)),
        r.EraseRequest(reach=Reach.subtree(Namespace.parse("team:a"))),
    ):
        allowed.validate()
    with pytest.raises(InvalidRequest, match="whole_tree"):
        r.EraseRequest(reach=Reach(at=Namespace.ROOT, inherit=True, descendants=True)).validate()


REQUESTS: st.SearchStrategy[r.Request] = st.one_of(
    st.builds(
        r.FetchRequest,
        query=st.text(st.characters(codec="utf-8"), max_size=9),
        mode=st.sampled_from(r.FetchMode),
        limit=st.integers(-3, 10**6),
        cursor=st.none() | st.just("c"),
        beliefs=st.integers(0, 9),
        max_scopes=st.none() | st.integers(-1, 9),
    ),
    st.builds(
        r.ForgetTarget,
        ids=st.none() | st.lists(st.sampled_from("ab"), max_size=2),
        filter=st.none() | st.builds(MetaFilter, url=st.none() | st.just("u")),
    ),
    st.builds(r.ConsolidateRequest, reach=st.just(Reach()), kinds=st.lists(st.sampled_from(ItemKind), max_size=4)),
    st.builds(r.ExploreRequest, facet=st.sampled_from(Facet), limit=st.integers(-1, 600)),
    st.builds(r.BeliefsRequest, query=st.none() | st.text("a ", max_size=3), limit=st.integers(-1, 9)),
)


@given(REQUESTS)
def test_written_and_read_a_request_is_the_same_and_as_valid(request_: r.Request) -> None:
    again = type(request_).from_json(request_.to_json())
    assert again == request_
    assert type(request_).from_dict(request_.to_dict()) == request_
    verdicts = []
    for each in (request_, again):
        try:
            each.validate()
            verdicts.append("")
        except InvalidRequest as error:
            verdicts.append(error.message)
    assert verdicts[0] == verdicts[1]
