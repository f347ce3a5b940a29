"""The engines the lifecycle is proved on: the reference, and the local one in a temporary folder."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from corebrain.contract import MemoryEngine
from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine


def make_engine(kind: str, folder: Path) -> MemoryEngine:
    if kind == "reference":
        return ReferenceEngine()
    return LocalEngine(folder / "memory.db")


@pytest.fixture(params=["reference", "local"])
def engine(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[MemoryEngine]:
    held = make_engine(request.param, tmp_path)
    yield held
    held.close()
