"""From real files to found sentences: the quickstart, and files that cannot be read."""

import importlib.util
import shutil
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
QUICKSTART = REPOSITORY / "configs" / "quickstart"
SAMPLES = REPOSITORY / "tests" / "documents_samples"
HAS_OXMSG = importlib.util.find_spec("oxmsg") is not None and importlib.util.find_spec("unstructured") is not None

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def quickstart(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of the quickstart, so that nothing is left in the repository."""
    folder = tmp_path_factory.mktemp("quickstart")
    shutil.copytree(QUICKSTART, folder / "quickstart")
    shutil.copy(REPOSITORY / "configs" / "quickstart.toml", folder / "brain.toml")
    return folder


@pytest.fixture
def desk(shell: Any, quickstart: Path) -> Any:
    """The quickstart, synced."""
    shell.folder = quickstart
    if not (quickstart / ".brain").exists():
        answer = shell.brain("sync", "--json")
        assert answer.status == 0, answer
        (report,) = answer.json["sources"]
        unread = {aside["key"] for aside in report["set_aside"]}
        assert unread <= (set() if HAS_OXMSG else {"fake-email-attachment.msg"}), report["set_aside"]
    return shell


def test_the_quickstart_runs_as_it_is(desk: Any) -> None:
    report = desk.report()
    assert report["listed"] == len(list(QUICKSTART.iterdir())) - 1  # without ORIGIN.md
    assert (report["stored"], report["unchanged"]) == (0, report["listed"] - len(report["set_aside"]))
    assert (desk.folder / ".brain").is_dir()


@pytest.mark.parametrize(
    ("query", "file", "page", "heading"),
    [
        ("Downtown Multiplex cinema", "movie-theater-booking-2024.pdf", "1", None),
        ("standing trustee disbursing agent", "handbook-1p.docx", None, None),
        (
            "bulleted information sub-bullet",
            "sample-presentation.pptx",
            None,
            "Slide 2: This is the first content slide",
        ),
        ("segmental results FY23", "vodafone.xlsx", None, "Index"),
        ("face painting funnel cake", "family-day.eml", None, None),
        ("Maple Leafs", "stanley-cups.csv", None, None),
        ("juicy apples", "simple-table.md", None, None),
        ("Anna Pavlovna Scherer", "book-war-and-peace-1p.txt", None, None),
        ("math problem benchmark inference parameter", "test_blog.html", None, None),
        ("uuid_value", "test.json", None, None),
    ],
)
def test_a_sentence_inside_a_file_is_found_with_its_place(
    desk: Any, query: str, file: str, page: str | None, heading: str | None
) -> None:
    first = desk.brain("search", query, "--limit", "1", "--json").json["hits"][0]
    assert first["place"] == str(desk.folder / "quickstart" / file)
    assert first["page"] == page
    if heading is not None:
        assert first["heading"] == heading


@pytest.mark.parametrize(
    ("file", "converter", "text"),
    [
        ("form_fields.pdf", "pdf:pypdfium2+pypdf", "First Name: Alice"),
        ("vodafone.xlsx", "xlsx:calamine", "Quarterly revenue"),
        ("test_notebook.ipynb", "notebook", "Test Notebook"),
        pytest.param(
            "fake-email-attachment.msg",
            "unstructured",
            "Here's the attachments!",
            marks=pytest.mark.skipif(not HAS_OXMSG, reason="needs the extra unstructured"),
        ),
    ],
)
def test_show_names_the_converter(desk: Any, file: str, converter: str, text: str) -> None:
    held = desk.brain("list", "--json").json["documents"]
    (item,) = (document["id"] for document in held if document["file_path"] == file)
    out = desk.brain("show", item).out
    assert f"  converter  {converter}" in out
    assert text in out


def test_an_attachment_is_a_document_of_its_own(desk: Any) -> None:
    held = {document["file_path"] for document in desk.brain("list", "--json").json["documents"]}
    assert "fake-email-attachment.eml/fake-attachment.txt" in held


def test_every_unreadable_file_is_set_aside_with_reason_and_advice(shell: Any) -> None:
    unreadable = {
        "truncated.docx": "not a whole",
        "password.xlsx": "password",
        "not_a_zip.odt": "",
        "random.bin": "no known format",
        "not_a_pdf_header.pdf": "",
    }
    for name in unreadable:
        shutil.copy(SAMPLES / name, shell.folder / "docs")
    (shell.folder / "docs" / "empty.txt").touch()
    (shell.folder / "docs" / "large.txt").write_bytes(b"word " * 300_000)
    (shell.folder / "docs" / "good.md").write_text("# Good\n\nIt is read all the same.")
    config = shell.folder / "brain.toml"
    config.write_text(config.read_text() + 'max_bytes = "1MiB"\ninclude = ["**/*"]\n')
    answer = shell.brain("sync", "--json")
    assert answer.status == 0
    (report,) = answer.json["sources"]
    asides = {aside["key"]: aside for aside in report["set_aside"]}
    assert {"truncated.docx", "password.xlsx", "random.bin", "empty.txt", "large.txt"} <= asides.keys()
    assert "good.md" not in asides
    for aside in asides.values():
        assert aside["error"]
        assert aside["advice"]
    assert "password" in asides["password.xlsx"]["error"]
    assert "no bytes" in asides["empty.txt"]["error"]
    assert shell.brain("search", "all the same", "--json").json["hits"][0]["file_path"] == "good.md"
    assert shell.brain("sync", "--strict").status == 1
