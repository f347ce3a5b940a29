"""The connector of docs/connectors.md works as it is printed: installed, found, synced, and held to the law."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).parents[2]
PAGE = (REPOSITORY / "docs" / "connectors.md").read_text(encoding="utf-8")
_BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.slow


def blocks(language: str) -> list[str]:
    return [code for named, code in _BLOCK.findall(PAGE) if named == language]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """A folder for PYTHONPATH in which the example is an installed package."""
    site = tmp_path / "site"
    info = site / "acme_export-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "acme_export.py").write_text(blocks("python")[0])
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-export\nVersion: 1.0\n")
    group, point = blocks("toml")[0].strip().splitlines()
    assert group == '[project.entry-points."corebrain.connectors"]'
    (info / "entry_points.txt").write_text("[corebrain.connectors]\n" + point.replace('"', "") + "\n")
    return site


def write(folder: Path, **articles: str) -> None:
    lines = [json.dumps({"id": key, "text": text, "title": f"On {key}"}) for key, text in articles.items()]
    (folder / "articles.jsonl").write_text("\n".join(lines))


def test_the_example_is_found_by_its_entry_point_and_synced(shell: Any, site: Path) -> None:
    shell.environment["PYTHONPATH"] = f"{REPOSITORY}:{site}"
    (shell.folder / "brain.toml").write_text(blocks("toml")[1])
    write(shell.folder, tea="Darjeeling is steeped three minutes.", coffee="Grind it fresh.")
    assert (shell.report()["new"], shell.report()["unchanged"]) == (2, 2)
    (hit,) = shell.brain("search", "Darjeeling", "--json").json["hits"]
    assert (hit["title"], hit["source"], hit["namespace"]) == ("On tea", "articles", "source:export")
    write(shell.folder, tea="Darjeeling is steeped four minutes.")
    report = shell.report()
    assert (report["changed"], report["gone"]) == (1, 1)
    (shell.folder / "articles.jsonl").write_text("{half")
    report = shell.report()
    assert "write it again" in report["error"]
    assert report["gone"] == 0
    assert len(shell.brain("list", "--json").json["documents"]) == 1


def test_the_example_passes_the_conformance_suite_as_printed(site: Path, tmp_path: Path) -> None:
    (tmp_path / "test_export.py").write_text(blocks("python")[1])
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "test_export.py"],
        cwd=tmp_path,
        env={"PYTHONPATH": f"{REPOSITORY}:{site}", "PATH": "/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout
    passed = re.search(r"(\d+) passed", ran.stdout)
    assert passed is not None
    assert int(passed[1]) >= 20


def test_the_links_of_the_page_lead_somewhere() -> None:
    for link in re.findall(r"\]\(([^)#]+)\)", PAGE):
        assert (REPOSITORY / "docs" / link).exists(), link
