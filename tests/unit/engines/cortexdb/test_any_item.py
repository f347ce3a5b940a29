"""Whatever an item holds, its events carry it whole, within what a server takes, and no place of this machine."""

import json
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from corebrain.engines.cortexdb.envelope import read_envelope
from corebrain.engines.cortexdb.events import MAX_LABELS, body_key, encode_item
from corebrain.engines.cortexdb.replies import Held, is_complete, read_event, rebuilt
from corebrain.engines.cortexdb.scopes import LegacyLayout, RootedLayout
from corebrain.engines.cortexdb.sent_meta import as_sent
from corebrain.model.filter import MetaFilter
from corebrain.model.instant import Instant
from corebrain.model.item import Body, Conversation, Document, Learning, LearningKind, Role, Turn
from corebrain.model.meta import ItemKind, MemoryMeta, SourceKind, SourceRef, ToolCallRef
from corebrain.model.namespace import Namespace, Segment, SegmentKind
from corebrain.model.text import is_blank

words = st.text(st.characters(codec="utf-8"), max_size=40)
said = words.filter(lambda text: not is_blank(text))
longish = st.one_of(said, st.text('é\x00"\\日', min_size=200, max_size=2_000))
instants = st.integers(min_value=0, max_value=4_000_000_000 * 10**9).map(Instant)
segments = st.builds(Segment, st.sampled_from(SegmentKind), st.from_regex(r"[A-Za-z0-9_-]{1,12}", fullmatch=True))
nodes = st.lists(segments, max_size=4).map(lambda parts: Namespace(tuple(parts)))
metas = st.builds(
    MemoryMeta,
    namespace=nodes,
    workspace=st.none() | longish,
    folder=st.none() | longish,
    file_path=st.none() | longish,
    language=st.none() | words,
    repo=st.none() | words,
    url=st.none() | words,
    thread_id=st.none() | words | st.just("thread-0f8fad5b-d9cb-469f-a165-70867728950e"),
    agent_id=st.none() | words | st.just("+1 555 123 4567"),
    source=st.builds(SourceRef, kind=st.sampled_from(SourceKind), id=st.none() | words),
    tags=st.lists(words, max_size=3).map(tuple),
    observed_at=st.none() | instants,
    derive=st.none() | st.booleans(),
)
turns = st.builds(
    Turn,
    role=st.sampled_from(Role),
    text=said,
    at=st.none() | instants,
    tool_calls=st.lists(st.builds(ToolCallRef, name=words, id=st.none() | words), max_size=2).map(tuple),
)
items = st.one_of(
    st.builds(
        Document,
        title=st.none() | longish,
        body=said.map(lambda text: Body(text=text)),
        mime=st.none() | words,
        meta=metas,
    ),
    st.builds(Conversation, turns=st.lists(turns, min_size=1, max_size=3).map(tuple), meta=metas),
    st.builds(
        Learning,
        text=said,
        kind=st.sampled_from(LearningKind),
        confidence=st.floats(0, 1, width=32),
        evidence=st.none() | words,
        meta=metas,
    ),
)


@settings(max_examples=60, deadline=None)
@given(items)
def test_an_item_reads_back_from_its_events_as_it_was_sent(item: Any) -> None:
    item_id = item.fingerprint()
    events = encode_item(item, item_id, "s")
    held: list[Held] = []
    for number, event in enumerate(events):
        body = json.loads(json.dumps(event.body))  # as a server stores it
        found = read_event({"id": f"e{number}", **body}, "s", item.kind)
        assert found is not None
        held.append(found)
    assert {each.envelope.id for each in held} == {item_id}
    assert is_complete(held)
    back = rebuilt(reversed(held))
    assert back is not None
    assert back == item.model_copy(update={"meta": as_sent(item.meta).meta})


@settings(max_examples=40, deadline=None)
@given(items)
def test_events_keep_to_what_a_server_takes(item: Any) -> None:
    for event in encode_item(item, item.fingerprint(), "s"):
        body = dict(event.body)
        key = body.pop("idempotency_key")
        assert key == body_key(body)
        assert len(key) <= 64
        assert len(event.labels) <= MAX_LABELS
        assert all(len(label.encode()) <= 256 for label in event.labels)
        assert event.text
        assert read_envelope(event.text, event.labels) is not None


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=8,
)
envelope_keys = ("v", "id", "kind", "text", "meta", "ws", "fp", "title", "learning_kind", "confidence", "turn", "chunk")
odd = st.dictionaries(st.sampled_from(envelope_keys), anything | st.sampled_from([2, 3, "document", "x" * 40, {}]))


@settings(max_examples=100, deadline=None)
@given(odd, st.dictionaries(st.sampled_from(("id", "event_id", "content", "context", "scope")), anything), anything)
def test_whatever_a_server_returns_is_ours_or_passed_over(envelope: Any, raw: Any, strange: Any) -> None:
    text = json.dumps({"v": 2, "id": "x", "kind": "document", "text": "t", "meta": {}, **envelope})
    labels = [f"tm:e:00:{text[:200]}", f"tm:e:01:{text[200:]}", strange]
    ours = {"id": "e", "content": {"text": text, "_partial": strange}, "context": {"labels": labels}}
    for each in (raw, {**ours, **raw}, ours):
        held = read_event(each, "s", ItemKind.DOCUMENT)
        if held is not None:
            rebuilt([held])
            held.envelope.matches(MetaFilter())


@settings(max_examples=50, deadline=None)
@given(metas)
def test_no_folder_leaves_this_machine(meta: MemoryMeta) -> None:
    sent = as_sent(meta).meta
    assert sent.folder is None
    assert sent.file_path is None or not {"/", "\\"} & set(sent.file_path)
    assert sent.workspace is None or sent.workspace[:1] not in {"/", "~", "\\"}


@settings(max_examples=50, deadline=None)
@given(nodes, st.sampled_from(ItemKind))
def test_every_node_reads_back_from_its_scope_in_every_layout(node: Namespace, kind: ItemKind) -> None:
    for layout in (LegacyLayout(), RootedLayout("org:42"), RootedLayout("", anywhere=True)):
        path = layout.path(node, kind)
        held = layout.parse(path)
        assert held is not None
        assert (held.node, held.kind, held.path) == (node, kind, path)
        assert any(not prefix or f"{path}/".startswith(f"{prefix}/") for prefix in layout.prefixes(node))
