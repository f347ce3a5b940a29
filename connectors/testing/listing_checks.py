"""Checks of the law of `scan`."""

import json
import threading
import unicodedata
from collections.abc import Generator

from connectors.contract import Checkpoint, Json, within
from connectors.notes import MemoryNotes
from connectors.testing.harness import Harness, expect, holds, scan


def scan_lists_every_document_and_completes(harness: Harness) -> None:
    """A full listing shows every document once it exists and ends with one `Complete("")`."""
    keys = {harness.put(name, f"text of {name}") for name in ("a.md", "team/b.md", "team/deep/c.md", "other/d.md")}
    listing = scan(harness.connector())
    expect(set(listing.refs) == keys, f"listed {sorted(listing.refs)}, the source holds {sorted(keys)}")
    expect(listing.completed == [""], "a full listing ends with Complete of everything, once")
    expect(not listing.failed, f"nothing failed, yet the scan says so of {listing.failed}")


def empty_source_is_complete(harness: Harness) -> None:
    """An empty source is no failure: nothing seen, everything complete."""
    listing = scan(harness.connector())
    expect(not listing.refs and listing.completed == [""], "an empty source is listed as complete and empty")


def keys_are_normal_relative_and_text(harness: Harness) -> None:
    """Keys are NFC, relative and without steps; times have a zone; odd names can be fetched."""
    for name in ("e\u0301t\u00e9.md", "team/a b%20c.md", "\u65e5\u672c.md"):
        harness.put(name, "text")
    for key, ref in scan(harness.connector()).refs.items():
        expect(key and unicodedata.is_normalized("NFC", key), f"the key {key!r} is blank or not NFC")
        expect(key[0] != "/" and key[-1] != "/", f"the key {key!r} starts or ends with /")
        expect(not set(key.split("/")) & {".", ".."}, f"the key {key!r} holds a relative step")
        expect(ref.modified is None or ref.modified.utcoffset() is not None, f"modified of {key!r} has no zone")
        holds(harness.connector(), ref, "text")


def scanning_again_gives_equal_refs(harness: Harness) -> None:
    """An unchanged source is listed the same by a connector made anew, tokens included."""
    for name in ("a.md", "team/b.md"):
        harness.put(name, "text")
    first, again = scan(harness.connector()), scan(harness.connector())
    expect(first.refs == again.refs, "an unchanged source gives other refs the second time")


def equal_content_under_two_keys_stays_two_documents(harness: Harness) -> None:
    """Twins are two documents: editing or deleting one leaves the other as it was."""
    first, twin = harness.put("a.md", "same"), harness.put("team/b.md", "same")
    before = scan(harness.connector()).refs
    expect({first, twin} <= set(before), "one of two documents of equal content is not listed")
    harness.put("a.md", "other")
    after = scan(harness.connector()).refs
    expect(after[twin] == before[twin], "editing a document changed the ref of its twin")
    harness.remove(first)
    expect(set(scan(harness.connector()).refs) == {twin}, "deleting a document hides its twin")


def renamed_document_is_found_under_its_key(harness: Harness) -> None:
    """A renamed document is listed under the key it has now, and lost under the old one."""
    old = harness.put("a.md", "text")
    before = scan(harness.connector()).refs[old]
    new = harness.rename(old, "team/A.md")
    connector = harness.connector()
    listing = scan(connector)
    holds(connector, listing.refs[new], "text")
    expect(new == old or listing.loses(old, connector, before), "the old key of a renamed document is kept for ever")


def rename_of_case_alone_is_seen(harness: Harness) -> None:
    """A name that changes only in case stays one document, under the key that the name gives now."""
    old = harness.put("team/Plan.md", "text")
    before = scan(harness.connector()).refs[old]
    new = harness.rename(old, "team/plan.md")
    connector = harness.connector()
    listing = scan(connector)
    expect(set(listing.refs) == {new}, f"after a rename of case alone {sorted(listing.refs)} are listed, not {[new]}")
    holds(connector, listing.refs[new], "text")
    expect(new == old or listing.loses(old, connector, before), "the old spelling of a renamed document is kept")


def removed_document_is_lost_and_no_other(harness: Harness) -> None:
    """A deleted document counts as gone after the next full listing, and no other does."""
    kept, removed = harness.put("a.md", "kept"), harness.put("b.md", "removed")
    before = scan(harness.connector()).refs
    harness.remove(removed)
    connector = harness.connector()
    listing = scan(connector)
    expect(listing.loses(removed, connector, before[removed]), "a deleted document is kept for ever")
    expect(not listing.loses(kept, connector, before[kept]), "a document that exists is lost")


def unreadable_part_loses_nothing(harness: Harness) -> None:
    """A part that cannot be listed is `Failed`, loses nothing and costs no other part."""
    hidden, shown = harness.put("team/a.md", "a"), harness.put("other/b.md", "b")
    before = scan(harness.connector()).refs
    broken = harness.unreadable(hidden)
    if broken is None:
        return
    with broken:
        connector = harness.connector()
        listing = scan(connector)
        expect(hidden not in listing.refs and listing.failed, "a part that cannot be listed is not Failed")
        expect(not listing.loses(hidden, connector, before[hidden]), "a document merely not seen is lost")
        expect(shown in listing.refs, "a part that cannot be listed takes others with it")


def scope_lists_its_part_and_nothing_else(harness: Harness) -> None:
    """A scan with a scope gives the refs of the full listing there, and speaks of nothing else."""
    keys = [harness.put(name, "text") for name in ("a.md", "team/b.md", "team/deep/c.md")]
    connector = harness.connector()
    everything = scan(connector).refs
    folders = {key.rpartition("/")[0] + "/" for key in keys if "/" in key}
    for scope in (*keys, *sorted(folders)):
        part = scan(connector, scope=scope)
        expected = {key: ref for key, ref in everything.items() if within(scope, key)}
        expect(part.refs == expected, f"the scope {scope!r} lists {sorted(part.refs)}, not {sorted(expected)}")
        outside = [named for named in (*part.completed, *part.failed) if not within(scope, named)]
        expect(not outside, f"the scope {scope!r} speaks of {outside}")
        expect(part.completed == [scope], f"the scope {scope!r} is not said to be complete")


def cursor_misses_no_change(harness: Harness) -> None:
    """A scan from the last cursor shows every edit, addition and deletion since."""
    edited, removed = harness.put("a.md", "old"), harness.put("b.md", "text")
    notes = MemoryNotes()
    first = scan(harness.connector(), notes=notes)
    harness.put("a.md", "new")
    harness.remove(removed)
    added = harness.put("c.md", "text")
    connector = harness.connector()
    later = scan(connector, first.cursor, notes=notes)
    expect({edited, added} <= set(later.refs), "a scan from a cursor misses an edit or a new document")
    expect(later.loses(removed, connector, first.refs[removed]), "a scan from a cursor misses a deletion")


def unusable_cursor_lists_everything(harness: Harness) -> None:
    """A cursor that the connector cannot use lists everything instead of failing."""
    keys = {harness.put("a.md", "text"), harness.put("b.md", "text")}
    cursors: tuple[Json, ...] = ({"made": "up"}, "old", 0, [1])
    for cursor in cursors:
        listing = scan(harness.connector(), cursor)
        expect(set(listing.refs) == keys, f"with the unusable cursor {cursor!r} documents are missing")


def cursors_survive_json(harness: Harness) -> None:
    """Cursors are JSON."""
    harness.put("a.md", "text")
    for event in scan(harness.connector()).events:
        if isinstance(event, Checkpoint):
            expect(json.loads(json.dumps(event.cursor)) == event.cursor, "a cursor does not survive JSON")


def abandoned_scan_frees_what_it_holds(harness: Harness) -> None:
    """A caller may stop iterating at any event."""
    for name in ("a.md", "team/b.md", "team/c.md"):
        harness.put(name, "text")
    connector = harness.connector()
    before = threading.active_count()
    events = connector.scan(None, MemoryNotes())
    next(events)
    if isinstance(events, Generator):
        events.close()
    expect(threading.active_count() <= before, "an abandoned scan leaves a thread")
    expect(len(scan(connector).refs) == 3, "after an abandoned scan the next one misses documents")
