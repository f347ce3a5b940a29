"""What a host configures: settings, roots old and new, who owns them, headers of its own."""

import logging
from collections.abc import Callable
from typing import Any

import pytest

from corebrain.conformance.doubles.direct import DirectDouble
from corebrain.conformance.doubles.hosted import HostedDouble
from corebrain.conformance.doubles.knobs import TOKEN
from corebrain.engines.cortexdb.engine import CortexEngine
from corebrain.engines.cortexdb.hosted import TinyHumansEngine
from corebrain.engines.cortexdb.scopes import layout_of
from corebrain.engines.cortexdb.settings import EngineSettings, MemoryConfig, build_engine, list_engines
from corebrain.errors import ConfigError, InvalidRequest, Unsupported
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter
from corebrain.model.item import LearningKind, StoreItem
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    ConsolidateRequest,
    Consolidation,
    EraseRequest,
    ExploreRequest,
    FetchRequest,
    ForgetTarget,
    GetRequest,
    ListRequest,
)

Make = Callable[..., CortexEngine]
MakeHosted = Callable[..., TinyHumansEngine]
EVERYTHING = Reach.subtree(Namespace.ROOT)


def test_the_engines_are_listed_direct_first() -> None:
    assert [each.id for each in list_engines()] == ["cortexdb", "tinyhumans"]
    assert [(each.hosted, each.needs_endpoint, each.needs_key) for each in list_engines()] == [
        (False, False, True),
        (True, False, True),
    ]
    assert [each.default_endpoint for each in list_engines()] == [
        "https://api-v1.cortexdb.ai",
        "https://api.tinyhumans.ai",
    ]


def test_a_configuration_ignores_unknown_keys_defaults_to_tinyhumans_and_holds_no_credential() -> None:
    written = '{"engines":{"cortexdb":{"endpoint":"http://localhost:1","shiny":1}},"api_key":"secret-canary"}'
    config = MemoryConfig.from_json(written)
    assert config.engine == "tinyhumans"
    assert config.engines["cortexdb"].endpoint == "http://localhost:1"
    assert "secret-canary" not in repr(config) + config.to_json()
    assert MemoryConfig.from_json(config.to_json()) == config
    with config.build("a token") as engine:
        assert engine.descriptor.id == "tinyhumans"
    chosen = config.model_copy(update={"engine": "cortexdb"})
    with chosen.build("a key") as engine:
        assert (engine.descriptor.id, engine.descriptor.consolidation) == ("cortexdb", Consolidation.ON_DEMAND)


def test_a_blank_endpoint_is_the_default_and_a_setting_overrides_what_builds_are_said_to_be() -> None:
    with build_engine("cortexdb", EngineSettings(endpoint="  "), "a key") as engine:
        assert engine.descriptor.consolidation is Consolidation.AUTOMATIC
    with build_engine("cortexdb", EngineSettings(consolidation=Consolidation.NONE), "a key") as engine:
        assert engine.descriptor.consolidation is Consolidation.NONE
        with pytest.raises(Unsupported):
            engine.consolidate(ConsolidateRequest(reach=EVERYTHING))
    with build_engine("cortexdb", EngineSettings(consolidation=Consolidation.SCHEDULED), "a key") as engine:
        assert engine.consolidate(ConsolidateRequest(reach=EVERYTHING)).status.value == "scheduled"


@pytest.mark.parametrize(
    ("engine", "settings", "credential", "told"),
    [
        ("sqlite", {}, "k", "unknown engine 'sqlite'"),
        ("cortexdb", {}, None, "needs a credential"),
        ("cortexdb", {}, " ", "blank"),
        ("tinyhumans", {}, "", "blank"),
        ("cortexdb", {"endpoint": "http://example.com"}, "k", "unencrypted"),
        ("cortexdb", {"endpoint": "https://exa mple.com"}, "k", "no http or https URL"),
        ("cortexdb", {"tenant_root": True}, "k", "tenant_root"),
        ("cortexdb", {"scope_root": "team acme"}, "k", "scope root"),
        ("cortexdb", {"scope_root": "global:x"}, "k", "scope root"),
        ("cortexdb", {"scope_root": "app:tinymemory"}, "k", "app:tinymemory"),
        ("cortexdb", {"scope_owner": "user:7"}, "k", "scope_owner needs"),
        ("cortexdb", {"retired_scope_root": "org:1"}, "k", "retired_scope_root needs"),
        ("cortexdb", {"scope_root": "org:1", "retired_scope_root": "org:1"}, "k", "the scope_root itself"),
        ("cortexdb", {"observed_actor": True}, "k", "observed_actor"),
        ("tinyhumans", {"scope_owner": "user:7"}, "k", "scope_owner"),
        ("tinyhumans", {"consolidation": "on_demand"}, "k", "schedule"),
        ("tinyhumans", {"tenant_root": True, "scope_root": "org:1"}, "k", "two roots"),
        ("tinyhumans", {"scope_root": "Org:1"}, "k", "scope root"),
    ],
)
def test_what_cannot_be_built_is_a_configuration_error(
    engine: str, settings: dict[str, Any], credential: str | None, told: str
) -> None:
    with pytest.raises(ConfigError, match=told):
        build_engine(engine, EngineSettings.from_dict(settings), credential)


@pytest.mark.parametrize(
    "name",
    [
        *("authorization", "Proxy-Authorization", "COOKIE", "host", "Content-Length", "idempotency-key"),
        *("X-Cortex-Actor", "", "a b", "naïve"),
    ],
)
def test_a_header_that_is_the_engines_own_or_no_name_is_refused(name: str) -> None:
    with pytest.raises(ConfigError, match="header"):
        CortexEngine("a key", headers={name: "x"})


@pytest.mark.parametrize("value", ["a\r\nb", "a\x00", "é", " x"])
def test_a_header_value_no_line_can_carry_is_refused(value: str) -> None:
    with pytest.raises(ConfigError, match="value of the header x-tenant"):
        CortexEngine("a key", headers={"X-Tenant": value})


def test_headers_of_a_host_travel_with_every_request(
    make: Make, double: DirectDouble, make_hosted: MakeHosted, hosted: HostedDouble
) -> None:
    make(headers={"X-Tenant": "acme"}).store(StoreItem.document("hello"))
    make_hosted(headers={"X-Tenant": "acme"}).store(StoreItem.document("hello"))
    for served in (double, hosted):
        assert len(served.seen.headers) > 3
        assert {headers.get("X-Tenant") for headers in served.seen.headers} == {"acme"}


def learning(text: str, node: str = "root") -> Any:
    return StoreItem.learning(text, LearningKind.FACT, 0.5, MemoryMeta(namespace=Namespace.parse(node)))


def test_a_retired_root_is_read_forgotten_from_and_erased_but_never_written_to(
    make: Make, double: DirectDouble
) -> None:
    old, both = make(scope_root="org:1"), make(scope_root="org:2", retired_scope_root="org:1")
    old.store_many([learning("old and new"), learning("old alone"), learning("below", "agent:a")])
    assert not both.store(learning("old and new")).replayed
    both.store(learning("new alone"))
    assert {event["scope"] for event in double.log.events[3:]} == {"org:2/app:learnings"}

    texts = [hit.text for hit in both.list(ListRequest(filter=MetaFilter(reach=EVERYTHING))).items]
    assert sorted(texts) == ["below", "new alone", "old alone", "old and new"]
    assert len(both.get(GetRequest(ids=tuple(item.fingerprint() for item in (learning("old alone"),))))) == 1
    assert len(both.fetch(FetchRequest(query="old and new")).hits) == 3
    counted = both.explore(ExploreRequest(facet=Facet.NAMESPACE, filter=MetaFilter(reach=EVERYTHING)))
    assert {bucket.value: bucket.count for bucket in counted.buckets} == {"root": 3, "agent:a": 1}

    assert both.forget(ForgetTarget.of_ids(learning("old and new").fingerprint())).forgotten == 1
    assert len(double.log.events) == 3
    only = MetaFilter(reach=Reach.exact(Namespace.ROOT), kinds=(ItemKind.LEARNING,))
    assert both.forget(ForgetTarget.of_filter(only)).forgotten == 2
    report = both.erase(EraseRequest(reach=EVERYTHING, whole_tree=True))
    assert (report.erased_scopes, double.log.events) == (1, [])


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_an_item_in_both_roots_is_listed_and_exported_once_whatever_the_page(make: Make, limit: int) -> None:
    old, both = make(scope_root="org:3"), make(scope_root="org:2", retired_scope_root="org:3")
    items = [learning(f"note {number}") for number in range(4)]
    old.store_many(items)
    both.store_many(items[:2])
    for pages in (both.list, both.export):
        ids: list[str] = []
        cursor = None
        while True:
            page: Any = pages(ListRequest(filter=MetaFilter(reach=EVERYTHING), limit=limit, cursor=cursor))
            ids += [each.id for each in page.items]
            cursor = page.next_cursor
            if cursor is None:
                break
        assert sorted(ids) == sorted(item.fingerprint() for item in items)


def test_a_node_that_repeats_a_root_is_refused_before_writing(make: Make, double: DirectDouble) -> None:
    engine = make(scope_root="team:new", retired_scope_root="team:old")
    for node in ("team:new/agent:a", "team:old"):
        with pytest.raises(InvalidRequest, match="repeats"):
            engine.store(learning("x", node))
    assert double.seen.lines == []


def test_a_tenants_root_is_empty_and_its_listing_names_no_prefix(make_hosted: MakeHosted, hosted: HostedDouble) -> None:
    engine = make_hosted(tenant_root=True)
    document = StoreItem.document("hello", MemoryMeta(namespace=Namespace.parse("source:files")))
    engine.store_many([learning("a fact"), document])
    assert [event["scope"] for event in hosted.log.events] == ["app:learnings", "app:brain/source:files"]
    hosted.seen.clear()
    assert len(engine.list(ListRequest()).items) == 2
    assert "GET /memory/scopes?limit=1000" in hosted.seen.lines


def test_a_hosted_root_is_met_at_its_last_occurrence() -> None:
    layout = layout_of("org:7", hosted=True)
    held = layout.parse("tenant:x/org:7/org:7/ws:a/app:learnings")
    assert held is not None
    assert held.node == Namespace.parse("ws:a")
    assert layout_of("org:7").parse("tenant:x/org:7/ws:a/app:learnings") is None


def test_the_two_layouts_never_read_each_other(make: Make, double: DirectDouble) -> None:
    make().store(learning("legacy"))
    make(scope_root="org:1").store(learning("rooted"))
    for engine, text in ((make(), "legacy"), (make(scope_root="org:1"), "rooted")):
        assert [hit.text for hit in engine.list(ListRequest()).items] == [text]
    assert len(double.log.events) == 2


def registrations(double: DirectDouble) -> list[str]:
    return [line for line in double.seen.lines if "/v1/scopes" in line and "list" not in line]


def test_a_root_is_registered_once_before_the_first_write(make: Make, double: DirectDouble) -> None:
    engine = make(scope_root="org:42", scope_owner="user:7")
    engine.list(ListRequest())
    assert registrations(double) == []
    engine.store(learning("a"))
    engine.store(learning("b"))
    assert registrations(double) == ["POST /v1/scopes"]
    assert double.seen.of("v1/scopes") == [{"path": "org:42", "owner": "user:7"}]
    assert double.seen.lines.index("POST /v1/scopes") < double.seen.lines.index("POST /v1/experience?wait=indexed")


def test_an_owner_is_added_to_a_root_another_registered(make: Make, double: DirectDouble) -> None:
    double.log.register("org:42", "user:1")
    make(scope_root="org:42", scope_owner="user:7").store(learning("a"))
    assert double.log.registered["org:42"] == ["user:1", "user:7"]
    make(scope_root="org:42", scope_owner="user:7").store(learning("b"))
    assert [line for line in double.seen.lines if line.startswith("PUT")] == ["PUT /v1/scopes/members?path=org%3A42"]


def test_an_owner_is_written_as_the_members_there_are(make: Make, double: DirectDouble) -> None:
    members: list[Any] = [{"actor": "user:1", "role": "owner"}]
    double.log.registered["org:42"] = members
    for text in "ab":
        make(scope_root="org:42", scope_owner="user:7").store(learning(text))
    assert double.log.registered["org:42"] == [
        {"actor": "user:1", "role": "owner"},
        {"actor": "user:7", "role": "owner"},
    ]


def test_a_failed_registration_is_logged_and_tried_at_the_next_write(
    make: Make, double: DirectDouble, caplog: pytest.LogCaptureFixture
) -> None:
    double.knobs.fail_registration = 1
    engine = make(scope_root="org:42", scope_owner="user:7")
    with caplog.at_level(logging.WARNING, "corebrain"):
        assert not engine.store(learning("a")).replayed
    assert "org:42 could not be registered" in caplog.text
    assert TOKEN not in caplog.text
    engine.store(learning("b"))
    assert registrations(double) == ["POST /v1/scopes"] * 2
    assert double.log.registered == {"org:42": ["user:7"]}
