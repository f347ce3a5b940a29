"""What a store answered survives a power loss.

A VFS records every write, truncation, sync and deletion. A cut after any of them is played: what was synced stands,
and of what was not, each 512-byte sector is there or not, at random. The method is that of SQLite's own crash tests
(sqlite.org/testing.html, section 3.3).
"""

import random
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from corebrain.engines.local import connection as connections
from corebrain.engines.local.engine import LocalEngine
from corebrain.model.item import Conversation, StoreItem
from corebrain.model.namespace import WHOLE_TREE
from corebrain.model.requests import ConsolidateRequest, ForgetTarget, ListRequest

Operation = tuple[str, str, int, bytes]
SECTOR = 512


class Recorder(apsw.VFS):
    """Passes everything on to the disk, and keeps what was done in `log`."""

    def __init__(self) -> None:
        self.log: list[Operation] = []
        self.name = "recorder"
        super().__init__(self.name, "")

    def xOpen(self, name: str | apsw.URIFilename | None, flags: list[int]) -> "RecordedFile":  # noqa: N802  # SQLite's name
        return RecordedFile(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:  # noqa: N802  # SQLite's name
        self.log.append(("delete", Path(filename).name, int(syncdir), b""))
        super().xDelete(filename, syncdir)


class RecordedFile(apsw.VFSFile):
    def __init__(self, recorder: Recorder, name: str | apsw.URIFilename | None, flags: list[int]) -> None:
        self.recorder = recorder
        held = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        self.file = Path(held).name
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:  # noqa: N802  # SQLite's name
        self.recorder.log.append(("write", self.file, offset, bytes(data)))
        super().xWrite(data, offset)

    def xTruncate(self, newsize: int) -> None:  # noqa: N802  # SQLite's name
        self.recorder.log.append(("truncate", self.file, newsize, b""))
        super().xTruncate(newsize)

    def xSync(self, flags: int) -> None:  # noqa: N802  # SQLite's name
        self.recorder.log.append(("sync", self.file, 0, b""))
        super().xSync(flags)


@pytest.fixture
def recorder(monkeypatch: pytest.MonkeyPatch) -> Iterator[Recorder]:
    """Every connection the engine opens runs on the recorder, and moves its log into the file often."""
    made = Recorder()
    monkeypatch.setattr(connections, "VFS", made.name)
    monkeypatch.setattr(connections, "CHECKPOINT_PAGES", 40)
    yield made
    made.unregister()


def work(engine: LocalEngine, recorder: Recorder) -> list[tuple[int, frozenset[str]]]:
    """Store, build and forget; return, for each answer, how long the log was and what had to be held then."""
    held: set[str] = set()
    acknowledged = [(len(recorder.log), frozenset(held))]
    for batch in range(14):
        items = [StoreItem.document(f"batch {batch} number {n} " + "word " * 150 * n) for n in range(3)]
        talk = Conversation.from_dict(
            {"turns": [{"role": "user", "text": f"turn {batch}"}], "meta": {"namespace": "agent:a", "thread_id": "t"}}
        )
        held |= {receipt.id for receipt in engine.store_many([*items, talk])}
        acknowledged.append((len(recorder.log), frozenset(held)))
        if batch % 5 == 4:
            engine.consolidate(ConsolidateRequest(reach=WHOLE_TREE))
            engine.forget(ForgetTarget.of_ids(items[0].fingerprint()))
            held.discard(items[0].fingerprint())
            acknowledged.append((len(recorder.log), frozenset(held)))
    return acknowledged


def cut(log: list[Operation], chance: random.Random) -> dict[str, bytearray]:
    """Return the files as a power loss at the end of *log* may leave them."""
    synced = {file: at for at, (what, file, _, _) in enumerate(log) if what == "sync"}
    files: dict[str, bytearray] = {}
    for at, (what, file, place, data) in enumerate(log):
        durable = at <= synced.get(file, -1)
        content = files.setdefault(file, bytearray())
        if what == "write":
            for start in range(0, len(data), SECTOR):
                if durable or chance.random() < 0.5:
                    sector = data[start : start + SECTOR]
                    end = place + start + len(sector)
                    content.extend(bytes(max(0, end - len(content))))
                    content[place + start : end] = sector
        elif what == "truncate" and (durable or chance.random() < 0.5):
            del content[place:]
        elif what == "delete":
            files.pop(file)
    return files


@pytest.mark.slow
def test_what_was_answered_survives_a_power_loss_at_any_moment(tmp_path: Path, recorder: Recorder) -> None:
    engine = LocalEngine(tmp_path / "live" / "memory.db")
    acknowledged = work(engine, recorder)
    log = list(recorder.log)
    engine.close()
    chance = random.Random(5)  # noqa: S311  # the same cuts every time
    first = acknowledged[0][0]
    assert sum(what == "sync" for what, *_ in log) > 20
    ends = sorted(chance.sample(range(first, len(log) + 1), 300))
    for number, end in enumerate(ends):
        folder = tmp_path / f"cut{number}"
        folder.mkdir()
        for name, content in cut(log[:end], chance).items():
            if not name.endswith("-shm"):
                (folder / name).write_bytes(content)
        answered = [held for length, held in acknowledged if length <= end][-1]
        under_way = [held for length, held in acknowledged if length > end][:1]
        with LocalEngine(folder / "memory.db") as survived:
            held = {each.id for each in survived.export(ListRequest(limit=1000)).items}
            assert held in [answered, *under_way]
            with survived._database.reading() as connection:
                assert connection.execute("PRAGMA integrity_check").get == "ok"
    sys.stdout.write(f"\npower cuts: {len(ends)} of {len(ends)} whole; 0 acknowledged items lost, 0 torn, 0 corrupt\n")
