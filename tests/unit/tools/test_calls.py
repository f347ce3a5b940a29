from typing import Any

import pytest

from corebrain.contract import EngineDescriptor, MemoryEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.errors import EngineError, InvalidRequest, Unsupported
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, StoreItem, Turn
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef, ToolCallRef
from corebrain.model.namespace import Namespace, Reach
from corebrain.model.requests import (
    ForgetReport,
    ForgetTarget,
    ListPage,
    ListRequest,
    RecallAnswer,
    RecallRequest,
)
from corebrain.tools import MemoryTools

WRITER = Namespace.parse("team:acme/agent:writer")
NOW = Instant.parse("2026-10-04T09:30:00Z")


def tools(engine: MemoryEngine) -> MemoryTools:
    return MemoryTools(engine, now=lambda: NOW).placed_at(WRITER)


def learning(text: str, node: Namespace = WRITER, **meta: Any) -> Learning:
    return StoreItem.learning(text, LearningKind.FACT, 0.123456, MemoryMeta(namespace=node, **meta))


def test_store_builds_the_metadata_itself_and_a_second_time_is_a_replay() -> None:
    engine = ReferenceEngine()
    arguments = {"learning": {"text": "ship on Mondays"}, "tags": ["ops", "ship"]}
    expected = Learning(
        text="ship on Mondays",
        kind=LearningKind.FACT,
        confidence=0.8,
        meta=MemoryMeta(namespace=WRITER, tags=("ops", "ship"), observed_at=NOW),
    )
    assert tools(engine).call("memory_store", arguments) == {"id": expected.fingerprint(), "replayed": False}
    assert tools(engine).call("memory_store", arguments) == {"id": expected.fingerprint(), "replayed": True}
    (held,) = engine.list(ListRequest()).items
    assert (held.meta, held.confidence) == (expected.meta, 0.8)
    assert held.meta.source == SourceRef(kind=SourceKind.AGENT)


@pytest.mark.parametrize(
    ("arguments", "item"),
    [
        (
            {"learning": {"text": "t", "learning_kind": "preference", "confidence": 1, "evidence": "e", "x": None}},
            None,
        ),
        (
            {"learning": {"text": "t", "learning_kind": "preference", "confidence": 1, "evidence": "e"}},
            Learning(text="t", kind=LearningKind.PREFERENCE, confidence=1.0, evidence="e"),
        ),
        ({"document": {"text": "b", "title": "T"}, "learning": None}, Document(title="T", body=Body(text="b"))),
        ({"document": {"text": "b"}}, Document(body=Body(text="b"))),
        (
            {"conversation": {"turns": [{"role": "user", "text": "hi"}, {"role": "tool", "text": "42"}]}},
            Conversation(turns=(Turn(role=Role.USER, text="hi"), Turn(role=Role.TOOL, text="42"))),
        ),
    ],
)
def test_store_takes_each_shape(arguments: dict[str, Any], item: Any) -> None:
    engine = ReferenceEngine()
    if item is None:
        with pytest.raises(InvalidRequest, match=r"`learning\.x`"):
            tools(engine).call("memory_store", arguments)
        return
    stored = item.with_meta(MemoryMeta(namespace=WRITER))
    assert tools(engine).call("memory_store", arguments)["id"] == stored.fingerprint()


@pytest.mark.parametrize(
    "arguments", [None, {}, {"tags": ["a"]}, {"learning": {"text": "a"}, "document": {"text": "b"}}]
)
def test_store_wants_exactly_one_shape(arguments: Any) -> None:
    engine = ReferenceEngine()
    with pytest.raises(InvalidRequest, match="exactly one of learning, document, conversation"):
        tools(engine).call("memory_store", arguments)
    assert len(engine) == 0


def test_fetch_shows_hits_with_rounded_scores_and_only_the_meta_a_model_may_see() -> None:
    engine = ReferenceEngine()
    meta = MemoryMeta(
        namespace=WRITER,
        workspace="secret-host-path",
        file_path="docs/a.md",
        url="https://acme.example/a",
        thread_id="t1",
        agent_id="writer",
        tool_call=ToolCallRef(name="x"),
        source=SourceRef(kind=SourceKind.FILE, id="handbook"),
        tags=("a", "b"),
        observed_at=NOW,
    )
    item = StoreItem.learning("ship on Mondays", LearningKind.FACT, 0.123456, meta)
    engine.store(item)
    shown = tools(engine).call("memory_fetch", {"query": "ship it please", "mode": "keyword"})
    assert shown == {
        "hits": [
            {
                "id": item.fingerprint(),
                "kind": "learning",
                "text": "ship on Mondays",
                "score": 0.3333,
                "confidence": 0.1235,
                "meta": {
                    "source": {"kind": "file", "id": "handbook"},
                    "file_path": "docs/a.md",
                    "url": "https://acme.example/a",
                    "thread_id": "t1",
                    "tags": ["a", "b"],
                    "observed_at": "2026-10-04T09:30:00Z",
                },
            }
        ]
    }


def test_absent_optionals_are_left_out() -> None:
    engine = ReferenceEngine()
    engine.store(StoreItem.document("plain", MemoryMeta(namespace=WRITER)))
    (item,) = tools(engine).call("memory_list")["items"]
    assert set(item) == {"id", "kind", "text", "score", "meta"}
    assert item["meta"] == {"source": {"kind": "agent"}}


def test_list_and_fetch_page_by_cursor(engine: MemoryEngine) -> None:
    for number in range(3):
        engine.store(learning(f"rule {number}"))
    for name, key, query in (
        ("memory_list", "items", {}),
        ("memory_fetch", "hits", {"query": "rule", "mode": "keyword"}),
    ):
        first = tools(engine).call(name, {"limit": 2, **query})
        second = tools(engine).call(name, {"limit": 2, "cursor": first["next_cursor"], **query})
        assert len(first[key]) == 2
        assert len(second[key]) == 1
        assert "next_cursor" not in second


def test_limits_default_to_ten(engine: MemoryEngine) -> None:
    for number in range(12):
        engine.store(learning(f"rule {number}"))
    assert len(tools(engine).call("memory_list")["items"]) == 10
    assert len(tools(engine).call("memory_list", {"limit": 50})["items"]) == 12


def test_recall_answers_with_citations() -> None:
    engine = ReferenceEngine()
    item = learning("ship on Mondays")
    engine.store(item)
    answer = tools(engine).call("memory_recall", {"question": "when do we ship?", "instructions": "short"})
    (citation,) = answer["citations"]
    assert set(answer) == {"answer", "citations"}
    assert set(citation) == {"id", "kind", "snippet", "score", "meta"}
    assert (citation["id"], citation["kind"], citation["snippet"]) == (
        item.fingerprint(),
        "learning",
        "ship on Mondays",
    )
    assert citation["score"] == round(citation["score"], 4)


def test_get_names_what_is_missing_and_drops_duplicates(engine: MemoryEngine) -> None:
    first, second = learning("one"), learning("two")
    engine.store_many([first, second])
    ids = [second.fingerprint(), "f" * 40, first.fingerprint(), second.fingerprint(), "f" * 40]
    got = tools(engine).call("memory_get", {"ids": ids})
    assert [item["text"] for item in got["items"]] == ["two", "one"]
    assert got["missing"] == ["f" * 40]


def test_explore_counts_a_facet(engine: MemoryEngine) -> None:
    engine.store_many([learning("one", tags=("a", "b")), learning("two", tags=("a",)), learning("three")])
    explored = tools(engine).call("memory_explore", {"facet": "tag", "limit": 1})
    assert explored == {
        "facet": "tag",
        "buckets": [{"value": "a", "count": 2}],
        "total": 3,
        "missing": 1,
        "more_buckets": 1,
        "truncated": False,
    }


def test_forget_by_ids_and_by_filter_report_alike(engine: MemoryEngine) -> None:
    first, second = learning("one", tags=("old",)), learning("two")
    engine.store_many([first, second])
    by_id = tools(engine).call("memory_forget", {"ids": [second.fingerprint(), "f" * 40]})
    by_filter = tools(engine).call("memory_forget", {"filter": {"tags_any": ["old"]}})
    assert by_id == {"forgotten": 1, "skipped": ["f" * 40]}
    assert by_filter == {"forgotten": 1, "skipped": []}
    assert tools(engine).call("memory_list")["items"] == []


def test_forget_of_ids_that_are_not_there_does_not_call_the_engine() -> None:
    class NoForget(ReferenceEngine):
        def forget(self, target: ForgetTarget) -> ForgetReport:
            raise AssertionError(target)

    assert tools(NoForget()).call("memory_forget", {"ids": ["f" * 40]}) == {"forgotten": 0, "skipped": ["f" * 40]}


@pytest.mark.parametrize(
    "arguments", [None, {}, {"ids": None, "filter": None}, {"ids": ["a"], "filter": {"tags_any": ["x"]}}]
)
def test_forget_wants_exactly_one_selector(arguments: Any) -> None:
    with pytest.raises(InvalidRequest, match="exactly one of ids, filter"):
        tools(ReferenceEngine()).call("memory_forget", arguments)


def test_filter_reaches_the_engine_whole() -> None:
    class Watched(ReferenceEngine):
        asked: list[ListRequest]

        def list(self, request: ListRequest) -> ListPage:
            self.asked.append(request)
            return super().list(request)

    engine = Watched()
    engine.asked = []
    wanted = {
        "kinds": ["document", "learning"],
        "sources": ["file", "rss"],
        "tags_any": ["a"],
        "workspace": "w",
        "folder": "f",
        "file_path": "f/p",
        "repo": "r",
        "url": "u",
        "thread_id": "t",
        "agent_id": "x",
        "observed_after": "2026-01-01T02:00:00+02:00",
        "observed_before": "2026-02-01T00:00:00Z",
    }
    tools(engine).call("memory_list", {"filter": wanted, "limit": 7})
    (asked,) = engine.asked
    reach = Reach.of(WRITER).to_dict()
    assert asked.filter.to_dict() == {"reach": reach, **wanted, "observed_after": "2026-01-01T00:00:00Z"}
    assert asked.limit == 7


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("memory_list", [], "the arguments are an array"),
        ("memory_list", "x", "the arguments are a string"),
        ("memory_list", {"limit": 0}, "`limit` is out of range"),
        ("memory_list", {"limit": 51}, "`limit` is out of range"),
        ("memory_list", {"limit": True}, "`limit` is a boolean, an integer is needed"),
        ("memory_list", {"limit": 5.0}, "`limit` is a number, an integer is needed"),
        ("memory_list", {"limit": "5"}, "`limit` is a string"),
        ("memory_list", {"speed": 1}, "`speed` is unknown"),
        ("memory_list", {"cursor": 5}, "`cursor` is a number, a string is needed"),
        ("memory_list", {"filter": []}, "`filter` is an array, an object is needed"),
        ("memory_list", {"filter": {"kinds": "learning"}}, "`filter.kinds` is a string, an array is needed"),
        ("memory_list", {"filter": {"kinds": ["belief"]}}, r"`filter.kinds\[0\]` is 'belief', none of document"),
        ("memory_list", {"filter": {"sources": ["telepathy"]}}, r"`filter.sources\[0\]`"),
        ("memory_list", {"filter": {"source_id": "x"}}, "`filter.source_id` is unknown"),
        ("memory_list", {"filter": {"observed_after": "yesterday"}}, "`filter.observed_after` is not an RFC 3339"),
        ("memory_list", {"filter": {"observed_after": "2026-01-01T00:00:00"}}, "`filter.observed_after`"),
        ("memory_list", {"filter": {"tags_any": [1]}}, r"`filter.tags_any\[0\]` is a number"),
        ("memory_recall", None, "`question` is missing"),
        ("memory_recall", {"question": None}, "`question` is missing"),
        ("memory_recall", {"question": " \n"}, "`question` is blank"),
        ("memory_fetch", {"query": "\u3000"}, "`query` is blank"),
        ("memory_fetch", {"query": "q", "mode": "psychic"}, "`mode` is 'psychic', none of keyword"),
        ("memory_get", {"ids": []}, "`ids` has 0 entries"),
        ("memory_get", {"ids": ["a"] * 201}, "`ids` has 201 entries, at most 200"),
        ("memory_get", {"ids": ["a", " "]}, r"`ids\[1\]` is blank"),
        ("memory_get", {"ids": [None]}, r"`ids\[0\]` is null"),
        ("memory_get", {"ids": "a"}, "`ids` is a string"),
        ("memory_explore", {}, "`facet` is missing"),
        ("memory_explore", {"facet": "namespace"}, "`facet` is 'namespace', none of kind"),
        ("memory_store", {"learning": {"text": " "}}, "`learning.text` is blank"),
        ("memory_store", {"learning": {"text": "t", "confidence": 1.01}}, "`learning.confidence` is out of range"),
        ("memory_store", {"learning": {"text": "t", "confidence": float("nan")}}, "`learning.confidence` is out of"),
        ("memory_store", {"learning": {"text": "t", "confidence": True}}, "`learning.confidence` is a boolean"),
        ("memory_store", {"learning": {"text": "t", "learning_kind": "guess"}}, "`learning.learning_kind`"),
        ("memory_store", {"document": {}}, "`document.text` is missing"),
        ("memory_store", {"conversation": {"turns": []}}, "`conversation.turns` has 0 entries"),
        ("memory_store", {"conversation": {"turns": [{"role": "user"}]}}, r"`conversation.turns\[0\].text` is missing"),
        ("memory_store", {"document": {"text": "b"}, "tags": "a"}, "`tags` is a string"),
        ("memory_store", {"document": {"text": {1, 2}}}, "`document.text` is no JSON value"),
    ],
)
def test_wrong_arguments_are_refused_naming_tool_and_field(name: str, arguments: Any, message: str) -> None:
    engine = ReferenceEngine()
    with pytest.raises(InvalidRequest, match=message) as caught:
        tools(engine).call(name, arguments)
    assert caught.value.message.startswith(f"{name}: ")
    assert len(engine) == 0


def test_unknown_tool_is_answered_with_the_names_on_offer() -> None:
    with pytest.raises(InvalidRequest, match=r"memory_recall, memory_fetch.*memory_forget"):
        tools(ReferenceEngine()).call("memory_erase", {})
    with pytest.raises(InvalidRequest) as caught:
        tools(ReferenceEngine()).read_only().call("memory_erase")
    assert "memory_store" not in str(caught.value)


def test_fetch_without_any_mode_is_unsupported_before_arguments_are_read() -> None:
    class Modeless(ReferenceEngine):
        @property
        def descriptor(self) -> EngineDescriptor:
            return EngineDescriptor(id="plain", label="p", description="d")

    with pytest.raises(Unsupported, match="plain declares no fetch mode"):
        tools(Modeless()).call("memory_fetch", {"nonsense": 1})


def test_engine_errors_pass_unchanged() -> None:
    error = EngineError("disk is full")

    class Full(ReferenceEngine):
        def list(self, request: ListRequest) -> ListPage:
            del request
            raise error

    with pytest.raises(EngineError) as caught:
        tools(Full()).call("memory_list")
    assert caught.value is error


def test_lone_surrogate_is_refused_as_any_store_refuses_it() -> None:
    with pytest.raises(InvalidRequest, match="surrogate"):
        tools(ReferenceEngine()).call("memory_store", {"document": {"text": "\ud800"}})


def test_recall_hands_on_its_limit_and_instructions() -> None:
    asked: list[RecallRequest] = []

    class Answering(ReferenceEngine):
        def recall(self, request: RecallRequest) -> RecallAnswer:
            asked.append(request)
            return RecallAnswer(answer="no idea")

    call = tools(Answering()).call
    call("memory_recall", {"question": "who?", "limit": 3, "instructions": "be brief"})
    call("memory_recall", {"question": "who?"})
    assert [(each.question, each.limit, each.instructions) for each in asked] == [
        ("who?", 3, "be brief"),
        ("who?", 10, None),
    ]


def test_two_hundred_ids_are_the_most(engine: MemoryEngine) -> None:
    ids = [f"{number:040x}" for number in range(201)]
    assert tools(engine).call("memory_get", {"ids": ids[:200]}) == {"items": [], "missing": ids[:200]}
    with pytest.raises(InvalidRequest, match=r"memory_get: `ids` has 201 entries, at most 200 are allowed"):
        tools(engine).call("memory_get", {"ids": ids})


def test_fifty_is_the_highest_limit(engine: MemoryEngine) -> None:
    assert tools(engine).call("memory_list", {"limit": 50}) == {"items": []}
    assert tools(engine).call("memory_list", {"limit": 1}) == {"items": []}
    for wrong in (0, 51):
        with pytest.raises(InvalidRequest, match="`limit` is out of range, from 1 to 50"):
            tools(engine).call("memory_list", {"limit": wrong})


@pytest.mark.parametrize(
    ("arguments", "given"), [({}, "none"), ({"learning": {"text": "a"}, "document": {"text": "b"}}, "learning and doc")]
)
def test_store_says_which_shapes_were_given(engine: MemoryEngine, arguments: Any, given: str) -> None:
    with pytest.raises(InvalidRequest, match=f"exactly one of learning, document, conversation is needed, {given}"):
        tools(engine).call("memory_store", arguments)
