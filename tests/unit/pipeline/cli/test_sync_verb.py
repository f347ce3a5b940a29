"""`brain sync`: what is named, its flags, its JSON, its exit statuses."""

import os
import signal
from argparse import Namespace
from collections.abc import Iterator
from typing import Any

import pytest

from connectors.contract import Event, Json, Notes
from connectors.files.connector import FilesConnector
from pipeline.assembly import OpenBrain
from pipeline.cli import sync as verb
from pipeline.config.load import load
from pipeline.host import Host
from pipeline.source_set import SourceSet
from pipeline.syncing import sync_all

DOCS = '[sources.docs]\nkind = "files"\npath = "docs"\n'


def only(answer: Any) -> dict[str, Any]:
    """Return the one source of a report."""
    (source,) = answer.json["sources"]
    found: dict[str, Any] = source
    return found


def test_the_json_is_the_documented_object(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.configure(DOCS)
    report = desk.brain("sync", "--json").json
    assert list(report) == ["ok", "sources", "jobs"]
    assert report["ok"] is True
    assert list(report["sources"][0]) == [
        *("name", "source", "listed", "new", "changed", "moved", "unchanged", "gone", "stored", "replayed"),
        *("forgotten", "set_aside", "requests", "bytes_fetched", "seconds", "error"),
    ]
    assert report["jobs"] == [
        {
            "job": "build_beliefs",
            "request": {
                "reach": {"at": "source:files", "inherit": False, "descendants": True},
                "kinds": ["document"],
            },
        }
    ]
    again = desk.brain("sync", "--json").json
    assert (again["sources"][0]["unchanged"], again["jobs"]) == (1, [])


def test_a_pipe_gets_plain_lines(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.configure(DOCS)
    answer = desk.brain("sync")
    first, second = answer.out.splitlines()
    assert first.startswith("docs: 1 new (")
    assert second == "1 belief build waiting; `brain jobs run` runs them"
    assert "docs: reading 1 of 1" in answer.err
    assert "\x1b" not in answer.out + answer.err


def test_a_name_syncs_that_source_alone(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    (desk.folder / "more").mkdir()
    desk.configure(DOCS + '[sources.more]\nkind = "files"\npath = "more"\n')
    assert [source["name"] for source in desk.brain("sync", "more", "--json").json["sources"]] == ["more"]
    assert [source["name"] for source in desk.brain("sync", "--json").json["sources"]] == ["docs", "more"]
    assert len(desk.brain("sync", "docs", "docs", "--json").json["sources"]) == 1


def test_a_folder_needs_no_configuration(desk: Any) -> None:
    desk.write(leave="# Leave\n\nSixteen weeks.")
    assert only(desk.brain("sync", "./docs", "--json"))["name"] == "docs"
    assert (desk.folder / ".brain").stat().st_mode & 0o777 == 0o700
    assert "Sixteen" in desk.brain("search", "weeks").out
    assert only(desk.brain("sync", "--json"))["unchanged"] == 1
    assert only(desk.brain("sync", "docs", "--json"))["unchanged"] == 1


def test_a_name_comes_before_a_folder_of_that_name(desk: Any) -> None:
    (desk.folder / "handbook").mkdir()
    desk.write(a="# A\n\ntext")
    desk.configure('[sources.handbook]\nkind = "files"\npath = "docs"\n')
    assert only(desk.brain("sync", "handbook", "--json"))["new"] == 1
    assert only(desk.brain("sync", "./handbook/../docs", "--json"))["name"] == "handbook"


def test_a_second_folder_of_one_name_is_refused(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    (desk.folder / "x" / "docs").mkdir(parents=True)
    desk.brain("sync", "docs")
    answer = desk.brain("sync", "x/docs")
    assert answer.status == 2
    assert "the name docs is taken by" in answer.err
    assert len(desk.ids()) == 1


@pytest.mark.parametrize("arguments", [["sync"], ["sync", "nowhere"], ["sync", "file.txt"], ["sync", "--json"]])
def test_nothing_to_sync_exits_2_and_leaves_no_file(desk: Any, arguments: list[str]) -> None:
    (desk.folder / "file.txt").write_text("x")
    answer = desk.brain(*arguments)
    assert answer.status == 2
    assert not (desk.folder / ".brain").exists()
    if "--json" in arguments:
        assert answer.json == {"ok": False, "error": answer.json["error"]}


def test_a_dry_run_tells_the_cost_and_changes_nothing(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.configure(DOCS)
    report = desk.brain("sync", "--dry-run", "--json").json
    assert report["dry_run"] is True
    (source,) = report["sources"]
    assert (source["new"], source["stored"], source["forgotten"]) == (1, 0, 0)
    assert source["estimate"]["bytes"] == len("# A\n\ntext")
    assert "nothing was changed" in desk.brain("sync", "--dry-run").out
    assert not (desk.folder / ".brain").exists()
    desk.brain("sync")
    desk.write(b="# B\n\ntext")
    assert only(desk.brain("sync", "--dry-run", "--json"))["new"] == 1
    assert len(desk.ids()) == 1


def test_what_is_set_aside_is_said_and_fails_only_when_strict(desk: Any) -> None:
    desk.write(a="# A\n\ntext", empty="")
    desk.configure(DOCS)
    answer = desk.brain("sync")
    assert answer.status == 0
    assert "  set aside: empty.md: the file has no bytes; nothing to do" in answer.out
    strict = desk.brain("sync", "--strict", "--json")
    assert strict.status == 1
    assert strict.json["ok"] is False
    assert only(strict)["set_aside"][0]["key"] == "empty.md"
    (desk.folder / "docs" / "empty.md").unlink()
    assert desk.brain("sync", "--strict").status == 0


def test_many_set_aside_are_cut_short(desk: Any) -> None:
    desk.write(**{f"e{number:02}": "" for number in range(12)})
    desk.configure(DOCS)
    out = desk.brain("sync").out
    assert out.count("set aside: e") == verb.SHOWN_ASIDES
    assert "and 2 more; `brain status docs` shows them" in out


def test_retry_tries_what_is_not_due(desk: Any) -> None:
    desk.write(empty="")
    desk.configure(DOCS)
    desk.brain("sync")
    assert only(desk.brain("sync", "--json"))["set_aside"][0]["attempts"] == 1
    assert only(desk.brain("sync", "--retry", "--json"))["set_aside"][0]["attempts"] == 2


def test_many_deletes_need_a_word(desk: Any) -> None:
    desk.write(**{f"d{number:02}": f"# Document {number}" for number in range(30)})
    desk.configure(DOCS)
    desk.brain("sync")
    for number in range(25):
        (desk.folder / "docs" / f"d{number:02}.md").unlink()
    answer = desk.brain("sync")
    assert answer.status == 1
    assert "max_delete" in answer.out
    assert len(desk.ids()) == 30
    assert only(desk.brain("sync", "--allow-deletes", "--json"))["forgotten"] == 25


def test_max_delete_of_the_source_counts(desk: Any) -> None:
    desk.write(**{f"d{number:02}": f"# Document {number}" for number in range(50)})
    desk.configure(DOCS + "max_delete = 1.0\n")
    desk.brain("sync")
    for number in range(24):
        (desk.folder / "docs" / f"d{number:02}.md").unlink()
    assert only(desk.brain("sync", "--json"))["forgotten"] == 24


@pytest.mark.parametrize(
    ("keys", "node"),
    [
        ("", "source:files"),
        ('split = "always"', "source:files/project:it"),
        ("split_over = 0", "source:files/project:it"),
        ('root = "team:hr"', "team:hr/source:files"),
    ],
)
def test_split_and_root_say_where_documents_are_filed(desk: Any, keys: str, node: str) -> None:
    desk.write(it__vpn="# VPN\n\ntext")
    desk.configure(DOCS + keys + "\n")
    desk.brain("sync")
    (held,) = desk.brain("list", "--source", "docs", "--json").json["documents"]
    assert held["namespace"] == node


def test_the_options_of_a_run_are_those_of_flags_and_file(desk: Any) -> None:
    desk.configure(DOCS + 'split = "never"\nsplit_over = 5\nmax_delete = 0.5\n')
    sources = SourceSet(load(None))
    parsed = Namespace(dry_run=True, full=True, retry=False, reconvert=False, allow_deletes=True)
    with OpenBrain(sources, trial=True) as brain:
        options = verb._sync_options(brain, "docs", parsed)
    assert (options.dry_run, options.full, options.retry, options.allow_deletes) == (True, True, False, True)
    assert (options.split, options.split_over, options.max_delete) == ("never", 5, 0.5)


def test_the_size_limit_of_the_file_counts(desk: Any) -> None:
    desk.write(small="# S", large="# L\n\n" + "word " * 100)
    desk.configure(DOCS + "max_bytes = 100\n")
    (aside,) = only(desk.brain("sync", "--json"))["set_aside"]
    assert aside["key"] == "large.md"
    desk.configure("[documents]\nmax_bytes = 2\n" + DOCS)
    assert len(only(desk.brain("sync", "--full", "--retry", "--json"))["set_aside"]) >= 1


def test_a_changed_root_is_refused_before_anything_is_lost(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.configure(DOCS)
    desk.brain("sync")
    desk.configure(DOCS + 'root = "team:hr"\n')
    answer = desk.brain("sync")
    assert answer.status == 2
    assert "docs was synced to source:files, not to team:hr/source:files" in answer.err
    assert desk.brain("forget", "docs", "--yes").out.startswith("forgot 1 document")
    assert desk.brain("sync").status == 0
    assert len(desk.brain("list", "--source", "docs", "--json").json["documents"]) == 1


def test_another_brain_root_is_refused(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.configure(DOCS)
    desk.brain("sync")
    desk.configure('[brain]\nroot = "team:acme"\n' + DOCS)
    assert desk.brain("sync").status == 2


def test_the_reference_engine_keeps_nothing(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.configure('[engine]\nkind = "reference"\n' + DOCS)
    assert only(desk.brain("sync", "--json"))["new"] == 1
    assert only(desk.brain("sync", "--json"))["new"] == 1
    assert "keeps nothing between commands" in desk.brain("status").err
    assert not (desk.folder / ".brain").exists()


def test_a_missing_folder_costs_only_its_source(two: Any) -> None:
    for file in (two.folder / "more").iterdir():
        file.unlink()
    (two.folder / "more").rmdir()
    answer = two.brain("sync", "--json")
    assert answer.status == 1
    docs, more = answer.json["sources"]
    assert docs["error"] is None
    assert "is missing; mount or create it" in more["error"]
    assert len(two.ids()) == 3


def test_an_interrupt_stops_after_the_batch_and_the_next_run_goes_on(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    desk.write(**{f"d{number:03}": f"# Document {number}" for number in range(300)})
    desk.configure(DOCS)
    raised: list[Any] = []

    def interrupting(sources: Any, state: Any, host: Any) -> Any:
        def tell(step: Any) -> None:
            if step.phase == "fetch" and not raised:
                raised.append(step)
                os.kill(os.getpid(), signal.SIGTERM)
            host.tell(step)

        return genuine(sources, state, Host(stop=host.stop, tell=tell))

    genuine = sync_all
    monkeypatch.setattr(verb, "sync_all", interrupting)
    before = signal.getsignal(signal.SIGTERM)
    answer = desk.brain("sync", "--json")
    assert answer.status == 130
    assert answer.json["interrupted"] is True
    assert "once more ends at once" in answer.err
    assert signal.getsignal(signal.SIGTERM) is before
    held = len(desk.brain("list", "--limit", "1000", "--json").json["documents"])
    assert 0 < held < 300
    monkeypatch.undo()
    monkeypatch.chdir(desk.folder)
    assert only(desk.brain("sync", "--json"))["new"] == 300 - held


def test_a_scrub_of_the_file_counts_and_reaches_what_is_held_when_asked(desk: Any) -> None:
    desk.write(a="# A\n\nThe key is AKIAIOSFODNN7EXAMPLE.")
    desk.configure(DOCS)
    desk.brain("sync")
    desk.configure('[brain]\nscrub = "secrets"\n' + DOCS)
    answer = desk.brain("sync")
    assert "1 document may be converted otherwise today: `brain sync docs --reconvert` does it" in answer.out
    report = only(desk.brain("sync", "--reconvert", "--json"))
    assert (report["changed"], report["redactions"]) == (1, 1)
    assert "AKIA" not in desk.brain("dump").out
    assert "outdated" not in only(desk.brain("sync", "--json"))


def test_what_a_source_has_to_say_stands_beside_the_report_once(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    scan = FilesConnector.scan

    def talking(self: FilesConnector, cursor: Json, notes: Notes, scope: str = "") -> Iterator[Event]:
        for _ in range(2):
            self.say("its listing was cut at a limit")
        return scan(self, cursor, notes, scope)

    monkeypatch.setattr(FilesConnector, "scan", talking)
    desk.write(a="# A\n\nAlpha.")
    answer = desk.brain("sync", "docs", "--json")
    assert answer.json["ok"]
    assert answer.err.count("docs: its listing was cut at a limit\n") == 1


def test_a_source_larger_than_the_file_allows_is_not_begun_and_the_plan_is_told(desk: Any) -> None:
    desk.configure(DOCS + 'max_total_bytes = "1KiB"\nmax_documents = 3\n')
    desk.write(a="# A\n\n" + "word " * 300)
    answer = desk.brain("sync")
    assert answer.status == 1
    assert "it would hold 1,505 bytes, max_total_bytes allows 1,024: planned were 1 new" in answer.out
    assert desk.brain("list", "--json").json["documents"] == []
    desk.write(a="# A\n\nShort.")
    assert only(desk.brain("sync", "--json"))["new"] == 1
