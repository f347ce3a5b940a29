"""The scripted source does what its script says: tests of a pipeline lean on it."""

import pytest

from connectors.contract import Blob, Checkpoint, Complete, Event, Failed, Gone, Json, Seen, Unchanged
from connectors.errors import DocumentGone, DocumentRefused, Unavailable
from connectors.notes import MemoryNotes
from connectors.testing.behaviour import Behaviour
from connectors.testing.scripted import ConfirmingConnector, ScriptedConnector

DOCUMENTS = {"a.md": "alpha", "b/c.md": "gamma", "b/d.md": "delta"}


def scan(source: ScriptedConnector, cursor: Json = None, scope: str = "") -> list[Event]:
    return list(source.scan(cursor, MemoryNotes(), scope))


def seen(events: list[Event]) -> list[str]:
    return [event.ref.key for event in events if isinstance(event, Seen)]


def token(source: ScriptedConnector, key: str) -> str | None:
    (event,) = (event for event in scan(source, scope=key) if isinstance(event, Seen))
    return event.ref.token


def test_listing_is_sorted_complete_and_recorded() -> None:
    source = ScriptedConnector(DOCUMENTS)
    events = scan(source)
    assert seen(events) == ["a.md", "b/c.md", "b/d.md"]
    assert events[-2:] == [Checkpoint(None), Complete("")]
    assert seen(scan(source, scope="b/")) == ["b/c.md", "b/d.md"]
    assert source.scans == [(None, ""), (None, "b/")]


def test_edit_changes_the_token_and_rename_keeps_it() -> None:
    source = ScriptedConnector(DOCUMENTS)
    before = token(source, "a.md")
    source.put("a.md", "again")
    after = token(source, "a.md")
    source.rename("a.md", "z.md")
    assert before != after == token(source, "z.md")
    assert seen(scan(source)) == ["b/c.md", "b/d.md", "z.md"]


def test_facts_are_shown_by_listing_and_fetch() -> None:
    source = ScriptedConnector()
    source.put("a.md", b"x", token="same", title="T", url="https://x.example", collection="c", language="en")
    (event, *_) = scan(source)
    assert isinstance(event, Seen)
    assert (event.ref.token, event.ref.title, event.ref.collection) == ("same", "T", "c")
    blob = source.fetch(event.ref, None)
    assert isinstance(blob, Blob)
    assert (blob.data, blob.token, blob.title, blob.language) == (b"x", "same", "T", "en")
    assert source.fetch(event.ref, "same") == Unchanged("same")
    assert source.fetches == ["a.md", "a.md"]


def test_content_ids_are_equal_for_equal_bytes() -> None:
    source = ScriptedConnector({"a": "x", "b": "x", "c": "y"}, behaviour=Behaviour(contents=True))
    first, twin, other = (event.ref.content for event in scan(source) if isinstance(event, Seen))
    assert first == twin != other


def test_tokens_may_be_unknown_and_bytes_come_with_the_listing() -> None:
    source = ScriptedConnector({"a": "x"}, behaviour=Behaviour(tokens=False, in_listing=True))
    (event, *_) = scan(source)
    assert isinstance(event, Seen)
    assert event.ref.token is None
    assert event.blob is not None


def test_tombstone_is_vouched_for_until_the_key_returns() -> None:
    source = ScriptedConnector(DOCUMENTS)
    source.remove("a.md", tombstone=True)
    assert Gone("a.md") in scan(source)
    source.put("a.md", "back")
    assert Gone("a.md") not in scan(source)


def test_failed_part_is_not_listed() -> None:
    source = ScriptedConnector(DOCUMENTS)
    error = Unavailable("later", retry_after_s=5)
    source.faults.fail("b/", error)
    events = scan(source)
    assert seen(events) == ["a.md"]
    assert Failed("b/", error) in events
    assert Failed("b/c.md", error) in scan(source, scope="b/c.md")
    source.faults.heal()
    assert seen(scan(source)) == sorted(DOCUMENTS)


def test_listing_breaks_in_the_middle_once() -> None:
    source = ScriptedConnector(DOCUMENTS)
    source.faults.stop_scan(after=2)
    events: list[Event] = []
    with pytest.raises(Unavailable, match="broke off"):
        events.extend(source.scan(None, MemoryNotes()))
    assert seen(events) == ["a.md", "b/c.md"]
    assert len(seen(scan(source))) == 3


def test_repeated_and_overlooked_documents() -> None:
    source = ScriptedConnector(DOCUMENTS)
    source.faults.repeat("a.md")
    source.faults.overlook("b/c.md")
    assert seen(scan(source)) == ["a.md", "a.md", "b/d.md"]


def test_document_vanishes_or_changes_between_listing_and_fetch() -> None:
    source = ScriptedConnector(DOCUMENTS)
    refs = {event.ref.key: event.ref for event in scan(source) if isinstance(event, Seen)}
    source.faults.before_fetch("a.md", lambda: source.remove("a.md"))
    source.faults.before_fetch("b/c.md", lambda: source.put("b/c.md", "new"))
    with pytest.raises(DocumentGone):
        source.fetch(refs["a.md"], None)
    blob = source.fetch(refs["b/c.md"], refs["b/c.md"].token)
    assert isinstance(blob, Blob)
    assert (blob.data, blob.token == refs["b/c.md"].token) == (b"new", False)


def test_poison_and_broken_fetches() -> None:
    source = ScriptedConnector(DOCUMENTS)
    refs = [event.ref for event in scan(source) if isinstance(event, Seen)]
    source.faults.poison("a.md", DocumentRefused("no", "do"))
    source.faults.break_fetch(2, Unavailable("down"))
    for ref, error in zip(refs, (DocumentRefused, Unavailable), strict=False):
        with pytest.raises(error):
            source.fetch(ref, None)
    assert isinstance(source.fetch(refs[2], None), Blob)


def test_change_feed_reports_what_changed_and_never_completes() -> None:
    source = ScriptedConnector(DOCUMENTS, behaviour=Behaviour(deltas=True))
    mark = next(event for event in reversed(scan(source)) if isinstance(event, Checkpoint)).cursor
    source.put("a.md", "again")
    source.remove("b/c.md")
    events = scan(source, mark)
    assert seen(events) == ["a.md"]
    assert Gone("b/c.md") in events
    assert not any(isinstance(event, Complete) for event in events)
    source.faults.expire_cursors()
    assert scan(source, mark)[-1] == Complete("")


def test_checkpoints_come_as_often_as_asked() -> None:
    source = ScriptedConnector(DOCUMENTS, behaviour=Behaviour(checkpoint_every=1))
    assert sum(isinstance(event, Checkpoint) for event in scan(source)) == 3


def test_confirming_source_answers_for_every_document() -> None:
    source = ConfirmingConnector(DOCUMENTS)
    refs = [event.ref for event in scan(source) if isinstance(event, Seen)]
    source.remove("a.md")
    source.faults.overlook("b/c.md")
    source.faults.fail("b/d.md")
    answers = list(source.confirm(refs))
    assert [type(answer) for answer in answers] == [Gone, Seen, Failed]
    assert source.confirms == sorted(DOCUMENTS)
