"""The law of connectors on Notion itself, with NOTION_TOKEN and NOTION_PARENT; on the stand-in without them."""

import importlib.util
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.notion.connector import BASE_URL
from connectors.testing.conformance import CHECKS, Check
from connectors.testing.notion_server import TOKEN, NotionServer
from connectors.testing.notion_workspace import Workspace

SETTLE_S = 8.0  # what search needs to know of a page, as seen by others


def written_notion() -> Any:
    spec = importlib.util.spec_from_file_location("notion_law", Path(__file__).with_name("notion_law.py"))
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.WrittenNotion


@pytest.fixture(params=["the stand-in", pytest.param("Notion", marks=pytest.mark.live)])
def harness(request: pytest.FixtureRequest) -> Iterator[Any]:
    if request.param == "Notion":
        token, parent = os.environ.get("NOTION_TOKEN"), os.environ.get("NOTION_PARENT")
        if not token or not parent:
            pytest.skip("needs NOTION_TOKEN")
        made = written_notion()(BASE_URL, token, parent, SETTLE_S, 150)
        yield made
        made.close()
        return
    workspace = Workspace()
    parent = workspace.add_page("for checks")
    with NotionServer(workspace) as server:
        made = written_notion()(server.url, TOKEN, parent, 0.0, 0, f"{server.url}/_log")
        yield made
        made.close()


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_written_pages_keep_the_law(check: Check, harness: Any) -> None:
    check(harness)
