"""Fields of other types than expected, missing ones and new ones break nothing: the service grows while we sleep."""

from datetime import UTC, datetime
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.notion.ancestry import from_note, node_of
from connectors.notion.blocks import Renderer
from connectors.notion.listing import is_listed
from connectors.notion.properties import attached, cut_properties, head_lines, icon_of, title_of
from connectors.notion.rich_text import date_text, inline, plain
from connectors.notion.schema import schema_markdown
from connectors.notion.settled import token_of
from connectors.testing import notion_shapes as shapes

NOW = datetime(2026, 12, 1, tzinfo=UTC)
KINDS = [
    "paragraph",
    "heading_1",
    "table",
    "table_row",
    "code",
    "callout",
    "image",
    "pdf",
    "embed",
    "to_do",
    "equation",
]
KINDS += [
    "child_page",
    "link_to_page",
    "synced_block",
    "meeting_notes",
    "numbered_list_item",
    "unsupported",
    "hologram",
]
TYPES = ["title", "rich_text", "number", "select", "multi_select", "date", "people", "files", "relation", "rollup"]
TYPES += ["formula", "unique_id", "verification", "place", "created_by", "url", "status", "hologram"]
KEYS = ["id", "type", "name", "url", "rich_text", "caption", "cells", "text", "mention", "plain_text", "annotations"]
KEYS += ["file", "external", "icon", "emoji", "start", "end", "array", "number", "options", "title", "date", "user"]
LEAVES = st.one_of(st.none(), st.booleans(), st.integers(), st.text(max_size=4), st.sampled_from(KINDS + TYPES))
ODD = st.recursive(
    LEAVES,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(KEYS + KINDS + TYPES), inner, max_size=4)
    ),
    max_leaves=12,
)
ITEMS = st.lists(
    st.fixed_dictionaries(
        {"type": st.sampled_from(["text", "mention", "equation", "new"])}, optional=dict.fromkeys(KEYS[2:], ODD)
    ),
    max_size=3,
)


@settings(max_examples=300, deadline=None)
@given(st.sampled_from(KINDS), ODD | st.fixed_dictionaries({"rich_text": ITEMS, "caption": ITEMS}), ODD)
def test_odd_blocks_are_rendered(kind: str, content: Any, more: Any) -> None:
    block = {"object": "block", "type": kind, kind: content, "has_children": bool(more), "children": more}
    assert isinstance(Renderer().render([block, {"type": kind}, {}]), str)


@settings(max_examples=300, deadline=None)
@given(ITEMS | ODD)
def test_odd_rich_text_is_read(items: Any) -> None:
    assert isinstance(inline(items), str)
    assert isinstance(plain(items), str)
    assert isinstance(date_text(items), str)


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(TYPES), ODD, ODD)
def test_odd_properties_are_read(kind: str, held: Any, more: Any) -> None:
    thing = {
        **shapes.page("393abc1e-edcd-80f3-813b-e205934558c6", "T", {"type": "workspace"}, NOW, {}, "u"),
        "properties": {"P": {"id": "p", "type": kind, kind: held}, "Q": more},
        "icon": more,
        "parent": held,
    }
    head_lines(thing, {})
    title_of(thing)
    icon_of(thing)
    attached(thing)
    cut_properties(thing)
    token_of(thing, lambda: NOW.replace(year=2027))
    assert is_listed(thing)
    assert from_note(node_of(thing).as_note()) == node_of(thing)
    schema_markdown({**thing, "object": "data_source", "description": more})


@given(ODD)
def test_odd_things_are_listed_only_when_whole(thing: Any) -> None:
    if isinstance(thing, dict):
        assert not is_listed(thing)
        assert not is_listed({**thing, "object": "page", "properties": {}, "id": "no id"})
