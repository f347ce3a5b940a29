import pytest

from connectors.files.defaults import is_skipped_file, is_skipped_folder


@pytest.mark.parametrize(
    "name",
    [
        "~$report.docx",
        ".~lock.report.odt#",
        ".report.md.swp",
        "report.md~",
        "#report.md#",
        ".#report.md",
        "4913",
        ".DS_Store",
        "Thumbs.db",
        "desktop.ini",
        "Desktop.ini",
        "film.part",
        "film.crdownload",
        "~WRL0001.tmp",
        "REPORT.TMP",
        "._report.pdf",
        ".nfs000000000000",
        "module.pyc",
        "brain.toml",
    ],
)
def test_lock_temporary_and_system_files_are_skipped(name: str) -> None:
    assert is_skipped_file(name)


@pytest.mark.parametrize(
    "name", ["report.md", "~report.md", "#1 plan.md", "#", "4914", "part.md", "tmp", "swp.txt", "C# notes.md", "a.bak"]
)
def test_names_that_only_look_alike_are_documents(name: str) -> None:
    assert not is_skipped_file(name)


@pytest.mark.parametrize("name", [".git", ".hg", ".svn", "node_modules", "__pycache__", "venv", "target", ".brain"])
def test_folders_of_tools_are_skipped(name: str) -> None:
    assert is_skipped_folder(name, [])


@pytest.mark.parametrize(
    ("name", "siblings", "skipped"),
    [
        ("build", ["pyproject.toml", "src"], True),
        ("build", ["plans.docx"], False),
        ("dist", ["package.json"], True),
        ("vendor", ["go.mod"], True),
        ("vendor", ["contracts"], False),
        ("Target", [], False),
    ],
)
def test_build_output_is_skipped_only_beside_its_project_file(name: str, siblings: list[str], skipped: bool) -> None:
    assert is_skipped_folder(name, siblings) is skipped
