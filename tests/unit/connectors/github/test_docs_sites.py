"""Front matter as the makers of docs sites have it gives a document's title and tags; its text stays whole."""

import pytest

from connectors.contract import Blob, Ref
from connectors.document import SetAside, documents
from corebrain.layout import BrainSource

SITES = {
    "Docusaurus": (
        "---\nid: intro\ntitle: Intro to X\nsidebar_label: Intro\ntags: [a, 'b c']\n---\n\n# Other\n",
        "Intro to X",
        ("a", "b c"),
    ),
    "Docusaurus, tags with labels": (
        "---\ntags:\n  - label: Foo\n    permalink: /foo\n  - bar\n---\n\n# Heading\n",
        "Heading",
        ("Foo", "bar"),
    ),
    "MkDocs": ("---\ntitle: Guide\ntags:\n  - HTML5\n  - CSS\n---\nBody", "Guide", ("HTML5", "CSS")),
    "MkDocs, MultiMarkdown": (
        "Title: My Document\nSummary: A brief description\n    of it.\nAuthors: Waylan\n\n# Other\n",
        "My Document",
        (),
    ),
    "Hugo, TOML": ("+++\ntitle = 'Toml'\ntags = ['x', 'y']\nweight = 3\n+++\n\nText", "Toml", ("x", "y")),
    "Hugo, YAML": ("---\ntitle: Yaml\ntags:\n- x\n- y\ndraft: false\n---\n\nText", "Yaml", ("x", "y")),
    "Hugo, JSON": ('{\n  "title": "Json",\n  "tags": ["x", "y"],\n  "weight": 3\n}\n\nText', "Json", ("x", "y")),
    "Jekyll": (
        '---\nlayout: post\ntitle:  "Welcome: to Jekyll!"\ntags: news howto\n---\nText {% include x.html %}',
        "Welcome: to Jekyll!",
        ("news", "howto"),
    ),
    "mdBook": ("# Chapter 1\n\n{{#include file.rs}}\n", "Chapter 1", ()),
}
OTHERS = [
    "{not json}\n\n# Heading\n",
    '{"title": 3}\n\n# Heading\n',
    '{"title": "x"} is how it starts\n\n# Heading\n',
    "Note: this is prose\n\n# Heading\n",
    "Title: of a text\nthat goes on\n\n# Heading\n",
    "{" * 5_000 + "\n\n# Heading\n",
    "[" * 5_000 + "\n\n# Heading\n",
]


def converted(text: str) -> tuple[str | None, tuple[str, ...], str]:
    blob = Blob(text.encode(), "text/markdown", filename="x.md", commit="c" * 40, url="https://example.com/x.md")
    (document,) = documents(BrainSource.GITHUB, "docs", Ref("acme/api/x.md", "t"), blob)
    assert not isinstance(document, SetAside)
    return document.title, document.meta.tags or (), document.text


@pytest.mark.parametrize("site", SITES)
def test_front_matter_gives_title_and_tags(site: str) -> None:
    text, title, tags = SITES[site]
    assert converted(text) == (title, tags, text)


@pytest.mark.parametrize("text", OTHERS, ids=range(len(OTHERS)))
def test_what_only_looks_like_front_matter_is_text(text: str) -> None:
    assert converted(text)[:2] == ("Heading", ())
