"""What libraries leave to their hosts: output, logging, the environment, signals, event loops, platforms."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("corebrain", "connectors", "pipeline")

MOCK = "corebrain.documents.convert.mock"  # the parser that misbehaves on purpose
PRINTERS = (
    *(MOCK, "pipeline.cli", "connectors.testing", "pipeline.serve"),
    *("corebrain.conformance.__main__", "corebrain.conformance.doubles.__main__"),
)
READERS = (
    MOCK,
    "connectors.testing",
    "corebrain.documents.worker",  # what of the environment a worker is given
    "corebrain.documents.worker_process",
    "pipeline.cli",
    "pipeline.config",
)
SIGNALLERS = (
    "connectors.testing",
    "corebrain.documents.worker",
    "corebrain.documents.worker_platform",  # runs in the worker, a process of its own
    "pipeline.cli",
    "pipeline.daemon",
    "pipeline.process",
)
ASYNC = ("corebrain.aio", "pipeline.serve")
UNIX_ONLY = {"fcntl", "grp", "pwd", "resource", "termios"}

FORBIDDEN = {
    "print": ("prints", PRINTERS),
    "sys.stdout": ("prints", PRINTERS),
    "sys.stderr": ("prints", (*PRINTERS, "corebrain.documents.worker")),
    "logging.basicConfig": ("configures logging", PRINTERS),
    "logging.config": ("configures logging", PRINTERS),
    "os.environ": ("reads the environment", READERS),
    "os.environb": ("reads the environment", READERS),
    "os.getenv": ("reads the environment", READERS),
    "signal.signal": ("installs a signal handler", SIGNALLERS),
    "signal.setitimer": ("installs a signal handler", SIGNALLERS),
    "atexit.register": ("outlives its call", ()),
    "warnings.simplefilter": ("silences warnings for its host", (*PRINTERS, "corebrain.documents.worker")),
    "locale.setlocale": ("changes the process", ()),
    "socket.setdefaulttimeout": ("changes the process", ()),
    "asyncio.run": ("owns an event loop", ASYNC),
}
"""Dotted name -> what using it does, and the modules (with what lies below them) that may."""


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def modules() -> list[Path]:
    return sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))


def name_of(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def inside(module: str, homes: tuple[str, ...]) -> bool:
    return any(module == home or module.startswith(f"{home}.") for home in homes)


def uses(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Every forbidden name that is used or imported, however it was imported."""
    known: dict[str, str] = {}  # local name -> what it stands for
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            known |= {alias.asname or alias.name: alias.name for alias in node.names}
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            for alias in node.names:
                known[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                yield node.lineno, f"{node.module}.{alias.name}"
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            yield node.lineno, node.func.id
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            yield node.lineno, f"{known.get(node.value.id, node.value.id)}.{node.attr}"


def offences(tree: ast.AST, module: str) -> list[str]:
    return [
        f"{module}:{line} {FORBIDDEN[name][0]} ({name})"
        for line, name in uses(tree)
        if name in FORBIDDEN and not inside(module, FORBIDDEN[name][1])
    ]


def at_import(tree: ast.AST) -> Iterator[str]:
    """The libraries imported when the module is, also those inside `if` and `try`."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module.partition(".")[0]
        else:
            yield from at_import(node)


def is_async(tree: ast.AST) -> bool:
    kinds = (ast.AsyncFunctionDef, ast.Await, ast.AsyncFor, ast.AsyncWith)
    return any(isinstance(node, kinds) for node in ast.walk(tree))


def test_libraries_leave_output_environment_and_signals_to_their_hosts() -> None:
    assert [each for path in modules() for each in offences(parsed(path), name_of(path))] == []


def test_async_lives_behind_one_door() -> None:
    found = [name_of(path) for path in modules() if is_async(parsed(path))]
    assert [module for module in found if not inside(module, ASYNC)] == []


def test_no_module_needs_a_platform_at_import() -> None:
    assert [name_of(path) for path in modules() if UNIX_ONLY & set(at_import(parsed(path)))] == []


@pytest.mark.parametrize(
    "source",
    [
        "print('x')",
        "import os\nos.environ['A']",
        "import os as system\nsystem.getenv('A')",
        "from os import environ",
        "from os import getenv as read",
        "import logging\nlogging.basicConfig()",
        "import logging.config",
        "from logging import basicConfig",
        "import signal\nsignal.signal(2, None)",
        "import sys\nsys.stdout.write('x')",
        "def f():\n    import atexit\n    atexit.register(f)",
    ],
)
def test_an_offence_would_be_seen(source: str) -> None:
    assert offences(ast.parse(source), "corebrain.brain") != []


def test_a_home_is_free_of_its_own_offence_only() -> None:
    program = ast.parse("import os\nprint(os.environ)")
    assert offences(program, "corebrain.conformance.__main__") == [
        "corebrain.conformance.__main__:2 reads the environment (os.environ)"
    ]
    assert offences(program, "pipeline.cli.main") == []
    assert len(offences(program, "pipeline.client")) == 2


@pytest.mark.parametrize(
    ("source", "platform"),
    [
        ("import fcntl", True),
        ("try:\n    from resource import getrusage\nexcept ImportError:\n    pass", True),
        ("class A:\n    import pwd", True),
        ("def f():\n    import fcntl", False),
    ],
)
def test_a_platform_at_import_would_be_seen(source: str, *, platform: bool) -> None:
    assert bool(UNIX_ONLY & set(at_import(ast.parse(source)))) is platform


@pytest.mark.parametrize("source", ["async def f(): pass", "async def f():\n    async with a: pass"])
def test_async_would_be_seen(source: str) -> None:
    assert is_async(ast.parse(source))
