"""A sync that dies at any step is finished by the next one: the same store as an undisturbed run."""

from collections.abc import Callable
from typing import Any

import pytest

ENGINES = ["reference", "local"]


def undisturbed(make_world: Callable[..., Any], scenario: Any, kind: str, *, again: bool, **options: Any) -> Any:
    """What a world holds after syncs that nobody disturbs."""
    world = make_world(kind, scenario.first_documents(), **options)
    assert world.run()["ok"]
    if again:
        scenario.change(world.connector)
        assert world.run()["ok"]
    return world.dump()


@pytest.mark.parametrize("split", ["never", "always"])
@pytest.mark.parametrize("kind", ENGINES)
def test_a_first_sync_killed_at_any_step_is_finished_by_the_next(
    kind: str, split: str, make_world: Callable[..., Any], scenario: Any
) -> None:
    wanted = undisturbed(make_world, scenario, kind, again=False, split=split)
    assert wanted["records"], wanted
    assert not wanted["doomed"]
    assert not wanted["intents"]
    for at in range(1, 1_000):
        world = make_world(kind, scenario.first_documents(), split=split)
        wire = scenario.tripwire(at)
        try:
            world.run(wire)
        except scenario.crash:
            world.run()
            assert world.dump() == wanted, f"killed at step {at}"
        else:
            break
    assert at > 10, "a sync has more steps than that"


@pytest.mark.parametrize("split", ["never", "always"])
@pytest.mark.parametrize("kind", ENGINES)
def test_a_sync_of_every_kind_of_change_killed_at_any_step_is_finished_by_the_next(
    kind: str, split: str, make_world: Callable[..., Any], scenario: Any
) -> None:
    wanted = undisturbed(make_world, scenario, kind, again=True, split=split)
    for at in range(1, 1_000):
        world = make_world(kind, scenario.first_documents(), split=split)
        world.run()
        scenario.change(world.connector)
        wire = scenario.tripwire(at)
        try:
            world.run(wire)
        except scenario.crash:
            world.run()
            assert world.dump() == wanted, f"killed at step {at}"
        else:
            break
    assert at > 20, "a sync has more steps than that"


def test_a_source_edited_between_kill_and_re_run_leaves_nothing_of_the_lost_version(
    make_world: Callable[..., Any], scenario: Any
) -> None:
    for at in range(1, 1_000):
        world = make_world("reference", scenario.first_documents())
        world.run()
        scenario.change(world.connector)
        try:
            world.run(scenario.tripwire(at))
        except scenario.crash:
            world.connector.put("a/one.md", "# One\n\nA third text.")
            world.connector.remove("d/new.md")
            world.connector.rename("d/new name.md", "e/again.md")
            world.run()
            dump = world.dump()
            ids = [item for record in dump["records"].values() for item in record[4]]
            assert sorted(ids) == sorted(dump["engine"]), f"killed at step {at}: something is lost or left over"
            assert not dump["intents"]
            texts = "".join(dump["engine"].values())
            assert "A third text." in texts
            assert "Brand new." not in texts, f"killed at step {at}: a lost version is still held"
        else:
            break
    assert at > 20


def test_a_head_that_moves_between_kill_and_re_run_re_pins_nothing_that_was_intended(
    make_world: Callable[..., Any], scenario: Any
) -> None:
    def at_head(world: Any, head: str) -> None:
        for number in range(5):
            url = f"https://git.example/acme/blob/{head}/{number}.md"
            world.connector.put(f"{number}.md", f"# {number}\n\nText.", token="same", commit=head, url=url)

    for at in range(1, 1_000):
        world = make_world("reference", scenario.first_documents().__class__())
        at_head(world, "c1")
        try:
            world.run(scenario.tripwire(at))
        except scenario.crash:
            before = world.dump()
            at_head(world, "c2")
            world.run()
            dump = world.dump()
            for key, intent in before["intents"].items():
                assert dump["records"][key][3] == intent.pinned, f"killed at step {at}: {key} was pinned anew"
            for key, record in before["records"].items():
                assert dump["records"][key] == record
            ids = [item for record in dump["records"].values() for item in record[4]]
            assert sorted(ids) == sorted(dump["engine"])
        else:
            break
    assert at > 10


def test_a_version_lost_between_storing_and_recording_is_forgotten(
    make_world: Callable[..., Any], scenario: Any
) -> None:
    for at in range(1, 1_000):
        world = make_world("reference", scenario.first_documents())
        world.run()
        world.connector.put("a/one.md", "# One\n\nThe lost version.")
        try:
            world.run(scenario.tripwire(at))
        except scenario.crash:
            world.connector.put("a/one.md", "# One\n\nThe last version.")
            world.run()
            texts = "".join(world.dump()["engine"].values())
            assert "The last version." in texts
            assert "The lost version." not in texts, f"killed at step {at}: a lost version is still held"
        else:
            break
    assert at > 10
