"""The layout's edges: depth, pools, JSON, sources of any name."""

import copy
import pickle
from typing import Any

import pytest

from corebrain.errors import InvalidRequest
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.item import read_item
from corebrain.model.meta import MemoryMeta
from corebrain.model.namespace import Namespace, Reach


def deep(depth: int) -> Namespace:
    return Namespace.parse("/".join(f"team:t{number}" for number in range(depth)))


def test_a_root_of_seven_has_room_for_sources_but_for_no_collections() -> None:
    layout = MemoryLayout(deep(7))
    assert layout.brain(BrainSource.FILES).depth == 8
    assert layout.conversations("a").depth == 8
    with pytest.raises(InvalidRequest, match="at most 8"):
        layout.brain_collection(BrainSource.FILES, "c")
    with pytest.raises(InvalidRequest, match="at most 7"):
        MemoryLayout(deep(8))
    assert MemoryLayout(deep(6)).brain_collection(BrainSource.FILES, "c").depth == 8


def test_the_ancestors_of_a_root_come_root_first_and_without_it() -> None:
    assert MemoryLayout(deep(2)).ancestors() == [Namespace.ROOT, deep(1)]
    assert MemoryLayout().ancestors() == []


@pytest.mark.parametrize("at", ["root", "team:a", "team:b"])
def test_a_layout_at_the_root_namespace_has_no_core(at: str) -> None:
    with pytest.raises(InvalidRequest, match="not above"):
        MemoryLayout().admits_core(Namespace.parse(at))


def test_core_scopes_are_the_strict_ancestors() -> None:
    layout = MemoryLayout(Namespace.parse("ws:acme/team:a"))
    for node in layout.ancestors():
        layout.admits_core(node)
    for path in ("ws:acme/team:a", "ws:acme/team:a/agent:x", "ws:acme/team:b", "ws:acme-2"):
        with pytest.raises(InvalidRequest):
            layout.admits_core(Namespace.parse(path))


def test_every_filter_is_a_subtree_of_its_node() -> None:
    layout = MemoryLayout(Namespace.parse("team:acme"))
    assert [filter_.to_dict() for filter_ in (layout.learnings_filter(), layout.holistic_filter())] == [
        {"reach": Reach.subtree(layout.root).to_dict(), "kinds": ["learning"]},
        {"reach": Reach.subtree(layout.root).to_dict()},
    ]
    assert layout.conversations_filter("agent 7").to_dict() == {
        "reach": Reach.subtree(Namespace.parse("team:acme/agent:agent-7-e947a51f")).to_dict(),
        "kinds": ["conversation"],
    }
    assert layout.conversations_filter().reach == Reach.subtree(layout.root)
    assert layout.brain_filter(BrainSource.WEB).reach == Reach.subtree(Namespace.parse("team:acme/source:web"))


def test_a_pool_lies_strictly_below_the_root() -> None:
    layout = MemoryLayout(Namespace.parse("team:acme"))
    pooled = layout.with_pooled_conversations(Namespace.parse("ws:main"))
    assert pooled == MemoryLayout(layout.root, Namespace.parse("team:acme/ws:main"))
    assert pooled.learnings() == layout.learnings()
    for pool in ("root", "team:acme", "team:other", "ws:main"):
        with pytest.raises(InvalidRequest, match="not below"):
            MemoryLayout(layout.root, Namespace.parse(pool))
    with pytest.raises(InvalidRequest, match="pooled"):
        layout.with_pooled_conversations(Namespace.ROOT)
    assert layout.with_pooled_conversations(deep(7)).conversations("x").depth == 8


def test_a_layout_is_a_value_that_reads_its_own_json_and_ignores_what_it_does_not_know() -> None:
    layout = MemoryLayout(Namespace.parse("team:acme"))
    assert layout.to_json() == '{"root":"team:acme"}'
    pooled = layout.with_pooled_conversations(Namespace.parse("ws:main"))
    for each in (layout, pooled):
        assert MemoryLayout.from_json(each.to_json()) == each
        assert MemoryLayout.from_dict({**each.to_dict(), "self": 1, "of_a_later_version": 1}) == each
    assert len({layout, MemoryLayout(root=Namespace.parse("team:acme"))}) == 1
    malformed: list[object] = [{"root": 5}, {"root": "nowhere"}, [], {"pool": "root"}]
    for bad in malformed:
        with pytest.raises(InvalidRequest):
            MemoryLayout.from_dict(bad)


# -- sources


@pytest.mark.parametrize("blank", ["", " ", "\u3000\n"])
def test_a_blank_source_is_refused(blank: str) -> None:
    with pytest.raises(InvalidRequest, match="blank"):
        BrainSource.parse(blank)


def test_a_source_is_trimmed_and_any_name_has_a_node() -> None:
    assert BrainSource.parse("\u2003files\n") is not None
    assert BrainSource.parse("\u2003files\n") == BrainSource.FILES
    assert BrainSource.parse("MD").id == "markdown"
    assert str(MemoryLayout().brain(BrainSource("my app"))).startswith("source:my-app-")


def test_a_source_is_its_id_on_the_wire() -> None:
    document = BrainDocument.from_dict({"source": "GITHUB", "text": "t", "later": 1})
    assert document.source == BrainSource.GITHUB
    assert document.to_json() == '{"source":"github","text":"t","meta":{"source":{"kind":"agent"}}}'
    for bad in (5, None, " ", {"id": "files"}):
        with pytest.raises(InvalidRequest):
            BrainDocument.from_dict({"source": bad, "text": "t"})


def test_a_source_is_an_immutable_value() -> None:
    source = BrainSource("gmail")
    with pytest.raises(AttributeError):
        source.id = "files"
    assert copy.deepcopy(source) == source
    assert pickle.loads(pickle.dumps(source)) == source  # noqa: S301  # our own bytes
    assert len({source, BrainSource("gmail"), BrainSource("Gmail")}) == 2
    assert (str(source), repr(source)) == ("gmail", "BrainSource(gmail)")
    assert source != "gmail"
    assert not source < BrainSource("gmail")
    assert source <= BrainSource("gmail")


@pytest.mark.parametrize("source_id", ["files", "pdf", "markdown", "notion", "github", "web", "gmail", "agent"])
def test_a_source_has_the_kind_that_the_vectors_hold(source_id: str) -> None:
    expected = "file" if source_id in {"files", "pdf", "markdown"} else "import"
    assert BrainSource(source_id).default_kind.value == expected


# -- documents


def filed(**fields: Any) -> Any:
    return BrainDocument(**fields).into_item(MemoryLayout())


def test_the_vectors_of_brain_documents_reproduce() -> None:
    refunds = filed(source=BrainSource.MARKDOWN, title="refunds.md", text="Refunds take five business days.")
    assert refunds.fingerprint() == "0addc9302624a6d64e109ce9c0dace9aaf36324f"
    deploy = filed(source=BrainSource.GITHUB, text="Deploy with make ship.")
    assert deploy.fingerprint() == "c25ec69874f48ada8e27f3d2e68e70aec2be3f5c"


def test_a_filed_document_keeps_its_title_type_and_all_other_metadata() -> None:
    meta = MemoryMeta.from_dict(
        {"namespace": "agent:x", "agent_id": "x", "url": "u", "tags": ["t"], "observed_at": "2026-01-01T00:00:00Z"}
    )
    item = filed(source=BrainSource.WEB, title="", text="t", mime="text/html", meta=meta, collection="")
    assert item.to_dict() == {
        "type": "document",
        "title": "",
        "body": {"text": "t"},
        "mime": "text/html",
        "meta": {
            "namespace": "source:web/project:_",
            "url": "u",
            "source": {"kind": "import"},
            "tags": ["t"],
            "observed_at": "2026-01-01T00:00:00Z",
        },
    }
    assert read_item(item.to_json()) == item


def test_a_collection_and_an_item_stored_at_its_node_by_hand_are_one() -> None:
    layout = MemoryLayout()
    document = BrainDocument(source=BrainSource.GITHUB, collection="acme/api", text="t")
    by_hand = BrainDocument(source=BrainSource.GITHUB, text="t").into_item(layout)
    at = layout.brain_collection(BrainSource.GITHUB, "acme/api")
    by_hand = by_hand.with_meta(by_hand.meta.model_copy(update={"namespace": at}))
    assert document.into_item(layout).fingerprint() == by_hand.fingerprint()


def test_builders_return_copies() -> None:
    plain = BrainDocument(source=BrainSource.FILES, text="t")
    assert plain.titled("T").title == "T"
    assert plain.with_meta(MemoryMeta(url="u")).meta.url == "u"
    assert plain == BrainDocument(source=BrainSource.FILES, text="t")


# -- the worked values and tables of the specification


def test_the_worked_values_reproduce() -> None:
    acme = MemoryLayout(Namespace.parse("team:acme"))
    assert str(acme.brain(BrainSource.PDF)) == "team:acme/source:pdf"
    assert str(acme.conversations("coder-42")) == "team:acme/agent:coder-42"
    assert str(acme.conversations("agent 7")) == "team:acme/agent:agent-7-e947a51f"
    node = acme.brain_collection(BrainSource.GITHUB, "tinyhumansai/openhuman")
    assert str(node) == "team:acme/source:github/project:tinyhumansai-openhuman-5023397d"
    assert acme.learnings() == acme.root


def test_pooled_agents_share_a_node_and_are_told_apart_by_their_id() -> None:
    acme = MemoryLayout(Namespace.parse("team:acme"))
    pooled = acme.with_pooled_conversations(Namespace.parse("ws:main"))
    exact = {"at": "team:acme/ws:main", "inherit": False, "descendants": False}
    assert {str(pooled.conversations(agent)) for agent in ("coder", "writer")} == {"team:acme/ws:main"}
    assert pooled.conversations_filter("coder").to_dict() == {
        "reach": exact,
        "agent_id": "coder",
        "kinds": ["conversation"],
    }
    assert pooled.conversations_filter().to_dict() == {"reach": exact, "kinds": ["conversation"]}
    assert pooled.brain(BrainSource.WEB) == acme.brain(BrainSource.WEB)
    assert pooled.learnings_filter() == acme.learnings_filter()


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("files", BrainSource.FILES),
        (" PDF ", BrainSource.PDF),
        ("md", BrainSource.MARKDOWN),
        ("Markdown", BrainSource.MARKDOWN),
        ("NOTION", BrainSource.NOTION),
        ("GitHub", BrainSource.GITHUB),
        ("web", BrainSource.WEB),
        ("Gmail", BrainSource("Gmail")),
        ("mdx", BrainSource("mdx")),
    ],
)
def test_a_source_is_read_from_its_id_in_any_case(text: str, source: BrainSource) -> None:
    assert BrainSource.parse(text) == source
    assert BrainSource.parse("Gmail").id == "Gmail"


def test_sources_are_ordered_as_tabled_and_others_by_id() -> None:
    ordered = ["files", "pdf", "markdown", "notion", "github", "web", "Zoom", "asana", "gmail"]
    sources = [BrainSource(source_id) for source_id in ordered]
    assert sorted([*sources[5:], *sources[:5]]) == sources


def test_a_source_that_was_set_stays_and_only_the_exact_default_is_replaced() -> None:
    for already in ({"kind": "github"}, {"kind": "agent", "id": "wiki"}, {"kind": "file", "id": "notes"}):
        meta = MemoryMeta.from_dict({"source": already})
        assert filed(source=BrainSource.NOTION, text="t", meta=meta).meta == meta.model_copy(
            update={"namespace": Namespace.parse("source:notion")}
        )
    assert filed(source=BrainSource.NOTION, text="t").meta.source.to_dict() == {"kind": "import"}
    with pytest.raises(InvalidRequest, match="blank"):
        filed(source=BrainSource.NOTION, text="\u3000")


def test_a_document_of_any_format_goes_to_files_when_no_source_is_named() -> None:
    assert {BrainSource.for_format(name) for name in ("pdf", "markdown", "html", "text")} == {BrainSource.FILES}
