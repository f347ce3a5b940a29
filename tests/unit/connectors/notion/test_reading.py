"""What the document of a Notion page holds, and how its gaps are filled."""

import threading
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from connectors.contract import Blob, Seen, Unchanged
from connectors.errors import DocumentError, DocumentGone, Unavailable
from connectors.notion.body import read_body
from connectors.notion.ids import page_url
from connectors.notion.reading import Wishes
from connectors.testing import notion_shapes as shapes


def rich(words: str) -> dict[str, Any]:
    return {"rich_text": [shapes.text(words)], "color": "default"}


def test_a_page_is_its_head_and_its_words(office: Any) -> None:
    top = office.workspace.add_page("Handbook")
    page = office.workspace.add_page("Leave", top, paragraphs=["Take it.", "Tell us."])
    office.workspace.things[page]["icon"] = {"type": "emoji", "emoji": "🏖"}
    blob = office.document(office.connector(), page)
    assert blob.data.decode() == "- **Icon**: 🏖\n- **Created**: 2026-12-01\n\nTake it.\n\nTell us.\n"
    assert (blob.title, blob.path, blob.url) == ("Leave", ("Handbook",), page_url(page))
    assert blob.media_type == "text/markdown"
    assert blob.modified == office.now.replace(second=0)


def test_a_row_shows_its_properties(office: Any) -> None:
    source = office.workspace.add_database(
        "Register", properties={"State": {"id": "s", "type": "status", "status": {}}}
    )
    state = {"State": {"id": "s", "type": "status", "status": {"name": "Running"}}}
    row = office.workspace.add_page("Item", source, properties=state)
    assert "- **State**: Running\n" in office.text(office.connector(), row)


def test_a_database_is_its_description_and_schema(office: Any) -> None:
    options = [{"name": "Low"}, {"name": "High"}]
    properties = {"Risk": {"id": "r", "name": "Risk", "type": "select", "select": {"options": options}}}
    source = office.workspace.add_database("Register", properties=properties)
    office.workspace.things[source]["description"] = [shapes.text("What may go wrong.")]
    connector = office.connector()
    listing = office.scan(connector)
    text = listing.blobs[source].data.decode()
    assert "What may go wrong." in text
    assert "- **Risk** (select): Low, High" in text
    assert connector.fetch(listing.refs[source], None) == listing.blobs[source]


def test_relations_beyond_twenty_five_come_from_the_property_endpoint(office: Any) -> None:
    source = office.workspace.add_database("Register")
    targets = [office.workspace.add_page(f"Target {number}") for number in range(40)]
    relation = {"Links": {"id": "lnks", "type": "relation", "relation": [{"id": key} for key in targets]}}
    row = office.workspace.add_page("Item", source, properties=relation)
    text = office.text(office.connector(), row)
    assert all(page_url(key) in text for key in targets)
    assert "[Target 7]" in text


def test_a_long_title_is_read_whole(office: Any) -> None:
    page = office.workspace.add_page("x")
    office.workspace.things[page]["properties"]["title"]["title"] = [shapes.text(f"w{number} ") for number in range(40)]
    assert office.document(office.connector(), page).title.endswith("w39")


def test_people_and_rich_text_beyond_twenty_five_come_from_the_property_endpoint(office: Any) -> None:
    source = office.workspace.add_database("Register")
    people = [{"object": "user", "id": f"u{number}", "name": f"Person {number}"} for number in range(30)]
    words = [shapes.text(f"word{number} ") for number in range(40)]
    held = {
        "Team": {"id": "team", "type": "people", "people": people},
        "Notes": {"id": "note", "type": "rich_text", "rich_text": words},
    }
    row = office.workspace.add_page("Item", source, properties=held)
    text = office.text(office.connector(), row)
    assert f"- **Team**: {', '.join(one['name'] for one in people)}\n" in text
    assert f"- **Notes**: {' '.join(f'word{number}' for number in range(40))}\n" in text
    assert office.requests(of="/properties/") == 2


def test_unsupported_blocks_are_asked_for_by_id(office: Any) -> None:
    page = office.workspace.add_page("Page", paragraphs=["before"])
    for kind in ("bookmark", "embed", "link_preview"):
        url = {"url": f"https://example.com/{kind}", "caption": []}
        office.workspace.add_block(page, kind, url)
    office.workspace.add_paragraph(page, "after")
    connector = office.connector()
    text = office.text(connector, page)
    assert "(https://example.com/bookmark)" in text
    assert "(https://example.com/embed)" in text
    assert "(https://example.com/link_preview)" in text
    assert text.index("before") < text.index("bookmark") < text.index("after")
    assert connector.requests == 1 + 1 + 3


def test_a_truncated_page_is_completed(office: Any) -> None:
    office.server.api.limits.markdown_blocks = 10
    page = office.workspace.add_page("Page", paragraphs=[f"words {number}" for number in range(25)])
    text = office.text(office.connector(), page)
    assert [line for line in text.split("\n") if line.startswith("words")] == [
        f"words {number}" for number in range(25)
    ]


@pytest.mark.parametrize("within", ["page", "block"])
def test_what_is_cut_off_and_named_nowhere_is_read_from_the_blocks(within: str) -> None:
    block = "393abc1e-edcd-80f3-813b-e205934558c6"
    whole = {"id": block, "type": "paragraph", "has_children": False, "paragraph": rich("words to the end")}

    class CutOff:
        def markdown(self, key: str) -> dict[str, Any]:
            if within == "block" and key == "page":
                return {"markdown": f'<unknown url="{page_url(block)}" alt="block"/>', "unknown_block_ids": [block]}
            return {"markdown": "words to", "truncated": True, "unknown_block_ids": []}

        def children(self, key: str) -> list[dict[str, Any]]:
            return [whole] if key == "page" else []

        def block(self, key: str) -> dict[str, Any]:
            assert key == block
            return whole

    api: Any = CutOff()
    assert read_body(api, "page", {}).markdown.strip() == "words to the end"


@pytest.mark.slow
def test_a_page_of_twenty_thousand_blocks_is_read_whole(office: Any) -> None:
    office.server.api.limits.markdown_blocks = 19_000
    page = office.workspace.add_page("Page", paragraphs=[f"words {number}" for number in range(20_000)])
    connector = office.connector()
    text = office.text(connector, page)
    assert text.count("\nwords ") == 20_000
    assert connector.requests == 1 + 1 + 200


def test_a_copy_of_what_is_not_shared_becomes_a_placeholder(office: Any) -> None:
    secret = office.workspace.add_page("Secret")
    original = office.workspace.add_block(secret, "synced_block", {"synced_from": None})
    office.workspace.add_paragraph(original, "hidden words")
    page = office.workspace.add_page("Page")
    copy = office.workspace.add_block(page, "synced_block", {"synced_from": {"type": "block_id", "block_id": original}})
    office.workspace.unshare(secret)
    text = office.text(office.connector(), page)
    assert f"[content not shared with the integration in Notion]({page_url(copy)})" in text
    assert "hidden" not in text


@pytest.mark.parametrize("blocks", [False, True])
def test_a_shared_copy_shows_its_original(office: Any, blocks: bool) -> None:
    first = office.workspace.add_page("First")
    original = office.workspace.add_block(first, "synced_block", {"synced_from": None})
    office.workspace.add_paragraph(original, "shared words")
    page = office.workspace.add_page("Page")
    copy = {"synced_from": {"type": "block_id", "block_id": original}}
    office.workspace.block_of[office.workspace.add_block(page, "synced_block", copy)]["has_children"] = True
    assert "shared words" in office.text(office.connector(wishes=Wishes(blocks_only=blocks)), page)


def test_a_copy_that_contains_itself_ends(office: Any) -> None:
    page = office.workspace.add_page("Page")
    original = office.workspace.add_block(page, "synced_block", {"synced_from": None})
    office.workspace.add_paragraph(original, "words")
    copy = office.workspace.add_block(
        original, "synced_block", {"synced_from": {"type": "block_id", "block_id": original}}
    )
    office.workspace.block_of[copy]["has_children"] = True
    connector = office.connector(wishes=Wishes(blocks_only=True))
    text = office.text(connector, page)
    assert "words" in text
    assert "nested in itself" in text
    assert connector.requests <= 4


def test_unknown_blocks_that_name_each_other_end() -> None:
    first, second = "393abc1e-edcd-80f3-813b-e205934558c6", "493abc1e-edcd-80f3-813b-e205934558c6"
    asked = []

    class Circle:
        def markdown(self, key: str) -> dict[str, Any]:
            asked.append(key)
            other = second if key == first else first
            return {"markdown": f'words\n<unknown url="{page_url(other)}" alt="block"/>', "unknown_block_ids": [other]}

    api: Any = Circle()
    text = read_body(api, "page", {}).markdown
    assert asked == ["page", first, second]
    assert text.count("words") == 3
    assert f"[content in Notion]({page_url(first)})" in text


def test_a_nest_of_thirty_levels_is_read_to_its_end(office: Any) -> None:
    page = office.workspace.add_page("Page")
    above = page
    for level in range(30):
        above = office.workspace.add_block(above, "bulleted_list_item", rich(f"level {level}"))
    for blocks in (False, True):
        assert "level 29" in office.text(office.connector(wishes=Wishes(blocks_only=blocks)), page)


def test_an_api_without_markdown_is_read_by_blocks(office: Any) -> None:
    office.server.api.limits.markdown = False
    page = office.workspace.add_page("Page", paragraphs=["words"])
    assert "words" in office.text(office.connector(), page)


def test_a_linked_view_and_an_unknown_block_cost_nothing_else(office: Any) -> None:
    page = office.workspace.add_page("Page", paragraphs=["words"])
    office.workspace.add_block(page, "child_database", {"title": "View"})
    office.workspace.add_block(page, "hologram", {"rich_text": [shapes.text("future words")]})
    office.workspace.add_block(page, "unsupported", {"block_type": "ai_block"})
    text = office.text(office.connector(), page)
    assert "future words" in text
    assert "[View](" in text
    assert "[ai block in Notion](" in text


def test_mentions_without_a_title_are_looked_up(office: Any) -> None:
    target = office.workspace.add_page("Target page")
    page = office.workspace.add_page("Page")
    office.workspace.add_block(page, "link_to_page", {"type": "page_id", "page_id": target})
    connector = office.connector()
    ref = office.scan(connector).refs[page]
    assert b"[Target page](" in connector.fetch(ref, None).data
    assert b"[Target page](" in office.connector().fetch(ref, None).data


@pytest.mark.parametrize("restarted", [False, True])
def test_a_page_that_goes_between_listing_and_reading_is_gone(office: Any, restarted: bool) -> None:
    page = office.workspace.add_page("Page")
    connector = office.connector()
    ref = office.scan(connector).refs[page]
    office.workspace.trash(page)
    with pytest.raises(DocumentGone):
        (office.connector() if restarted else connector).fetch(ref, None)


def test_titles_of_related_pages_cost_nothing_while_everything_is_listed(office: Any) -> None:
    source = office.workspace.add_database("Register")
    relation = {"Links": {"id": "lnks", "type": "relation", "relation": []}}
    row = office.workspace.add_page("Item", source, properties=relation)
    for number in range(150):
        office.workspace.add_page(f"Page {number}", at=office.now - timedelta(days=2 + number))
    old = office.workspace.add_page("Old target", at=office.now - timedelta(days=900))
    office.workspace.things[row]["properties"]["Links"]["relation"] = [{"id": old}]
    connector = office.connector()
    text = b""
    refs = {}
    for event in connector.scan(None, office.notes):
        if isinstance(event, Seen):
            refs[event.ref.key] = event.ref
        elif row in refs and not text:  # at the first checkpoint, as the pipeline does
            text = connector.fetch(refs[row], None).data
    assert b"[Old target](" in text
    assert connector.requests == 2 + 1 + 1


def test_one_page_that_fails_is_one_document(office: Any) -> None:
    page = office.workspace.add_page("Page")
    connector = office.connector()
    ref = office.scan(connector).refs[page]
    office.server.fail(f"{page}/markdown", 500, times=100)
    with pytest.raises(DocumentError, match="status 500"):
        connector.fetch(ref, None)


def test_a_known_token_is_answered_without_reading(office: Any) -> None:
    page = office.workspace.add_page("Page")
    office.later(hours=1)
    ref = office.scan(office.connector()).refs[page]
    assert office.connector().fetch(ref, ref.token) == Unchanged(ref.token)
    assert office.requests(of="/markdown") == 0


def test_a_page_waits_long_for_its_fetch_at_no_further_request(office: Any) -> None:
    page = office.workspace.add_page("Page", paragraphs=["old words"])
    office.later(hours=1)
    connector = office.connector()
    ref = office.scan(connector).refs[page]
    office.later(hours=3)
    office.workspace.rename(page, "Renamed")
    office.workspace.write(page, ["new words"])
    before = connector.requests
    blob = connector.fetch(ref, None)
    assert connector.requests == before + 1
    assert b"new words" in blob.data
    assert blob.token == ref.token
    office.later(hours=1)
    later = office.scan(connector).refs[page]
    assert later.token != ref.token  # so it is read once more, with its new title
    assert connector.fetch(later, ref.token).title == "Renamed"


def test_addresses_of_files_are_not_relied_on_for_long(office: Any) -> None:
    page = office.workspace.add_page("Page")
    connector = office.connector(wishes=Wishes(attachments="files"))
    ref = office.scan(connector).refs[page]
    office.later(minutes=46)
    before = connector.requests
    connector.fetch(ref, None)
    assert connector.requests == before + 2


def test_comments_are_a_section_on_request(office: Any) -> None:
    ada = office.workspace.add_user("Ada")
    page = office.workspace.add_page("Page", paragraphs=["words"])
    office.workspace.add_comment(page, "Is this still so?", ada)
    assert "still so" not in office.text(office.connector(), page)
    text = office.text(office.connector(wishes=Wishes(comments=True)), page)
    assert text.endswith("words\n\n## Comments\n\n- **Ada** (2026-12-01): Is this still so?\n")


def test_comments_that_may_not_be_read_are_told_once_and_cost_one_request(office: Any) -> None:
    pages = [office.workspace.add_page(f"Page {number}", paragraphs=["words"]) for number in range(3)]
    office.server.api.limits.comments = False
    connector = office.connector(wishes=Wishes(comments=True))
    said: list[str] = []
    connector.say = said.append
    refs = office.scan(connector).refs
    texts = [connector.fetch(refs[page], None).data for page in pages]
    assert all(b"words" in text and b"## Comments" not in text for text in texts)
    assert ["comments are left out" in line for line in said] == [True]
    assert office.requests(of="/comments") == 1


def test_a_scope_with_comments_wanted_is_read_again(office: Any) -> None:
    page = office.workspace.add_page("Page")
    office.later(hours=1)
    connector = office.connector(wishes=Wishes(comments=True))
    assert office.scan(connector, scope=page).refs[page].token is None


def test_authors_are_tags_on_request_and_never_needed(office: Any) -> None:
    ada = office.workspace.add_user("Ada")
    page = office.workspace.add_page("Page", author=ada)
    assert office.document(office.connector(), page).tags == ()
    assert office.document(office.connector(wishes=Wishes(authors=True)), page).tags == ("by:Ada",)
    office.server.api.limits.users = False
    assert office.document(office.connector(wishes=Wishes(authors=True)), page).tags == ()


def put_files(office: Any) -> str:
    page = office.workspace.add_page("Page", paragraphs=["words"])
    for kind, name in (("pdf", "Plan A.pdf"), ("file", "data.csv"), ("image", "cat.png"), ("video", "a.mp4")):
        office.workspace.files[name] = name.encode()
        url = f"notion-file:{name.replace(' ', '%20')}"
        office.workspace.add_block(page, kind, {"type": "file", "file": {"url": url}, "caption": []})
    return str(page)


@pytest.mark.parametrize(
    ("wanted", "names"),
    [("none", []), ("files", ["Plan A.pdf", "data.csv"]), ("all", ["Plan A.pdf", "data.csv", "cat.png"])],
)
@pytest.mark.parametrize("blocks", [False, True])
def test_attachments_become_parts_on_request(office: Any, wanted: Any, names: list[str], blocks: bool) -> None:
    page = put_files(office)
    blob = office.document(office.connector(wishes=Wishes(attachments=wanted, blocks_only=blocks)), page)
    assert [part.filename for part in blob.parts] == names
    for part in blob.parts:
        assert part.data.read_bytes() == part.filename.encode()
        part.data.unlink()


def test_signed_addresses_are_in_no_document_and_change_none(office: Any) -> None:
    page = put_files(office)
    office.later(hours=1)
    first, second = (office.document(office.connector(), page) for _ in range(2))
    assert first == second
    assert b"X-Amz" not in first.data
    assert b"[Plan A.pdf](" in first.data


def test_an_attachment_that_cannot_be_read_costs_only_itself(office: Any) -> None:
    page = put_files(office)
    del office.workspace.files["Plan A.pdf"]
    connector = office.connector(wishes=Wishes(attachments="files"))
    said: list[str] = []
    connector.say = said.append
    blob = office.document(connector, page)
    assert [line.startswith(f"Plan A.pdf in {page_url(page)} is left out: ") for line in said] == [True]
    assert "X-Amz" not in said[0]
    assert [part.filename for part in blob.parts] == ["data.csv"]
    for part in blob.parts:
        part.data.unlink()


def test_an_attachment_over_the_limit_is_left_out(office: Any) -> None:
    page = put_files(office)
    office.workspace.files["Plan A.pdf"] = b"x" * 1000
    connector = office.connector(wishes=Wishes(attachments="files", max_bytes=100))
    said: list[str] = []
    connector.say = said.append
    blob = office.document(connector, page)
    assert ["Plan A.pdf" in line and "100" in line for line in said] == [True]
    assert [part.filename for part in blob.parts] == ["data.csv"]
    for part in blob.parts:
        part.data.unlink()


def test_touching_everything_around_a_page_leaves_its_document(office: Any) -> None:
    """Other hosts, addresses, editors, signatures and siblings are no part of it."""
    top = office.workspace.add_page("Top")
    page = office.workspace.add_page("Page", top, paragraphs=["words"])
    office.later(hours=1)
    before = office.document(office.connector(), page)
    thing = office.workspace.things[page]
    thing["url"] = "https://www.notion.so/elsewhere"
    thing["public_url"] = "https://acme.notion.site/x"
    thing["last_edited_by"] = {"object": "user", "id": office.workspace.add_user("Grace")}
    thing["cover"] = {"type": "external", "external": {"url": "https://example.com/c.png"}}
    office.workspace.add_page("Sibling", top)
    office.workspace.touch(page)
    office.later(hours=1)
    after = office.document(office.connector(), page)
    assert (after.data, after.title, after.url, after.path, after.tags) == (
        *(before.data, before.title, before.url),
        *(before.path, before.tags),
    )


@pytest.mark.parametrize("status", [409, 429, 500, 502, 503, 504, 529])
def test_what_passes_is_waited_for(office: Any, status: int) -> None:
    page = office.workspace.add_page("Page", paragraphs=["words"])
    for match in ("search", "markdown"):
        office.server.fail(match, status, times=3)
    assert "words" in office.text(office.connector(), page)
    assert len(office.slept) >= 6


def test_retry_after_of_minutes_is_kept(office: Any) -> None:
    page = office.workspace.add_page("Page", paragraphs=["words"])
    connector = office.connector()
    ref = office.scan(connector).refs[page]
    office.server.fail("markdown", 429, retry_after="150", reason="workspace")
    assert isinstance(connector.fetch(ref, None), Blob)
    assert sum(office.slept) >= 150


def test_a_pause_beyond_patience_stops_the_sync_until_later(office: Any) -> None:
    page = office.workspace.add_page("Page")
    connector = office.connector()
    ref = office.scan(connector).refs[page]
    office.server.fail("markdown", 429, times=100, retry_after="900", reason="workspace_limit")
    with pytest.raises(Unavailable) as caught:
        connector.fetch(ref, None)
    assert caught.value.retry_after_s == 900
    assert "workspace_limit" in str(caught.value)
    assert not office.slept


def test_a_broken_connection_is_tried_again(office: Any) -> None:
    page = office.workspace.add_page("Page", paragraphs=["words"])
    office.server.fail("search", 0, times=2)
    office.server.fail("markdown", 0, times=2)
    assert "words" in office.text(office.connector(), page)


def test_a_conflict_is_tried_again(office: Any) -> None:
    page = office.workspace.add_page("Page", paragraphs=["words"])
    office.server.fail("search", 409)
    assert "words" in office.text(office.connector(), page)


def test_a_reply_that_never_comes_is_asked_for_again_and_costs_one_document_while_others_come(office: Any) -> None:
    page = office.workspace.add_page("Page", paragraphs=["words"])
    other = office.workspace.add_page("Other", paragraphs=["others"])
    refs = office.scan(office.connector()).refs
    hung = threading.Event()
    real, left, whole = office.server.api.answer, [1], [False]

    def answer(asked: Any) -> Any:
        if whole[0] or (asked.path.endswith(f"{page}/markdown") and left[0]):
            left[0] -= 1
            hung.wait(20)
        return real(asked)

    office.server.api.answer = answer
    connector = office.connector()
    inner = connector._http._patient._inner
    inner._limits = replace(inner._limits, read_s=0.2)
    try:
        assert b"words" in connector.fetch(refs[page], None).data
        left[0] = 100
        with pytest.raises(DocumentError, match="took too long"):
            connector.fetch(refs[page], None)
        assert b"others" in connector.fetch(refs[other], None).data
        whole[0] = True
        with pytest.raises(Unavailable, match="in time"):
            connector.fetch(refs[other], None)
    finally:
        hung.set()


def test_the_pace_is_kept(office: Any) -> None:
    office.server.api.workspace = office.workspace
    pages = [office.workspace.add_page(f"Page {number}") for number in range(100)]
    connector = office.connector(pace=60)
    began = office.now
    refs = office.scan(connector).refs
    for key in pages:
        connector.fetch(refs[key], None)
    assert connector.requests == 101
    assert 40 <= (office.now - began).total_seconds() <= 60
