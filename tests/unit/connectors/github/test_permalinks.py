"""Relative links become permalinks, and nothing else changes."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.github.permalinks import Place, with_permalinks

AT = Place("https://github.com/acme/api", "c0ffee", "docs/guide/a.md")
BLOB = "https://github.com/acme/api/blob/c0ffee"
RAW = "https://github.com/acme/api/raw/c0ffee"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("[a](b.md)", f"[a]({BLOB}/docs/guide/b.md)"),
        ("[a](../b.md#x)", f"[a]({BLOB}/docs/b.md#x)"),
        ("[a](/b.md 'title')", f"[a]({BLOB}/b.md 'title')"),
        ("[a](./b%20c.md)", f"[a]({BLOB}/docs/guide/b%20c.md)"),
        ("[a](<b c.md>)", f"[a]({BLOB}/docs/guide/b%20c.md)"),
        ("[a](sub/)", "[a](https://github.com/acme/api/tree/c0ffee/docs/guide/sub)"),
        ("![i](i.png)", f"![i]({RAW}/docs/guide/i.png)"),
        ("[![i](i.svg)](b.md)", f"[![i]({RAW}/docs/guide/i.svg)]({BLOB}/docs/guide/b.md)"),
        ("[![i](https://x.example/i.svg)](b.md)", f"[![i](https://x.example/i.svg)]({BLOB}/docs/guide/b.md)"),
        ("[r]: b.md", f"[r]: {BLOB}/docs/guide/b.md"),
        ('<img src="i.png" width="3">', f'<img src="{RAW}/docs/guide/i.png" width="3">'),
        ('<a href="b.md">b</a>', f'<a href="{BLOB}/docs/guide/b.md">b</a>'),
        ("<a href='b.md\n'>b</a>", f"<a href='{BLOB}/docs/guide/b.md\n'>b</a>"),
        ('<a href=" b.md ">b</a>', f'<a href="{BLOB}/docs/guide/b.md">b</a>'),
        ("[a](.#top)", f"[a]({BLOB}/docs/guide#top)"),
        ("see `x` and [a](b.md) `y`", f"see `x` and [a]({BLOB}/docs/guide/b.md) `y`"),
    ],
)
def test_relative_link_becomes_a_permalink(written: str, read: str) -> None:
    assert with_permalinks(written, AT) == read


@pytest.mark.parametrize(
    "text",
    [
        "[a](https://x.example/b.md)",
        "[a](//x.example/b.md)",
        "[a](mailto:a@example.com)",
        "[a](#place)",
        "[a](../../../b.md)",
        "`[a](b.md)`",
        "``a ` [a](b.md)``",
        "```\n[a](b.md)\n```\n",
        "~~~~\n[a](b.md)\n~~~\n[a](b.md)\n~~~~\n",
        "{{< include b.md >}} {% include b.md %} --8<-- 'b.md' {{#include b.md}}",
        "[a]({{ site.url }}/b.md)",
        "[^1]: b.md",
        "[a](http://[half/b.md)",
        "a [b] (c.md)",
        "x" * 30_000 + "[a](b.md)",
    ],
)
def test_everything_else_stays(text: str) -> None:
    assert with_permalinks(text, AT) == text


@given(st.text(alphabet="ab`[]()!<>#/.\n\t\\\"'= :~^{}\x000", max_size=200))
def test_text_without_relative_links_is_kept_and_nothing_breaks(text: str) -> None:
    once = with_permalinks(text, AT)
    assert once.count("\n") == text.count("\n")
    assert with_permalinks(once, AT).count("\n") == once.count("\n")


def test_a_long_line_of_brackets_is_quick() -> None:
    line = "[" * 9_000 + "](" * 5_000
    assert with_permalinks(line, AT)
