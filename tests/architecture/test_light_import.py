"""Importing the library, and asking the command line for help, load nothing heavy."""

import subprocess
import sys

HEAVY = (
    *("httpx", "numpy", "pandas", "unstructured", "apsw", "sqlite3", "lxml", "selectolax", "pypdf", "pypdfium2"),
    *("python_calamine", "charset_normalizer", "github", "notion_client", "watchdog", "rich", "tomlkit", "asyncio"),
    *("apscheduler", "cryptography", "feedparser", "mcp"),
)


def loaded_by(code: str) -> set[str]:
    program = f"import sys\n{code}\nprint(*[name for name in {HEAVY!r} if name in sys.modules])"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    return set(ran.stdout.split())


def test_the_library_imports_nothing_heavy() -> None:
    assert loaded_by("import corebrain") == set()


def test_the_connectors_import_nothing_heavy() -> None:
    assert loaded_by("import connectors") == set()


def test_the_pipeline_imports_nothing_heavy() -> None:
    assert loaded_by("import pipeline") == set()


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import contextlib, io\nfrom pipeline.cli.main import main\nwith contextlib.redirect_stdout(io.StringIO()):\n"
    )
    assert loaded_by(code + "    try:\n        main(['--help'])\n    except SystemExit:\n        pass") == set()


def test_a_heavy_import_would_be_seen() -> None:
    assert loaded_by("import lxml") == {"lxml"}


def test_what_is_imported_on_first_use_is_there() -> None:
    ran = subprocess.run(
        [
            sys.executable,
            "-c",
            "import corebrain, pipeline\nfor m in (corebrain, pipeline):\n  [getattr(m, n) for n in m.__all__]",
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
