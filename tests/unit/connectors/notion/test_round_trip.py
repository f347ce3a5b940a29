"""Two ways to one document: blocks rendered here, and Notion's enhanced markdown read here, say the same."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from connectors.notion.blocks import Renderer
from connectors.notion.enhanced import plain_markdown
from connectors.testing import notion_shapes as shapes
from connectors.testing.notion_markdown import Writing
from connectors.testing.notion_workspace import Workspace

PLAIN = st.text("abc déf", min_size=1, max_size=12).map(lambda text: " ".join(text.split())).filter(bool)


def rich(words: str) -> dict[str, Any]:
    return {"rich_text": [shapes.text(words)], "color": "default"}


LEAVES: st.SearchStrategy[Any] = st.one_of(
    st.tuples(st.just("divider"), st.just({}), st.just([])),
    st.tuples(st.just("equation"), PLAIN.map(lambda text: {"expression": text}), st.just([])),
    st.tuples(
        st.just("code"),
        st.text("ab <>\n\t", min_size=1, max_size=20).map(
            lambda text: {"rich_text": [shapes.text(text)], "caption": [], "language": "python"}
        ),
        st.just([]),
    ),
)


def holders(children: Any) -> Any:
    texts = st.sampled_from(["paragraph", "bulleted_list_item", "quote", "toggle"])
    return st.one_of(
        st.tuples(texts, PLAIN.map(rich), children),
        st.tuples(st.just("to_do"), PLAIN.map(lambda text: {**rich(text), "checked": True}), children),
        st.tuples(
            st.just("callout"),
            PLAIN.map(lambda text: {**rich(text), "icon": {"type": "emoji", "emoji": "💡"}}),
            children,
        ),
        st.tuples(st.just("heading_2"), PLAIN.map(lambda text: {**rich(text), "is_toggleable": True}), children),
    )


TREES = st.lists(st.recursive(LEAVES, lambda inner: holders(st.lists(inner, max_size=3)), max_leaves=12), max_size=4)


def plant(workspace: Workspace, parent: str, trees: list[Any]) -> None:
    for kind, content, children in trees:
        plant(workspace, workspace.add_block(parent, kind, content), children)


def both(workspace: Workspace, page: str) -> tuple[str, str]:
    def children(block: dict[str, Any]) -> list[dict[str, Any]]:
        return workspace.blocks.get(block["id"], [])

    blocks = workspace.blocks[page]
    written = Writing(page, lambda key: workspace.blocks.get(key, []), lambda _: True, 10_000).write(blocks)
    read = plain_markdown("\n".join(written), page=page, fill=lambda key, _: f"unknown {key}")
    return Renderer(children).render(blocks), read.markdown


@settings(max_examples=150, deadline=None)
@given(TREES)
def test_blocks_and_enhanced_markdown_come_to_the_same(trees: list[Any]) -> None:
    workspace = Workspace()
    page = workspace.add_page("Page")
    plant(workspace, page, trees)
    rendered, read = both(workspace, page)
    assert rendered == read


@settings(max_examples=150, deadline=None)
@given(st.text(max_size=300))
def test_no_text_breaks_the_reader(text: str) -> None:
    plain_markdown(text, page="p", fill=lambda _key, _what: "")


TAGS = st.lists(
    st.sampled_from(
        [
            "<callout>",
            "</callout>",
            "<table>",
            "<tr>",
            "<td>",
            "\t",
            "\n",
            "```",
            "$$",
            "<details>",
            "</details>",
            "x",
            '<unknown url="u" alt="a"/>',
            "<br>",
            "- ",
            "> ",
            "<columns>",
            "</columns>",
            "</table>",
        ]
    ),
    max_size=40,
).map("".join)


@settings(max_examples=300, deadline=None)
@given(TAGS)
def test_broken_tags_break_nothing_and_keep_their_words(text: str) -> None:
    read = plain_markdown(text, page="p", fill=lambda _key, _what: "unknown").markdown
    if "<t" not in text and "```" not in text and "$$" not in text:
        assert read.count("x") >= text.count("x")


def test_tables_columns_tabs_and_synced_blocks_come_to_the_same() -> None:
    workspace = Workspace()
    page = workspace.add_page("Page")
    table = workspace.add_block(page, "table", {"table_width": 2, "has_column_header": True, "has_row_header": False})
    for row in (["Name", "Value"], ["a|b", "one\ntwo"]):
        workspace.add_block(table, "table_row", {"cells": [[shapes.text(cell)] for cell in row]})
    for outer, inner in (("column_list", "column"), ("tab", "paragraph"), ("synced_block", "quote")):
        content = {"synced_from": None} if outer == "synced_block" else {}
        holder = workspace.add_block(page, outer, content)
        for words in ("left", "right"):
            below = workspace.add_block(holder, inner, rich("" if inner == "column" else words))
            workspace.add_paragraph(below, f"inside {words}")
    rendered, read = both(workspace, page)
    assert rendered == read
    assert "| a\\|b | one<br>two |" in read
    assert read.index("inside left") < read.index("inside right")
