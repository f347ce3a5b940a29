import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corebrain.documents.convert import ipynb, markdown, text
from corebrain.documents.convert.front_matter import FrontMatter, front_matter
from corebrain.documents.headings import first_heading
from corebrain.documents.types import RawDocument
from corebrain.errors import Damaged, Empty


def test_code_is_stored_exactly_as_written() -> None:
    source = "\r\n# not a heading\r\n\tif x:  \r\n"
    converted = text.convert(RawDocument(source.encode(), "a/b.py"), "code")
    assert converted.markdown == source
    assert converted.language == "python"


def test_markdown_keeps_its_front_matter_and_learns_from_it() -> None:
    source = "---\ntitle: Refunds\ntags: [billing, 'how to']\nlang: en\n---\n\n# Other\n"
    converted = markdown.convert(RawDocument(source.encode(), "a.md"), "markdown")
    assert converted.markdown == source
    assert (converted.title, converted.tags, converted.language) == ("Refunds", ("billing", "how to"), "en")


@pytest.mark.parametrize(
    ("source", "title", "tags", "language"),
    [
        ('---\ntitle: "A: \\"quoted\\" one"\n---\n', 'A: "quoted" one', (), None),
        ("---\ntitle: 'It''s'\n---", "It's", (), None),
        ("---\ntitle: C# for all # a comment\n---\n", "C# for all", (), None),
        ("---\r\ntitle: Windows\r\ntags:\r\n  - a\r\n  - '#b'\r\n  - a\r\n---\r\nx", "Windows", ("a", "b"), None),
        ("---\ntags: one, two\n...\n", None, ("one", "two"), None),
        ("---\nTitle: Upper\nlanguage: pt-BR\n---\n", "Upper", (), "pt-BR"),
        ("---\nparams:\n  title: inner\n---\n", None, (), None),
        ("---\ntitle: >\n  folded\n---\n", None, (), None),
        ("---\nlanguage: not a language\n---\n", None, (), None),
        ('+++\ntitle = "Toml"\ntags = ["x"]\n[taxonomies]\ntags = ["y"]\n+++\n', "Toml", ("x",), None),
        ("+++\nbroken = \n+++\n", None, (), None),
        ("---\n\nA rule, then text\n\n---\n", None, (), None),
        ("---\ntitle: never closed\n", None, (), None),
        ("text\n---\ntitle: late\n---\n", None, (), None),
    ],
)
def test_front_matter_is_read_as_far_as_it_is_simple(
    source: str, title: str | None, tags: tuple[str, ...], language: str | None
) -> None:
    found = front_matter(source)
    assert (found.title, found.tags, found.language) == (title, tags, language)


def test_rule_at_the_start_is_no_front_matter() -> None:
    assert front_matter("---\nplain words\n---\n# A\n") == FrontMatter()


@given(st.text(alphabet="-+:[]'\"#\n\r \\ab,=", max_size=200))
def test_no_head_breaks_the_reader(tail: str) -> None:
    for start in ("---\n", "+++\n"):
        found = front_matter(start + tail)
        assert 0 <= found.length <= len(start + tail)


@pytest.mark.parametrize(
    ("source", "heading"),
    [
        ("# Refunds\n\ntext", "Refunds"),
        ("text\n\n### Third ###\n", "Third"),
        ("#hashtag\n# Real\n", "Real"),
        ("# \n## Second\n", "Second"),
        ("Title\n=====\n", "Title"),
        ("```\n# code\n```\n# After\n", "After"),
        ("~~~sh\n# code\n```\n~~~\n# After\n", "After"),
        ("---\n# comment: 1\ntitle: x\n---\n# Body\n", "Body"),
        ("# **Bold** `code` [link](https://x.example) and \\*star\\*\n", "Bold code link and *star*"),
        ("# C#\n", "C#"),
        ("# #\n## Two\n", "Two"),
        ("    # indented code\n", None),
        ("no heading", None),
        ("", None),
    ],
)
def test_first_heading_is_the_first_that_counts(source: str, heading: str | None) -> None:
    assert first_heading(source) == heading


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    "line", ["# " + "`a" * 200_000, "# " + " " * 400_000 + "x", "# " + "[" * 400_000, "#\n" * 400_000]
)
def test_no_heading_takes_long(line: str) -> None:
    heading = first_heading(line)
    assert heading is None or len(heading) <= 500


def test_notebook_shows_prose_code_and_output(samples: Path) -> None:
    converted = ipynb.convert(RawDocument(samples / "test_notebook.ipynb"), "ipynb")
    assert converted.markdown.startswith(
        '# Test Notebook\n\n```python\nprint("markitdown")\n```\n\n```\nmarkitdown\n```'
    )
    assert (converted.title, converted.language) == ("Test Notebook Title", "python")


def test_notebook_output_is_text_without_escapes_and_bounded() -> None:
    notebook = {
        "cells": [
            {"cell_type": "code", "source": ["a = '```'\n", "b"], "outputs": [
                {"output_type": "error", "ename": "KeyError", "evalue": "\u001b[31m'x'\u001b[0m"},
                {"output_type": "execute_result", "data": {"text/plain": "x" * 50_000, "image/png": "AAAA"}},
            ]},
            {"cell_type": "markdown", "source": "  "},
            "nonsense",
        ]
    }  # fmt: skip
    converted = ipynb.convert(RawDocument(json.dumps(notebook).encode()), "ipynb")
    assert converted.markdown.startswith("````\na = '```'\nb\n````\n\n```\nKeyError: 'x'\n```\n\n```\nxxx")
    assert len(converted.markdown) < 20_200


@pytest.mark.parametrize("data", [b"{", b"[]", b'{"cells":' + b"[" * 100_000])
def test_broken_notebook_is_damaged(data: bytes) -> None:
    with pytest.raises(Damaged):
        ipynb.convert(RawDocument(data), "ipynb")


def test_notebook_without_text_is_empty() -> None:
    with pytest.raises(Empty):
        ipynb.convert(RawDocument(b'{"cells": []}'), "ipynb")
