"""The yardstick compiler and the canned engine, loaded from the files beside this one."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

HERE = Path(__file__).parent
GOLDEN = HERE.parents[1] / "golden" / "context"


def load(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, HERE / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="session")
def standalone() -> ModuleType:
    return load("standalone_compiler")


@pytest.fixture(scope="session")
def canned() -> ModuleType:
    return load("canned_engine")


@pytest.fixture(params=sorted(path.stem for path in GOLDEN.glob("*.json")))
def golden(request: pytest.FixtureRequest) -> tuple[dict[str, Any], str]:
    case = json.loads((GOLDEN / f"{request.param}.json").read_text(encoding="utf-8"))
    return case, (GOLDEN / f"{request.param}.md").read_text(encoding="utf-8")
