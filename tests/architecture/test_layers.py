"""Who may import whom: the contracts of `[tool.importlinter]`, checked on every run."""

import ast
import re
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("corebrain", "connectors", "pipeline")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def test_the_import_contracts_hold() -> None:
    program = Path(sys.executable).with_name("lint-imports")
    ran = subprocess.run([str(program), "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr


HOMES = {
    "apsw": ("corebrain.engines.local", "pipeline.state", "pipeline.cli.doctor"),
    "sqlite3": (),
    "httpx": ("connectors.http", "corebrain.engines.cortexdb", "corebrain.embed"),
    "httpcore": ("connectors.http", "corebrain.engines.cortexdb"),
    "protego": ("connectors.web",),
    "ada_url": ("connectors.web",),
    "feedparser": ("connectors.web",),
    "notion_client": ("connectors.notion",),
    "github": ("connectors.github",),
    "watchdog": ("connectors.files",),
    "apscheduler": ("pipeline.schedule",),
    "tomlkit": ("pipeline.config", "pipeline.cli"),
    "rich": ("pipeline.cli",),
    "mcp": ("pipeline.serve",),
    "anyio": ("pipeline.serve",),
    "cronsim": ("pipeline.schedule",),
    "pypdf": ("corebrain.documents.convert",),
    "pypdfium2": ("corebrain.documents.convert",),
    "selectolax": ("corebrain.documents.convert", "corebrain.documents.html_links"),
    "lxml": ("corebrain.documents.convert",),
    "python_calamine": ("corebrain.documents.convert",),
    "unstructured": ("corebrain.documents.convert",),
    "charset_normalizer": ("corebrain.documents",),
}
"""Third-party library -> the only modules (with what lies below them) that may import it."""


def imported(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names.add(node.module.partition(".")[0])
    return names


def test_each_third_party_library_has_its_home() -> None:
    strays = []
    for path in modules():
        for library in imported(parsed(path)) & HOMES.keys():
            module = name_of(path)
            if not any(module == home or module.startswith((f"{home}.", f"{home}_")) for home in HOMES[library]):
                strays.append(f"{module} imports {library}")
    assert strays == []


def inner_folders(package: str) -> list[str]:
    """The parts of a package that are to know nothing of each other: its folders and engine modules."""
    here = ROOT / package.replace(".", "/")
    parts = {path.name for path in here.iterdir() if path.is_dir() and any(path.glob("*.py"))}
    return sorted(parts | {path.stem for path in here.glob("*.py") if package == "corebrain.engines"} - {"__init__"})


def imported_modules(tree: ast.AST) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def strangers_met(package: str, *, shared: set[str], knowing: set[str]) -> list[str]:
    """Imports between the parts of *package*; any may import the *shared* ones, the *knowing* ones may import any."""
    parts = inner_folders(package)
    met = []
    for path in modules():
        module = name_of(path)
        for part in parts:
            if part not in knowing and f"{module}.".startswith(f"{package}.{part}."):
                others = {f"{package}.{other}" for other in parts if other not in {part, *shared}}
                met += [
                    f"{module} imports {name}"
                    for name in imported_modules(parsed(path))
                    if any(f"{name}.".startswith(f"{other}.") for other in others)
                ]
    return met


def test_connectors_are_strangers_to_each_other_also_those_to_come() -> None:
    assert "files" in inner_folders("connectors")
    assert strangers_met("connectors", shared={"http"}, knowing={"testing"}) == []


def test_engines_are_strangers_to_each_other_also_those_to_come() -> None:
    assert {"local", "reference"} <= set(inner_folders("corebrain.engines"))
    assert strangers_met("corebrain.engines", shared=set(), knowing={"registry"}) == []


def test_a_layer_of_corebrain_is_named_in_the_contract_or_does_not_exist() -> None:
    """`exhaustive` in the contract says the same; this one cannot be switched off by a typing error there."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract.get("containers") == ["corebrain"]]
    named = {name.strip(" ()") for layer in layers for name in re.split("[|:]", layer)}
    here = ROOT / "corebrain"
    present = {path.stem for path in here.glob("*.py")} | {path.parent.name for path in here.glob("*/*.py")}
    assert present - {"__init__"} <= named
