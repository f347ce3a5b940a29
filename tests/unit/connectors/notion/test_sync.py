"""Whole syncs of the stand-in through the pipeline: what is stored, what it costs, what a break leaves."""

import hashlib
import hmac
import json
from typing import Any

import pytest

from connectors.contract import WebhookRequest
from connectors.notion.reading import Wishes
from connectors.testing.notion import made_up
from corebrain.brain import Brain
from corebrain.engines.reference import ReferenceEngine
from corebrain.layout import BrainSource
from corebrain.model.item import Document
from pipeline.host import Host
from pipeline.options import SyncOptions
from pipeline.report import SourceReport
from pipeline.source import Source
from pipeline.state.sqlite import SqliteState
from pipeline.syncing import sync_all


class Desk:
    """A brain in memory and the books of one source."""

    def __init__(self, office: Any) -> None:
        self.office = office
        self.engine = ReferenceEngine()
        self.state = SqliteState(None)

    def sync(self, connector: Any = None, **options: Any) -> SourceReport:
        made = connector or self.office.connector()
        source = Source("wiki", made, Brain(self.engine), SyncOptions(**{"threads": 2, **options}))
        return sync_all([source], self.state, Host(now=self.office.seconds)).sources[0]

    def texts(self) -> dict[str, str]:
        """Title -> text of what is held."""
        held = self.engine._items.values()
        return {str(item.title): item.text for item in held if isinstance(item, Document)}


@pytest.fixture
def desk(office: Any) -> Desk:
    return Desk(office)


def test_new_then_unchanged_with_one_request(desk: Desk) -> None:
    desk.office.server.api.workspace = made_up(50, 1, now=desk.office.now)
    first = desk.sync()
    assert (first.new, first.error, first.set_aside) == (50, None, ())
    assert first.requests <= 1 + 1 + 50
    again = desk.sync()
    assert (again.unchanged, again.stored, again.requests) == (50, 0, 1)


def test_what_changed_was_added_and_was_deleted_is_followed(desk: Desk) -> None:
    work = desk.office.workspace
    kept, edited, trashed = (work.add_page(name, paragraphs=[f"old {name}"]) for name in ("Kept", "Edited", "Trashed"))
    desk.office.later(hours=1)
    desk.sync()
    work.write(edited, ["new words"])
    work.trash(trashed)
    work.add_page("Added")
    report = desk.sync()
    assert (report.new, report.changed, report.gone, report.forgotten) == (1, 1, 1, 2)
    assert set(desk.texts()) == {"Kept", "Edited", "Added"}
    assert "new words" in desk.texts()["Edited"]
    assert kept


def test_an_edit_in_the_minute_of_the_sync_is_stored_by_the_next(desk: Desk) -> None:
    page = desk.office.workspace.add_page("Page", paragraphs=["one"])
    desk.sync()
    desk.office.later(seconds=10)
    desk.office.workspace.write(page, ["two"])
    assert desk.sync().changed == 1
    assert "two" in desk.texts()["Page"]
    desk.office.later(minutes=5)
    settled = desk.sync()
    assert (settled.stored, settled.unchanged) == (0, 1)
    assert desk.sync().requests == 1


def test_a_sync_that_breaks_in_the_middle_goes_on_without_reading_again(desk: Desk) -> None:
    office = desk.office
    office.server.api.workspace = made_up(950, 2, now=office.now)
    office.server.tokens = {"good"}
    served, real = [], office.server.api.answer

    def answer(asked: Any) -> Any:
        if asked.path.endswith("/markdown"):
            served.append(asked.path)
            if len(served) == 400:
                office.server.tokens = set()  # revoked in the middle
        return real(asked)

    office.server.api.answer = answer
    broken = desk.sync(office.connector(token="good"))
    assert broken.error is not None
    held = len(desk.engine._items)
    assert held >= 300
    office.server.tokens = None
    whole = desk.sync()
    assert whole.error is None
    assert len(desk.engine._items) == 950
    assert whole.unchanged >= held - 10
    assert len(served) <= 950 + 150


def test_one_page_that_cannot_be_read_is_set_aside_alone(desk: Desk) -> None:
    pages = [desk.office.workspace.add_page(f"Page {number}") for number in range(5)]
    desk.office.server.fail(f"{pages[2]}/markdown", 500, times=1000)
    report = desk.sync()
    assert [aside.key for aside in report.set_aside] == [pages[2]]
    assert len(desk.texts()) == 4
    assert report.error is None


def test_nothing_shared_is_in_the_report(desk: Desk) -> None:
    report = desk.sync()
    assert "nothing in Notion is shared" in report.set_aside[0].error
    assert "Connections" in report.set_aside[0].advice
    desk.office.workspace.add_page("Page")
    assert desk.sync().set_aside == ()


def test_everything_unshared_keeps_everything_held(desk: Desk) -> None:
    pages = [desk.office.workspace.add_page(f"Page {number}") for number in range(30)]
    desk.sync()
    for page in pages:
        desk.office.workspace.unshare(page)
    report = desk.sync(full=True)
    assert report.error is not None
    assert len(desk.texts()) == 30


def test_a_page_that_moves_to_another_top_page_is_filed_anew(desk: Desk) -> None:
    work = desk.office.workspace
    first, second = work.add_page("First"), work.add_page("Second")
    page = work.add_page("Page", first)
    desk.office.later(hours=1)
    desk.sync(split="always")
    work.move(page, second)
    desk.office.later(hours=1)
    report = desk.sync(split="always")
    assert report.error is None
    (item,) = [one for one in desk.engine._items.values() if isinstance(one, Document) and one.title == "Page"]
    assert second in str(item.meta.namespace)
    assert item.meta.tags == ("in:First",), "the breadcrumb is pinned until the words change"


def test_comments_that_came_are_read_when_a_webhook_tells(desk: Desk) -> None:
    page = desk.office.workspace.add_page("Page", paragraphs=["words"])
    desk.office.later(hours=1)
    wishes = Wishes(comments=True)
    desk.sync(desk.office.connector(wishes=wishes))
    desk.office.workspace.add_comment(page, "a remark")
    desk.sync(desk.office.connector(wishes=wishes), scopes=(page,))
    assert "a remark" in desk.texts()["Page"]


def test_a_signed_webhook_is_followed_to_the_memory(desk: Desk) -> None:
    """As docs/notion.md shows it: a page that was edited, one that was deleted, and a row of a database."""
    work = desk.office.workspace
    edited, deleted = (work.add_page(name, paragraphs=[f"old {name}"]) for name in ("Edited", "Deleted"))
    source = work.add_database("Register")
    desk.office.later(hours=1)
    desk.sync()
    work.write(edited, ["new words"])
    work.trash(deleted)
    work.add_page("Row", source, paragraphs=["a row"])
    connector = desk.office.connector(webhook_secret="whsec")

    def told(kind: str, key: str) -> tuple[str, ...]:
        body = json.dumps({"type": kind, "entity": {"id": key}}).encode()
        sign = f"sha256={hmac.new(b'whsec', body, hashlib.sha256).hexdigest()}"
        return tuple(connector.on_webhook(WebhookRequest("POST", "/notion", {"x-notion-signature": sign}, body)))

    desk.sync(connector, scopes=told("page.content_updated", edited))
    assert "new words" in desk.texts()["Edited"]
    assert set(desk.texts()) == {"Edited", "Deleted", "Register"}
    desk.sync(connector, scopes=told("page.deleted", deleted))
    assert set(desk.texts()) == {"Edited", "Register"}
    desk.sync(connector, scopes=told("database.content_updated", source))
    assert set(desk.texts()) == {"Edited", "Register", "Row"}


def test_breadcrumb_source_and_url_are_pinned_in_the_metadata(desk: Desk) -> None:
    top = desk.office.workspace.add_page("Top")
    page = desk.office.workspace.add_page("Page", top)
    desk.sync()
    (item,) = [one for one in desk.engine._items.values() if isinstance(one, Document) and one.title == "Page"]
    assert item.meta.url == f"https://www.notion.so/{page.replace('-', '')}"
    assert item.meta.tags == ("in:Top",)
    assert item.meta.source is not None
    assert (item.meta.source.kind, item.meta.source.id) == (BrainSource.NOTION.default_kind, "wiki")
    assert item.meta.file_path is None


def test_attachments_are_documents_below_their_page(desk: Desk) -> None:
    page = desk.office.workspace.add_page("Page", paragraphs=["words"])
    desk.office.workspace.files["notes.txt"] = b"the attached words"
    desk.office.workspace.add_block(
        page, "file", {"type": "file", "file": {"url": "notion-file:notes.txt"}, "caption": []}
    )
    desk.sync(desk.office.connector(wishes=Wishes(attachments="files")))
    assert any("the attached words" in text for text in desk.texts().values())
    assert len(desk.texts()) == 2
