"""A sync that dies at any step is finished by the next one: the same store as an undisturbed run."""

import sys
from collections.abc import Callable
from typing import Any

import pytest

ENGINES = ["reference", "local"]


KINDS = ["lists", "feeds", "crawls", "confirms", "names contents"]
NAMED = {"lease", "plan", "intent", "store", "record", "forget", "cursor", "job"}


def tell(what: str, kills: int) -> None:
    sys.stdout.write(f"\nkills at every step ({what}): {kills} of {kills} ended as an undisturbed sync\n")


def undisturbed(make_world: Callable[..., Any], documents: Any, *changes: Callable[[Any], None], **how: Any) -> Any:
    """What a world holds after syncs that nobody disturbs, one after each change."""
    world = make_world(how.pop("engine"), documents, **how)
    assert world.run()["ok"]
    for change in changes:
        world.built()
        change(world.connector)
        assert world.run()["ok"]
    return world.dump()


@pytest.mark.parametrize("split", ["never", "always"])
@pytest.mark.parametrize("engine", ENGINES)
def test_a_first_sync_killed_at_any_step_is_finished_by_the_next(
    engine: str, split: str, make_world: Callable[..., Any], scenario: Any
) -> None:
    wanted = undisturbed(make_world, scenario.first_documents(), engine=engine, split=split)
    assert wanted["records"], wanted
    assert not wanted["doomed"]
    assert not wanted["intents"]
    assert len(wanted["jobs"]) == 1
    for at in range(1, 1_000):
        world = make_world(engine, scenario.first_documents(), split=split)
        wire = scenario.tripwire(at)
        try:
            world.run(wire)
        except scenario.crash:
            world.run()
            assert world.dump() == wanted, f"killed at step {at}, {wire.named[-1]}"
        else:
            break
    assert set(wire.named) >= NAMED - {"forget"}
    tell(f"first sync, {engine}, {split}", at - 1)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_sync_of_every_kind_of_change_killed_at_any_step_is_finished_by_the_next(
    engine: str, kind: str, make_world: Callable[..., Any], scenario: Any
) -> None:
    split = "always" if kind == "lists" else "never"
    wanted = undisturbed(make_world, scenario.first_documents(kind), scenario.change, engine=engine, split=split)
    assert len(wanted["jobs"]) == 1
    for at in range(1, 1_000):
        world = make_world(engine, scenario.first_documents(kind), split=split)
        world.run()
        world.built()
        scenario.change(world.connector)
        wire = scenario.tripwire(at)
        try:
            world.run(wire)
        except scenario.crash:
            world.run()
            assert world.dump() == wanted, f"killed at step {at}, {wire.named[-1]}"
        else:
            break
    assert set(wire.named) >= NAMED
    tell(f"every change of a source that {kind}, {engine}", at - 1)


@pytest.mark.parametrize("kind", KINDS)
def test_a_source_edited_between_kill_and_re_run_ends_as_one_that_nobody_disturbed(
    kind: str, make_world: Callable[..., Any], scenario: Any
) -> None:
    wanted = undisturbed(
        make_world, scenario.first_documents(kind), scenario.change, scenario.change_again, engine="reference"
    )
    for at in range(1, 1_000):
        world = make_world("reference", scenario.first_documents(kind))
        world.run()
        world.built()
        scenario.change(world.connector)
        wire = scenario.tripwire(at)
        try:
            world.run(wire)
        except scenario.crash:
            scenario.change_again(world.connector)
            world.run()
            assert world.dump() == wanted, f"killed at step {at}, {wire.named[-1]}"
            assert "Brand new." not in "".join(wanted["engine"].values())
        else:
            break
    assert set(wire.named) >= NAMED
    tell(f"a source that {kind}, edited meanwhile", at - 1)


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
