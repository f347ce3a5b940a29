"""`--verbose` and `--log-json`."""

import json
from typing import Any

DOCS = '[sources.docs]\nkind = "files"\npath = "docs"\n'


def test_verbose_tells_of_every_document_on_standard_error(desk: Any) -> None:
    desk.configure(DOCS)
    desk.write(a="# A\n\nText.", b="# B\n\nText.")
    answer = desk.brain("sync", "--verbose")
    assert answer.out.startswith("docs: 2 new")
    assert "DEBUG docs: new a.md" in answer.err
    assert "INFO docs: 2 new" in answer.err
    assert "listing" not in answer.err
    assert "DEBUG" not in desk.brain("sync").err


def test_json_logs_are_lines_of_json_and_nothing_else(desk: Any) -> None:
    desk.configure(DOCS)
    desk.write(a="# A\n\nText.")
    answer = desk.brain("sync", "--log-json", "--verbose", "--json")
    assert answer.json["sources"][0]["new"] == 1
    lines = [json.loads(line) for line in answer.err.splitlines()]
    assert [(line["level"], line["event"]) for line in lines] == [("debug", "item"), ("info", "source")]
    assert (lines[0]["key"], lines[0]["outcome"], lines[1]["new"]) == ("a.md", "new", 1)
    assert lines[0]["at"].endswith("Z")
    quiet = desk.brain("sync", "--log-json")
    assert [json.loads(line)["event"] for line in quiet.err.splitlines()] == ["source"]


def test_a_name_cannot_act_on_the_terminal(desk: Any) -> None:
    desk.configure(DOCS)
    desk.write(**{"a\x1b[2J": "# A\n\nText."})
    assert "\x1b" not in desk.brain("sync", "--verbose").err


def test_the_status_of_one_source_tells_its_last_runs(desk: Any) -> None:
    desk.configure(DOCS)
    desk.write(a="# A\n\nText.")
    desk.brain("sync")
    desk.write(b="# B\n\nText.")
    desk.brain("sync")
    (desk.folder / "docs").rename(desk.folder / "away")
    desk.brain("sync")
    lines = desk.brain("status", "docs").out.splitlines()
    runs = [line.partition("Z: ")[2] for line in lines if "Z: " in line and "since" not in line]
    assert runs[0].startswith("nothing there") or "stopped: " in runs[0]
    assert runs[1].startswith("1 new, 1 unchanged (")
    assert runs[2].startswith("1 new (")
    (source,) = desk.brain("status", "docs", "--json").json["sources"]
    assert [run["new"] for run in source["runs"]] == [0, 1, 1]
    assert "is missing" in source["runs"][0]["error"]
    assert "runs" not in desk.brain("status", "--json").json["sources"][0]
