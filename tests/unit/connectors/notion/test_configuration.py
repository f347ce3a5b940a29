"""A Notion source as people configure it, and the configuration that ships."""

import json
import os
import shutil
import subprocess
import sys
import tracemalloc
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from connectors import registry
from connectors.contract import Confirms, Connector, Hooked
from connectors.errors import ConfigError
from connectors.notion.connector import NotionConnector
from connectors.notion.kind import NotionConfig
from connectors.notion.spool import Spool
from connectors.testing.notion import made_up
from connectors.testing.notion_server import NotionServer

REPOSITORY = Path(__file__).parents[4]


def test_the_kind_is_known_and_makes_a_connector_that_asks_nothing_yet() -> None:
    made = registry.make("notion", "wiki", {"token": "ntn_canary"})
    assert isinstance(made, NotionConnector)
    assert isinstance(made, Connector)
    assert isinstance(made, Confirms)
    assert isinstance(made, Hooked)
    assert (made.name, str(made.source), made.requests) == ("wiki", "notion", 0)


def test_the_token_is_in_no_representation() -> None:
    config = NotionConfig.model_validate({"token": "ntn_canary"})
    made = registry.make("notion", "wiki", {"token": "ntn_canary"})
    assert "canary" not in repr(config) + repr(made) + repr(vars(made)["_sender"])


@pytest.mark.parametrize(
    ("keys", "said"),
    [
        ({}, "'token' is missing"),
        ({"token": "t", "root": ["x"]}, "did you mean 'roots'"),
        ({"token": "t", "roots": ["handbook"]}, "no Notion id"),
        ({"token": "t", "attachments": "some"}, "attachments"),
        ({"token": "t", "base_url": "http://notion.example"}, "plain http"),
        ({"token": "t", "full_every_hours": -1}, "full_every_hours"),
    ],
)
def test_what_cannot_be_right_is_refused(keys: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        registry.make("notion", "wiki", keys)


def test_the_shipped_configuration_syncs_and_finds(tmp_path: Path) -> None:
    shutil.copy(REPOSITORY / "configs" / "notion.toml", tmp_path)
    with NotionServer(made_up(50, 1)) as server:

        def brain(*arguments: str) -> str:
            ran = subprocess.run(
                [sys.executable, "-m", "pipeline.cli", "--config", str(tmp_path / "notion.toml"), *arguments],
                env={**os.environ, "NOTION_TOKEN": "t", "NOTION_API": server.url, "PYTHONPATH": str(REPOSITORY)},
                cwd=tmp_path,
                capture_output=True,
                text=True,
                check=True,
            )
            return ran.stdout

        assert "50 new" in brain("sync")
        before = len(server.log)
        (report,) = json.loads(brain("sync", "--json"))["sources"]
        assert (report["unchanged"], report["requests"]) == (50, 1)
        assert len(server.log) - before <= 2
        found = brain("search", "parental leave")
        assert "Parental leave" in found
        assert "https://www.notion.so/" in found


def test_a_spool_keeps_few_bytes_a_thing_in_memory() -> None:
    with closing(Spool()) as spool:
        tracemalloc.start()
        for number in range(20_000):
            spool.add({"id": f"{number:016x}0000400080000000000000ff"[:32], "filler": "x" * 1000})
        held = tracemalloc.get_traced_memory()[0]
        tracemalloc.stop()
        assert len(spool) == 20_000
    assert held / 20_000 < 200


def test_a_spool_gives_back_what_it_got_and_keeps_the_first_of_two_unless_renewed() -> None:
    with closing(Spool()) as spool:
        assert spool.add({"id": "393abc1e-edcd-80f3-813b-e205934558c6", "n": 1})
        assert not spool.add({"id": "393abc1e-edcd-80f3-813b-e205934558c6", "n": 2})
        assert spool.add({"id": "493abc1e-edcd-80f3-813b-e205934558c6", "n": 3})
        assert spool.get("493abc1e-edcd-80f3-813b-e205934558c6") == {
            "id": "493abc1e-edcd-80f3-813b-e205934558c6",
            "n": 3,
        }
        assert spool.get("593abc1e-edcd-80f3-813b-e205934558c6") is None
        assert [thing["n"] for thing in spool] == [1, 3]
        spool.renew({"id": "393abc1e-edcd-80f3-813b-e205934558c6", "n": 4})
        assert [thing["n"] for thing in spool] == [4, 3]
    assert spool.closed
    assert spool.get("493abc1e-edcd-80f3-813b-e205934558c6") is None
