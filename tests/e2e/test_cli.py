"""The command `brain` as a person meets it: real processes, real files, bad luck included."""

import os
import pty
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pipeline.state.sqlite import SqliteState

pytestmark = pytest.mark.slow

# -- several at once, and interruptions


def wait_for(process: "subprocess.Popen[str]", text: str) -> None:
    """Read standard error up to *text*."""
    assert process.stderr is not None
    for line in process.stderr:
        if text in line:
            return
    pytest.fail(f"the process ended before it said {text!r}")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_finishes_the_batch_and_the_next_run_goes_on(shell: Any, number: int) -> None:
    shell.write(2_000)
    process = shell.start("sync", "--json")
    wait_for(process, "reading 1,000 of 2,000")
    process.send_signal(number)
    out, err = process.communicate(timeout=120)
    assert process.returncode == 130, err
    assert '"interrupted": true' in out
    held = shell.brain("list", "--limit", "5000", "--json").json["documents"]
    assert 1_000 <= len(held) < 2_000
    report = shell.report()
    assert (report["new"], report["unchanged"]) == (2_000 - len(held), len(held))


def test_a_second_signal_ends_at_once_and_loses_nothing(shell: Any) -> None:
    shell.write(2_000)
    process = shell.start("sync")
    wait_for(process, "reading 1,000 of 2,000")
    process.send_signal(signal.SIGINT)
    wait_for(process, "once more ends at once")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=120)
    assert process.returncode == 130
    assert shell.report()["listed"] == 2_000
    assert shell.brain("dump").out == undisturbed(shell)


def test_a_killed_sync_and_a_re_run_give_the_store_of_an_undisturbed_run(shell: Any) -> None:
    shell.write(2_000)
    process = shell.start("sync")
    wait_for(process, "reading 1,000 of 2,000")
    process.kill()
    process.communicate(timeout=120)
    assert shell.report()["error"] is None
    assert shell.brain("dump").out == undisturbed(shell)


def undisturbed(shell: Any) -> str:
    """Return the dump of a fresh brain of the same folder."""
    (shell.folder / ".brain").rename(shell.folder / "disturbed")
    shell.report()
    dump: str = shell.brain("dump").out
    assert len(dump.splitlines()) > 2_000
    return dump


def test_a_second_run_leaves_the_source_to_the_first(shell: Any) -> None:
    shell.write(3)
    assert shell.report()["new"] == 3
    state = SqliteState(shell.folder / ".brain" / "state.db")
    lease = state.lease("docs", time.time())
    try:
        answer = shell.brain("sync", "--json")
        assert answer.status == 1
        assert answer.json["sources"][0]["error"].startswith(f"already running: pid {os.getpid()} since 2")
        forget = shell.brain("forget", "docs", "--yes")
        assert forget.status == 1
        assert "already running" in forget.err
    finally:
        lease.release()
        state.close()
    assert shell.report()["unchanged"] == 3


def test_reading_verbs_work_while_a_sync_runs(shell: Any) -> None:
    shell.write(3_000)
    process = shell.start("sync")
    wait_for(process, "reading 1,000 of 3,000")
    for arguments in (["status"], ["search", "w17"], ["list"], ["explore"], ["jobs"], ["doctor"]):
        answer = shell.brain(*arguments)
        assert answer.status == 0, answer
    _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err


# -- what a disk does


def test_an_unreadable_folder_costs_only_itself(shell: Any, as_ordinary_user: Callable[[], None]) -> None:
    shell.write(3)
    shell.write(2, "docs/closed")
    assert shell.report()["new"] == 5
    (shell.folder / "docs" / "closed").chmod(0)
    try:
        answer = shell.brain("sync", "--json", preexec_fn=as_ordinary_user)
        (report,) = answer.json["sources"]
        assert (report["unchanged"], report["gone"], report["forgotten"]) == (3, 0, 0)
        assert report["set_aside"][0]["key"] == "docs/closed/".removeprefix("docs/")
        assert "permission denied" in report["set_aside"][0]["error"].lower()
    finally:
        (shell.folder / "docs" / "closed").chmod(0o700)
    report = shell.report()
    assert (report["unchanged"], report["set_aside"]) == (5, [])


def test_an_unreadable_file_is_set_aside(shell: Any, as_ordinary_user: Callable[[], None]) -> None:
    shell.write(2)
    (shell.folder / "docs" / "d00000.md").chmod(0)
    (report,) = shell.brain("sync", "--json", preexec_fn=as_ordinary_user).json["sources"]
    assert report["stored"] == 1
    (aside,) = report["set_aside"]
    assert aside["key"] == "d00000.md"
    assert "permission denied" in aside["error"].lower()


def test_a_data_folder_that_cannot_be_written_stops_before_anything(
    shell: Any, as_ordinary_user: Callable[[], None]
) -> None:
    shell.write(2)
    shell.folder.chmod(0o500)
    try:
        answer = shell.brain("sync", preexec_fn=as_ordinary_user)
    finally:
        shell.folder.chmod(0o700)
    assert answer.status == 2
    assert "permission denied" in answer.err
    assert answer.err.startswith("brain: cannot use ")
    assert answer.err.count("\n") == 1
    assert not (shell.folder / ".brain").exists()


def test_a_full_disk_is_said_and_loses_nothing(shell: Any, with_small_disk: Any) -> None:
    shell.write(50)
    assert shell.report()["new"] == 50
    for number in range(50, 2_000):
        (shell.folder / "docs" / f"e{number}.md").write_text(f"# More {number}\n\n" + f"word{number} " * 100)
    answer = shell.brain("sync", preexec_fn=with_small_disk(600_000))
    assert answer.status in {1, 2}
    assert "Traceback" not in answer.err
    said = answer.out + answer.err
    assert "space" in said or "disk" in said, said
    report = shell.report()
    assert report["error"] is None
    assert report["listed"] == 2_000
    assert shell.brain("list", "--limit", "5000", "--json").json["documents"].__len__() == 2_000


# -- streams


def test_a_reader_that_has_seen_enough_is_no_error(shell: Any) -> None:
    (shell.folder / "docs" / "long.md").write_text("".join(f"line {number}\n" for number in range(100_000)))
    shell.report()
    (held,) = shell.brain("list", "--json").json["documents"]
    command = f"exec {sys.executable} -m pipeline.cli show {held['id']}"
    ran = subprocess.run(
        ["bash", "-c", f"set -o pipefail; ({command}) | head -1"],
        cwd=shell.folder,
        env=shell.variables(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert len(ran.stdout.splitlines()) == 1
    assert ran.stderr == ""


def test_a_terminal_that_knows_no_unicode_gets_escapes(shell: Any) -> None:
    (shell.folder / "docs" / "größe.md").write_text("# Größe 日本\n\ntext")
    shell.report()
    shell.environment["PYTHONIOENCODING"] = "ascii"
    answer = shell.brain("list")
    assert answer.status == 0
    assert "Gr\\xf6\\xdfe" in answer.out


def test_a_terminal_gets_a_bar_with_counts(shell: Any) -> None:
    shell.write(300)
    main, child = pty.openpty()
    process = subprocess.Popen(
        shell.command("sync"),
        cwd=shell.folder,
        env={**shell.variables(), "TERM": "xterm-256color"},
        stdout=subprocess.PIPE,
        stderr=child,
    )
    os.close(child)
    shown = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # Linux's way to say that the other side closed
            break
        if not part:
            break
        shown += part
    os.close(main)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert b"docs: " in shown
    assert b"300/300" in shown
    assert b"\x1b[" in shown
    assert out.decode().splitlines()[0].startswith("docs: 300 new")


def test_jobs_are_run_in_another_process(shell: Any) -> None:
    shell.write(2)
    shell.report()
    assert "build_beliefs at source:files" in shell.brain("jobs").out
    assert "2 beliefs built" in shell.brain("jobs", "run").out
    assert "no job waits" in shell.brain("jobs").out


def test_what_is_changed_moved_and_gone_is_kept_true(shell: Any) -> None:
    shell.write(4)
    docs: Path = shell.folder / "docs"
    shell.report()
    (docs / "d00000.md").write_text("# Document 0\n\nAnother word entirely.\n")
    (docs / "d00001.md").unlink()
    (docs / "new").mkdir()
    (docs / "d00002.md").rename(docs / "new" / "name.md")
    report = shell.report()
    assert [report[what] for what in ("changed", "gone", "moved", "unchanged")] == [1, 1, 1, 1]
    assert (report["stored"], report["forgotten"]) == (2, 3)
    assert shell.brain("search", "w0", "--json").json["hits"] == []
    assert shell.brain("search", "entirely", "--json").json["hits"][0]["file_path"] == "d00000.md"
    assert shell.brain("search", "w2", "--json").json["hits"][0]["file_path"] == "new/name.md"
    assert shell.report()["unchanged"] == 3
