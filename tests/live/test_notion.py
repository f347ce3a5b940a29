"""The real Notion: set NOTION_TOKEN to the secret of an integration that a few pages are shared with."""

import os
from collections.abc import Iterator
from itertools import islice

import pytest

from connectors.contract import Blob, Failed, Ref, Seen
from connectors.errors import AuthError
from connectors.notes import MemoryNotes
from connectors.notion.api import NotionApi
from connectors.notion.connector import BASE_URL, NotionConnector
from connectors.notion.service import notion_http
from connectors.notion.settled import moment

pytestmark = pytest.mark.live


@pytest.fixture
def connector() -> Iterator[NotionConnector]:
    token = os.environ.get("NOTION_TOKEN")
    if not token:
        pytest.skip("needs NOTION_TOKEN")
    with notion_http(BASE_URL) as http:
        yield NotionConnector(token, http=http)


def listed(connector: NotionConnector) -> list[Ref]:
    events = list(islice(connector.scan(None, MemoryNotes()), 300))
    assert not [event for event in events if isinstance(event, Failed)]
    return [event.ref for event in events if isinstance(event, Seen)]


def test_a_real_workspace_is_listed_and_read(connector: NotionConnector) -> None:
    refs = listed(connector)
    assert refs, "share a page with the integration"
    for ref in refs[:5]:
        blob, again = connector.fetch(ref, None), connector.fetch(ref, None)
        assert isinstance(blob, Blob)
        assert isinstance(blob.data, bytes)
        assert b"X-Amz" not in blob.data
        assert blob == again


def test_real_times_are_told_to_the_minute(connector: NotionConnector) -> None:
    assert all(ref.modified is not None and ref.modified.second == 0 for ref in listed(connector))


def test_real_listings_are_equal_twice(connector: NotionConnector) -> None:
    assert {ref.key for ref in listed(connector)} == {ref.key for ref in listed(connector)}


def test_real_markdown_replies_have_the_documented_fields(connector: NotionConnector) -> None:
    api: NotionApi = connector._api
    page = next(thing for thing in api.search(None).results if thing["object"] == "page")
    assert {"object", "id", "markdown", "truncated", "unknown_block_ids"} <= set(api.markdown(str(page["id"])))
    assert moment(page["last_edited_time"]) is not None


def test_a_wrong_token_is_refused_by_the_real_service() -> None:
    if not os.environ.get("NOTION_TOKEN"):
        pytest.skip("needs NOTION_TOKEN")
    with notion_http(BASE_URL) as http, pytest.raises(AuthError):
        list(NotionConnector("ntn_wrong", http=http).scan(None, MemoryNotes()))
