"""Every recorded reply that holds blocks, properties or errors is read without losing a word."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from connectors.notion.blocks import Renderer, file_url
from connectors.notion.ids import id_of, page_url
from connectors.notion.listing import is_listed
from connectors.notion.properties import head_lines, property_text, title_of
from connectors.notion.schema import schema_markdown

HERE = Path(__file__).parent
LINES = "".join((HERE / f"{name}.jsonl").read_text(encoding="utf-8") for name in ("blocks", "sdk"))
EXCHANGES = [json.loads(line) for line in LINES.strip().split("\n")]


def objects(value: Any, kind: str) -> Iterator[dict[str, Any]]:
    """Every object of a kind, however deep."""
    if isinstance(value, dict):
        if value.get("object") == kind:
            yield value
        for inner in value.values():
            yield from objects(inner, kind)
    elif isinstance(value, list):
        for inner in value:
            yield from objects(inner, kind)


BLOCKS = [block for exchange in EXCHANGES for block in objects(exchange["body"], "block")]
PAGES = [page for exchange in EXCHANGES for page in objects(exchange["body"], "page")]
SOURCES = [source for exchange in EXCHANGES for source in objects(exchange["body"], "data_source")]


def words(block: dict[str, Any]) -> list[str]:
    """What a person reads in a block itself: its texts, captions, expressions, titles, cells."""
    content = block[block["type"]]
    items = [*content.get("rich_text", []), *content.get("caption", [])]
    items += [item for cell in content.get("cells", []) for item in cell]
    texts = [item["plain_text"] for item in items if item["type"] == "text"]
    texts += [item["equation"]["expression"] for item in items if item["type"] == "equation"]
    return [*texts, *(str(content[name]) for name in ("expression", "title") if content.get(name))]


def squeezed(text: str) -> str:
    """Text without what markdown may add or change."""
    for sign in "\\`*~\n |[]()>":
        text = text.replace(sign, "")
    return text.replace("<br", "")


@pytest.mark.parametrize("kind", sorted({block["type"] for block in BLOCKS}))
def test_blocks_of_every_recorded_type_keep_their_words(kind: str) -> None:
    for block in (block for block in BLOCKS if block["type"] == kind):
        shown = squeezed(Renderer(lambda _: ()).render([block]))
        for text in words(block):
            assert squeezed(text) in shown, f"{kind} lost {text!r}"


def test_the_recordings_hold_nearly_every_type() -> None:
    kinds = {block["type"] for block in BLOCKS}
    assert {"table_row", "synced_block", "tab", "equation", "column", "pdf", "embed", "unsupported"} <= kinds
    assert len(kinds) >= 30


def test_every_recorded_link_and_file_is_linked() -> None:
    for block in BLOCKS:
        content = block[block["type"]]
        shown = Renderer(lambda _: ()).render([block])
        url, kept = file_url(content)
        if content.get("url"):
            assert f"]({content['url']})" in shown
        elif kept:
            assert "X-Amz" not in shown
            assert page_url(block["id"]) in shown
        elif url:
            assert f"]({url})" in shown


def test_recorded_unsupported_blocks_are_named_and_linked() -> None:
    for block in (block for block in BLOCKS if block["type"] == "unsupported"):
        kind = block["unsupported"]["block_type"].replace("_", " ")
        assert Renderer().render([block]) == f"[{kind} in Notion]({page_url(block['id'])})\n"


def test_every_recorded_page_has_its_title_and_values() -> None:
    assert PAGES
    for page in PAGES:
        held = next(value for value in page["properties"].values() if value["type"] == "title")
        assert title_of(page) == " ".join("".join(item["plain_text"] for item in held["title"]).split())
        head = "\n".join(head_lines(page, {}))
        for value in page["properties"].values():
            if value["type"] in {"select", "status"} and value[value["type"]]:
                assert value[value["type"]]["name"] in head
            for option in value.get("multi_select") or []:
                assert option["name"] in head


def test_every_recorded_schema_names_its_columns_and_options() -> None:
    assert {value["type"] for source in SOURCES for value in source["properties"].values()} >= {
        *("formula", "relation", "rollup", "status", "verification", "unique_id", "place", "button", "files"),
        *("created_by", "last_edited_time", "people", "phone_number", "email", "url", "checkbox", "number"),
    }
    for source in SOURCES:
        shown = schema_markdown(source)
        for name, value in source["properties"].items():
            assert f"- **{name}** ({value['type'].replace('_', ' ')})" in shown
            if value["type"] in {"select", "multi_select", "status"}:
                assert all(option["name"] in shown for option in value[value["type"]]["options"])


def test_recorded_schema_values_are_no_property_values_and_break_nothing() -> None:
    for source in SOURCES:
        for value in source["properties"].values():
            property_text(value)


def test_recorded_pages_and_sources_are_listed_unless_trashed() -> None:
    for thing in (*PAGES, *SOURCES):
        assert is_listed(thing) is not bool(thing.get("in_trash") or thing.get("archived"))


def test_ids_are_found_in_the_addresses_of_both_hosts() -> None:
    addresses = {page["url"].split("/")[2]: page for page in PAGES if page.get("url")}
    assert set(addresses) == {"www.notion.so", "app.notion.com"}
    for page in PAGES:
        assert id_of(page["url"]) == page["id"]


def test_every_recorded_error_is_told_in_our_words() -> None:
    from connectors.notion.sending import _typed  # noqa: PLC0415 - the border itself, without a server

    class Told:
        def __init__(self, exchange: dict[str, Any]) -> None:
            self.status = exchange["body"]["status"]
            self.code = exchange["body"]["code"]
            self.body = json.dumps(exchange["body"])
            self.headers: dict[str, str] = {}

    errors = [Told(exchange) for exchange in EXCHANGES if exchange["body"].get("object") == "error"]
    assert {error.status for error in errors} >= {400, 401}
    for error in errors:
        message = str(_typed("the page x", error))
        assert message[0].islower()
        assert not message.endswith(".")
