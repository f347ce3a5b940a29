"""`status`, `search`, `show`, `list`, `explore` and `dump` on a synced brain, and on one that never was."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from pipeline.state.values import Holding

DOCS = '[sources.docs]\nkind = "files"\npath = "docs"\n'


@pytest.mark.parametrize(
    ("arguments", "answer"),
    [
        (["search", "x"], {"ok": True, "query": "x", "hits": []}),
        (["list"], {"ok": True, "documents": [], "more": False}),
        (["explore"], {"ok": True, "facets": []}),
        (["jobs"], {"ok": True, "jobs": []}),
        (["jobs", "run"], {"ok": True, "reports": []}),
        (["status"], {"ok": True, "synced": False, "sources": [], "jobs": 0}),
    ],
)
def test_a_brain_never_synced_says_what_to_do_and_gets_no_file(desk: Any, arguments: list[str], answer: Any) -> None:
    said = desk.brain(*arguments, "--json")
    assert said.status == 0
    assert said.json == answer
    assert "run `brain sync FOLDER`" in said.err
    desk.configure("")
    assert "names no source yet: run `brain add files FOLDER`" in desk.brain(*arguments).err
    desk.configure(DOCS)
    assert "nothing was synced yet: run `brain sync`" in desk.brain(*arguments).err
    assert not (desk.folder / ".brain").exists()


# -- search


def test_search_names_place_heading_and_words(two: Any) -> None:
    answer = two.brain("search", "tunnel")
    first, second, third = answer.out.splitlines()
    assert first == "VPN  [docs]"
    assert second.startswith(f"  {two.folder}/docs/it/vpn.md · Setup  (")
    assert third == "  ## Setup Use the tunnel."


def test_search_as_json(two: Any) -> None:
    (hit,) = two.brain("search", "tunnel", "--json").json["hits"]
    assert hit["title"] == "VPN"
    assert hit["place"] == f"{two.folder}/docs/it/vpn.md"
    assert (hit["source"], hit["file_path"], hit["heading"], hit["page"]) == ("docs", "it/vpn.md", "Setup", None)
    assert hit["score"] > 0
    assert two.brain("show", hit["id"]).status == 0


def test_search_in_a_source_by_name_or_by_kind(two: Any) -> None:
    def sources(*more: str) -> set[str]:
        return {hit["source"] for hit in two.brain("search", "leave", "--json", *more).json["hits"]}

    assert sources() == {"docs", "more"}
    assert sources("--source", "more") == {"more"}
    assert sources("--source", "files") == {"docs", "more"}
    assert sources("--source", "notion") == set()
    assert len(two.brain("search", "leave", "--limit", "1", "--json").json["hits"]) == 1


def test_search_in_an_unknown_source_names_the_nearest(two: Any) -> None:
    answer = two.brain("search", "leave", "--source", "doc")
    assert answer.status == 2
    assert "did you mean 'docs'?" in answer.err


def test_a_source_below_another_root_is_searched_by_name(desk: Any) -> None:
    desk.write(pay="# Pay\n\nSecret salaries.")
    desk.configure('[brain]\nroot = "team:acme"\n' + DOCS + 'root = "team:hr"\n')
    desk.brain("sync")
    assert desk.brain("search", "salaries", "--json").json["hits"] == []
    assert len(desk.brain("search", "salaries", "--source", "docs", "--json").json["hits"]) == 1


def test_nothing_found_is_said_beside_the_result(two: Any) -> None:
    answer = two.brain("search", "zeppelin")
    assert (answer.status, answer.out) == (0, "")
    assert "nothing was found" in answer.err


def test_a_blank_query_and_a_bad_limit_are_refused(two: Any) -> None:
    assert two.brain("search", " ").status == 2
    assert two.brain("search", "x", "--limit", "0").status == 2
    assert "no number from 1 up" in two.brain("list", "--limit", "many").err


def test_what_a_document_holds_cannot_act_on_the_terminal(desk: Any) -> None:
    desk.write(evil="# Title \x1b]0;owned\x07\n\nneedle \x1b[2J\u202egnp.exe")
    desk.configure(DOCS)
    desk.brain("sync")
    (held,) = desk.ids().values()
    for arguments in (["search", "needle"], ["list"], ["show", held], ["explore", "file_path"]):
        out = desk.brain(*arguments).out
        assert "\x1b" not in out
        assert "\u202e" not in out
    assert "\\x1b[2J" in desk.brain("show", held).out


def test_matches_are_marked_on_a_terminal(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cli.console.sys.stdout.isatty", lambda: True, raising=False)
    assert "\x1b[1mtunnel\x1b[0m" in two.brain("search", "tunnel").out


# -- show


def test_show_tells_where_a_document_is_from_and_how_it_was_read(two: Any) -> None:
    item = two.ids()["docs/it/vpn.md"]
    out = two.brain("show", item[:6]).out
    for line in (
        "VPN",
        f"  id         {item}",
        "  source     docs",
        f"  place      {two.folder}/docs/it/vpn.md",
        "  node       source:files",
        "  format     markdown",
        "  converter  markdown",
        "Use the tunnel.",
    ):
        assert line in out.splitlines()
    shown = two.brain("show", item.upper(), "--json").json
    assert shown["converter"] == "markdown"
    assert shown["text"].endswith("Use the tunnel.")


def test_show_refuses_what_is_no_id_or_unknown(two: Any) -> None:
    assert "is no id" in two.brain("show", "12345").err
    assert "is no id" in two.brain("show", "zzzzzz").err
    for unknown in ("0" * 6, "0" * 40):
        answer = two.brain("show", unknown, "--json")
        assert answer.status == 2
        assert "there is no document" in answer.json["error"]


def test_show_asks_for_more_of_an_ambiguous_id(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def both(self: object, prefix: str, limit: int) -> list[Holding]:
        return [Holding(f"{prefix}{end}", f"docs of {type(self).__name__}", "a.md") for end in "ab"][:limit]

    monkeypatch.setattr("pipeline.state.sqlite.SqliteState.holdings", both)
    assert "123456 begins 2 ids: 123456a, 123456b; give more of it" in two.brain("show", "123456").err


# -- list and explore


def test_list_shows_id_place_and_title(two: Any) -> None:
    lines = two.brain("list").out.splitlines()
    item = two.ids()["docs/leave.md"]
    assert len(lines) == 3
    assert f"{item[:10]}  {two.folder}/docs/leave.md  Parental leave" in lines


def test_list_is_limited_and_says_so(two: Any) -> None:
    answer = two.brain("list", "--limit", "2")
    assert len(answer.out.splitlines()) == 2
    assert "there are more" in answer.err
    assert two.brain("list", "--limit", "2", "--json").json["more"] is True
    assert two.brain("list", "--limit", "3", "--json").json["more"] is False
    assert len(two.brain("list", "--source", "more").out.splitlines()) == 1


def test_explore_counts(two: Any) -> None:
    overview = two.brain("explore").out
    assert "source_id: 3 documents\n         2  docs\n         1  more\n" in overview
    assert two.brain("explore", "folder", "--source", "docs").out == (
        "folder: 2 documents\n         1  it\n         1  without one\n"
    )
    (facet,) = two.brain("explore", "source_id", "--limit", "1", "--json").json["facets"]
    assert (len(facet["buckets"]), facet["more_buckets"]) == (1, 1)
    assert "1 more values" in two.brain("explore", "source_id", "--limit", "1").out
    assert two.brain("explore", "colour").status == 2


# -- status


def test_status_tells_documents_and_last_sync(two: Any) -> None:
    lines = two.brain("status").out.splitlines()
    assert lines[0].startswith("docs: 2 documents, last synced 2")
    assert lines[1].startswith("more: 1 document, last synced 2")
    assert lines[2] == "1 background job waiting; `brain jobs run` runs them"
    status = two.brain("status", "docs", "--json").json
    assert [source["name"] for source in status["sources"]] == ["docs"]
    assert status["synced"] is True


def test_status_says_why_something_is_set_aside(two: Any) -> None:
    two.write(**{f"e{number}": "" for number in range(5)})
    two.brain("sync")
    whole, short = two.brain("status", "docs").out, two.brain("status").out
    assert "  set aside: e0.md: the file has no bytes; nothing to do" in whole
    assert "(tried 1 time, next 2" in whole
    assert whole.count("set aside") == 5
    assert short.count("set aside") == 3
    assert "and 2 more" in short
    (source,) = two.brain("status", "docs", "--json").json["sources"]
    assert source["set_aside"][0]["attempts"] == 1


def test_status_says_that_no_sync_finished(desk: Any) -> None:
    desk.configure(DOCS)
    assert "docs: 0 documents, no sync finished yet" in desk.brain("status").out


def test_a_keyboard_interrupt_ends_with_130(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("pipeline.cli.status._standing", interrupted)
    answer = two.brain("status")
    assert (answer.status, answer.err) == (130, "brain: interrupted; run the command again\n")


def test_status_says_since_when_a_source_fails(two: Any) -> None:
    (two.folder / "docs").rename(two.folder / "away")
    two.brain("sync")
    out = two.brain("status").out
    assert "  failing since 2" in out
    assert "is missing" in out


def test_status_shows_what_is_configured_no_more(two: Any) -> None:
    two.configure(DOCS)
    assert "no longer configured, `brain forget more` removes it" in two.brain("status").out
    assert two.brain("search", "elsewhere", "--source", "more", "--json").json["hits"]


def test_status_of_an_unknown_source_names_the_nearest(two: Any) -> None:
    answer = two.brain("status", "dosc")
    assert answer.status == 2
    assert "did you mean 'docs'?" in answer.err


# -- dump


def test_equal_brains_dump_equal_lines(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    first = two.brain("dump").out
    (two.folder / ".brain").rename(two.folder / "old")
    two.brain("sync", "more")
    two.brain("sync", "docs")
    assert two.brain("dump").out == first
    monkeypatch.setattr("pipeline.cli.dump._RUN", 1)
    assert two.brain("dump").out == first


def test_a_dump_is_json_lines_with_items_and_records(two: Any) -> None:
    lines = two.brain("dump").out.splitlines()
    held = [json.loads(line) for line in lines]
    assert [json.dumps(line, sort_keys=True, separators=(",", ":")) for line in held] == lines
    kinds = [next(iter(line)) if len(line) == 1 else "source" for line in held]
    assert sorted(kinds) == ["engine"] * 3 + ["job"] + ["record"] * 3 + ["source"] * 2
    engine = {line["engine"]["id"] for line in held if "engine" in line}
    recorded = {item["id"] for line in held if "record" in line for item in line["record"]["items"]}
    assert engine == recorded
    for each in (line["engine"] for line in held if "engine" in line):
        text = each["item"]["body"]["text"]
        assert each["text_sha256"] == hashlib.sha256(text.encode()).hexdigest()


def test_a_dump_of_one_source_leaves_the_others_out(two: Any) -> None:
    out = two.brain("dump", "more").out
    assert "elsewhere" in out
    assert "tunnel" not in out
    assert two.brain("dump", "nope").status == 2


# -- errors


def test_an_error_is_one_line_and_debug_shows_where_it_came_from(two: Any) -> None:
    (two.folder / ".brain" / "state.db").write_bytes(b"no database" * 1000)
    answer = two.brain("status")
    assert answer.status == 2
    assert answer.err.startswith("brain: ")
    assert answer.err.count("\n") == 1
    with pytest.raises(Exception, match="database"):
        two.brain("status", "--debug")


def test_a_damaged_memory_is_one_line(two: Any) -> None:
    file: Path = two.folder / ".brain" / "memory.db"
    file.write_bytes(b"no database" * 1000)
    answer = two.brain("search", "x", "--json")
    assert answer.status in {1, 2}
    assert answer.json["ok"] is False


def test_no_verb_prints_help(desk: Any) -> None:
    answer = desk.brain()
    assert answer.status == 2
    assert "verbs:" in answer.out


def test_a_version_is_printed(desk: Any) -> None:
    assert desk.brain("--version").out.startswith("corebrain ")


def test_a_typo_in_the_command_line_is_one_line(desk: Any) -> None:
    answer = desk.brain("sync", "--drry-run")
    assert answer.status == 2
    assert answer.err.startswith("brain: unrecognized arguments: --drry-run")
    assert desk.brain("frobnicate", "--json").json["ok"] is False


def test_config_may_stand_before_or_after_the_verb(desk: Any) -> None:
    (desk.folder / "other.toml").write_text('[brain]\nroot = "team:x"\n')
    for arguments in (["--config", "other.toml", "config", "show"], ["config", "show", "--config", "other.toml"]):
        assert 'root = "team:x"' in desk.brain(*arguments).out


def test_config_show_and_schema(two: Any) -> None:
    shown = two.brain("config", "show", "--json").json
    assert shown["config"]["sources"]["docs"]["path"] == "docs"
    assert two.brain("config", "show").out.startswith(f"# {two.folder}/brain.toml\n[brain]\n")
    assert json.loads(two.brain("config", "schema").out)["title"] == "brain.toml"
