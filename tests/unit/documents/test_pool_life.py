"""When workers start, how they end, and that nothing is left of them."""

import ast
import errno
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from corebrain.documents import worker_process
from corebrain.documents.pool import Limits, ParserPool
from corebrain.documents.registry import Parser
from corebrain.documents.types import ConvertedDocument, RawDocument
from corebrain.errors import EngineError, Unavailable

ROOT = Path(__file__).parents[3]


def _live(pool: ParserPool) -> int:
    return len(pool._crew.live)


def test_no_worker_starts_before_the_first_document(mock: Parser) -> None:
    with ParserPool(2) as pool:
        assert _live(pool) == 0
        pool.convert(mock, RawDocument(b"hello"), "mock")
        assert _live(pool) == 1


def test_close_leaves_no_process_no_thread_and_no_folder(mock: Parser) -> None:
    threads = threading.active_count()
    pool = ParserPool(1)
    pid = pool.convert(mock, RawDocument(b"hello"), "mock").metadata["pid"]
    folder = next(iter(pool._crew.live)).folder
    pool.close()
    pool.close()
    assert isinstance(pid, int)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert threading.active_count() == threads
    assert not folder.exists()


def test_closed_pool_refuses(mock: Parser) -> None:
    pool = ParserPool(1)
    pool.close()
    with pytest.raises(EngineError, match="closed"):
        pool.convert(mock, RawDocument(b"hello"), "mock")


def test_close_ends_a_conversion_under_way(mock: Parser, tmp_path: Path) -> None:
    pool = ParserPool(1, Limits(wall_s=60, confined=False))
    noted = tmp_path / "child"
    with ThreadPoolExecutor(1) as threads:
        under_way = threads.submit(pool.convert, mock, RawDocument(f"fork {noted} hang".encode()), "mock")
        while not noted.exists():
            assert not under_way.done()
        pool.close()
        with pytest.raises(EngineError, match="closed"):
            under_way.result()
    assert _live(pool) == 0


def test_many_threads_share_the_workers(mock: Parser) -> None:
    texts = [f"text {number}" for number in range(40)]

    def convert(text: str) -> ConvertedDocument:
        return pool.convert(mock, RawDocument(text.encode()), "mock")

    with ParserPool(2) as pool, ThreadPoolExecutor(8) as threads:
        documents = list(threads.map(convert, texts))
        assert [document.markdown for document in documents] == texts
        assert _live(pool) <= 2
    assert len({str(document.metadata["pid"]) for document in documents}) <= 2


def test_second_try_never_goes_to_a_worker_at_rest(mock: Parser, tmp_path: Path) -> None:
    with ParserPool(2, Limits(confined=False)) as pool:
        lane = pool._lane(mock.lane)
        rested = [pool._crew.take(lane, pool._start, fresh=False) for _ in range(2)]
        for worker in rested:
            pool._crew.give_back(lane, worker, keep=True)
        answer = pool.convert(mock, RawDocument(f"once {tmp_path / 'mark'}".encode()), "mock")
        assert answer.metadata["pid"] not in {worker._process.pid for worker in rested}
        assert _live(pool) == 1


def test_worker_loads_nothing_but_itself_wherever_it_is_started(tmp_path: Path) -> None:
    *python, start = worker_process._command()
    told = start.removesuffix("main()") + "print(sorted({name.partition('.')[0] for name in sys.modules}))"
    done = subprocess.run([*python, told], check=True, cwd=tmp_path, capture_output=True, text=True)
    assert "'corebrain'" in done.stdout
    assert not {"pydantic", "lxml", "pypdf", "apsw", "httpx"}.intersection(ast.literal_eval(done.stdout))


def test_no_process_to_be_had_is_unavailable_and_leaves_no_folder(
    mock: Parser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setattr("sys.executable", str(tmp_path / "no-python"))
    with ParserPool(1) as pool, pytest.raises(Unavailable, match="cannot start a parser worker"):
        pool.convert(mock, RawDocument(b"hello"), "mock")
    assert list(tmp_path.iterdir()) == []


def test_full_disk_is_unavailable_and_a_vanished_file_is_not(
    mock: Parser, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with ParserPool(1) as pool:
        with pytest.raises(FileNotFoundError):
            pool.convert(mock, RawDocument(tmp_path / "gone"), "mock")
        monkeypatch.setattr("shutil.copyfile", full)
        with pytest.raises(Unavailable, match="No space left"):
            pool.convert(mock, RawDocument(tmp_path / "any"), "mock")


def test_pool_that_is_forgotten_takes_its_workers_along(mock: Parser) -> None:
    pool = ParserPool(1)
    pool.convert(mock, RawDocument(b"hello"), "mock")
    crew = pool._crew
    del pool
    assert not crew.live


def test_forked_child_starts_its_own_workers_and_leaves_the_parents_alone(tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(
        f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from corebrain.documents.pool import ParserPool
from corebrain.documents.registry import Parser
from corebrain.documents.types import RawDocument
mock = Parser("mock", "corebrain.documents.convert.mock")
pool = ParserPool(1)
mine = pool.convert(mock, RawDocument(b"hello"), "mock").metadata["pid"]
child = os.fork()
if child == 0:
    theirs = pool.convert(mock, RawDocument(b"hello"), "mock").metadata["pid"]
    pool.close()
    os._exit(0 if theirs != mine else 1)
assert os.waitpid(child, 0)[1] == 0
assert pool.convert(mock, RawDocument(b"hello"), "mock").metadata["pid"] == mine
""",
        encoding="utf-8",
    )
    subprocess.run([sys.executable, "-W", "error", str(script)], check=True, timeout=60)


def test_host_script_without_a_main_guard_works_and_exits_clean(tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(
        f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from corebrain.documents.default_converter import default_converter
from corebrain.documents.types import RawDocument
print(default_converter().convert(RawDocument(b"a,b\\n1,2\\n", "t.csv")).markdown)
""",
        encoding="utf-8",
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", str(script)],
        check=True,
        timeout=60,
        capture_output=True,
        text=True,
        cwd=tmp_path,
    )
    assert done.stdout == "| a | b |\n| - | - |\n| 1 | 2 |\n"
    assert done.stderr == ""


def test_worker_ends_when_its_parent_is_gone(tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(
        f"""
import os, sys
sys.path.insert(0, {str(ROOT)!r})
from corebrain.documents.pool import ParserPool
from corebrain.documents.registry import Parser
from corebrain.documents.types import RawDocument
pool = ParserPool(1)
answer = pool.convert(Parser("mock", "corebrain.documents.convert.mock"), RawDocument(b"litter"), "mock")
print(answer.metadata["pid"], answer.markdown, flush=True)
os.kill(os.getpid(), 9)
""",
        encoding="utf-8",
    )
    done = subprocess.run([sys.executable, str(script)], check=False, timeout=60, capture_output=True, text=True)
    pid, folder = done.stdout.split()
    wait = f"while kill -0 {pid} 2>/dev/null || test -e {folder}; do sleep 0.02; done"
    subprocess.run(["/bin/sh", "-c", wait], check=True, timeout=30)


def test_worker_run_by_hand_touches_nothing(tmp_path: Path) -> None:
    (tmp_path / "precious.txt").touch()
    start = f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); "
    start += "runpy.run_module('corebrain.documents.worker', run_name='__main__')"
    done = subprocess.run(
        [sys.executable, "-c", start], check=True, timeout=30, input=b"", cwd=tmp_path, capture_output=True
    )
    assert (done.stdout, done.stderr) == (b"", b"")
    assert (tmp_path / "precious.txt").exists()


def test_parsing_process_imports_no_parser_into_the_host(tmp_path: Path) -> None:
    script = tmp_path / "host.py"
    script.write_text(
        f"""
import sys
sys.path.insert(0, {str(ROOT)!r})
from corebrain.documents.brain_document import brain_document
from corebrain.documents.types import RawDocument
brain_document(None, RawDocument(b"a,b\\n1,2\\n", "t.csv"))
brain_document(None, RawDocument(b"# Refunds\\n", "t.md"))
heavy = {{"lxml", "selectolax", "pypdf", "pypdfium2", "python_calamine", "unstructured", "email.parser"}}
assert not heavy & set(sys.modules), heavy & set(sys.modules)
""",
        encoding="utf-8",
    )
    subprocess.run([sys.executable, "-I", str(script)], check=True, timeout=60)
