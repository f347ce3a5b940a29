"""The public names are a promise: this snapshot changes only with a line in CHANGELOG.md."""

import importlib
from pathlib import Path

SNAPSHOT = Path(__file__).with_name("public_names.txt")


def public_names() -> list[str]:
    packages = ("corebrain", "connectors", "pipeline")
    return [f"{package}.{name}" for package in packages for name in sorted(importlib.import_module(package).__all__)]


def test_the_public_names_are_those_of_the_snapshot() -> None:
    assert public_names() == SNAPSHOT.read_text().splitlines()
