"""MetaFilter, redacted ids and facets: spec 01 sections 4 and 7."""

from typing import Any

import pytest

from corebrain.errors import InvalidRequest
from corebrain.model.facet import Facet
from corebrain.model.filter import MetaFilter, holds_phone_number, redacted_id, same_id
from corebrain.model.meta import ItemKind, MemoryMeta
from corebrain.model.namespace import Namespace, Reach

PHONES = [
    ("channel:whatsapp_+15551234567_main", "tm-redacted:3e56c9c00fc271b6700b2cde9c2dca9e"),
    ("user:+15551234567", "tm-redacted:a2e48cdebc71e8bcd1a9b9e7595866e4"),
    ("+1 (555) 123-4567", "tm-redacted:f39a67bb4bdfb0b57c3db7689c8e8896"),
    ("15551234567", "tm-redacted:d6736136ea896c1bfdc553e0e86e702c"),
    ("1234567 x", "tm-redacted:d97facbc6e800084d75263b26ff97667"),
    ("t-20261004093000", "tm-redacted:944b084203b21ff1b121a480ea7ffe33"),
]
NOT_PHONES = [
    *("thread-0f8fad5b-d9cb-469f-a165-70867728950e", "jane1234567@example.com", "9f31234567ab", "12345678a"),
    *("support-01", "123456", "tm-redacted:15551234567", ""),
]


@pytest.mark.parametrize(("value", "redacted"), PHONES)
def test_phone_numbers_are_found_and_redacted(value: str, redacted: str) -> None:
    assert holds_phone_number(value)
    assert redacted_id(value) == redacted
    assert same_id(redacted, value)
    assert same_id(value, value)
    assert not same_id(redacted, value + "8")
    assert not same_id(None, value)


@pytest.mark.parametrize("value", NOT_PHONES)
def test_what_is_no_phone_number_is_left(value: str) -> None:
    assert not holds_phone_number(value)


META = MemoryMeta.from_dict(
    {
        "namespace": "team:acme",
        "workspace": "w",
        "folder": "/a/b",
        "file_path": "/a/b/c.rs",
        "language": "rust",
        "repo": "r",
        "commit": "c",
        "url": "u",
        "thread_id": "t",
        "turns": {"first": 1, "last": 2},
        "agent_id": "tm-redacted:d6736136ea896c1bfdc553e0e86e702c",
        "tool_call": {"name": "grep", "id": "1"},
        "source": {"kind": "file", "id": "s"},
        "tags": ["x", "y"],
        "observed_at": "2026-01-02T00:00:00Z",
    }
)
MATCHING: list[dict[str, Any]] = [
    {},
    {"reach": {"at": "team:acme/agent:a"}},
    {"workspace": "w"},
    {"folder": "/a"},
    {"folder": "/a/b/"},
    {"file_path": "/a/b"},
    {"file_path": "/a/b/c.rs"},
    {"language": "rust"},
    {"repo": "r", "commit": "c", "url": "u"},
    {"thread_id": "t"},
    {"turns": {"first": 1, "last": 2}},
    {"agent_id": "15551234567"},
    {"tool_call": "grep"},
    {"kinds": ["document", "learning"]},
    {"sources": ["folder", "file"]},
    {"source_id": "s"},
    {"tags_any": ["z", "y"]},
    {"observed_after": "2026-01-02T00:00:00Z"},
    {"observed_before": "2026-01-02T00:00:00.000000001Z"},
]
FAILING: list[dict[str, Any]] = [
    {"reach": {"at": "team:other"}},
    {"workspace": "W"},
    {"folder": "/a/bc"},
    {"folder": "/a/b/c"},
    {"file_path": "/a/b/c"},
    {"language": "rus"},
    {"thread_id": "t2"},
    {"turns": {"first": 1, "last": 3}},
    {"agent_id": "15551234568"},
    {"tool_call": "1"},
    {"kinds": ["learning"]},
    {"sources": ["folder"]},
    {"source_id": ""},
    {"tags_any": ["z"]},
    {"observed_after": "2026-01-02T00:00:00.000000001Z"},
    {"observed_before": "2026-01-02T00:00:00Z"},
    {"language": "rust", "repo": "other"},
]


@pytest.mark.parametrize("wanted", MATCHING)
def test_a_filter_that_holds_matches(wanted: dict[str, Any]) -> None:
    assert MetaFilter.from_dict(wanted).matches(ItemKind.DOCUMENT, META)


@pytest.mark.parametrize("wanted", FAILING)
def test_one_field_that_does_not_hold_is_enough(wanted: dict[str, Any]) -> None:
    assert not MetaFilter.from_dict(wanted).matches(ItemKind.DOCUMENT, META)


@pytest.mark.parametrize("wanted", [one for one in MATCHING if one and not {"reach", "kinds"} & one.keys()])
def test_an_item_without_the_value_never_matches(wanted: dict[str, Any]) -> None:
    assert not MetaFilter.from_dict(wanted).matches(ItemKind.DOCUMENT, MemoryMeta())


def test_the_empty_filter_is_empty_and_a_lone_reach_is_not() -> None:
    assert MetaFilter().is_empty
    assert MetaFilter().to_json() == "{}"
    assert not MetaFilter(reach=Reach()).is_empty
    assert MetaFilter.of_kinds(ItemKind.LEARNING).admits_kind(ItemKind.LEARNING)
    assert not MetaFilter.of_kinds(ItemKind.LEARNING).admits_kind(ItemKind.DOCUMENT)


def test_no_reach_skips_sandboxes() -> None:
    boxed = MemoryMeta(namespace=Namespace.parse("service:news"))
    assert not MetaFilter().matches(ItemKind.DOCUMENT, boxed)


VALUES = {
    Facet.KIND: "document",
    Facet.SOURCE: "file",
    Facet.SOURCE_ID: "s",
    Facet.WORKSPACE: "w",
    Facet.FOLDER: "/a/b",
    Facet.FILE_PATH: "/a/b/c.rs",
    Facet.LANGUAGE: "rust",
    Facet.REPO: "r",
    Facet.URL: "u",
    Facet.THREAD: "t",
    Facet.AGENT: META.agent_id,
    Facet.TOOL_CALL: "grep",
    Facet.TAG: "x",
    Facet.NAMESPACE: "team:acme",
}


@pytest.mark.parametrize("facet", Facet)
def test_a_facet_reads_its_value_and_narrows_to_it(facet: Facet) -> None:
    assert VALUES[facet] in facet.values(ItemKind.DOCUMENT, META)
    narrowed = facet.narrow(MetaFilter(), str(VALUES[facet]))
    assert narrowed.matches(ItemKind.DOCUMENT, META)
    assert not narrowed.is_empty
    if facet not in {Facet.KIND, Facet.SOURCE, Facet.NAMESPACE}:
        assert facet.values(ItemKind.DOCUMENT, MemoryMeta()) == ()
    assert Facet.TAG.values(ItemKind.DOCUMENT, META) == ("x", "y")
    assert Facet.NAMESPACE.values(ItemKind.DOCUMENT, MemoryMeta()) == ("root",)


def test_narrowing_replaces_one_field_and_a_namespace_is_exact() -> None:
    base = MetaFilter(reach=Reach(), kinds=(ItemKind.LEARNING,), tags_any=("x", "y"), url="u")
    assert Facet.NAMESPACE.narrow(base, "team:a").to_dict() == {
        **base.to_dict(),
        "reach": {"at": "team:a", "inherit": False, "descendants": False},
    }
    assert Facet.NAMESPACE.narrow(base, "root").reach == Reach.exact(Namespace.ROOT)
    assert Facet.KIND.narrow(base, "document").to_dict() == {**base.to_dict(), "kinds": ["document"]}
    assert Facet.SOURCE.narrow(base, "rss").to_dict() == {**base.to_dict(), "sources": ["rss"]}
    assert Facet.TAG.narrow(base, "z").to_dict() == {**base.to_dict(), "tags_any": ["z"]}
    assert Facet.THREAD.narrow(base, "t").thread_id == "t"
    assert Facet.AGENT.narrow(base, "a").agent_id == "a"


@pytest.mark.parametrize(
    ("facet", "value"),
    [(Facet.URL, " "), (Facet.KIND, "poem"), (Facet.SOURCE, "moon"), (Facet.NAMESPACE, "planet:mars")],
)
def test_narrowing_to_nonsense_is_refused(facet: Facet, value: str) -> None:
    with pytest.raises(InvalidRequest):
        facet.narrow(MetaFilter(), value)
