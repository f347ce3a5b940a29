"""Real volumes: unmounted ones lose nothing, and one that comes back with another device number goes on."""

import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

COUNT = 30


@pytest.fixture
def mount() -> Iterator[Callable[[Path], None]]:
    """Mount a fresh volume at a folder, until it is unmounted or the test ends."""
    mounted: list[Path] = []

    def at(folder: Path) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if shutil.which("mount") is None or not _run("mount", "-t", "tmpfs", "tmpfs", str(folder)):
            pytest.skip("mounting a volume is not allowed here")
        mounted.append(folder)

    yield at
    for folder in reversed(mounted):
        _run("umount", "-l", str(folder))


def _run(*command: str) -> bool:
    return subprocess.run(command, check=False, capture_output=True).returncode == 0


def unmount(folder: Path) -> None:
    assert _run("umount", str(folder))


def held(shell: Any) -> int:
    return len(shell.brain("list", "--json", "--limit", "200").json["documents"])


def test_a_volume_that_is_unmounted_pauses_its_source_and_goes_on_with_another_device_number(
    shell: Any, mount: Callable[[Path], None]
) -> None:
    docs, kept = shell.folder / "docs", shell.folder / "kept"
    mount(docs)
    shell.write(COUNT)
    device = docs.stat().st_dev
    assert shell.report()["new"] == COUNT
    shutil.copytree(docs, kept)
    unmount(docs)

    paused = shell.report()
    assert "another folder or volume lies at its path" in paused["error"]
    assert held(shell) == COUNT
    (docs / "notes of the empty mount point.md").write_text("# Notes\n\nWritten while nothing was mounted.\n")
    assert "another folder or volume" in shell.report()["error"]
    assert held(shell) == COUNT

    mount(shell.folder / "between")  # takes the device number that was free
    mount(docs)
    shutil.copytree(kept, docs, dirs_exist_ok=True)
    assert docs.stat().st_dev != device
    back = shell.report()
    assert (back["error"], back["unchanged"], back["stored"], back["forgotten"]) == (None, COUNT, 0, 0)
    (docs / "d00000.md").unlink()
    assert shell.report()["gone"] == 1


def test_a_volume_below_the_folder_that_is_unmounted_loses_nothing(shell: Any, mount: Callable[[Path], None]) -> None:
    team = shell.folder / "docs" / "team"
    mount(team)
    shell.write(3, "docs/team")
    shell.write(COUNT)
    assert shell.report()["new"] == COUNT + 3
    unmount(team)
    report = shell.report()
    assert (report["gone"], report["forgotten"]) == (0, 0)
    assert [aside["key"] for aside in report["set_aside"]] == ["team/"]
    assert held(shell) == COUNT + 3
