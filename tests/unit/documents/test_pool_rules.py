"""Each way a parser can misbehave costs its document and nothing else."""

import json
import os
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from corebrain.documents import landlock
from corebrain.documents.pool import Limits, ParserMissing, ParserPool
from corebrain.documents.registry import Parser
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import Damaged, Encrypted, ParserDied, TimedOut, TooLarge

Order = Callable[[str], ConvertedDocument]


def _pid(document: ConvertedDocument) -> int:
    pid = document.metadata["pid"]
    assert isinstance(pid, int)
    return pid


def _is_alive(pid: int) -> bool:
    """Whether a process runs; one that waits to be reaped by somebody does not."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
    except FileNotFoundError:
        return False


@pytest.mark.parametrize("bad", ["hang", "spin"])
def test_document_that_never_ends_is_timed_out_and_the_next_one_converts(order: Order, bad: str) -> None:
    with pytest.raises(TimedOut, match="did not finish within 1 s"):
        order(bad)
    assert order("hello").markdown == "hello"


@pytest.mark.parametrize(("bad", "how"), [("segfault", "SIGSEGV"), ("exit", "status 3"), ("eat", "out of memory")])
def test_parser_that_dies_costs_its_document_only(order: Order, bad: str, how: str) -> None:
    if bad == "eat" and not Path("/proc/self/statm").exists():
        pytest.skip("the memory limit needs Linux")
    with pytest.raises(ParserDied, match=how):
        order(bad)
    assert order("hello").markdown == "hello"


def test_reply_over_the_cap_is_too_large_and_the_worker_lives_on(order: Order) -> None:
    before = _pid(order("hello"))
    with pytest.raises(TooLarge):
        order("flood 2000000")
    assert _pid(order("hello")) == before


def test_prints_of_a_library_do_not_reach_the_stream_of_replies(order: Order) -> None:
    assert order("noise").markdown == "noisy"
    assert order("hello").markdown == "hello"


@pytest.mark.parametrize(("bad", "what"), [("raise", "KeyError: 'Root'"), ("quit", "SystemExit: 4")])
def test_exception_of_a_library_is_a_damaged_document(order: Order, bad: str, what: str) -> None:
    with pytest.raises(Damaged, match=what):
        order(bad)


def test_refusal_crosses_the_border_with_its_advice(order: Order) -> None:
    with pytest.raises(Encrypted) as caught:
        order("refuse")
    assert caught.value.message == "no password given"
    assert caught.value.advice == "ask for it"


def test_death_is_tried_once_more_in_a_fresh_process(open_order: Order, tmp_path: Path) -> None:
    assert open_order(f"once {tmp_path / 'mark'}").markdown == "second try"


def test_timeout_is_not_tried_again(pool: ParserPool, mock: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[float] = []
    attempt = pool._attempt

    def counted(*args: object, **options: object) -> ConvertedDocument:
        attempts.append(1)
        return attempt(*args, **options)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(pool, "_attempt", counted)
    with pytest.raises(TimedOut):
        pool.convert(mock, RawDocument(b"hang"), "mock", wall_s=0.2)
    assert len(attempts) == 1


@pytest.mark.timeout(20)
@pytest.mark.skipif(not Path("/proc/self").exists(), reason="looks at /proc")
@pytest.mark.parametrize("end", ["hang", "exit"])
def test_children_of_a_worker_die_with_it(open_order: Order, tmp_path: Path, end: str) -> None:
    noted = tmp_path / "child"
    with pytest.raises((TimedOut, ParserDied)):
        open_order(f"fork {noted} {end}")
    child = int(noted.read_text(encoding="ascii"))
    while _is_alive(child):  # a killed process takes a moment to go; one that was spared runs into the time limit
        pass


def test_worker_has_no_variable_of_its_parent(order: Order, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOTION_TOKEN", "ntn_canary")
    monkeypatch.setenv("PYTHONPATH", "/canary")
    seen = json.loads(order("environment").markdown)["environment"]
    assert "canary" not in json.dumps(seen)
    assert set(seen) <= {
        *("PATH", "HOME", "TMPDIR", "LANG", "TZ", "OMP_NUM_THREADS", "LC_CTYPE"),
        *("DO_NOT_TRACK", "SCARF_NO_ANALYTICS", "UNSTRUCTURED_DISABLE_NOTICE", "HF_HUB_OFFLINE"),
        "ALLOW_PANDOC_NO_SANDBOX",
    }


def test_worker_reads_a_private_copy_in_its_own_folder(order: Order) -> None:
    assert json.loads(order("environment").markdown)["names"] == ["document"]


def test_what_a_task_leaves_behind_is_wiped_before_the_next(order: Order) -> None:
    folder = Path(order("litter").markdown)
    assert list(folder.iterdir()) == []
    assert json.loads(order("environment").markdown)["names"] == ["document"]


def test_worker_may_not_use_the_network(order: Order) -> None:
    with pytest.raises(Damaged, match="may not use the network"):
        order("connect 9")


NO_LANDLOCK = pytest.mark.skipif(not landlock.version(), reason="this kernel has no Landlock")


@NO_LANDLOCK
def test_worker_reads_no_file_of_the_user(order: Order, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("canary")
    with pytest.raises(Damaged, match="PermissionError"):
        order(f"read {tmp_path / 'secret'}")
    assert order("write here").markdown == order("read /dev/null").markdown + "written"


@NO_LANDLOCK
@pytest.mark.parametrize("place", ["new", "secret"])
def test_worker_writes_no_file_of_the_user(order: Order, tmp_path: Path, place: str) -> None:
    (tmp_path / "secret").write_text("canary")
    with pytest.raises(Damaged, match="PermissionError"):
        order(f"write {tmp_path / place}")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["canary"]


def test_worker_that_is_left_open_reads_and_writes_all(open_order: Order, tmp_path: Path) -> None:
    assert open_order(f"write {tmp_path / 'new'}").markdown == open_order(f"read {tmp_path / 'new'}").markdown


def test_attachments_come_back_in_order_even_with_equal_names(order: Order) -> None:
    parts = order("parts").parts
    assert [(part.name, part.data) for part in parts] == [("a.txt", b"first"), ("a.txt", b"second")]


def test_attachments_over_their_limit_are_refused(mock: Parser) -> None:
    with ParserPool(1, Limits(parts=8)) as pool, pytest.raises(TooLarge, match="attachments"):
        pool.convert(mock, RawDocument(b"parts"), "mock")


def test_lone_surrogates_do_not_break_the_stream(pool: ParserPool, mock: Parser) -> None:
    answer = pool.convert(mock, RawDocument(b"hello", filename="a\udcffb"), "mock")
    assert answer.markdown == "hello"


def test_module_that_is_not_there_is_told_apart(pool: ParserPool) -> None:
    with pytest.raises(ParserMissing, match="no_such_parser"):
        pool.convert(Parser("none", "corebrain.documents.convert.no_such_parser"), RawDocument(b"x"), "mock")


def test_worker_is_replaced_after_its_number_of_tasks(mock: Parser) -> None:
    with ParserPool(1, Limits(tasks=2)) as pool:
        pids = [_pid(pool.convert(mock, RawDocument(b"hello"), "mock")) for _ in range(4)]
    assert pids[0] == pids[1]
    assert pids[2] == pids[3]
    assert pids[1] != pids[2]


def test_worker_that_grew_is_replaced(mock: Parser) -> None:
    with ParserPool(1, Limits(resident=1)) as pool:
        pids = [_pid(pool.convert(mock, RawDocument(b"hello"), "mock")) for _ in range(2)]
    assert pids[0] != pids[1]


def test_worker_killed_from_outside_at_rest_costs_nothing(order: Order) -> None:
    os.kill(_pid(order("hello")), signal.SIGKILL)
    assert order("hello").markdown == "hello"
