"""`forget`, `jobs` and `doctor`."""

import io
from typing import Any

import pytest

from corebrain.background import BackgroundRunner
from corebrain.errors import Unavailable

DOCS = '[sources.docs]\nkind = "files"\npath = "docs"\n'


# -- forget


def test_forgetting_one_folder_leaves_the_other_whole(two: Any) -> None:
    before = two.brain("dump", "more").out
    answer = two.brain("forget", "docs", "--yes")
    assert answer.status == 0
    assert answer.out.startswith("forgot 2 documents of docs\n")
    assert "the next sync reads it again" in answer.out
    assert two.brain("dump", "more").out == before
    assert list(two.ids()) == ["more/leave.md"]
    assert two.brain("status", "docs", "--json").json["sources"][0]["documents"] == 0
    assert (two.folder / "docs" / "leave.md").exists()


def test_forget_asks_first(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    answer = two.brain("forget", "docs")
    assert answer.status == 2
    assert "repeat it with --yes" in answer.err
    terminal: Any = io.StringIO("n\ny\n")
    terminal.isatty = lambda: True
    monkeypatch.setattr("sys.stdin", terminal)
    refused = two.brain("forget", "docs")
    assert refused.status == 1
    assert "forget 2 documents of docs?" in refused.err
    assert len(two.ids()) == 3
    assert two.brain("forget", "docs").status == 0
    assert len(two.ids()) == 1


def test_a_source_configured_no_more_can_be_forgotten(two: Any) -> None:
    two.configure(DOCS)
    assert two.brain("forget", "more", "--yes", "--json").json == {"ok": True, "name": "more", "forgotten": 1}
    assert "more" not in two.brain("status").out


def test_an_unknown_source_is_refused(two: Any) -> None:
    answer = two.brain("forget", "dosc", "--yes")
    assert answer.status == 2
    assert "did you mean 'docs'?" in answer.err


def test_a_folder_synced_by_path_is_forgotten_with_its_name(desk: Any) -> None:
    desk.write(a="# A\n\ntext")
    desk.brain("sync", "docs")
    desk.brain("forget", "docs", "--yes")
    assert desk.brain("sync").status == 2
    assert desk.brain("forget", "docs", "--yes").status == 2


def test_a_forget_that_died_midway_is_finished_by_the_next(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def dies(*_: object) -> None:
        raise Unavailable("the engine is down")

    with monkeypatch.context() as patched:
        patched.setattr("corebrain.engines.local.engine.LocalEngine.forget", dies)
        assert two.brain("forget", "docs", "--yes").status == 1
    two.configure(DOCS.replace("docs]", "other]"))
    assert two.brain("forget", "docs", "--yes", "--json").json["forgotten"] == 2


# -- jobs


def test_jobs_are_listed_run_and_dropped(two: Any) -> None:
    assert two.brain("jobs").out == "build_beliefs at source:files\n`brain jobs run` runs them\n"
    (job,) = two.brain("jobs", "--json").json["jobs"]
    assert job["job"] == "build_beliefs"
    out = two.brain("jobs", "run").out
    assert out.splitlines()[0] == "build_beliefs at source:files: done, 3 beliefs built"
    assert two.brain("jobs").out == "no job waits\n"
    again = two.brain("jobs", "run", "--json").json
    assert (again["reports"], again["upkeep_left"]) == ([], 0)


def test_the_reports_of_jobs_are_in_the_json(two: Any) -> None:
    (report,) = two.brain("jobs", "run", "--json").json["reports"]
    assert report["job"] == "build_beliefs"
    assert report["outcome"] == {"outcome": "done"}
    assert report["consolidation"]["built"] == 3


def test_a_job_that_fails_is_kept(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise Unavailable("the engine is down")

    with monkeypatch.context() as patched:
        patched.setattr(BackgroundRunner, "run", fails)
        answer = two.brain("jobs", "run", "--json")
    assert answer.status == 1
    assert answer.json["ok"] is False
    assert "the engine is down" in answer.json["errors"][0]
    assert len(two.brain("jobs", "--json").json["jobs"]) == 1


# -- doctor


def findings(answer: Any) -> dict[str, Any]:
    return {finding["what"]: finding for finding in answer.json["findings"]}


def test_doctor_says_that_all_is_well(two: Any) -> None:
    answer = two.brain("doctor", "--json")
    assert answer.status == 0
    found = findings(answer)
    assert found["engine"]["state"] == "works"
    assert found["source docs"]["detail"] == f"{two.folder}/docs"
    assert "SQLite 3." in found["libraries"]["detail"]
    assert "markdown" in two.brain("doctor").out


def test_doctor_before_the_first_sync_leaves_no_file(desk: Any) -> None:
    desk.configure(DOCS)
    desk.write(a="x")
    answer = desk.brain("doctor", "--json")
    assert answer.status == 0
    assert findings(answer)["engine"]["advice"] == "run `brain sync`"
    assert not (desk.folder / ".brain").exists()


def test_doctor_finds_a_missing_folder_and_open_permissions(two: Any) -> None:
    (two.folder / "docs").rename(two.folder / "away")
    (two.folder / ".brain" / "memory.db").chmod(0o644)
    answer = two.brain("doctor", "--json")
    assert answer.status == 1
    found = findings(answer)
    assert "is missing" in found["source docs"]["detail"]
    assert found["permissions"]["state"] == "fails"
    assert found["permissions"]["advice"].startswith("chmod 600 ")


def test_doctor_finds_a_damaged_state(two: Any) -> None:
    (two.folder / ".brain" / "state.db").write_bytes(b"no database" * 1000)
    answer = two.brain("doctor")
    assert answer.status == 1
    assert "FAILS  brain: " in answer.out
    assert "1 of " in answer.out


def test_doctor_says_what_a_missing_parser_needs(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("corebrain.documents.registry.shutil.which", lambda _: None)
    out = two.brain("doctor").out
    assert "doc, ppt cannot be read; install soffice" in out


def test_doctor_finds_a_full_disk(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.cli.doctor.LITTLE_ROOM", 1 << 62)
    answer = two.brain("doctor", "--json")
    assert answer.status == 1
    assert "free some space" in findings(answer)["disk"]["advice"]
