"""Blocks and rich text as markdown, type by type."""

from typing import Any

import pytest

from connectors.notion.blocks import MAX_DEPTH, Renderer
from connectors.notion.enhanced import plain_markdown, unknown_ids
from connectors.notion.ids import block_of, id_of, page_url, stable_url
from connectors.notion.rich_text import date_text, inline, plain
from connectors.testing.notion_shapes import mention, text

KEY = "393abc1e-edcd-80f3-813b-e205934558c6"
URL = page_url(KEY)


def block(kind: str, **content: Any) -> dict[str, Any]:
    children = content.pop("children", [])
    return {
        "object": "block",
        "id": KEY,
        "type": kind,
        "has_children": bool(children),
        kind: content,
        "children": children,
    }


def words(kind: str, said: str, **content: Any) -> dict[str, Any]:
    return block(kind, rich_text=[text(said)], **content)


def file(kind: str, url: str, *, kept: bool, caption: str = "", **more: Any) -> dict[str, Any]:
    where = {"type": "file", "file": {"url": url}} if kept else {"type": "external", "external": {"url": url}}
    return block(kind, **where, caption=[text(caption)] if caption else [], **more)


PARAGRAPH = words("paragraph", "inside")


@pytest.mark.parametrize(
    ("given", "shown"),
    [
        (words("paragraph", "one\ntwo"), "one\ntwo"),
        (words("paragraph", "# no heading"), "\\# no heading"),
        (words("paragraph", "above", children=[PARAGRAPH]), "above\n\ninside"),
        (block("paragraph", rich_text=[]), ""),
        (words("heading_1", "Title"), "# Title"),
        (words("heading_4", "Small"), "#### Small"),
        (words("heading_3", "Toggle", is_toggleable=True, children=[PARAGRAPH]), "### Toggle\n\ninside"),
        (words("bulleted_list_item", "a", children=[words("bulleted_list_item", "b")]), "- a\n  - b"),
        (words("bulleted_list_item", "a", children=[PARAGRAPH]), "- a\n\n  inside"),
        (words("numbered_list_item", "a\nb"), "1. a\n   b"),
        (words("numbered_list_item", "a", list_start_index=7), "7. a"),
        (words("to_do", "done", checked=True), "- [x] done"),
        (words("to_do", "open", checked=False), "- [ ] open"),
        (words("quote", "wise\nman", children=[PARAGRAPH]), "> wise\n> man\n>\n> inside"),
        (words("callout", "care", icon={"type": "emoji", "emoji": "💡"}), "> 💡 care"),
        (words("callout", "care", icon=None, children=[PARAGRAPH]), "> care\n>\n> inside"),
        (words("toggle", "more", children=[PARAGRAPH]), "more\n\ninside"),
        (words("template", "new", children=[PARAGRAPH]), "new\n\ninside"),
        (words("code", "a = ```1```", language="python", caption=[]), "````python\na = ```1```\n````"),
        (words("code", "x", language="plain text", caption=[text("why")]), "```\nx\n```\n\nwhy"),
        (block("equation", expression="e=mc^2"), "$$\ne=mc^2\n$$"),
        (block("divider"), "---"),
        (block("column_list", children=[{**block("column", children=[PARAGRAPH]), "id": "c"}]), "inside"),
        (block("synced_block", synced_from=None, children=[PARAGRAPH]), "inside"),
        (
            block("tab", children=[{**words("paragraph", "tab one", children=[PARAGRAPH]), "id": "t"}]),
            "tab one\n\ninside",
        ),
        (block("breadcrumb"), ""),
        (block("table_of_contents"), ""),
        (block("child_page", title="Sub [1]"), f"[Sub (1)]({URL})"),
        (block("child_database", title=""), f"[Untitled]({URL})"),
        (block("link_to_page", type="page_id", page_id=KEY), f"[linked page]({URL})"),
        (block("link_to_page", type="database_id", database_id=KEY), f"[linked database]({URL})"),
        (block("embed", url="https://x.example/a b", caption=[]), "[https://x.example/a b](https://x.example/a%20b)"),
        (block("bookmark", url="https://x.example", caption=[text("X")]), "[X](https://x.example)"),
        (block("link_preview", url="https://x.example/1"), "[https://x.example/1](https://x.example/1)"),
        (file("image", "https://x.example/a.png", kept=False, caption="cat"), "![cat](https://x.example/a.png)"),
        (file("image", "https://s3/a.png?X-Amz-Signature=1", kept=True), f"[a.png]({URL})"),
        (file("pdf", "https://s3/A%20b.pdf?X-Amz-Signature=1", kept=True), f"[A b.pdf]({URL})"),
        (file("file", "https://x.example/f.txt", kept=False, name="n.txt"), "[n.txt](https://x.example/f.txt)"),
        (file("video", "https://x.example/v", kept=False), "[https://x.example/v](https://x.example/v)"),
        (file("audio", "https://s3/a.mp3?signature=1", kept=True, caption="song"), f"[song]({URL})"),
        (block("meeting_notes", title=[text("Weekly")], children=[PARAGRAPH]), "**Weekly**\n\ninside"),
        (block("transcription", title=[text("Old")]), "**Old**"),
        (block("unsupported", block_type="ai_block"), f"[ai block in Notion]({URL})"),
        (block("hologram"), f"[hologram in Notion]({URL})"),
        (words("hologram", "future"), "future"),
        (block("hologram", url="https://x.example"), "[https://x.example](https://x.example)"),
        (block("hologram", children=[PARAGRAPH]), "inside"),
        (block("table_row", cells=[[text("a|b")], []]), "| a\\|b |  |"),
    ],
    ids=lambda given: given["type"] if isinstance(given, dict) else None,
)
def test_every_type_of_block(given: dict[str, Any], shown: str) -> None:
    assert Renderer().render([given]) == (f"{shown}\n" if shown else "")


def test_ragged_tables_are_filled_up() -> None:
    rows = [block("table_row", cells=[[text("a")], [text("b\nc")]]), block("table_row", cells=[[text("d")]])]
    assert Renderer().render([block("table", children=rows)]) == "| a | b<br>c |\n| - | - |\n| d |  |\n"


def test_numbers_go_on_within_a_list_and_start_again_after_it() -> None:
    items = [
        words("numbered_list_item", "a"),
        words("numbered_list_item", "b"),
        PARAGRAPH,
        words("numbered_list_item", "c"),
    ]
    assert Renderer().render(items) == "1. a\n2. b\n\ninside\n\n1. c\n"


def test_a_nest_without_end_is_cut_off_and_named() -> None:
    deep = PARAGRAPH
    for level in range(MAX_DEPTH + 20):
        deep = {**words("paragraph", "x", children=[deep]), "id": f"level {level}"}
    shown = Renderer().render([deep])
    assert shown.count("x\n") == MAX_DEPTH + 1
    assert "content nested deeper in Notion" in shown


def test_links_are_titled_when_titles_are_known() -> None:
    linked = block("link_to_page", type="page_id", page_id=KEY)
    assert Renderer(titles={KEY: "Plan"}).render([linked]) == f"[Plan]({URL})\n"


@pytest.mark.parametrize(
    ("items", "shown"),
    [
        ([text("a", bold=True), text("b", bold=True)], "**ab**"),
        ([text(" a ", italic=True), text("b")], " *a* b"),
        ([text("a", bold=True, italic=True, strikethrough=True)], "***~~a~~***"),
        ([text("a`b", code=True)], "``a`b``"),
        ([text("a", underline=True)], "a"),
        ([text("<b>")], "\\<b>"),
        ([text("here", link="https://x.example/(1)")], "[here](https://x.example/%281%29)"),
        ([text("page", link=f"/{KEY.replace('-', '')}")], f"[page]({URL})"),
        ([text("page", link=f"https://app.notion.com/p/Any-{KEY.replace('-', '')}?pvs=4")], f"[page]({URL})"),
        ([{"type": "equation", "equation": {"expression": "x^2"}, "plain_text": "x^2"}], "$x^2$"),
        ([mention("user", {"id": "u", "name": "Ada"}, "@Ada")], "@Ada"),
        ([mention("user", {"id": "u"}, "@Anonymous")], "@Anonymous"),
        ([mention("user", {"object": "user", "id": "u"}, "")], "@someone"),
        ([mention("page", {"id": KEY}, "Plan")], f"[Plan]({URL})"),
        ([mention("database", {"id": KEY}, "Base")], f"[Base]({URL})"),
        ([mention("date", {"start": "2026-01-05", "end": "2026-01-07"}, "x")], "2026-01-05 → 2026-01-07"),
        ([mention("link_mention", {"href": "https://x.example", "title": "X"}, "x")], "[X](https://x.example)"),
        ([mention("link_preview", {"url": "https://x.example"}, "x")], "[x](https://x.example)"),
        ([mention("template_mention", {"type": "x"}, "@Today")], "@Today"),
        ([mention("hologram", {}, "future")], "future"),
        ([{"type": "hologram", "plain_text": "future"}], "future"),
        ("nothing", ""),
    ],
)
def test_every_kind_of_rich_text(items: Any, shown: str) -> None:
    assert inline(items) == shown


@pytest.mark.parametrize(
    ("date", "shown"),
    [
        ({"start": "2026-01-05"}, "2026-01-05"),
        ({"start": "2026-01-05T09:30:00.000+00:00"}, "2026-01-05 09:30"),
        ({"start": "2026-01-05T09:30:00.000-08:00"}, "2026-01-05 09:30 -08:00"),
        ({"start": "2026-01-05T09:30", "time_zone": "Europe/Berlin"}, "2026-01-05 09:30 Europe/Berlin"),
        (
            {"start": "2026-01-05T09:30:00.000Z", "end": "2026-01-05T10:00:00.000Z"},
            "2026-01-05 09:30 → 2026-01-05 10:00",
        ),
        (None, ""),
    ],
)
def test_dates_show_what_was_given(date: Any, shown: str) -> None:
    assert date_text(date) == shown


def test_titles_are_plain() -> None:
    assert plain([text("a ", bold=True), mention("date", {"start": "2026-01-05"}, "x")]) == "a 2026-01-05"


ENHANCED = [
    ("one\ntwo", "one\n\ntwo"),
    ('a {color="red"}', "a"),
    ("a {b}", "a {b}"),
    ("x<br>y", "x\ny"),
    ("- x<br>y", "- x\n  y"),
    ("1. a\n2. b\n\t- c", "1. a\n2. b\n   - c"),
    ("above\n\tinside", "above\n\ninside"),
    ('<span color="red">a</span> <span underline="true">b</span>', "a b"),
    ("a \\$5 \\{x\\} \\*y\\*", "a $5 {x} \\*y\\*"),
    ("$`x^2`$ and `<b>`", "$x^2$ and `<b>`"),
    ("see [^https://app.notion.com/p/x#y]", "see"),
    ('<mention-user url="user://1">Ada</mention-user> and <mention-user url="user://2"/>', "@Ada and @someone"),
    (f'<mention-page url="https://app.notion.com/p/{KEY}">Plan</mention-page>', f"[Plan]({URL})"),
    (f'<mention-page url="https://app.notion.com/p/{KEY}"/>', f"[Known]({URL})"),
    (f'<mention-data-source url="{URL}"/>', f"[Known]({URL})"),
    ('<mention-date start="2026-01-05" startTime="09:30" timeZone="UTC"/>', "2026-01-05 09:30 UTC"),
    (f'<database url="https://www.notion.so/{KEY}" inline="true">Base</database>', f"[Base]({URL})"),
    ('<file src="https://x.example/a.txt">A</file>', "[A](https://x.example/a.txt)"),
    ('<callout icon="💡">\n\tone\n\ttwo\n</callout>', "> 💡 one\n>\n> two"),
    ('<callout icon="💡">one</callout>', "> 💡 one"),
    ("<details>\n<summary>S</summary>\n\tin\n</details>", "S\n\nin"),
    ("<columns>\n\t<column>\n\t\ta\n\t</column>\n\t<column>\n\t\tb\n\t</column>\n</columns>", "a\n\nb"),
    ('<tabs>\n\t<tab title="T">\n\t\ta\n\t</tab>\n</tabs>', "**T**\n\na"),
    ("<meeting-notes>\n\tM\n\t<summary>\n\t\ts\n\t</summary>\n</meeting-notes>", "M\n\ns"),
    ('<hologram power="9">\n\tkept\n</hologram>', "kept"),
    ("<hologram/>\nrest", "rest"),
    ("<table_of_contents/>\n<empty-block/>\nx", "x"),
    ("<table><tr><td>a</td><td>b</td></tr><tr><td>c</td></tr></table>", "| a | b |\n| - | - |\n| c |  |"),
    ("```py\n\tx\n</callout>\n```", "```py\n\tx\n</callout>\n```"),
    ("\t```py\n\t\tx\n\t```", "```py\n\tx\n```"),
    ("$$\na\n$$", "$$\na\n$$"),
    (f'<unknown url="{URL}" alt="bookmark"/>', f"filled {KEY} bookmark"),
    ("<callout>\nnever closed", "> never closed"),
    ("a <b> c", "a <b> c"),
]  # fmt: skip


@pytest.mark.parametrize(("given", "shown"), ENHANCED)
def test_enhanced_markdown_becomes_plain(given: str, shown: str) -> None:
    read = plain_markdown(given, page="p", fill=lambda key, what: f"filled {key} {what}", titles={KEY: "Known"})
    assert read.markdown == f"{shown}\n"


def test_unknown_blocks_are_found_by_the_block_in_their_address() -> None:
    inner = "493abc1eedcd80f3813be205934558c7"
    given = f'<unknown url="{URL}#{inner}" alt="x"/>\n<unknown alt="y"/>'
    assert unknown_ids(given) == [id_of(inner)]


@pytest.mark.parametrize(
    ("address", "key"),
    [
        (KEY, KEY),
        (KEY.upper(), KEY),
        (KEY.replace("-", ""), KEY),
        (f"https://www.notion.so/acme/Some-deadbeef-Title-{KEY.replace('-', '')}?v=1#2", KEY),
        (f"https://acme.notion.site/{KEY}", KEY),
        ("https://example.com/nothing", None),
        ("", None),
    ],
)
def test_ids_are_found_in_what_people_paste(address: str, key: str | None) -> None:
    assert id_of(address) == key


def test_only_addresses_in_notion_are_made_stable() -> None:
    elsewhere = f"https://example.com/{KEY}"
    assert stable_url(elsewhere) == elsewhere
    assert stable_url(f"https://notion.so.example.com/{KEY}") == f"https://notion.so.example.com/{KEY}"
    assert stable_url(f"https://app.notion.com/p/T-{KEY}") == URL
    assert block_of(f"{URL}#493abc1eedcd80f3813be205934558c7") == "493abc1e-edcd-80f3-813b-e205934558c7"
