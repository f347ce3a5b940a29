"""The parts of a watch, each by itself: rest, scopes, mounts."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.contract import within
from connectors.files.mounts import Mount, mounts_at
from connectors.files.scopes import collapsed
from connectors.files.settling import MANY, Look, Settling

KEYS = st.lists(st.sampled_from(["a", "b", "c"]), min_size=1, max_size=4).map("/".join)
SCOPES = st.lists(st.builds(lambda key, folder: key + "/" * folder, KEYS, st.booleans()) | st.just(""), max_size=30)


class Disk:
    """What files look like, as a test says."""

    def __init__(self) -> None:
        self.looks: dict[str, Look] = {}

    def look(self, path: str) -> Look | None:
        return self.looks.get(path)


def test_a_change_rests_after_a_quiet_second() -> None:
    settling = Settling(1.0, 60.0, Disk().look)
    settling.changed("a.md", "/a.md", 0.0)
    settling.changed("a.md", "/a.md", 0.5)
    assert settling.at_rest(1.4) == []
    assert settling.at_rest(1.5) == ["a.md"]
    assert settling.at_rest(9.0) == []


def test_a_file_that_grows_without_events_is_looked_at_again() -> None:
    disk = Disk()
    disk.looks["/a.md"] = (1, 1)
    settling = Settling(1.0, 60.0, disk.look)
    settling.changed("a.md", "/a.md", 0.0)
    disk.looks["/a.md"] = (2, 1)
    assert settling.at_rest(1.0) == []
    disk.looks["/a.md"] = (2, 2)
    assert settling.at_rest(2.0) == []
    assert settling.at_rest(3.0) == ["a.md"]


def test_what_never_rests_is_given_in_the_end() -> None:
    disk = Disk()
    settling = Settling(1.0, 5.0, disk.look)
    for second in range(5):
        settling.changed("log.txt", "/log.txt", float(second))
        assert settling.at_rest(second + 0.5) == []
    assert settling.at_rest(5.0) == ["log.txt"]


def test_a_folder_waits_for_the_files_in_it() -> None:
    settling = Settling(1.0, 60.0, Disk().look)
    settling.changed("new/", "", 0.0)
    settling.changed("new/big.bin", "/new/big.bin", 0.8)
    assert settling.at_rest(1.0) == []
    assert settling.at_rest(1.8) == ["new/"]


def test_very_many_changes_become_one_wait_for_everything() -> None:
    settling = Settling(1.0, 60.0, Disk().look)
    for number in range(MANY + 1):
        settling.changed(f"{number}.md", "", 0.0)
    assert settling.is_for_everything
    settling.changed("late.md", "", 0.9)
    assert settling.at_rest(1.0) == []
    assert settling.at_rest(1.9) == [""]


@given(SCOPES, st.integers(1, 10))
def test_collapsed_scopes_are_few_apart_and_cover_everything(scopes: list[str], most: int) -> None:
    few = collapsed(scopes, most)
    assert len(few) <= most
    assert all(any(within(wide, scope) for wide in few) for scope in scopes)
    assert not any(within(one, other) for one in few for other in few if one != other)


def test_few_scopes_stay_as_they_are() -> None:
    assert collapsed(["b.md", "a/x.md", "a"]) == ["a", "a/x.md", "b.md"]


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "mountinfo"
    file.write_text(
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
        "30 22 0:30 / /srv/docs rw,relatime - nfs4 server:/docs rw\n"
        "31 30 0:31 / /srv/docs/local\\040part rw - tmpfs tmpfs rw\n"
        "32 22 0:32 / /srv/docs2 rw - cifs //server/share rw\n"
        "33 22 0:33 / /srv/over rw - ext4 /dev/sdb rw\n"
        "34 33 0:34 / /srv/over rw - fuse.sshfs host: rw\n"
        "a line that is none\n"
    )
    return file


def test_the_mount_a_folder_lies_on_comes_first_and_those_below_it_follow(table: Path) -> None:
    assert mounts_at("/srv/docs/a", table) == (Mount("/srv/docs", "nfs4"),)
    assert mounts_at("/srv", table)[0] == Mount("/", "ext4")
    assert [mount.path for mount in mounts_at("/srv/docs", table)] == ["/srv/docs", "/srv/docs/local part"]


def test_the_visible_one_of_two_mounts_at_one_place_counts(table: Path) -> None:
    assert mounts_at("/srv/over", table) == (Mount("/srv/over", "fuse.sshfs"),)


@pytest.mark.parametrize(
    ("kind", "silent"),
    [("nfs4", True), ("cifs", True), ("fuse.sshfs", True), ("9p", True), ("ext4", False), ("fuseblk", False)],
)
def test_file_systems_of_other_machines_are_silent(kind: str, silent: bool) -> None:
    assert Mount("/", kind).is_silent is silent


def test_a_system_without_the_table_knows_no_mounts(tmp_path: Path) -> None:
    assert mounts_at("/", tmp_path / "missing") == ()
