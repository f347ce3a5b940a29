"""Request bodies byte for byte: the vectors of the reference, and what they do not show."""

import json
from pathlib import Path
from typing import Any

import pytest

from corebrain.engines.cortexdb.digests import label_digest, path_digest, path_digests
from corebrain.engines.cortexdb.envelope import read_envelope
from corebrain.engines.cortexdb.events import EVENT_BYTES, body_key, encode_item
from corebrain.engines.cortexdb.scopes import LegacyLayout
from corebrain.errors import InvalidRequest
from corebrain.model.filter import MetaFilter
from corebrain.model.item import Body, Document, StoreItem, read_item
from corebrain.model.meta import MemoryMeta

VECTORS = json.loads((Path(__file__).parent / "bodies.json").read_text())["vectors"]
LAYOUT = LegacyLayout()


def encoded(item: Any) -> list[Any]:
    return encode_item(item, item.fingerprint(), LAYOUT.path(item.meta.namespace, item.kind))


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_body_is_that_of_the_reference(vector: dict[str, Any]) -> None:
    item = read_item(vector["item"])
    assert item.fingerprint() == vector["id"]
    (event,) = encoded(item)
    assert event.body == vector["body"]


@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector["name"])
def test_a_body_reads_back_as_its_item(vector: dict[str, Any]) -> None:
    body = vector["body"]
    envelope = read_envelope(body["content"]["text"], body["context"]["labels"])
    assert envelope is not None
    assert (envelope.id, envelope.text) == (vector["id"], body["content"]["text"])


@pytest.mark.parametrize(
    ("value", "digest"),
    [
        ("agent", "d4f0bc5a29de06b5"),
        ("conversation", "8b34dbc2c05eb4d7"),
        ("file", "3b9c358f36f0a31b"),
        ("folder", "034a0062488256f1"),
        ("import", "d942f64886578d87"),
        ("owner/repo", "65e817eec8cd71ed"),
        ("t1", "628b49d96dcde97a"),
        ("support-01", "1f9878404fb23f15"),
    ],
)
def test_a_label_digest_is_that_of_the_reference(value: str, digest: str) -> None:
    assert label_digest(value) == digest


def test_path_digests_stand_for_every_folder_above_and_the_path() -> None:
    assert path_digests("/a/b") == (path_digest(""), path_digest("/a"), path_digest("/a/b"))
    assert path_digests("a/b/") == (path_digest("a"), path_digest("a/b"), path_digest("a/b/"))
    assert path_digests("a.md") == (path_digest("a.md"),)
    assert path_digests("") == (path_digest(""),)


def test_the_key_counts_every_value_but_not_the_order_of_keys() -> None:
    body = {"scope": "a", "content": {"kind": "message", "text": "é"}}
    assert body_key(body) == body_key({"content": {"text": "é", "kind": "message"}, "scope": "a"})
    assert body_key(body) != body_key({**body, "scope": "b"})
    assert len(body_key(body)) == 60


def test_local_paths_leave_as_digests_and_are_still_filtered_on() -> None:
    meta = MemoryMeta(workspace="/Users/p/work", folder="/Users/p/docs", file_path="C:\\notes\\plan.md")
    (event,) = encoded(StoreItem.document("text", meta))
    assert "Users" not in json.dumps(event.body)
    envelope = read_envelope(event.text, event.labels)
    assert envelope is not None
    assert (envelope.meta.workspace, envelope.meta.folder, envelope.meta.file_path) == (None, None, "plan.md")
    admitted = [{"workspace": "/Users/p/work"}, {"folder": "/Users/p"}, {"folder": "/Users/p/"}]
    refused = [{"workspace": "/Users/p"}, {"folder": "/Users/p/do"}, {"file_path": "plan"}]
    assert all(envelope.matches(MetaFilter.model_validate(each)) for each in [*admitted, {"file_path": "plan.md"}])
    assert not any(envelope.matches(MetaFilter.model_validate(each)) for each in refused)


@pytest.mark.parametrize("workspace", ["handbook", "acme/notes", "1:x", "-", "é:"])
def test_a_logical_workspace_leaves_as_it_is(workspace: str) -> None:
    (event,) = encoded(StoreItem.document("text", MemoryMeta(workspace=workspace)))
    carried = "".join(label.split(":", 3)[3] for label in event.labels if label.startswith("tm:e:"))
    assert json.loads(carried)["meta"]["workspace"] == workspace
    assert "ws" not in json.loads(carried)
    assert [label for label in event.labels if label.startswith("tm:w:")] == [f"tm:w:{label_digest(workspace)}"]


@pytest.mark.parametrize("workspace", ["/a", "~", "~x", "\\\\share", "C:", "z:\\x"])
def test_a_place_of_this_machine_leaves_as_a_digest(workspace: str) -> None:
    (event,) = encoded(StoreItem.document("text", MemoryMeta(workspace=workspace)))
    carried = "".join(label.split(":", 3)[3] for label in event.labels if label.startswith("tm:e:"))
    assert "workspace" not in json.loads(carried)["meta"]
    assert json.loads(carried)["ws"] == path_digest(workspace)
    assert [label for label in event.labels if label.startswith("tm:w:")] == [f"tm:w:{path_digest(workspace)[:16]}"]


def test_an_envelope_too_long_for_labels_stands_in_the_text() -> None:
    meta = MemoryMeta(tags=tuple(f"tag-{number:04d}-of-a-very-long-list" for number in range(600)))
    (event,) = encoded(StoreItem.document("the text", meta))
    assert [label[:5] for label in event.labels] == ["tm:i:", "tm:k:"]
    for text in (event.text, f"[user] {event.text}"):
        envelope = read_envelope(text, event.labels)
        assert envelope is not None
        assert (envelope.v, envelope.text, envelope.meta) == (2, "the text", meta)


def test_slices_are_cut_between_characters() -> None:
    title = "日本" * 200
    item = Document(title=title, body=Body(text="x"))
    (event,) = encoded(item)
    slices = [label for label in event.labels if label.startswith("tm:e:")]
    assert len(slices) > 4
    assert all(len(label.encode()) <= 240 + len("tm:e:00:") for label in slices)
    envelope = read_envelope("x", list(reversed(event.labels)))
    assert envelope is not None
    assert envelope.title == title


@pytest.mark.parametrize("missing", [0, 1, 2])
def test_a_gap_in_the_slices_makes_an_event_not_ours(missing: int) -> None:
    (event,) = encoded(Document(title="t" * 500, body=Body(text="x")))
    gone = f"tm:e:{missing:02d}:"
    assert read_envelope("x", [label for label in event.labels if not label.startswith(gone)]) is None


@pytest.mark.parametrize("text", ["hello", '{"v":3,"id":"a","kind":"document"}', "{", "[user] hello", "", '{"v":2}'])
def test_what_is_not_ours_is_not_read(text: str) -> None:
    assert read_envelope(text, ["kind:document", "tm:i:0"]) is None


def test_an_event_over_the_limit_is_refused_before_anything_is_sent() -> None:
    meta = MemoryMeta(tags=("t" * EVENT_BYTES,))
    with pytest.raises(InvalidRequest, match="refuses events over 1 MiB"):
        encoded(StoreItem.document("text", meta))


def test_readable_labels_leave_out_what_is_long_or_redacted() -> None:
    meta = MemoryMeta(agent_id="+15551234567", thread_id="thread-0f8fad5b-d9cb-469f-a165-70867728950e", language="en")
    (event,) = encoded(StoreItem.document("text", meta))
    readable = [label for label in event.labels if not label.startswith("tm:")]
    assert readable == ["kind:document", "thread:thread-0f8fad5b-d9cb-469f-a165-70867728950e"]
    (event,) = encoded(StoreItem.document("text", MemoryMeta(file_path="f" * 252)))
    assert [label for label in event.labels if label.startswith("file:")] == []
