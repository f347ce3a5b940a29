"""`verify` and `optimize`: what differs is told, mended with --fix, and a state of another root is rebuilt."""

from pathlib import Path
from typing import Any

import apsw
import pytest

from connectors.files.connector import FilesConnector
from corebrain.engines.local.engine import LocalEngine
from corebrain.layout import BrainDocument, BrainSource, MemoryLayout
from corebrain.model.facet import Facet
from corebrain.model.meta import MemoryMeta, SourceKind, SourceRef
from corebrain.model.namespace import Namespace
from corebrain.model.requests import ExploreRequest, ForgetTarget, ListRequest
from pipeline.state.sqlite import SqliteState

TWO = '[sources.docs]\nkind = "files"\npath = "docs"\n[sources.more]\nkind = "files"\npath = "more"\n'


def engine_of(desk: Any) -> LocalEngine:
    return LocalEngine(desk.folder / ".brain" / "memory.db")


def lose(desk: Any, path: str) -> None:
    """Forget a document behind the books' back."""
    with engine_of(desk) as engine:
        assert engine.forget(ForgetTarget.of_ids(desk.ids()[path])).forgotten == 1


def slip_in(desk: Any, text: str, root: str = "root") -> None:
    """Store a document of the source docs that no book knows."""
    meta = MemoryMeta(source=SourceRef(kind=SourceKind.FILE, id="docs"), file_path=f"{text}.md")
    item = BrainDocument(source=BrainSource.FILES, text=text, meta=meta)
    with engine_of(desk) as engine:
        engine.store(item.into_item(MemoryLayout(Namespace.parse(root))))


def test_a_sound_brain_is_proved(two: Any) -> None:
    answer = two.brain("verify", "--deep")
    assert answer.status == 0
    assert answer.out.splitlines() == [
        "engine: sound",
        "docs: 2 documents, all there",
        "more: 1 document, all there",
    ]
    assert two.brain("verify", "docs", "--json").json == {
        "ok": True,
        "engine": [],
        "sources": [{"name": "docs", "documents": 2, "missing": [], "strangers": [], "mended": False, "error": None}],
        "rebuilt": None,
    }


def test_what_differs_is_told_and_left_alone(two: Any) -> None:
    lose(two, "docs/leave.md")
    slip_in(two, "left over")
    before = two.brain("dump").out
    answer = two.brain("verify")
    assert answer.status == 1
    assert "docs: 2 documents, 1 missing in memory, 1 item that no book knows" in answer.out
    assert "  missing: leave.md" in answer.out
    assert "`brain verify docs --fix` mends it" in answer.out
    assert "more: 1 document, all there" in answer.out
    assert two.brain("dump").out == before
    assert two.brain("verify", "more").status == 0


def test_fix_reads_again_just_what_is_missing_and_forgets_what_nobody_knows(
    two: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = two.brain("dump").out
    lose(two, "docs/leave.md")
    slip_in(two, "left over")
    read: list[str] = []
    fetch = FilesConnector.fetch

    def noted(self: FilesConnector, ref: Any, known: str | None) -> Any:
        read.append(ref.key)
        return fetch(self, ref, known)

    monkeypatch.setattr(FilesConnector, "fetch", noted)
    answer = two.brain("verify", "--fix")
    assert answer.status == 0
    assert answer.out.count("  mended\n") == 1
    assert read == ["leave.md"]
    assert not two.brain("search", "left", "over", "--json").json["hits"]
    after = two.brain("dump").out
    assert [line for line in after.splitlines() if '"job"' not in line] == [
        line for line in before.splitlines() if '"job"' not in line
    ]
    assert two.brain("verify", "--json").json["ok"] is True


def test_many_missing_documents_are_read_again_by_a_whole_listing(desk: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pipeline.mending.FEW", 1)
    desk.write(a="# A\n\na", b="# B\n\nb", c="# C\n\nc")
    desk.brain("sync", "docs")
    lose(desk, "docs/a.md")
    lose(desk, "docs/b.md")
    assert desk.brain("verify", "--fix").status == 0
    assert sorted(desk.ids()) == ["docs/a.md", "docs/b.md", "docs/c.md"]


def test_fix_leaves_a_source_that_is_being_synced(two: Any) -> None:
    lose(two, "docs/leave.md")
    state = SqliteState(two.folder / ".brain" / "state.db")
    lease = state.lease("docs", 4e9)
    answer = two.brain("verify", "--fix")
    assert answer.status == 1
    assert "not mended: already running: pid" in answer.out
    lease.release()
    state.close()
    assert two.brain("verify", "--fix").status == 0


def test_a_source_configured_no_more_is_told_what_to_do(two: Any) -> None:
    lose(two, "more/leave.md")
    two.configure(TWO.partition("[sources.more]")[0])
    answer = two.brain("verify", "--fix")
    assert answer.status == 1
    assert "not mended: it is configured no more: run `brain forget more`" in answer.out


def test_a_damaged_engine_is_told_with_what_to_do(two: Any) -> None:
    connection = apsw.Connection(str(two.folder / ".brain" / "memory.db"))
    connection.execute("DELETE FROM facets")
    connection.close()
    answer = two.brain("verify", "--fix")
    assert answer.status == 1
    assert "engine: counters: " in answer.out
    assert "run `brain restore` with a backup" in answer.out
    assert two.brain("verify", "--json").json["engine"][0]["what"] == "counters"


def test_an_unknown_source_is_refused(two: Any) -> None:
    answer = two.brain("verify", "dosc")
    assert answer.status == 2
    assert "did you mean 'docs'?" in answer.err


def test_verifying_before_the_first_sync_leaves_no_file(desk: Any) -> None:
    assert desk.brain("verify", "--fix").status == 0
    assert not (desk.folder / ".brain").exists()


def test_a_memory_that_is_gone_is_told_and_filled_again_with_fix(two: Any) -> None:
    before = two.ids()
    (two.folder / ".brain" / "memory.db").unlink()
    answer = two.brain("verify")
    assert answer.status == 2
    assert "memory.db is gone, but not its state" in answer.err
    answer = two.brain("sync")
    assert answer.status == 2, "a sync would see no change and leave the memory empty"
    assert "brain verify --fix" in answer.err
    assert not (two.folder / ".brain" / "memory.db").exists(), "looking makes nothing"
    assert two.brain("verify", "--fix").status == 0
    assert two.ids() == before


# -- another root


def test_another_root_is_refused_and_rebuilt_with_fix(two: Any) -> None:
    two.configure('[brain]\nroot = "team:acme"\n' + TWO)
    refused = two.brain("verify")
    assert refused.status == 2
    assert "brain verify --fix" in refused.err
    answer = two.brain("verify", "--fix")
    assert answer.status == 0, answer.out
    assert "rebuilt the state; the old one is kept in" in answer.out
    held = two.brain("list", "--json").json["documents"]
    assert {each["namespace"] for each in held} == {"team:acme/source:files"}
    with engine_of(two) as engine:
        assert engine.verify(deep=True) == []
        assert sum(bucket.count for bucket in engine.explore(ExploreRequest(facet=Facet.KIND)).buckets) == 3, (
            "nothing is left at the old root"
        )
    assert two.brain("sync", "--json").json["sources"][0]["unchanged"] == 2


def test_a_rebuild_keeps_what_it_could_not_read_this_time(two: Any) -> None:
    two.configure('[brain]\nroot = "team:acme"\n' + TWO)
    (two.folder / "docs" / "leave.md").write_bytes(b"")
    answer = two.brain("verify", "--fix", "--json")
    (docs, _) = answer.json["rebuilt"]["sources"]
    assert [aside["key"] for aside in docs["set_aside"]] == ["leave.md"]
    with engine_of(two) as engine:
        texts = [hit.text for hit in engine.list(ListRequest()).items]
    assert any("Sixteen weeks" in text for text in texts)


def test_a_damaged_state_is_rebuilt_with_fix_and_kept(two: Any) -> None:
    before = sorted(two.ids().values())
    (two.folder / ".brain" / "state.db").write_bytes(b"no database" * 1000)
    assert two.brain("verify").status == 2
    assert two.brain("verify", "--fix").status == 0
    assert sorted(two.ids().values()) == before
    assert (two.folder / ".brain" / "state.db.before-1").read_bytes() == b"no database" * 1000


def newer(state: Path) -> None:
    """Make a state one of the future."""
    connection = apsw.Connection(str(state))
    connection.pragma("user_version", 99)
    connection.close()


@pytest.mark.parametrize("command", [["sync"], ["status"], ["verify"], ["dump"], ["list"]])
def test_a_newer_state_is_refused_untouched_with_what_to_do(two: Any, command: list[str]) -> None:
    state = two.folder / ".brain" / "state.db"
    newer(state)
    content = state.read_bytes()
    answer = two.brain(*command)
    assert answer.status == 2
    assert "newer corebrain" in answer.err
    assert "`brain verify --fix`" in answer.err
    assert state.read_bytes() == content


def test_a_newer_state_is_rebuilt_when_a_person_asks_for_it(two: Any) -> None:
    state, before = two.folder / ".brain" / "state.db", sorted(two.ids().values())
    newer(state)
    content = state.read_bytes()
    answer = two.brain("verify", "--fix")
    assert answer.status == 0, answer.err
    assert (two.folder / ".brain" / "state.db.before-1").read_bytes() == content
    assert sorted(two.ids().values()) == before
    assert "2 unchanged" in two.brain("sync").out


def test_a_newer_state_whose_source_is_being_synced_is_not_rebuilt(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    path = two.folder / ".brain" / "state.db"
    state = SqliteState(path)
    state.lease("docs", 4e9)
    newer(path)
    monkeypatch.setattr("pipeline.state.copies.os.getpid", lambda: -1)
    answer = two.brain("verify", "--fix")
    assert answer.status == 1
    assert "docs is being synced by pid" in answer.err
    state.close()


def test_a_state_whose_source_is_being_synced_is_not_rebuilt(two: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    state = SqliteState(two.folder / ".brain" / "state.db")
    lease = state.lease("docs", 4e9)
    monkeypatch.setattr("pipeline.state.copies.os.getpid", lambda: -1)
    two.configure('[brain]\nroot = "team:acme"\n' + TWO)
    answer = two.brain("verify", "--fix")
    assert answer.status == 1
    assert "docs is being synced by pid" in answer.err
    lease.release()
    state.close()


# -- optimize


def files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in folder.rglob("*") if path.is_file())


def test_optimize_leaves_no_byte_of_a_forgotten_document(desk: Any) -> None:
    desk.write(a="# A\n\nZyqqxov whispered.", b="# B\n\nstays")
    desk.brain("sync", "docs")
    desk.brain("jobs", "run")
    (desk.folder / "docs" / "a.md").unlink()
    desk.brain("sync", "docs")
    assert b"zyqqxov" in files(desk.folder / ".brain").lower(), "the test could not fail"
    answer = desk.brain("optimize", "--json")
    assert answer.status == 0
    assert answer.json["copies"] == []
    assert b"zyqqxov" not in files(desk.folder / ".brain").lower()
    assert desk.brain("verify", "--deep").status == 0


def test_optimize_names_older_copies(two: Any) -> None:
    two.brain("backup", "b.zip")
    two.brain("restore", "b.zip")
    out = two.brain("optimize").out
    assert "memory.db.before-restore-1 may still hold what was forgotten" in out


def test_optimize_before_the_first_sync_leaves_no_file(desk: Any) -> None:
    assert desk.brain("optimize").status == 0
    assert not (desk.folder / ".brain").exists()
