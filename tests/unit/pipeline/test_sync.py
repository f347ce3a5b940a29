"""What the brain holds equals what the source holds."""

import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from connectors.contract import Blob, Ref, Unchanged
from connectors.errors import AuthError, DocumentRefused, Unavailable
from connectors.files.connector import FilesConnector
from connectors.testing.behaviour import Behaviour
from connectors.testing.scripted import ConfirmingConnector, ScriptedConnector
from corebrain.brain import Brain
from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainSource
from corebrain.model.requests import MAX_STORE_MANY
from pipeline import SqliteState, sync
from pipeline.workers import AHEAD

TWO = {"a.md": "# A\n\nAlpha.", "b.md": "# B\n\nBeta."}


def test_a_first_sync_stores_everything_and_returns_one_build(bench: Any) -> None:
    report = bench.sync_many(ScriptedConnector(TWO))
    source = report.sources[0]
    assert (source.new, source.stored, source.listed, source.error) == (2, 2, 2, None)
    assert bench.engine.texts() == {"a.md": "# A\n\nAlpha.", "b.md": "# B\n\nBeta."}
    assert [job.to_dict()["request"]["reach"]["at"] for job in report.jobs] == ["source:files"]
    assert [body for _, body in bench.state.jobs()] == [report.jobs[0].to_json()]


def test_an_unchanged_source_costs_a_scan_and_nothing_else(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.fetches.clear()
    report = bench.sync_many(source)
    assert report.sources[0].unchanged == report.sources[0].listed == 2
    assert source.fetches == []
    assert bench.engine.calls == []
    assert report.jobs == ()


def test_an_edit_replaces_the_old_version(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.put("a.md", "# A\n\nAleph.")
    report = bench.sync(source)
    assert (report.changed, report.stored, report.forgotten, report.unchanged) == (1, 1, 1, 1)
    assert bench.engine.texts()["a.md"] == "# A\n\nAleph."
    assert len(bench.engine) == 2


def test_a_touched_document_is_read_and_not_stored(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.put("a.md", TWO["a.md"])
    report = bench.sync(source)
    assert (report.unchanged, report.changed, report.stored) == (2, 0, 0)
    assert "store_many" not in bench.engine.calls
    source.fetches.clear()
    bench.sync(source)
    assert source.fetches == [], "the new token was not kept"


def test_a_removed_document_is_forgotten(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.remove("a.md")
    report = bench.sync_many(source)
    assert (report.sources[0].gone, report.sources[0].forgotten) == (1, 1)
    assert list(bench.engine.texts()) == ["b.md"]
    assert len(report.jobs) == 1


def test_twins_survive_each_other(bench: Any) -> None:
    source = ScriptedConnector({"a.md": "# Same\n\nText.", "b.md": "# Same\n\nText."})
    bench.sync(source)
    source.remove("a.md")
    bench.sync(source)
    assert bench.engine.texts() == {"b.md": "# Same\n\nText."}
    source.put("c.md", "# Same\n\nText.")
    source.put("b.md", "# Other\n\nText.")
    bench.sync(source)
    assert bench.engine.texts() == {"b.md": "# Other\n\nText.", "c.md": "# Same\n\nText."}


def test_an_item_two_keys_share_is_forgotten_with_the_last_of_them(bench: Any) -> None:
    source = ScriptedConnector(behaviour=Behaviour())
    for key in ("x?a=1", "x?a=2"):  # two addresses of one page: equal metadata, equal text, one item
        source.put(key, "# Page\n\nText.", url="https://acme.example/page", filename="page.md")
    report = bench.sync(source)
    assert (report.new, report.stored, report.replayed) == (2, 1, 1)
    source.remove("x?a=1")
    bench.sync(source)
    assert len(bench.engine) == 1
    source.remove("x?a=2")
    bench.sync(source)
    assert len(bench.engine) == 0


def test_a_rename_is_a_move_that_converts_nothing(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.rename("a.md", "sub/c.md")
    report = bench.sync(source)
    assert (report.moved, report.new, report.gone, report.forgotten) == (1, 0, 0, 1)
    assert bench.engine.texts() == {"sub/c.md": "# A\n\nAlpha.", "b.md": "# B\n\nBeta."}
    assert "get" in bench.engine.calls, "the text is read back"


@pytest.mark.parametrize(
    ("old", "new"), [("Team/Plan.md", "team/plan.md"), ("cafe/one.md", "caf\N{LATIN SMALL LETTER E WITH ACUTE}/one.md")]
)
def test_a_rename_of_case_or_accents_alone_is_a_move(bench: Any, old: str, new: str) -> None:
    source = ScriptedConnector({old: "# Plan\n\nText.", "b.md": "# B\n\nBeta."})
    bench.sync(source)
    source.rename(old, new)
    report = bench.sync(source)
    assert (report.moved, report.new, report.gone, report.stored, report.forgotten) == (1, 0, 0, 1, 1)
    assert set(bench.engine.texts()) == {new, "b.md"}


def test_names_of_both_unicode_forms_stay_two_documents(bench: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    composed, apart = "caf\u00e9.md", "cafe\u0301.md"
    (folder / composed).write_text("# Composed\n\nOne.")
    (folder / apart).write_text("# Apart\n\nTwo.")
    if len(list(folder.iterdir())) == 1:
        pytest.skip("names are Unicode here")
    source = FilesConnector(folder, name="scripted")
    assert bench.sync(source).new == 2
    assert bench.sync(source).unchanged == 2
    (folder / apart).write_text("# Apart\n\nTwo, edited.")
    report = bench.sync(source)
    assert (report.changed, report.unchanged) == (1, 1)
    (folder / composed).unlink()
    bench.sync(source, allow_deletes=True)
    assert ["Two, edited." in text for text in bench.engine.texts().values()] == [True]


def test_an_edit_that_keeps_size_and_goes_back_in_time_is_seen(bench: Any, tmp_path: Path) -> None:
    folder = tmp_path / "docs"
    folder.mkdir()
    file = folder / "a.md"
    file.write_text("# A\n\nAlpha.")
    source = FilesConnector(folder, name="scripted")
    bench.sync(source)
    for age in (0, 86_400):
        status = file.stat()
        file.write_text(file.read_text().swapcase())
        os.utime(file, ns=(status.st_atime_ns, status.st_mtime_ns - age * 10**9))
        assert bench.sync(source).changed == 1


def test_a_moved_document_has_the_id_it_would_have_had_anew(bench: Any) -> None:
    source = ScriptedConnector({"plain.txt": "No heading here.", "note.md": "---\ntags: [x]\n---\n\n# N\n\nText."})
    bench.sync(source)
    source.rename("plain.txt", "sub/other.txt")
    source.rename("note.md", "sub/note.md")
    bench.sync(source)
    fresh = type(bench)()
    fresh.sync(source)
    assert set(bench.engine._items) == set(fresh.engine._items)


def test_a_move_with_a_content_id_fetches_nothing(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(contents=True))
    bench.sync(source)
    source.rename("a.md", "sub/a.md")
    source.fetches.clear()
    report = bench.sync(source)
    assert report.moved == 1
    assert source.fetches == []
    assert bench.engine.texts()["sub/a.md"] == "# A\n\nAlpha."


def test_two_equal_documents_moved_at_once_are_both_kept(bench: Any) -> None:
    source = ScriptedConnector({"a.md": "# Same\n\nText.", "b.md": "# Same\n\nText."})
    bench.sync(source)
    source.rename("a.md", "c/a.md")
    source.rename("b.md", "c/b.md")
    report = bench.sync(source)
    assert report.moved == 2
    assert set(bench.engine.texts()) == {"c/a.md", "c/b.md"}


def test_a_move_is_converted_again_when_the_engine_lost_the_text(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    bench.engine._items.clear()
    source.rename("a.md", "c.md")
    report = bench.sync(source)
    assert report.error is None
    assert bench.engine.texts()["c.md"] == "# A\n\nAlpha."


def test_a_document_with_parts_comes_moves_and_goes_whole(bench: Any) -> None:
    source = ScriptedConnector()
    parts = (Blob(b"# Terms\n\nThirty.", filename="terms.md"), Blob(b"# More\n\nText.", filename="terms.md"))
    source.put("in/mail.md", "# Mail\n\nHello.", parts=parts)
    assert bench.sync(source).stored == 3
    assert set(bench.engine.texts()) == {"in/mail.md", "in/mail.md/terms.md", "in/mail.md/terms.md~2"}
    source.rename("in/mail.md", "out/letter.md")
    assert bench.sync(source).moved == 1
    assert set(bench.engine.texts()) == {"out/letter.md", "out/letter.md/terms.md", "out/letter.md/terms.md~2"}
    fresh = type(bench)()
    fresh.sync(source)
    assert set(bench.engine._items) == set(fresh.engine._items)
    source.remove("out/letter.md")
    bench.sync(source)
    assert len(bench.engine) == 0


def test_a_refused_part_costs_only_itself(bench: Any) -> None:
    source = ScriptedConnector()
    source.put("mail.md", "# Mail\n\nHello.", parts=(Blob(b"", filename="empty.txt"),))
    report = bench.sync(source)
    assert report.stored == 1
    assert [aside.key for aside in report.set_aside] == ["mail.md!/empty.txt"]
    source.put("mail.md", "# Mail\n\nHello again.", parts=(Blob(b"Now with text.", filename="empty.txt"),))
    report = bench.sync(source)
    assert report.set_aside == ()
    assert set(bench.engine.texts()) == {"mail.md", "mail.md/empty.txt"}


def test_a_refused_part_stays_refused_where_its_document_goes(bench: Any) -> None:
    source = ScriptedConnector()
    source.put("mail.md", "# Mail\n\nHello.", parts=(Blob(b"", filename="empty.txt"),))
    before = bench.sync(source).set_aside[0]
    source.rename("mail.md", "box/letter.md")
    report = bench.sync(source)
    assert report.moved == 1
    assert [(each.key, each.error, each.attempts) for each in report.set_aside] == [
        ("box/letter.md!/empty.txt", before.error, before.attempts)
    ]
    source.remove("box/letter.md")
    assert bench.sync(source).set_aside == ()


# -- failures


def test_a_document_that_cannot_be_read_is_set_aside_and_tried_when_due(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    source.faults.poison("a.md", DocumentRefused("a.md is locked", "unlock it"))
    report = bench.sync(source)
    assert (report.new, report.listed, report.error) == (1, 2, None)
    aside = report.set_aside[0]
    assert (aside.key, aside.error, aside.advice, aside.attempts) == ("a.md", "a.md is locked", "unlock it", 1)
    source.faults.heal()
    source.fetches.clear()
    assert bench.sync(source).listed == 2
    assert source.fetches == [], "it is not due yet"
    bench.clock += 61
    report = bench.sync(source)
    assert (report.new, report.set_aside) == (1, ())


def test_retry_does_not_wait(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    source.faults.poison("a.md", DocumentRefused("a.md is locked", "unlock it"))
    bench.sync(source)
    assert bench.sync(source, retry=True).set_aside[0].attempts == 2
    source.faults.heal()
    assert bench.sync(source, retry=True).set_aside == ()


def test_the_pauses_between_tries_grow(bench: Any) -> None:
    source = ScriptedConnector({"a.md": ""})
    first = bench.sync(source).set_aside[0].next_try
    second = bench.sync(source, retry=True).set_aside[0].next_try
    assert first == "1970-01-12T13:47:40Z"
    assert second == "1970-01-12T13:48:40Z"


def test_a_next_try_that_a_wrong_clock_set_is_not_waited_for(bench: Any) -> None:
    source = ScriptedConnector({"a.md": ""})
    bench.clock += 10 * 365 * 86_400.0
    bench.sync(source)
    bench.clock -= 10 * 365 * 86_400.0
    assert bench.sync(source).set_aside[0].attempts == 2
    assert bench.sync(source).set_aside[0].attempts == 2  # the pause counts from here


def test_an_edited_document_is_tried_at_once(bench: Any) -> None:
    source = ScriptedConnector({"a.md": ""})
    bench.sync(source)
    source.put("a.md", "# Now\n\nText.")
    report = bench.sync(source)
    assert (report.new, report.set_aside) == (1, ())


def test_a_set_aside_document_that_vanishes_leaves_the_list(bench: Any) -> None:
    source = ScriptedConnector({"a.md": "", "b.md": "# B\n\nText."})
    assert len(bench.sync(source).set_aside) == 1
    source.remove("a.md")
    assert bench.sync(source).set_aside == ()


def test_a_changed_document_that_cannot_be_read_keeps_its_old_text(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.put("a.md", "")
    report = bench.sync(source)
    assert [aside.key for aside in report.set_aside] == ["a.md"]
    assert report.listed == 2
    assert bench.engine.texts()["a.md"] == "# A\n\nAlpha."


def test_a_document_that_vanishes_between_listing_and_reading_costs_nothing(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    source.faults.before_fetch("a.md", lambda: source.remove("a.md"))
    report = bench.sync(source)
    assert (report.new, report.error) == (1, None)
    assert bench.sync(source).set_aside == ()


def test_a_part_that_cannot_be_listed_loses_nothing(bench: Any) -> None:
    source = ScriptedConnector({"a/x.md": "# X\n\nText.", "b/y.md": "# Y\n\nText."})
    bench.sync(source)
    source.remove("b/y.md")
    source.faults.fail("a/")
    report = bench.sync(source)
    assert [aside.key for aside in report.set_aside] == ["a/"]
    assert set(bench.engine.texts()) == {"a/x.md"}
    source.faults.heal()
    assert bench.sync(source).set_aside == ()


def test_a_listing_that_fails_wholly_deletes_nothing_and_says_so(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.faults.fail("", Unavailable("the disk is gone"))
    report = bench.sync(source)
    assert report.error == "the disk is gone"
    assert len(bench.engine) == 2


def test_a_listing_that_breaks_off_keeps_what_it_saw_and_deletes_nothing(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.put("a.md", "# A\n\nNew.")
    source.faults.stop_scan(after=1)
    report = bench.sync(source)
    assert report.error == "the listing broke off"
    assert report.changed == 1
    assert set(bench.engine.texts()) == {"a.md", "b.md"}
    assert bench.sync(source).error is None


def test_a_refused_credential_stops_the_source_and_keeps_everything(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(10))
    source.faults.break_fetch(5, AuthError("the token was refused"))
    report = bench.sync(source)
    assert report.error == "the token was refused"
    assert report.new >= 4, "what was fetched before is kept"
    assert bench.state.ledger("scripted").row().failing_since == bench.clock
    report = bench.sync(source)
    assert report.error is None
    assert len(bench.engine) == 10
    assert bench.state.ledger("scripted").row().failing_since is None


def test_an_engine_that_is_down_stops_the_source_and_is_made_up_for(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.engine.go_down()
    report = bench.sync(source)
    assert report.error == "unavailable: the engine is down"
    assert report.stored == 0
    bench.engine.failure = None
    assert bench.sync(source).stored == 2
    assert bench.state.ledger("scripted").intents() == {}


def test_one_document_the_engine_refuses_costs_only_itself(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector({**documents(100), "docs/poison.md": "# P\n\nUnstorable."})
    bench.engine.poison = "Unstorable"
    report = bench.sync(source)
    assert (report.new, report.error) == (100, None)
    assert [aside.key for aside in report.set_aside] == ["docs/poison.md"]


def test_a_page_shown_twice_is_stored_once(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    source.faults.repeat("a.md")
    report = bench.sync(source)
    assert (report.new, report.stored) == (2, 2)


# -- deletion only as the contract says


def test_more_than_the_ceiling_is_not_deleted_without_a_word(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(100))
    bench.sync(source)
    for number in range(40):
        source.remove(f"docs/{number:04d}.md")
    source.put("docs/new.md", "# New\n\nText.")
    report = bench.sync(source)
    assert report.error is not None
    assert "40 of 100 documents are gone" in report.error
    assert "--allow-deletes" in report.error
    assert (report.gone, report.new) == (0, 1), "nothing else is held back"
    assert len(bench.engine) == 101
    report = bench.sync(source, allow_deletes=True)
    assert (report.gone, report.error) == (40, None)
    assert len(bench.engine) == 61


def test_the_ceiling_is_a_choice_and_twenty_are_always_allowed(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(60))
    bench.sync(source)
    for number in range(20):
        source.remove(f"docs/{number:04d}.md")
    assert bench.sync(source, max_delete=0.0).gone == 20
    for number in range(20, 45):
        source.remove(f"docs/{number:04d}.md")
    assert bench.sync(source, max_delete=0.7).gone == 25


def test_a_renamed_folder_is_no_mass_deletion(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(60))
    bench.sync(source)
    for number in range(60):
        source.rename(f"docs/{number:04d}.md", f"papers/{number:04d}.md")
    report = bench.sync(source)
    assert (report.moved, report.error) == (60, None)
    assert len(bench.engine) == 60


def test_a_replaced_root_pauses_the_source(bench: Any, documents: Callable[..., Any]) -> None:
    class Rooted(ScriptedConnector):
        identity = (1, 2)

        def root_identity(self) -> tuple[int, int]:
            return self.identity

    source = Rooted(documents(10))
    bench.sync(source)
    for key in source.keys[:6]:
        source.remove(key)
    source.identity = (9, 9)
    report = bench.sync(source)
    assert report.error is not None
    assert "another folder or volume" in report.error
    assert len(bench.engine) == 10
    source.identity = (1, 2)
    assert bench.sync(source).gone == 6
    source.identity = (7, 7)  # a remount: the documents are there, the device number is new
    assert bench.sync(source).error is None
    for key in source.keys:
        source.remove(key)
    assert "its folder is empty" in str(bench.sync(source).error)
    assert bench.sync(source, allow_deletes=True).gone == 4


def test_a_source_that_confirms_loses_a_document_only_by_its_word(bench: Any) -> None:
    source = ConfirmingConnector(TWO)
    bench.sync(source)
    source.faults.overlook("a.md")
    assert bench.sync(source).gone == 0
    assert source.confirms == ["a.md"]
    source.faults.heal()
    source.remove("b.md")
    assert bench.sync(source).gone == 1
    assert list(bench.engine.texts()) == ["a.md"]


def test_a_tombstone_needs_no_complete_listing(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    source.remove("a.md")
    report = bench.sync(source)
    assert (report.gone, report.forgotten) == (1, 1)
    assert len(source.scans) == 2
    assert source.scans[1][0] is not None, "the second scan went on from the cursor"


def test_a_delta_does_not_make_the_rest_absent(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    source.put("a.md", "# A\n\nAleph.")
    report = bench.sync(source)
    assert (report.changed, report.gone) == (1, 0)
    assert len(bench.engine) == 2


def test_a_cursor_moves_only_when_everything_before_it_is_stored(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    source.put("a.md", "# A\n\nAleph.")
    bench.engine.go_down()
    bench.sync(source)
    bench.engine.failure = None
    report = bench.sync(source)
    assert report.changed == 1
    assert bench.engine.texts()["a.md"] == "# A\n\nAleph."


def test_a_document_set_aside_in_a_delta_is_tried_again_though_nobody_lists_it(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(deltas=True))
    source.faults.poison("a.md", DocumentRefused("a.md is locked", "unlock it"))
    bench.sync(source)
    source.faults.heal()
    bench.clock += 120
    assert bench.sync(source).new == 1
    assert set(bench.engine.texts()) == {"a.md", "b.md"}


def test_an_expired_cursor_is_a_full_listing(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    source.faults.expire_cursors()
    assert bench.sync(source).unchanged == 2


def test_full_lists_everything_whatever_the_cursor(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    bench.sync(source, full=True)
    assert source.scans[1][0] is None


def test_a_crawl_hands_its_bytes_over_once(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(in_listing=True))
    assert bench.sync(source).stored == 2
    assert source.fetches == []


def test_documents_without_a_token_are_read_each_time_and_stored_once(bench: Any) -> None:
    source = ScriptedConnector(TWO, behaviour=Behaviour(tokens=False))
    bench.sync(source)
    report = bench.sync(source)
    assert (report.unchanged, report.stored) == (2, 0)


# -- collections


def test_a_large_source_splits_by_its_collections_and_still_returns_one_build(
    bench: Any, documents: Callable[..., Any]
) -> None:
    source = ScriptedConnector({**documents(5), "other/x.md": "# X\n\nText.", "top.md": "# Top\n\nText."})
    report = bench.sync_many(source, split_over=6)
    assert {str(node) for node in bench.engine.nodes().values()} == {
        "source:files/project:docs",
        "source:files/project:other",
        "source:files",
    }
    assert len(report.jobs) == 1
    assert bench.state.ledger("scripted").row().split == "yes"


def test_the_decision_is_kept(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(3))
    bench.sync(source, split_over=3)
    source.put("docs/more.md", "# More\n\nText.")
    bench.sync(source, split_over=3)
    assert set(bench.engine.nodes().values()) == {"source:files"}


def test_always_moves_what_is_there_without_reading_it(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(3))
    bench.sync(source, split="never")
    source.fetches.clear()
    report = bench.sync(source, split="always")
    assert (report.moved, report.stored, report.forgotten) == (3, 3, 3)
    assert source.fetches == []
    assert set(bench.engine.nodes().values()) == {"source:files/project:docs"}
    assert bench.sync(source, split="always").unchanged == 3


def test_a_changed_collection_is_a_move(bench: Any) -> None:
    source = ScriptedConnector()
    source.put("page", "# P\n\nText.", token="t", collection="one", url="https://x.example/p", filename="p.md")
    bench.sync(source, split="always")
    source.put("page", "# P\n\nText.", token="t", collection="two", url="https://x.example/p", filename="p.md")
    report = bench.sync(source, split="always")
    assert (report.moved, report.forgotten) == (1, 1)
    assert set(bench.engine.nodes().values()) == {"source:files/project:two"}


# -- several sources, lost books, dry runs


def test_builds_come_one_a_source_node_in_source_order(bench: Any) -> None:
    sources = [
        ScriptedConnector(TWO, source=BrainSource.GITHUB, name="repo"),
        ScriptedConnector(TWO, source=BrainSource.NOTION, name="wiki"),
        ScriptedConnector(TWO, name="one"),
        ScriptedConnector(TWO, name="two"),
    ]
    report = bench.sync_many(*sources)
    at = [job.to_dict()["request"]["reach"]["at"] for job in report.jobs]
    assert at == ["source:files", "source:notion", "source:github"]
    assert bench.sync_many(*sources).jobs == ()


def test_slow_sources_hold_up_no_quick_one(bench: Any) -> None:
    quick = threading.Event()

    class Slow(ScriptedConnector):
        def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
            assert quick.wait(30), "the quick source waits for the slow ones"
            return super().fetch(ref, known)

    class Quick(ScriptedConnector):
        def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
            quick.set()
            return super().fetch(ref, known)

    slow = [Slow({f"{number}.md": f"# {number}\n\nText."}, name=f"slow{number}") for number in range(10)]
    report = bench.sync_many(*slow, Quick(TWO, name="quick"))
    assert [(each.new, each.error) for each in report.sources] == [(1, None)] * 10 + [(2, None)]


def test_reading_runs_only_so_far_ahead_of_storing(bench: Any, documents: Callable[..., Any]) -> None:
    threads, ahead = 2, []

    class Eager(ScriptedConnector):
        def fetch(self, ref: Ref, known: str | None) -> Blob | Unchanged:
            ahead.append(len(self.fetches) - len(bench.engine))
            return super().fetch(ref, known)

    bench.sync(Eager(documents(1_500)), threads=threads)
    assert len(ahead) == 1_500
    assert max(ahead) <= MAX_STORE_MANY + threads * (AHEAD + 1)


def test_one_failing_source_does_not_stop_the_others(bench: Any) -> None:
    bad = ScriptedConnector(TWO, name="bad")
    bad.faults.fail("", Unavailable("down"))
    report = bench.sync_many(bad, ScriptedConnector(TWO, name="good"))
    assert [source.error for source in report.sources] == ["down", None]
    assert not report.ok
    assert len(bench.engine) == 2


def test_lost_books_are_rebuilt_without_doubling_or_losing(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.remove("b.md")
    source.put("c.md", "# C\n\nGamma.")
    bench.state = type(bench.state)(None)
    report = bench.sync(source)
    assert (report.stored, report.replayed) == (1, 1)
    assert set(bench.engine.texts()) == {"a.md", "c.md"}


def test_a_rebuild_keeps_what_cannot_be_read_just_now(bench: Any) -> None:
    source = ScriptedConnector({"a.md": "# A\n\nText.", "sub/b.md": "# B\n\nText."})
    bench.sync(source)
    bench.state = type(bench.state)(None)
    source.faults.poison("a.md", DocumentRefused("locked", "unlock it"))
    source.faults.fail("sub/")
    bench.sync(source)
    assert set(bench.engine.texts()) == {"a.md", "sub/b.md"}


def test_a_rebuild_of_an_emptied_source_is_under_the_ceiling(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(30))
    bench.sync(source)
    bench.state = type(bench.state)(None)
    report = bench.sync(ScriptedConnector({}))
    assert "30 of 30" in str(report.error)
    assert len(bench.engine) == 30


def test_a_rebuild_leaves_other_sources_of_the_node_alone(bench: Any) -> None:
    bench.sync(ScriptedConnector(TWO, name="other"))
    bench.sync(ScriptedConnector({"x.md": "# X\n\nText."}, name="mine"))
    assert len(bench.engine) == 3


def test_a_dry_run_tells_and_changes_nothing(bench: Any) -> None:
    source = ScriptedConnector({**TWO, "c.md": ""})
    bench.sync(source)
    source.put("a.md", "# A\n\nAleph.")
    source.remove("b.md")
    source.put("d.md", "# D\n\nDelta.")
    ledger = bench.state.ledger("scripted")
    before = (list(ledger.records()), ledger.asides(), ledger.row(), dict(bench.engine._items))
    source.fetches.clear()
    report = bench.sync_many(source, dry_run=True)
    planned = report.sources[0]
    assert report.dry_run
    assert (planned.new, planned.changed, planned.gone, planned.stored, planned.forgotten) == (1, 1, 1, 0, 0)
    assert planned.estimate is not None
    assert planned.estimate.bytes > 0
    assert source.fetches == []
    assert (list(ledger.records()), ledger.asides(), ledger.row(), dict(bench.engine._items)) == before
    assert ledger.counts()[next(iter(ledger.counts()))] == 0, "no plan is left behind"


def test_a_stopped_sync_finishes_its_batch_and_goes_on_next_time(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(300))
    host = bench.host()
    bench.host = lambda: host
    source.faults.before_fetch("docs/0150.md", host.stop.set)
    report = bench.sync_many(source)
    assert report.interrupted
    assert not report.ok
    stored = len(bench.engine)
    assert 100 <= stored < 300
    host.stop.clear()
    source.fetches.clear()
    assert bench.sync(source).new == 300 - stored
    assert len(bench.engine) == 300


def test_people_who_embed_it_sync_in_one_call_and_stop_it(documents: Callable[..., Any]) -> None:
    source, brain, state, stop = (
        ScriptedConnector(documents(300)),
        Brain(ReferenceEngine()),
        SqliteState(None),
        threading.Event(),
    )
    source.faults.before_fetch("docs/0150.md", stop.set)
    first = sync(source, brain, state, stop=stop)
    assert first.interrupted
    second = sync(source, brain, state)
    assert (second.ok, first.sources[0].new + second.sources[0].new) == (True, 300)
    assert [job.name for job in second.jobs] == ["build_beliefs"]
    third = sync(source, brain, state, name="scripted")
    assert (third.sources[0].name, third.sources[0].unchanged, third.jobs) == ("scripted", 300, ())


def test_tombstones_over_the_ceiling_are_not_lost_with_the_cursor(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(100), behaviour=Behaviour(deltas=True))
    bench.sync(source)
    for number in range(40):
        source.remove(f"docs/{number:04d}.md")
    assert "40 of 100" in str(bench.sync(source).error)
    report = bench.sync(source, allow_deletes=True)
    assert report.gone == 40
    assert len(bench.engine) == 60


def test_a_source_that_would_outgrow_its_limit_stops_before_anything_is_fetched(
    bench: Any, documents: Callable[..., Any]
) -> None:
    source = ScriptedConnector(documents(5))
    report = bench.sync(source, max_documents=4)
    assert "it would hold 5 documents, max_documents allows 4" in str(report.error)
    assert source.fetches == []
    assert "it would hold 5 documents" in str(bench.sync(source, max_documents=4, dry_run=True).error)
    assert bench.sync(source, max_documents=5).new == 5


def test_a_source_of_too_many_bytes_stops_before_anything_is_fetched(bench: Any, documents: Callable[..., Any]) -> None:
    source = ScriptedConnector(documents(300), behaviour=Behaviour(checkpoint_every=50))
    size = sum(len(text) for text in documents(300).values())
    report = bench.sync(source, max_total_bytes=size - 1)
    assert f"it would hold {size:,} bytes, max_total_bytes allows {size - 1:,}: planned were 300 new" in report.error
    assert source.fetches == []
    assert len(bench.engine) == 0
    assert bench.sync(source, max_total_bytes=size).new == 300
    source.put("one more.md", "# One more\n\nToo much.")
    source.put("docs/0001.md", "")
    report = bench.sync(source, max_total_bytes=size - 100)
    assert "planned were 1 new, 1 changed" in str(report.error)
    assert len(bench.engine) == 300


def test_a_touched_document_of_another_collection_is_moved_without_converting(bench: Any) -> None:
    source = ScriptedConnector()
    source.put("page", "# P\n\nText.", collection="one", url="https://x.example/p", filename="p.md")
    bench.sync(source, split="always")
    source.put("page", "# P\n\nText.", collection="two", url="https://x.example/p", filename="p.md")  # same bytes
    report = bench.sync(source, split="always")
    assert (report.moved, report.changed) == (1, 0)
    assert set(bench.engine.nodes().values()) == {"source:files/project:two"}


def test_a_document_without_a_token_that_was_set_aside_waits_until_it_is_due(bench: Any) -> None:
    source = ScriptedConnector({"a.md": ""}, behaviour=Behaviour(tokens=False))
    bench.sync(source)
    source.fetches.clear()
    bench.sync(source)
    assert source.fetches == []
    bench.clock += 100
    bench.sync(source)
    assert source.fetches == ["a.md"]


def test_a_key_that_could_not_be_listed_once_leaves_the_list_when_it_can(bench: Any) -> None:
    source = ScriptedConnector(TWO)
    bench.sync(source)
    source.faults.fail("a.md")
    assert [aside.key for aside in bench.sync(source).set_aside] == ["a.md"]
    assert "a.md" in bench.engine.texts()
    source.faults.heal()
    report = bench.sync(source)
    assert (report.set_aside, report.unchanged) == ((), 2)


def test_a_repository_is_a_collection_whatever_its_size(bench: Any) -> None:
    source = ScriptedConnector({"acme/api/a.md": "# A\n\nText."}, source=BrainSource.GITHUB)
    bench.sync(source)
    assert set(bench.engine.nodes().values()) == {"source:github/project:acme"}
    assert bench.sync(source, split="never").moved == 1
    assert set(bench.engine.nodes().values()) == {"source:github"}


def test_a_source_that_tells_only_changes_counts_the_rest_as_unchanged(bench: Any) -> None:
    source = ScriptedConnector({**TWO, "c.md": "# C\n\nText."}, behaviour=Behaviour(deltas=True))
    bench.sync(source)
    report = bench.sync(source)
    assert (report.unchanged, report.listed) == (3, 3)
    source.put("a.md", "# A\n\nAleph.")
    source.put("b.md", "")
    report = bench.sync(source)
    assert (report.changed, report.unchanged, len(report.set_aside), report.listed) == (1, 1, 1, 3)
