"""What the contract itself does: validation, listing-based defaults, JSON shapes (spec 01 sections 5 to 7)."""

from typing import Any

import pytest

from corebrain.contract import EngineDescriptor, EngineHealth, Item, MemoryEngine, validate_batch
from corebrain.engines.reference import ReferenceEngine, keyword_score
from corebrain.errors import (
    ConfigError,
    Conflict,
    CorebrainError,
    Encrypted,
    EngineError,
    InvalidRequest,
    NotFound,
    Unauthorized,
    Unavailable,
    Unsupported,
    UnsupportedFormat,
)
from corebrain.model import requests as r
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import StoreItem
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach

REFUSED: list[tuple[r.Request, str]] = [
    (r.RecallRequest(question=" \n"), "blank"),
    (r.RecallRequest(question="q", limit=0), "limit"),
    (r.FetchRequest(query="\t"), "blank"),
    (r.FetchRequest(query="q", limit=0), "limit"),
    (r.FetchRequest(query="q", limit=-1), "limit"),
    (r.FetchRequest(query="q", max_scopes=0), "max_scopes"),
    (r.ListRequest(limit=0), "limit"),
    (r.ForgetTarget(), "either"),
    (r.ForgetTarget.of_ids(), "no ids"),
    (r.ForgetTarget.of_filter(MetaFilter()), "empty"),
    (r.ForgetTarget(ids=("a",), filter=MetaFilter(url="u")), "either"),
    (r.EraseRequest(reach=Reach.subtree(Namespace.ROOT)), "whole_tree"),
    (r.ExploreRequest(facet=Facet.KIND, limit=0), "limit"),
    (r.ExploreRequest(facet=Facet.KIND, limit=501), "500"),
    (r.ExploreRequest(facet=Facet.KIND, scan_limit=0), "scan_limit"),
    (r.ExploreRequest(facet=Facet.KIND, scan_limit=50_001), "50000"),
    (r.GetRequest(ids=()), "200"),
    (r.GetRequest(ids=tuple(f"i{n}" for n in range(201))), "200"),
    (r.GetRequest(ids=("a", " ")), "blank"),
    (r.ConsolidateRequest(reach=Reach(), kinds=(ItemKind.DOCUMENT, ItemKind.DOCUMENT)), "twice"),
    (r.BeliefsRequest(limit=0), "limit"),
    (r.BeliefsRequest(query=" "), "blank"),
]


@pytest.mark.parametrize(("request_", "what"), REFUSED, ids=lambda value: str(value)[:50])
def test_a_malformed_request_is_refused_with_its_reason(request_: r.Request, what: str) -> None:
    with pytest.raises(InvalidRequest, match=what):
        request_.validate()


ALLOWED: list[r.Request] = [
    r.ForgetTarget.of_filter(MetaFilter(reach=Reach())),
    r.EraseRequest(reach=Reach.subtree(Namespace.ROOT), whole_tree=True),
    r.EraseRequest(reach=Reach.subtree(Namespace.ROOT), kinds=(ItemKind.LEARNING,)),
    r.EraseRequest(reach=Reach.exact(Namespace.ROOT)),
    r.GetRequest(ids=tuple(f"i{n}" for n in range(200))),
    r.ExploreRequest(facet=Facet.TAG, limit=500, scan_limit=50_000),
    r.BeliefsRequest(),
]


@pytest.mark.parametrize("request_", ALLOWED, ids=lambda value: str(value)[:50])
def test_what_is_at_the_limit_is_allowed(request_: r.Request) -> None:
    request_.validate()


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (r.FetchRequest(query="q"), '{"query":"q","mode":"hybrid","filter":{},"limit":10}'),
        (
            r.FetchRequest(query="q", cursor="c", beliefs=2, max_scopes=3),
            '{"query":"q","mode":"hybrid","filter":{},"limit":10,"cursor":"c","beliefs":2,"max_scopes":3}',
        ),
        (r.ForgetTarget.of_ids("a", "b"), '{"ids":["a","b"]}'),
        (r.ForgetTarget.of_filter(MetaFilter(url="u")), '{"filter":{"url":"u"}}'),
        (r.ConsolidateReceipt.scheduled(), '{"status":"scheduled","scopes":0}'),
        (
            r.ConsolidateReceipt(status=r.ConsolidateStatus.COMPLETED, scopes=1, built=0),
            '{"status":"completed","scopes":1,"built":0}',
        ),
        (r.FetchPage(), '{"hits":[]}'),
        (r.ListPage(next_cursor="2"), '{"items":[],"next_cursor":"2"}'),
        (r.ExportPage(), '{"items":[]}'),
        (r.EraseReport(erased_scopes=0), '{"erased_scopes":0}'),
        (r.StoreReceipt(id="a", replayed=False), '{"id":"a","replayed":false}'),
        (r.WriteOptions.accepted(), '{"wait":"accepted"}'),
        (EngineHealth.ok(), '{"state":"ok"}'),
        (EngineHealth.degraded("slow"), '{"state":"degraded","reason":"slow"}'),
        (MemoryMeta(), '{"source":{"kind":"agent"}}'),
        (MemoryMeta(thread_id="", derive=False), '{"thread_id":"","source":{"kind":"agent"},"derive":false}'),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_value_has_the_json_of_the_spec_and_reads_it_back(value: Any, text: str) -> None:
    assert value.to_json() == text
    assert type(value).from_json(text) == value
    assert type(value).from_json(text[:-1] + ',"of_a_later_version":1}') == value


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (Unsupported("m"), "unsupported: m"),
        (InvalidRequest("m"), "invalid request: m"),
        (Unauthorized("m"), "unauthorized: m"),
        (NotFound("m"), "not found: m"),
        (Conflict("m"), "conflict: m"),
        (Unavailable("m"), "unavailable: m"),
        (EngineError("m"), "engine error: m"),
        (ConfigError("m"), "configuration error: m"),
        (Encrypted("m"), "invalid request: m"),
        (UnsupportedFormat("m"), "unsupported: m"),
    ],
)
def test_errors_print_their_kind_and_only_unavailable_is_transient(error: CorebrainError, text: str) -> None:
    assert str(error) == text
    assert error.message == "m"
    assert error.is_transient == isinstance(error, Unavailable)


class Bare(MemoryEngine):
    """Only the abstract methods, over a reference engine."""

    def __init__(self) -> None:
        self.inner = ReferenceEngine()
        self.pages: list[int] = []

    @property
    def descriptor(self) -> EngineDescriptor:
        return EngineDescriptor(id="bare", label="Bare", description="", fetch_modes=(r.FetchMode.KEYWORD,))

    def health(self) -> EngineHealth:
        return EngineHealth.ok()

    def store(self, item: Item) -> r.StoreReceipt:
        return self.inner.store(item)

    def fetch(self, request: r.FetchRequest) -> r.FetchPage:
        self.descriptor.ensure_mode(request.mode)
        return self.inner.fetch(request)

    def recall(self, request: r.RecallRequest) -> r.RecallAnswer:
        return self.inner.recall(request)

    def list(self, request: r.ListRequest) -> r.ListPage:
        self.pages.append(request.limit)
        return self.inner.list(request)

    def forget(self, target: r.ForgetTarget) -> r.ForgetReport:
        return self.inner.forget(target)


def documents(count: int, **meta: Any) -> list[Item]:
    return [StoreItem.document(f"text {number}", MemoryMeta(**meta)) for number in range(count)]


def test_optional_methods_validate_and_then_say_unsupported() -> None:
    engine = Bare()
    calls: list[tuple[Any, Any, Any]] = [
        (engine.erase, r.EraseRequest(reach=Reach()), r.EraseRequest(reach=Reach.subtree(Namespace.ROOT))),
        (engine.export, r.ListRequest(), r.ListRequest(limit=0)),
        (engine.consolidate, r.ConsolidateRequest(reach=Reach()), REFUSED[19][0]),
    ]
    for method, good, bad in calls:
        with pytest.raises(Unsupported, match="bare"):
            method(good)
        with pytest.raises(InvalidRequest):
            method(bad)
    assert engine.beliefs(r.BeliefsRequest()) == []
    with pytest.raises(InvalidRequest):
        engine.beliefs(r.BeliefsRequest(limit=0))


def test_an_undeclared_mode_is_unsupported_before_anything_else() -> None:
    with pytest.raises(Unsupported, match="bare does not offer vector"):
        Bare().fetch(r.FetchRequest(query=" ", mode=r.FetchMode.VECTOR, limit=0))


def test_a_batch_is_refused_whole_and_names_the_first_invalid_item() -> None:
    engine = Bare()
    with pytest.raises(InvalidRequest, match="blank") as caught:
        engine.store_many([*documents(2), StoreItem.document(" "), StoreItem.document("")])
    assert caught.value.index == 2
    assert len(engine.inner) == 0
    for count in (0, 101):
        with pytest.raises(InvalidRequest, match="from 1 to 100"):
            validate_batch(documents(count))


def test_an_item_repeated_in_a_batch_is_a_replay_of_its_first_copy() -> None:
    item = StoreItem.document("same")
    receipts = Bare().store_many_with([item, item], r.WriteOptions.accepted())
    assert [receipt.replayed for receipt in receipts] == [False, True]
    assert receipts[0].id == receipts[1].id == item.fingerprint()


def test_get_pages_until_everything_is_found() -> None:
    engine = Bare()
    items = documents(450)
    for item in items:
        engine.store(item)
    ids = [items[400].fingerprint(), "unknown", items[3].fingerprint(), items[400].fingerprint()]
    assert [hit.id for hit in engine.get(r.GetRequest(ids=tuple(ids)))] == [ids[0], ids[2]]
    assert engine.pages == [200, 200, 200]
    engine.pages.clear()
    engine.get(r.GetRequest(ids=(ids[2],)))
    assert engine.pages == [200], "it stops once everything is found"


def test_get_leaves_out_what_lies_beyond_the_reach() -> None:
    engine = ReferenceEngine()
    inside = engine.store(StoreItem.document("a", MemoryMeta(namespace=Namespace.parse("team:a")))).id
    boxed = engine.store(StoreItem.document("b", MemoryMeta(namespace=Namespace.parse("service:s")))).id
    assert [hit.id for hit in engine.get(r.GetRequest(ids=(inside, boxed)))] == [inside]
    assert engine.get(r.GetRequest(ids=(inside,), reach=Reach.exact(Namespace.ROOT))) == []
    box = Reach.exact(Namespace.parse("service:s"))
    assert [hit.id for hit in engine.get(r.GetRequest(ids=(boxed,), reach=box))] == [boxed]


def test_explore_counts_orders_and_cuts_as_the_spec_says() -> None:
    engine = Bare()
    for number, tags in enumerate([("b", "a"), ("a",), ("é",), ("z",), (), ("b", "b")]):
        engine.store(StoreItem.document(f"t{number}", MemoryMeta(tags=tags)))
    page = engine.explore(r.ExploreRequest(facet=Facet.TAG, limit=3))
    assert [(bucket.value, bucket.count) for bucket in page.buckets] == [("b", 3), ("a", 2), ("z", 1)]
    assert (page.total, page.missing, page.more_buckets, page.truncated) == (6, 1, 1, False)


def test_explore_reads_no_more_than_its_scan_limit() -> None:
    engine = Bare()
    for item in documents(450, language="en"):
        engine.store(item)
    page = engine.explore(r.ExploreRequest(facet=Facet.LANGUAGE, scan_limit=350))
    assert engine.pages == [200, 150]
    assert (page.total, page.truncated, page.buckets[0].count) == (350, True, 350)
    engine.pages.clear()
    assert not engine.explore(r.ExploreRequest(facet=Facet.LANGUAGE, scan_limit=450)).truncated


@pytest.mark.parametrize("cursor", ["", "x", "-1", "\uff11", "1.0"])
def test_a_foreign_cursor_is_refused(cursor: str) -> None:
    with pytest.raises(InvalidRequest, match="cursor"):
        ReferenceEngine().list(r.ListRequest(cursor=cursor))


def test_the_keyword_score_of_the_spec() -> None:
    assert keyword_score("how long do refunds take", "Refunds take five business days.") == 0.4


def test_recall_cites_or_says_it_found_nothing() -> None:
    engine = ReferenceEngine()
    empty = engine.recall(r.RecallRequest(question="refunds"))
    assert empty.answer
    assert empty.citations == ()
    engine.store(StoreItem.document("Refunds take five days."))
    answer = engine.recall(r.RecallRequest(question="refunds", limit=3))
    assert "Refunds take five days." in answer.answer
    assert answer.model == "reference"
    assert answer.citations[0].score is not None


def test_erase_takes_what_lies_below_and_leaves_sandboxes_and_ancestors() -> None:
    engine = ReferenceEngine()
    paths = ["root", "team:a", "team:a/agent:b", "team:a/service:s", "team:b"]
    for path in paths:
        engine.store(StoreItem.document(path, MemoryMeta(namespace=Namespace.parse(path))))
    reach = Reach(at=Namespace.parse("team:a"), inherit=True, descendants=True)
    assert engine.erase(r.EraseRequest(reach=reach)).erased_scopes == 2
    left = engine.list(r.ListRequest(filter=MetaFilter(reach=Reach.subtree(Namespace.ROOT)))).items
    assert [hit.text for hit in left] == ["root", "team:b"]
    assert len(engine) == 3
