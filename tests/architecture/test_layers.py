"""Who may import whom: the contracts of `[tool.importlinter]`, checked on every run."""

import ast
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("corebrain", "connectors", "pipeline")


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
    "notion_client": ("connectors.notion",),
    "github": ("connectors.github",),
    "watchdog": ("connectors.files",),
    "apscheduler": ("pipeline.schedule",),
    "tomlkit": ("pipeline.config", "pipeline.cli"),
    "rich": ("pipeline.cli",),
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
        for library in imported(ast.parse(path.read_text())) & HOMES.keys():
            module = name_of(path)
            if not any(module == home or module.startswith((f"{home}.", f"{home}_")) for home in HOMES[library]):
                strays.append(f"{module} imports {library}")
    assert strays == []


def test_async_lives_behind_one_door() -> None:
    found = []
    for path in modules():
        module = name_of(path)
        if module == "corebrain.aio" or module.startswith("pipeline.serve"):
            continue
        tree = ast.parse(path.read_text())
        if any(isinstance(node, ast.AsyncFunctionDef) for node in ast.walk(tree)):
            found.append(module)
    assert found == []


def test_only_the_command_line_prints_and_only_the_config_reads_the_environment() -> None:
    offences = []
    for path in modules():
        module = name_of(path)
        for node in ast.walk(ast.parse(path.read_text())):
            offence = _offence(node, module)
            if offence:
                offences.append(f"{module}:{getattr(node, 'lineno', 0)} {offence}")
    assert offences == []


MOCK = "corebrain.documents.convert.mock"  # the parser that misbehaves on purpose
PRINTERS = (MOCK, "pipeline.cli", "connectors.testing", "corebrain.conformance.__main__", "pipeline.serve")
READERS = (
    MOCK,
    "corebrain.documents.worker_process",
    "pipeline.config",
    "corebrain.documents.worker",
    "connectors.testing",
    "pipeline.cli",
)
SIGNALLERS = ("pipeline.cli", "pipeline.daemon", "corebrain.documents.worker", "connectors.testing", "pipeline.process")


def _offence(node: ast.AST, module: str) -> str:
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print":
        return "" if module.startswith(PRINTERS) else "prints"
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        dotted = f"{node.value.id}.{node.attr}"
        if dotted == "logging.basicConfig" and not module.startswith(PRINTERS):
            return "configures logging"
        if dotted in {"os.environ", "os.getenv"} and not module.startswith(READERS):
            return "reads the environment"
        if dotted == "signal.signal" and not module.startswith(SIGNALLERS):
            return "installs a signal handler"
    return ""


def test_no_module_needs_a_platform_at_import() -> None:
    offenders = []
    for path in modules():
        tree = ast.parse(path.read_text())
        top = {
            alias.name
            for node in tree.body
            if isinstance(node, ast.Import | ast.ImportFrom)
            for alias in (node.names if isinstance(node, ast.Import) else [ast.alias(node.module or "")])
        }
        if top & {"fcntl", "resource", "termios", "pwd"}:
            offenders.append(name_of(path))
    assert offenders == []
