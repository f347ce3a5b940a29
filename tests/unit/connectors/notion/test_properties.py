"""Properties of every type as a person reads them, and schemas."""

from typing import Any

import pytest

from connectors.notion.ids import page_url
from connectors.notion.properties import attached, cut_properties, head_lines, icon_of, property_text, title_of
from connectors.notion.schema import schema_markdown
from connectors.testing.notion_shapes import text

KEY = "393abc1e-edcd-80f3-813b-e205934558c6"
ADA = {"object": "user", "id": "a", "name": "Ada"}


@pytest.mark.parametrize(
    ("kind", "held", "shown"),
    [
        ("title", [text("Plan")], "Plan"),
        ("rich_text", [text("bold", bold=True)], "**bold**"),
        ("number", 3.0, "3"),
        ("number", 0, "0"),
        ("number", 2.5, "2.5"),
        ("number", None, ""),
        ("select", {"name": "High"}, "High"),
        ("select", None, ""),
        ("status", {"name": "Done"}, "Done"),
        ("multi_select", [{"name": "a"}, {"name": "b"}], "a, b"),
        ("date", {"start": "2026-01-05", "end": None}, "2026-01-05"),
        ("people", [ADA, {"object": "user", "id": "b"}, {"person": {"email": "b@example.com"}}], "Ada, b@example.com"),
        ("people", [{"object": "user", "id": "b"}], ""),
        ("files", [{"name": "a.pdf", "file": {"url": "https://s3/a.pdf?X-Amz-Signature=1"}}], "a.pdf"),
        ("files", [{"name": "a", "external": {"url": "https://x.example/a"}}], "[a](https://x.example/a)"),
        ("checkbox", True, "yes"),
        ("checkbox", False, "no"),
        ("url", "https://x.example", "https://x.example"),
        ("email", "a@example.com", "a@example.com"),
        ("phone_number", "+1", "+1"),
        ("formula", {"type": "string", "string": "s"}, "s"),
        ("formula", {"type": "number", "number": 4}, "4"),
        ("formula", {"type": "boolean", "boolean": False}, "no"),
        ("formula", {"type": "date", "date": {"start": "2026-01-05"}}, "2026-01-05"),
        ("formula", {"type": "string", "string": None}, ""),
        ("relation", [{"id": KEY}], f"[Known]({page_url(KEY)})"),
        ("rollup", {"type": "number", "number": 7, "function": "sum"}, "7"),
        ("rollup", {"type": "date", "date": {"start": "2026-01-05"}}, "2026-01-05"),
        ("rollup", {"type": "array", "array": [{"type": "title", "title": [text("x")]}]}, "x"),
        ("rollup", {"type": "array", "array": [{"type": "select", "select": {"name": "n"}}, {"type": "x"}]}, "n"),
        ("rollup", {"type": "unsupported", "unsupported": {}}, ""),
        ("created_time", "2026-01-05T09:30:00.000Z", "2026-01-05 09:30"),
        ("created_by", ADA, "Ada"),
        ("unique_id", {"prefix": "RFC", "number": 12}, "RFC-12"),
        ("unique_id", {"prefix": None, "number": 12}, "12"),
        ("verification", {"state": "verified", "verified_by": ADA, "date": None}, "verified by Ada"),
        ("verification", {"state": "unverified", "verified_by": None, "date": None}, ""),
        ("place", {"name": "Berlin", "address": None, "lat": 1, "lon": 2}, "Berlin"),
        ("place", {"lat": 1.5, "lon": 2}, "1.5, 2"),
        ("button", {}, ""),
        ("hologram", "beam", "beam"),
        ("hologram", {"name": "beam"}, "beam"),
        ("hologram", [{"name": "a"}, {"name": "b"}], "a, b"),
        ("hologram", True, "yes"),
        ("hologram", {"depth": {"x": 1}}, ""),
    ],
)
def test_every_type_of_property(kind: str, held: Any, shown: str) -> None:
    assert property_text({"id": "x", "type": kind, kind: held}, {KEY: "Known"}) == shown


def page(**properties: Any) -> dict[str, Any]:
    found = {name: {"id": name, "type": kind, kind: held} for name, (kind, held) in properties.items()}
    return {"object": "page", "id": KEY, "properties": found}


def test_the_head_leaves_out_what_is_empty_or_changes_by_itself() -> None:
    thing = page(
        Name=("title", [text("Plan")]),
        Empty=("select", None),
        Edited=("last_edited_time", "2026-01-05T09:30:00.000Z"),
        Editor=("last_edited_by", ADA),
        Note=("rich_text", [text("two\nlines")]),
    )
    assert head_lines(thing, {}) == ["- **Note**: two lines"]
    assert title_of(thing) == "Plan"


def test_unknown_relations_are_links_all_the_same() -> None:
    assert property_text({"type": "relation", "relation": [{"id": KEY}]}) == f"[linked page]({page_url(KEY)})"


def test_what_was_cut_off_is_noticed() -> None:
    thing = page(
        A=("relation", [{"id": str(n)} for n in range(25)]), B=("people", [ADA]), C=("multi_select", [{}] * 30)
    )
    assert cut_properties(thing) == {"A": "A"}


def test_icons_are_emoji_or_the_name_of_a_custom_one() -> None:
    assert icon_of({"icon": {"type": "emoji", "emoji": "🚀"}}) == "🚀"
    assert icon_of({"icon": {"type": "custom_emoji", "custom_emoji": {"name": "bufo"}}}) == ":bufo:"
    assert icon_of({"icon": {"type": "external", "external": {"url": "https://x.example"}}}) == ""
    assert icon_of({"icon": None}) == ""


def test_files_that_notion_keeps_are_attachments() -> None:
    signed, open_ = "https://s3/a.pdf?X-Amz-Signature=1", "https://x.example/b.pdf"
    thing = page(F=("files", [{"name": "a.pdf", "file": {"url": signed}}, {"name": "b", "external": {"url": open_}}]))
    assert [(one.kind, one.name) for one in attached(thing)] == [("pdf", "a.pdf")]


def test_a_schema_says_what_each_column_is() -> None:
    def column(kind: str, **held: Any) -> dict[str, Any]:
        return {"id": kind, "type": kind, kind: held, "description": None}

    source = {
        "description": [text("All risks.")],
        "properties": {
            "Name": column("title"),
            "Level": {**column("select", options=[{"name": "Low"}, {"name": "High"}]), "description": "How bad"},
            "Cost": column("number", format="euro"),
            "Plain": column("number", format="number"),
            "Project": column("relation", data_source_id=KEY),
            "Sum": column("rollup", function="sum", rollup_property_name="Cost", relation_property_name="Project"),
            "Ticket": column("unique_id", prefix="RISK"),
            "Many": column("multi_select", options=[{"name": str(n)} for n in range(120)]),
        },
    }
    shown = schema_markdown(source)
    assert shown.startswith("All risks.\n\n## Properties\n\n- **Name** (title)\n")
    assert "- **Level** (select): Low, High — How bad" in shown
    assert "- **Cost** (number): euro" in shown
    assert "- **Plain** (number)\n" in shown
    assert f"- **Project** (relation): [linked database]({page_url(KEY)})" in shown
    assert "- **Sum** (rollup): sum of Cost through Project" in shown
    assert "- **Ticket** (unique id): RISK-…" in shown
    assert shown.endswith("98, 99, and 20 more\n")
