"""The one list of engines."""

import subprocess
import sys
from pathlib import Path

import pytest

from corebrain.engines.local import LocalEngine
from corebrain.engines.reference import ReferenceEngine
from corebrain.engines.registry import ENGINES, build_engine, list_engines
from corebrain.errors import ConfigError
from corebrain.model.requests import Consolidation


def test_engines_are_made_by_kind_with_their_settings(tmp_path: Path) -> None:
    with build_engine("local", path=tmp_path / "memory.db", durability="process") as engine:
        assert isinstance(engine, LocalEngine)
        assert engine.path == tmp_path / "memory.db"
    automatic = build_engine("reference", consolidation=Consolidation.AUTOMATIC)
    assert isinstance(automatic, ReferenceEngine)
    assert automatic.descriptor.consolidation is Consolidation.AUTOMATIC


def test_an_engine_says_the_id_it_is_listed_under(tmp_path: Path) -> None:
    settings: dict[str, dict[str, object]] = {
        "cortexdb": {"credential": "a key"},
        "local": {"path": tmp_path / "memory.db"},
        "tinyhumans": {"credential": "a token"},
    }
    for kind in list_engines():
        with build_engine(kind, **settings.get(kind, {})) as engine:
            assert engine.descriptor.id == kind


def test_the_list_is_sorted_and_cannot_be_changed() -> None:
    assert list_engines() == sorted(ENGINES)
    assert list_engines() == ["cortexdb", "local", "reference", "tinyhumans"]
    with pytest.raises(TypeError):
        ENGINES["mine"] = "mine:Engine"  # type: ignore[index]  # what must not work


def test_an_unknown_kind_is_refused_with_those_that_are_known() -> None:
    with pytest.raises(ConfigError, match="unknown engine 'sqlite', known are cortexdb, local, reference, tinyhumans"):
        build_engine("sqlite")


@pytest.mark.parametrize(
    ("kind", "settings", "named"),
    [
        ("local", {}, "path"),
        ("local", {"path": "x", "pth": 1}, "pth"),
        ("reference", {"path": "x"}, "path"),
        ("cortexdb", {}, "credential"),
        ("tinyhumans", {"credential": "x", "scope_owner": "y"}, "scope_owner"),
    ],
)
def test_a_wrong_setting_is_refused_by_name(kind: str, settings: dict[str, object], named: str) -> None:
    with pytest.raises(ConfigError, match=f"engine {kind}: .*{named}"):
        build_engine(kind, **settings)


def test_an_engine_is_imported_when_it_is_asked_for() -> None:
    code = "import sys, corebrain.engines.registry as r; r.list_engines(); print({'apsw', 'httpx'} & set(sys.modules))"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "set()\n"
