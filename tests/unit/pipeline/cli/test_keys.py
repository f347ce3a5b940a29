"""Every key of `brain.toml` has its effect."""

from pathlib import Path
from typing import Any

import pytest

from corebrain.documents.registry import Parser
from corebrain.engines.local.engine import LocalEngine
from pipeline.assembly import OpenBrain
from pipeline.config.load import load
from pipeline.options import SyncOptions
from pipeline.source_set import SourceSet

DOCS = '[sources.docs]\nkind = "files"\npath = "docs"\n'


def opened(desk: Any, text: str, *, trial: bool = False) -> OpenBrain:
    desk.configure(text)
    return OpenBrain(SourceSet(load(None)), trial=trial)


@pytest.mark.parametrize(("durability", "synchronous"), [("power", 2), ("process", 1)])
def test_durability_says_whether_a_write_waits_for_the_disk(desk: Any, durability: str, synchronous: int) -> None:
    with opened(desk, f'[engine]\ndurability = "{durability}"\n') as brain:
        assert isinstance(brain.engine, LocalEngine)
        with brain.engine._database.writing() as connection:
            assert connection.pragma("synchronous") == synchronous


def test_the_data_folder_is_where_the_file_says(desk: Any) -> None:
    desk.write(a="# A")
    desk.configure('[brain]\ndata = "elsewhere/memory"\n' + DOCS)
    desk.brain("sync")
    assert (desk.folder / "elsewhere" / "memory" / "memory.db").exists()
    assert (desk.folder / "elsewhere" / "memory" / "state.db").exists()
    assert not (desk.folder / ".brain").exists()


def test_a_moved_brain_works_where_it_is_moved_to(two: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    two.folder.rename(tmp_path.parent / f"{tmp_path.name}-moved")
    monkeypatch.chdir(tmp_path.parent / f"{tmp_path.name}-moved")
    report = two.brain("sync", "--json").json
    assert [source["error"] for source in report["sources"]] == [None, None]
    assert [source["gone"] for source in report["sources"]] == [0, 0]


def test_workers_timeout_and_parsers_reach_the_converter(desk: Any) -> None:
    plain = '[documents]\nworkers = 3\ntimeout_s = 7\npdf = "pypdf"\n'
    with opened(desk, plain, trial=True) as brain, brain.converter() as converter:
        assert converter._pool._workers == 3
        assert converter._pool.limits.wall_s == 7.0
        assert converter.version_of("pdf").startswith("pypdf/")
    with opened(desk, "", trial=True) as brain, brain.converter() as converter:
        assert converter._pool.limits.wall_s == 30.0
        assert converter.version_of("pdf").startswith("pdfium/")


def test_wishes_for_pictures_comments_and_unstructured_reach_the_converter(
    desk: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Parser, "missing", lambda _: ())
    wishes = '[documents]\nhtml = "unstructured"\nocr = "deu+eng"\ncomments = true\n'
    with opened(desk, wishes, trial=True) as brain, brain.converter() as converter:
        assert converter.version_of("html").startswith("unstructured/")
        assert converter.version_of("png").endswith(" tesseract/1:deu+eng")
        assert converter.version_of("docx").endswith(":comments")
    with opened(desk, "", trial=True) as brain, brain.converter() as converter:
        assert converter.version_of("html").startswith("selectolax/")
        assert "tesseract" not in converter.version_of("png")


@pytest.mark.parametrize(
    ("keys", "held"),
    [
        ("", {"a.md", "b.txt", "it/vpn.md", "link.md"}),
        ('include = ["*.md"]', {"a.md", "it/vpn.md", "link.md"}),
        ('exclude = ["it/"]', {"a.md", "b.txt", "link.md"}),
        ("hidden = true", {"a.md", "b.txt", "it/vpn.md", ".secret.md"}),
        ("follow_links = false", {"a.md", "b.txt", "it/vpn.md"}),
        ("max_bytes = 20", {"a.md", "b.txt", "link.md"}),
    ],
)
def test_the_keys_of_a_folder_choose_its_documents(desk: Any, keys: str, held: set[str]) -> None:
    desk.write(a="# A", it__vpn="# VPN\n\nlonger than twenty bytes")
    (desk.folder / "docs" / "b.txt").write_text("plain words")
    (desk.folder / "docs" / ".secret.md").write_text("# Hidden")
    (desk.folder / "docs" / "link.md").symlink_to(".secret.md")
    desk.configure(DOCS + keys + "\n")
    desk.brain("sync")
    assert {document["file_path"] for document in desk.brain("list", "--json").json["documents"]} == held


def test_the_size_limit_of_documents_holds_for_sources_that_set_none(desk: Any) -> None:
    desk.write(a="# A", long="# Long\n\nlonger than twenty bytes")
    desk.configure("[documents]\nmax_bytes = 20\n" + DOCS)
    desk.brain("sync")
    assert list(desk.ids()) == ["docs/a.md"]


def test_the_root_of_the_brain_is_where_documents_hang(desk: Any) -> None:
    desk.write(a="# A")
    desk.configure('[brain]\nroot = "ws:acme/team:x"\n' + DOCS)
    desk.brain("sync")
    (held,) = desk.brain("list", "--json").json["documents"]
    assert held["namespace"] == "ws:acme/team:x/source:files"


def test_a_raised_size_limit_reaches_the_conversion(desk: Any) -> None:
    text = (
        "[documents]\nmax_bytes = 9\n" + DOCS + 'max_bytes = "64MiB"\n[sources.more]\nkind = "files"\npath = "more"\n'
    )
    with opened(desk, text, trial=True) as brain, brain.converter() as converter:
        limits = [brain.source(name, SyncOptions(), converter).max_bytes for name in ("docs", "more")]
    assert limits == [64 * 2**20, 9]


def test_a_configured_source_comes_before_a_folder_once_synced_by_path(desk: Any) -> None:
    desk.write(a="# A")
    desk.brain("sync", "docs")
    desk.configure('[sources.docs]\nkind = "files"\npath = "elsewhere"\n')
    sources = SourceSet(load(None))
    assert sources.by_name["docs"].values["path"] == "elsewhere"
    assert not sources.folders
